package server

import (
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// running3 is a job of three clients of this library and one of another.
func running3(t *testing.T) *bench {
	b := newBench(t, rules{Clients: 4})
	b.join(4)
	for i := range 4 {
		if i < 3 {
			b.in(i, coll(wire.COwn, make([]byte, wire.OwnSize)...))
		}
		b.in(i, cmd(wire.CmdDone))
	}
	for i := range 4 {
		b.got(i)
	}
	return b
}

func (b *bench) wantAll(what string, sent ...[]byte) {
	b.t.Helper()
	for i := range 3 {
		b.want(i, what, sent...)
	}
	b.want(3, "a client that does not know the command")
}

func suspicion(by, client int32, breach bool, ranks ...int32) []byte {
	s := wire.Suspicion{By: by, Client: client, Ranks: ranks, Breach: breach, Text: "silent"}
	return s.Append(nil)
}

// Of two clients that cannot reach each other the first that says so goes on, with all of its ranks, whichever of the
// other's say what.
func TestTheServerDecidesWhoGoesOn(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := running3(t)
		b.piece = piece
		b.in(0, suspicion(2, 1, false, 0, 3))
		b.wantAll("the first", wire.AppendGone(nil, 1, []int32{0, 3}, "rank 2 of client 0 says: silent"))
		b.in(0, suspicion(1, 1, false, 3))
		b.wantAll("known")
		b.in(1, suspicion(0, 0, false, 2))
		b.wantAll("from one that is lost")
		b.in(1, suspicion(2, 0, false, 2))
		b.wantAll("the other side", wire.AppendGone(nil, 1, []int32{2}, "it cannot reach client 0, which goes on"))
		b.in(1, suspicion(1, 2, false, 5))
		b.wantAll("a third client", wire.AppendGone(nil, 2, []int32{5}, "rank 1 of client 1 says: silent"))
		b.in(1, suspicion(1, 0, true, 1))
		b.wantAll("a breach", wire.AppendGone(nil, 0, []int32{1}, "rank 1 of client 1 says: silent"))
		b.in(1, suspicion(1, 3, false, 0))
		b.wantAll("of a foreign client", wire.AppendGone(nil, 3, []int32{0}, "rank 1 of client 1 says: silent"))
	})
}

func TestSuspicionsThatMakeNoSenseAreNoHarm(t *testing.T) {
	b := running3(t)
	for what, x := range map[string][]byte{
		"of itself":  suspicion(0, 0, false, 1),
		"of nobody":  suspicion(0, 4, false, 1),
		"below 0":    suspicion(0, -1, false, 1),
		"of no rank": suspicion(0, 1, false),
	} {
		b.in(0, x)
		b.wantAll(what)
	}
	b.in(0, wire.AppendGone(nil, 0, []int32{4}, "killed"))
	b.want(0, "itself")
	b.want(1, "another", wire.AppendGone(nil, 0, []int32{4}, "killed"))
	b.want(2, "another", wire.AppendGone(nil, 0, []int32{4}, "killed"))
	b.in(1, suspicion(0, 0, false, 4))
	b.wantAll("known")
	b.in(2, cmd(wire.CmdFini))
	b.in(1, suspicion(0, 2, false, 0)) // who suspects it waits for an answer, and nobody else cares
	b.want(0, "of one that has finished")
	b.want(1, "of one that has finished", wire.AppendGone(nil, 2, []int32{0}, "rank 0 of client 1 says: silent"))
	b.want(2, "of one that has finished")
}
