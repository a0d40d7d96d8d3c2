package server

import (
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// A client that ends badly can say why, and those that know the command hear of it. Which is not of IMPI 0.0.

func TestALostClientIsToldToThoseWhoKnowTheCommand(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, Rules{Clients: 4})
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
		b.in(0, wire.AppendLost(nil, "rank 1 was killed"))
		b.want(2, "before it has hung up")
		b.eof(0, nil)
		b.want(1, "who has finished")
		b.want(2, "who knows the command", wire.AppendLostClient(nil, 0, "rank 1 was killed"))
		b.want(3, "a foreign client")
		b.eof(3, nil)
		b.want(2, "who knows the command", wire.AppendLostClient(nil, 3, "10.0.0.3:99 hung up"))
		b.in(2, cmd(wire.CmdFini))
		b.wantEnd(false)
		if !b.logged("client 0") || !b.logged("has ended (rank 1 was killed)") {
			t.Error(b.logs)
		}
	})
}

func TestAClientLostInTheExchangeIsNamed(t *testing.T) {
	b := newBench(t, Rules{Clients: 3})
	b.join(3)
	for i := range 3 {
		b.got(i)
	}
	b.in(0, coll(wire.COwn, make([]byte, wire.OwnSize)...))
	b.in(1, wire.AppendLost(nil, "rank 4 was killed"))
	b.eof(1, nil)
	b.want(0, "who knows the command", wire.AppendLostClient(nil, 1, "rank 4 was killed"))
	b.want(2, "who does not")
	b.wantEnd(false)
}
