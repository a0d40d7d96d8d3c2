package libimpi

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"
	"testing/quick"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// Shares are as many on both sides, whole elements on both sides, and one for each of the sender's partitions where
// that can be.
func TestSharesAreWholeElementsOnBothSides(t *testing.T) {
	check := func(sp, sn, rp uint8, sameSize bool) bool {
		sendParts, recvParts := int64(sp%40)+1, int64(rp%40)+1
		send := sendParts * int64(sn%20)
		recv := send
		if !sameSize {
			recv = send * 3
		}
		n := int64(shares(send, recv, sendParts, recvParts))
		if n < 1 || send%n != 0 || recv%n != 0 {
			return false
		}
		return send == 0 || n%sendParts == 0
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

// A receive may have more room than there is data, in partitions of any size; the data lies at its start, and a
// partition has arrived when what it has of the data is there.
func TestDataOfAPartitionedSendLiesAtTheStartOfALargerReceive(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			for _, x := range []struct{ sendParts, sendCount, parts, count int }{
				{4, 3, 4, 6}, {4, 3, 3, 5}, {6, 2, 5, 3}, {1, 12, 13, 1}, {12, 1, 1, 100}, {3, 4, 2, 6}, {2, 6, 4, 6}, {3, 0, 2, 4},
			} {
				n := x.sendParts * x.sendCount
				out, in := pattern(n, 1), make([]byte, x.parts*x.count)
				send := a.World().PsendInit(at(out), int32(x.sendParts), int64(x.sendCount), byteT, dest, 3)
				recv := b.World().PrecvInit(at(in), int32(x.parts), int64(x.count), byteT, source, 3)
				must(t, asError(a.Start(send)))
				must(t, asError(b.Start(recv)))
				must(t, asError(a.Pready(send, 0, int32(x.sendParts)-1)))
				for p := range x.parts {
					for arrived := false; !arrived; {
						var err *Error
						a.progress()
						if arrived, err = b.Parrived(recv, int32(p)); err != nil {
							t.Fatal(err)
						}
					}
					if have := min(n, (p+1)*x.count); !bytes.Equal(in[:have], out[:have]) {
						t.Fatalf("%v: partition %d has arrived: %v", x, p, in)
					}
				}
				finishAll(t, es, a, &send)
				st := finishAll(t, es, b, &recv)
				if st[0].Bytes() != int64(n) || !bytes.Equal(in[:n], out) || !bytes.Equal(in[n:], make([]byte, len(in)-n)) {
					t.Errorf("%v: %v of %v, %d bytes", x, in, out, st[0].Bytes())
				}
				must(t, a.FreeRequest(&send))
				must(t, b.FreeRequest(&recv))
			}
			noFailure(t, es)
		})
	}
}

// asError is err as an error that is nil if there is none.
func asError(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

// The overlap is what comparing the ends of all shares finds.
func TestOverlapIsWhatTheEndsSay(t *testing.T) {
	check := func(a, b, c uint8) bool {
		n, m := int32(a%50)+1, int32(b%50)+1
		i := int32(c) % n
		first, last := overlap(i, n, m)
		for j := range m {
			common := int64(j)*int64(n) < (int64(i)+1)*int64(m) && int64(i)*int64(m) < (int64(j)+1)*int64(n)
			if common != (j >= first && j <= last) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func TestAPartitionArrivesBeforeTheOthersAreReady(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			out, in := pattern(12, 1), make([]byte, 12)
			send := a.World().PsendInit(at(out), 6, 2, byteT, dest, 3)
			recv := b.World().PrecvInit(at(in), 4, 3, byteT, source, 3)
			for cycle := range 3 {
				clear(in)
				if err := a.Start(send); err != nil {
					t.Fatal(err)
				}
				if err := b.Start(recv); err != nil {
					t.Fatal(err)
				}
				for p := int32(5); p >= 0; p-- {
					if cycle == 2 && p == 0 {
						settle(es...)
						for part, want := range []bool{false, true, true, true} {
							if got, err := b.Parrived(recv, int32(part)); got != want || err != nil {
								t.Errorf("partition %d: %t %v", part, got, err)
							}
						}
					}
					if err := a.Pready(send, p, p); err != nil {
						t.Fatal(err)
					}
				}
				finishAll(t, es, a, &send)
				st := finishAll(t, es, b, &recv)
				if !bytes.Equal(in, out) || st[0].Bytes() != 12 || st[0].Tag != 3 || st[0].Source != int32(source) {
					t.Errorf("cycle %d: %v, status %+v", cycle, in, st[0])
				}
			}
			must(t, a.FreeRequest(&send))
			must(t, b.FreeRequest(&recv))
			noFailure(t, es)
		})
	}
}

func TestPreadyIsRefusedWhereItMeansNothing(t *testing.T) {
	e := world(t, 1)[0]
	c := e.World()
	buf := make([]byte, 4)
	send := c.PsendInit(at(buf), 4, 1, byteT, 0, 0)
	recv := c.PrecvInit(at(buf), 4, 1, byteT, 0, 0)
	ordinary := c.Irecv(at(buf), 1, byteT, 0, 0)
	wantClass(t, e.Pready(send, 0, 0), abi.MPI_ERR_REQUEST) // not started
	if err := e.Start(send); err != nil {
		t.Fatal(err)
	}
	wantClass(t, e.Pready(send, 4, 4), abi.MPI_ERR_ARG)
	wantClass(t, e.PreadyList(send, []int32{1, -1}), abi.MPI_ERR_ARG)
	if err := e.Pready(send, 1, 1); err != nil { // it is not ready: the list was wrong as a whole
		t.Error(err)
	}
	wantClass(t, e.Pready(send, 1, 1), abi.MPI_ERR_ARG)              // a second time
	wantClass(t, e.PreadyList(send, []int32{2, 2}), abi.MPI_ERR_ARG) // found at the second place
	wantClass(t, e.Pready(recv, 0, 0), abi.MPI_ERR_REQUEST)
	wantClass(t, e.Pready(ordinary, 0, 0), abi.MPI_ERR_REQUEST)
	_, err := e.Parrived(send, 0)
	wantClass(t, err, abi.MPI_ERR_REQUEST)
	if arrived, err := e.Parrived(recv, 3); !arrived || err != nil { // not started
		t.Errorf("inactive: %t %v", arrived, err)
	}
}

func TestOffersAndAnswersThatMakeNoSenseAreBreaches(t *testing.T) {
	words := func(w ...int64) []byte {
		var b []byte
		for _, x := range w {
			b = binary.NativeEndian.AppendUint64(b, uint64(x))
		}
		return b
	}
	buf := make([]byte, 4)
	for name, payload := range map[string][]byte{
		"short": words(4, 4, 0), "long": words(4, 4, 0, 4, 0), "fewer than none": words(-4, 4, 0, 4),
		"no partitions":       words(4, -1, 0, 4),
		"too many partitions": words(4, 1<<31, 0, 4), "no tag": words(4, 4, -1, 4), "large tag": words(4, 4, 1<<31, 4),
		"no bytes": words(4, 4, 0, -1), "empty": nil,
	} {
		e := world(t, 2)[0]
		c := e.World()
		recv := c.PrecvInit(at(buf), 4, 1, byteT, 1, 7)
		e.deliver(transport.Header{Kind: transport.Data, Src: 1, LSRank: 1, Tag: 7, CID: c.parts.offers.cid}, payload)
		wantBreach(t, e, "1", "offer: "+name)
		must(t, e.FreeRequest(&recv))
	}
	for name, payload := range map[string][]byte{
		"short": words(4), "long": words(4, 0, 0), "no messages": words(0, 0), "fewer than none": words(-1, 0),
		"parts of elements":  words(3, 0),
		"more than elements": words(8, 0), "no tag": words(4, -1), "large tag": words(4, 1<<31), "empty": nil,
	} {
		e := world(t, 2)[0]
		c := e.World()
		send := c.PsendInit(at(buf), 4, 1, byteT, 1, 7)
		e.deliver(transport.Header{Kind: transport.Data, Src: 1, LSRank: 1, Tag: 0, CID: c.parts.data.cid}, payload)
		wantBreach(t, e, "1", "answer: "+name)
		must(t, e.FreeRequest(&send))
	}
}

// Threads that make communicators at the same time get different context ids, the same everywhere.
func TestThreadsMakeCommunicatorsAtTheSameTime(t *testing.T) {
	const threads, rounds = 4, 10
	es := world(t, 3)
	parents := make([][threads]*Comm, len(es))
	for k := range threads {
		together(t, es, func(e *Engine) {
			c, err := e.World().Dup()
			must(t, err)
			parents[e.me][k] = c
		})
	}
	ids := make([][threads][rounds]uint64, len(es))
	together(t, es, func(e *Engine) {
		var wg sync.WaitGroup
		for k := range threads {
			wg.Go(func() {
				for i := range rounds {
					c, err := parents[e.me][k].Dup()
					if err != nil {
						t.Error(err)
						return
					}
					ids[e.me][k][i] = c.CID()
				}
			})
		}
		wg.Wait()
	})
	seen := map[uint64]bool{}
	for k := range threads {
		for i := range rounds {
			id := ids[0][k][i]
			if seen[id] || ids[1][k][i] != id || ids[2][k][i] != id {
				t.Errorf("thread %d, communicator %d: ids %d %d %d", k, i, id, ids[1][k][i], ids[2][k][i])
			}
			seen[id] = true
		}
	}
}
