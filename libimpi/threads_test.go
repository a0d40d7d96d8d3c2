package libimpi

import (
	"bytes"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// MPI_THREAD_MULTIPLE: several threads of each process are inside at once, wait for different things, sleep while
// others poll, and take what is theirs.

func threadsOf(es []*Engine, n int) (all []*Engine) {
	for range n {
		all = append(all, es...)
	}
	return all
}

func TestThreadsOfOneProcessExchangeAtOnce(t *testing.T) {
	for name, build := range worlds {
		for _, patient := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				es := build(t)
				numbers := make(chan int32, 64)
				const threads = 4
				for i := range es {
					es[i].waiting.patient.Store(patient)
					for n := range int32(threads) {
						numbers <- int32(i)<<8 | n
					}
				}
				const rounds = 20 // each length with each way to exchange
				together(t, threadsOf(es, threads), func(*Engine) {
					x := <-numbers
					talk(t, es[x>>8], es, x&0xff, rounds)
				})
				for _, e := range es {
					idle(t, e, 0)
				}
				noFailure(t, es)
			})
		}
	}
}

// talk exchanges messages with the thread of the same number in the other process, or in this one's self.
func talk(t *testing.T, e *Engine, es []*Engine, tag int32, rounds int) {
	c, peer := e.World(), len(es)-1-int(e.me)
	lengths := []int{0, 8, 3000, 20 << 10, 100 << 10}
	for round := range rounds {
		n := lengths[(round+int(tag))%len(lengths)]
		out, in := pattern(n, round), make([]byte, n)
		var cs CStatus
		switch (round + int(tag)) % 4 {
		case 0:
			var st Status
			must(t, c.Sendrecv(at(out), int64(n), byteT, peer, tag, at(in), int64(n), byteT, peer, tag, &st))
		case 1:
			id := c.Isend(at(out), int64(n), byteT, peer, tag, Synchronous)
			var st Status
			m, err := c.Mprobe(peer, tag, &st)
			must(t, err)
			if st.Bytes != int64(n) {
				t.Errorf("thread %d, round %d: probed %d bytes, want %d", tag, round, st.Bytes, n)
			}
			ids := []uint64{m.Imrecv(at(in), int64(n), byteT), id}
			must(t, e.WaitAll(ids, nil))
		case 2:
			ids := []uint64{c.Irecv(at(in), int64(n), byteT, abi.MPI_ANY_SOURCE, tag),
				c.Isend(at(out), int64(n), byteT, peer, tag, Standard)}
			for range ids {
				_, err := e.WaitAny(ids, &cs)
				must(t, err)
			}
		case 3:
			ids := []uint64{c.Irecv(at(in), int64(n), byteT, peer, tag), c.Isend(at(out), int64(n), byteT, peer, tag, Standard)}
			for done := false; !done; {
				var err error
				done, err = e.TestAll(ids, nil)
				must(t, err)
			}
		}
		if !bytes.Equal(in, out) {
			t.Errorf("thread %d, round %d: wrong data of %d bytes", tag, round, n)
		}
	}
}

// One thread sleeps in a wait for what comes late, while the others come and go.
func TestASleepingThreadIsServedByThoseThatPoll(t *testing.T) {
	es := world(t, 2)
	roles := make(chan int, 4)
	for i := range 4 {
		roles <- i
	}
	together(t, threadsOf(es, 2), func(*Engine) {
		role := <-roles
		e := es[role%2]
		c, buf := e.World(), make([]byte, 8)
		switch role {
		case 0: // sleeps until the very last message
			must(t, c.Recv(at(buf), 8, byteT, 1, 99, nil))
		case 1:
			for range 2000 {
				must(t, c.Recv(at(buf), 8, byteT, 0, 1, nil))
				must(t, c.Send(at(buf), 8, byteT, 0, 2, Standard))
			}
			must(t, c.Send(at(buf), 8, byteT, 0, 99, Standard))
		case 2:
			for range 2000 {
				must(t, c.Send(at(buf), 8, byteT, 1, 1, Standard))
				must(t, c.Recv(at(buf), 8, byteT, 1, 2, nil))
			}
		}
	})
	for _, e := range es {
		idle(t, e, 0)
	}
}
