package server

import (
	"errors"
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// A client that ends badly can say why, and those that know the command hear of it. Which is not of IMPI 0.0.

func TestALostClientIsToldToThoseWhoKnowTheCommand(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, rules{Clients: 4})
		b.piece = piece
		b.join(4)
		own := make([]byte, wire.OwnSize)
		for i := range 4 {
			if i < 3 {
				b.in(i, coll(wire.COwn, own...))
			}
			b.in(i, cmd(wire.CmdDone))
		}
		for i := range 4 {
			b.got(i)
		}
		b.in(1, cmd(wire.CmdFini))
		b.in(0, wire.AppendLost(nil, 0, "rank 1 was killed"))
		b.want(2, "before it has hung up")
		b.eof(0, nil)
		b.want(1, "who has finished")
		b.want(2, "who knows the command", wire.AppendLost(nil, 0, "rank 1 was killed"))
		b.want(3, "a foreign client")
		b.eof(3, nil)
		b.want(2, "who knows the command", wire.AppendLost(nil, 3, "10.0.0.3:99 hung up"))
		b.in(2, cmd(wire.CmdFini))
		b.wantEnd(false)
		if !b.logged("client 0") || !b.logged("has ended (rank 1 was killed)") {
			t.Error(b.logs)
		}
	})
}

func TestAClientLostInTheExchangeIsNamed(t *testing.T) {
	b := newBench(t, rules{Clients: 3})
	b.join(3)
	for i := range 3 {
		b.got(i)
	}
	b.in(0, coll(wire.COwn, make([]byte, wire.OwnSize)...))
	b.in(1, wire.AppendLost(nil, 1, "rank 4 was killed"))
	b.eof(1, nil)
	b.want(0, "who knows the command", wire.AppendLost(nil, 1, "rank 4 was killed"))
	b.want(2, "who does not")
	b.wantEnd(false)
}

// A client that says that it has ended, before all have joined, is not one that tries again: nobody need wait for it.
func TestAClientThatDeclinesEndsTheJobBeforeAllHaveJoined(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, rules{Clients: 4})
		b.piece = piece
		for i, mask := range []uint32{wire.AuthKeyMask | wire.AuthSameImplMask, wire.AuthKeyMask, wire.AuthKeyMask |
			wire.AuthSameImplMask} {
			b.open(i)
			b.in(i, wire.AppendAuth(nil, mask), rightKey, impi(int32(i)))
			b.want(i, "joining", useKey)
		}
		for i, about := range [][]byte{rightKey, wrongKey[:2]} { // who has yet to say which client it is, and its key
			b.open(10 + i)
			b.in(10+i, wire.AppendAuth(nil, wire.AuthKeyMask|wire.AuthSameImplMask), about)
			b.want(10+i, "about to join", useKey)
		}
		b.in(2, wire.AppendLost(nil, 2, "rank 0 of client 2 was killed"))
		b.want(0, "before it has hung up")
		b.eof(2, nil)
		b.want(10, "who has shown the key", wire.AppendLost(nil, 2, "rank 0 of client 2 was killed"))
		b.want(11, "who has not")
		b.want(0, "who knows the command", wire.AppendLost(nil, 2, "rank 0 of client 2 was killed"))
		b.want(1, "a client of another implementation")
		b.wantEnd(false)
		if !b.hung || !b.closed[0] || !b.closed[1] ||
			!b.logged("client 2 (10.0.0.2:99) has ended (rank 0 of client 2 was killed)") {
			t.Errorf("hung up %v, closed %v, log %q", b.hung, b.closed, b.logs)
		}
	})
}

// Who ends because it has lost another is not to blame, except to that other, which may know better.
func TestTheClientThatOthersHaveLostIsNamed(t *testing.T) {
	for _, tt := range []struct {
		blamed, named int32
		text          string
	}{{1, 1, "client 0 says: gone"}, {0, 0, "gone"}, {-1, 0, "gone"}, {7, 0, "gone"}} {
		b := newBench(t, rules{Clients: 3})
		b.join(3)
		for i := range 3 {
			b.in(i, coll(wire.COwn, make([]byte, wire.OwnSize)...), cmd(wire.CmdDone))
		}
		for i := range 3 {
			b.got(i)
		}
		b.in(0, wire.AppendLost(nil, tt.blamed, "gone"))
		b.eof(0, nil)
		b.want(2, "a third client", wire.AppendLost(nil, tt.named, tt.text))
		b.want(1, "the lost client", wire.AppendLost(nil, 0, "gone"))
	}
}

// A connection that breaks is not a client that ends: an idle one is cut by any router, and the job needs it no more.
// But until the clients are connected to each other nobody else would notice.
func TestAConnectionThatBreaksInTheRunIsNewsForTheOthersAtItsBeginning(t *testing.T) {
	for _, settled := range []bool{false, true} {
		breakInTheRun(t, settled)
	}
}

func breakInTheRun(t *testing.T, settled bool) {
	b := newBench(t, rules{Clients: 2})
	b.join(2)
	for i := range 2 {
		b.in(i, coll(wire.COwn, make([]byte, wire.OwnSize)...), cmd(wire.CmdDone))
	}
	b.got(1)
	if settled {
		b.take(b.m.Settled())
	}
	b.eof(0, errors.New("connection reset by peer"))
	if settled {
		b.want(1, "the other client")
	} else {
		b.want(1, "the other client", wire.AppendLost(nil, 0, "10.0.0.0:99 was lost (connection reset by peer)"))
	}
	if !b.logged("client 0 (10.0.0.0:99) was lost (connection reset by peer) before FINI") {
		t.Error(b.logs)
	}
	b.in(1, cmd(wire.CmdFini))
	b.wantEnd(false)
}

// Those who have joined hear for whom they have waited in vain.
func TestAServerThatGivesUpSaysWhoHasNotJoined(t *testing.T) {
	b := newBench(t, rules{Clients: 3})
	for i, mask := range []uint32{wire.AuthKeyMask | wire.AuthSameImplMask, wire.AuthKeyMask} {
		b.open(i)
		b.in(i, wire.AppendAuth(nil, mask), rightKey, impi(int32(i)))
		b.want(i, "joining", useKey)
	}
	b.take(b.m.Remind("; soon"))
	if !b.logged("still waiting for clients: client 2 missing; soon") {
		t.Error(b.logs)
	}
	b.take(b.m.Stop(errors.New("gave up")))
	b.want(0, "who knows the command",
		wire.AppendLost(nil, 2, "the IMPI server: gave up while waiting for clients: client 2 missing"))
	b.want(1, "a client of another implementation")
	b.wantEnd(false)
	b.take(b.m.Remind(""))
	if len(b.logs) > 2 {
		t.Error(b.logs)
	}
}

// What is no LOST is no reason either.
func TestALostCommandOfAnyLengthHarmsNobody(t *testing.T) {
	for _, n := range []int{0, 3, wire.LostHead, wire.LostHead + wire.LostMax, wire.LostHead + wire.LostMax + 1} {
		b := newBench(t, rules{Clients: 1})
		b.join(1)
		b.in(0, cmd(wire.CmdLost, make([]byte, n)...), cmd(wire.CmdDone))
		b.want(0, fmt.Sprintf("LOST of %d bytes", n), cmd(wire.CmdDone))
		b.in(0, cmd(wire.CmdFini))
		b.wantEnd(true)
	}
}

// Any process of a client that has joined can say why the client ends. It waits until the others have heard it.
func TestAnyProcessCanSayWhyItsClientEnds(t *testing.T) {
	ours := wire.AppendAuth(nil, wire.AuthKeyMask|wire.AuthSameImplMask)
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, rules{Clients: 2})
		b.piece = piece
		b.join(2)
		for i := range 2 {
			b.in(i, coll(wire.COwn, make([]byte, wire.OwnSize)...), cmd(wire.CmdDone))
		}
		b.got(1)
		for i, rank := range []int32{-1, 2} {
			b.open(10 + i)
			b.in(10+i, ours, rightKey, wire.AppendLost(nil, rank, "I do not exist"))
			if !b.closed[10+i] {
				t.Errorf("client rank %d was accepted", rank)
			}
		}
		b.open(5)
		b.in(5, ours, rightKey, wire.AppendLost(nil, 0, "MPI_Abort(42)"), coll(1), cmd(wire.CmdDone), cmd(wire.CmdFini))
		b.want(1, "the other client", wire.AppendLost(nil, 0, "MPI_Abort(42)"))
		if !b.closed[0] || b.closed[5] || !b.logged("client 0 (10.0.0.0:99) has ended (MPI_Abort(42)) before FINI") {
			t.Errorf("closed %v, log %q", b.closed, b.logs)
		}
		b.open(6)
		b.in(6, ours, rightKey, wire.AppendLost(nil, 0, "too late"))
		b.want(1, "the other client, for the second time")
		b.eof(6, nil)
		b.eof(1, nil)
		if !b.closed[5] {
			t.Error("the process waits for ever")
		}
		b.wantEnd(false)
	})
}

func TestAProcessThatReportsInTheExchangeEndsTheJob(t *testing.T) {
	b := newBench(t, rules{Clients: 2})
	b.join(2)
	b.got(1)
	b.in(1, coll(wire.COwn, make([]byte, wire.OwnSize)...))
	b.open(5)
	b.in(5, wire.AppendAuth(nil, wire.AuthKeyMask|wire.AuthSameImplMask), rightKey,
		wire.AppendLost(nil, 0, "gone"))
	b.want(1, "the other client", wire.AppendLost(nil, 0, "gone"))
	b.wantEnd(false)
}

// A process whose client has not joined can have it said why that ends, if the process ends.
func TestAWillIsReadWhenItsConnectionEnds(t *testing.T) {
	ours := wire.AppendAuth(nil, wire.AuthKeyMask|wire.AuthSameImplMask)
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, rules{Clients: 3})
		b.piece = piece
		b.open(9)
		b.in(9, ours, rightKey, wire.AppendImpi(nil, 2))
		b.got(9)
		b.open(5)
		b.in(5, ours, rightKey, wire.AppendWill(nil, 1, "its library has ended it"))
		b.take(b.m.Expired(5))
		if b.closed[5] {
			t.Error("its time to join is over")
		}
		b.eof(5, errors.New("reset"))
		b.want(9, "another client", wire.AppendLost(nil, 1, "its library has ended it"))
		if !b.logged("has ended (its library has ended it) before all had joined") {
			t.Error(b.logs)
		}
		b.wantEnd(false)
	})
}

// A client has one will, so that wills cannot fill the server.
func TestANewWillReplacesTheOldOne(t *testing.T) {
	ours := wire.AppendAuth(nil, wire.AuthKeyMask|wire.AuthSameImplMask)
	b := newBench(t, rules{Clients: 2})
	for id := range 3 {
		b.open(id)
		b.in(id, ours, rightKey, wire.AppendWill(nil, int32(id%2), fmt.Sprint("will ", id)))
	}
	if !b.closed[0] || b.closed[1] || b.closed[2] {
		t.Error(b.closed)
	}
	b.eof(0, nil)
	b.eof(2, nil)
	if !b.logged("has ended (will 2) before all had joined") {
		t.Error(b.logs)
	}
	b.wantEnd(false)
}

// It does not count if it has been taken back, or the client has joined, and it has to be of a client.
func TestAWillThatDoesNotCount(t *testing.T) {
	ours := wire.AppendAuth(nil, wire.AuthKeyMask|wire.AuthSameImplMask)
	b := newBench(t, rules{Clients: 2})
	for i, will := range [][]byte{append(wire.AppendWill(nil, 0, "x"), wire.AppendWill(nil, 0, "")...),
		wire.AppendWill(nil, 0, "x"), wire.AppendWill(nil, 1, "y")} {
		b.open(10 + i)
		b.in(10+i, ours, rightKey, will)
	}
	b.eof(10, nil)
	b.open(0)
	b.in(0, ours, rightKey, wire.AppendImpi(nil, 0))
	b.eof(11, nil)                    // client 0 has joined
	b.in(12, wire.AppendImpi(nil, 1)) // the process itself joins
	for i, rank := range []int32{-1, 2} {
		b.open(20 + i)
		b.in(20+i, ours, rightKey, wire.AppendWill(nil, rank, "z"))
		if !b.closed[20+i] {
			t.Errorf("client rank %d has a will", rank)
		}
	}
	for _, id := range []int{0, 12} {
		b.in(id, cmd(wire.CmdDone), cmd(wire.CmdFini))
	}
	b.wantEnd(true)
}
