package libimpi

import (
	"bytes"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi/topo"
)

// Blocks of these exchanges are in a line, in a wide slot, in both that and a message since one of two has no room any
// more, in messages that are sent at once, and in long ones. Several are under way, among blocking ones.
func TestExchangesWithNeighborsAreUnderWayOnABoard(t *testing.T) {
	const many = 40
	sizes := []int{8, 300, 8192, 9000, 70000, 20, 0, 4000}
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := onBoards(e), int(e.Me())
		ring, err := topo.NewCart([]int32{3}, []bool{true}, 3)
		must(t, err)
		c.topology = ring
		must(t, c.Barrier()) // opens the board
		left, right := (me+2)%3, (me+1)%3
		for round := range 5 {
			var requests [many]uint64
			out := make([][]byte, many)
			for i := range requests {
				n := sizes[(i+round)%len(sizes)]
				in := append(pattern(n, me+10*i), pattern(n, me+10*i+5)...)
				out[i] = make([]byte, 2*n)
				send, recv := coll.Even(coll.Bytes(in).Slice(0, int64(n))), coll.Even(coll.Bytes(out[i]).Slice(0, int64(n)))
				if i%7 == 3 {
					must(t, c.Neighbors(send, recv))
					continue
				}
				task, err := c.Later(coll.Nonblocking)
				must(t, err)
				must(t, task.Operations().Neighbors(send, recv))
				requests[i] = task.Start()
			}
			for i := many - 1; i >= 0; i-- {
				if requests[i] != 0 {
					must(t, e.Wait(&requests[i], nil))
				}
				n := len(out[i]) / 2
				if !bytes.Equal(out[i][:n], pattern(n, left+10*i+5)) || !bytes.Equal(out[i][n:], pattern(n, right+10*i)) {
					t.Errorf("round %d: exchange %d, of %d bytes: rank %d got something else", round, i, n, me)
				}
			}
		}
		if *c.board.Begun < 5*many || *c.board.Tasks != 0 {
			t.Errorf("rank %d has begun %d operations on its board, and %d are under way", me, *c.board.Begun, *c.board.Tasks)
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}
