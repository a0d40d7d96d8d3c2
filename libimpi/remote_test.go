package libimpi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Messages between clients: external32, flow control, long messages in small pieces, the end.

// flows are settings of the flow control and of packets, from the narrowest to the usual ones.
var flows = map[string]func(*transport.Job){
	"1/1, packets of 1 byte":      func(j *transport.Job) { j.AckMark, j.HiWater, j.MaxDataLen = 1, 1, 1 },
	"1/1, packets of 100 bytes":   func(j *transport.Job) { j.AckMark, j.HiWater, j.MaxDataLen = 1, 1, 100 },
	"1/2, packets of 7 bytes":     func(j *transport.Job) { j.AckMark, j.HiWater, j.MaxDataLen = 1, 2, 7 },
	"10/20, packets of 100 bytes": func(j *transport.Job) { j.MaxDataLen = 100 },
	"10/20, packets of 64 KiB":    func(*transport.Job) {},
}

func TestLongMessagesInSmallPieces(t *testing.T) {
	for name, tune := range flows {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, options{clients: []int{1, 1}, tune: tune})
			d := es[0].peers[1].Limits.Eager
			for _, n := range []int{0, 1, d - 1, d, d + 1, 2*d - 1, 2 * d, 2*d + 1, 10*d + 3} {
				for shape, in := range shapes(n) {
					for _, early := range []bool{false, true} {
						what := fmt.Sprintf("%d bytes into %s, early %t", n, shape, early)
						oneMessage(t, es, es[0], es[1], 1, 0, newVector(int64(n), byteT), in(), Standard, early, what)
						oneMessage(t, es, es[1], es[0], 0, 1, in(), in(), Synchronous, early, what)
					}
				}
			}
			for _, e := range es {
				idle(t, e, 0)
			}
			noFailure(t, es)
		})
	}
}

// A program may compute before its first call: what it is sent meanwhile must be acknowledged all the same.
func TestWhoHasNotCalledYetAcknowledges(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}})
	n := 2*int(es[0].job.HiWater) + 1
	var ids []uint64
	for range n {
		ids = append(ids, es[1].World().Isend(at(nil), 0, byteT, 0, 0, Standard))
	}
	must(t, es[1].WaitAll(ids, nil)) // rank 0 does nothing
	for range n {
		must(t, es[0].World().Recv(at(nil), 0, byteT, 1, 0, nil))
	}
}

// The watchers carry a long message while the programs on both sides compute: no call polls for it.
func TestALongMessageFlowsWhileNobodyCalls(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}})
	out, in := make([]byte, 4<<20), make([]byte, 4<<20)
	for i := range out {
		out[i] = byte(i * 7 / 3)
	}
	for round := range 3 {
		recv := es[1].World().Irecv(at(in), int64(len(in)), byteT, 0, 5)
		send := es[0].World().Isend(at(out), int64(len(out)), byteT, 1, 5, Standard)
		if !doneWithoutUs(es[0], send) || !doneWithoutUs(es[1], recv) {
			t.Fatalf("round %d: the message does not arrive", round)
		}
		must(t, es[0].Wait(&send, nil))
		must(t, es[1].Wait(&recv, nil))
		if !bytes.Equal(in, out) {
			t.Fatalf("round %d: another message", round)
		}
		clear(in)
	}
	for _, e := range es {
		idle(t, e, 0)
	}
}

// Both directions at once, more than any window lets through, none of it received before all of it is sent.
func TestFullWindowsDrainInBothDirections(t *testing.T) {
	for name, tune := range flows {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, options{clients: []int{2, 2}, tune: tune})
			together(t, es, func(e *Engine) {
				c := e.World()
				n := 25
				if raceOn { // everything is ten times slower, above all where others use the machine, too
					n = 10
				}
				var ids []uint64
				var in [][]byte
				length := func(i int) int { return []int{0, 1, 90, 101, 333}[i%5] }
				for peer := range 4 {
					for i := range n {
						ids = append(ids, c.Isend(at(pattern(length(i), i+int(e.me)*n)), int64(length(i)), byteT, peer, 0, SendMode(i%2)))
					}
				}
				for peer := range 4 {
					for i := range n {
						buf := make([]byte, length(i))
						ids, in = append(ids, c.Irecv(at(buf), int64(len(buf)), byteT, peer, 0)), append(in, buf)
					}
				}
				must(t, e.WaitAll(ids, nil))
				for peer := range 4 {
					for i := range n {
						if !bytes.Equal(in[peer*n+i], pattern(length(i), i+peer*n)) {
							t.Errorf("message %d of rank %d to rank %d: wrong data", i, peer, e.me)
						}
					}
				}
				must(t, e.Finish())
			})
			for _, e := range es {
				idle(t, e, 0)
			}
			noFailure(t, es)
		})
	}
}

func native(words ...uint64) (p []byte) {
	for _, w := range words {
		p = binary.NativeEndian.AppendUint64(p, w)
	}
	return p
}

func TestLengthsBetweenClientsAreThoseOfExternal32(t *testing.T) {
	// A C long has 8 bytes here and 4 on the wire; a packet of 10 bytes cuts elements in two.
	for _, packet := range []uint32{1 << 10, 10} {
		es := makeWorld(t, options{clients: []int{1, 1}, tune: func(j *transport.Job) { j.MaxDataLen = packet }})
		a, b := es[0], es[1]
		minus5 := ^uint64(4)
		out := newVector(4, longT).put(native(1, minus5, 0x7fffffff, 0))
		for _, early := range []bool{false, true} {
			in := newVector(6, longT)
			var send, recv uint64
			if early {
				send = a.World().Isend(out.base, 4, longT, 1, 0, Standard)
				var st Status
				must(t, b.World().Probe(0, 0, &st))
				if st.Bytes != 16 || !st.External {
					t.Errorf("probe: %+v", st)
				}
			}
			recv = b.World().Irecv(in.base, 6, longT, 0, 0)
			if !early {
				send = a.World().Isend(out.base, 4, longT, 1, 0, Standard)
			}
			st := finishAll(t, es, b, &recv)[0]
			finishAll(t, es, a, &send)
			if !st.External() || st.Bytes() != 16 || !bytes.Equal(in.get()[:32], out.get()) {
				t.Errorf("external %t, %d bytes, %x", st.External(), st.Bytes(), in.get())
			}
		}
		// Truncation counts in the same bytes.
		in := newVector(3, longT)
		send, recv := a.World().Isend(out.base, 4, longT, 1, 0, Standard), b.World().Irecv(in.base, 3, longT, 0, 0)
		var st CStatus
		until(t, es, "the receive", func() bool {
			done, err := b.Test(&recv, &st)
			if done {
				wantClass(t, err, abi.MPI_ERR_TRUNCATE)
			}
			return done
		})
		finishAll(t, es, a, &send)
		if st.Bytes() != 12 || !bytes.Equal(in.get(), out.get()[:24]) {
			t.Errorf("%d bytes, %x", st.Bytes(), in.get())
		}
		// What does not fit into 4 bytes is the sender's error, and the receiver is not left waiting.
		big := newVector(2, longT).put(native(1<<40, 7))
		recv = b.World().Irecv(in.base, 3, longT, 0, 0)
		send = a.World().Isend(big.base, 2, longT, 1, 0, Standard)
		until(t, es, "the send", func() bool {
			done, err := a.Test(&send, nil)
			if done {
				wantClass(t, err, abi.MPI_ERR_CONVERSION)
			}
			return done
		})
		finishAll(t, es, b, &recv)
		must(t, a.AttachBuffer(1<<16))
		wantClass(t, a.World().Bsend(big.base, 2, longT, 1, 0), abi.MPI_ERR_CONVERSION)
		must(t, a.DetachBuffer())
		for _, e := range es {
			idle(t, e, 0)
		}
	}
}

func TestTypesOfAllSizesKeepTheirValues(t *testing.T) {
	pair, err := datatype.Struct([]int64{1, 3}, []int64{0, 8}, []*datatype.Type{datatype.Named(abi.MPI_SHORT), doubleT})
	if err != nil {
		t.Fatal(err)
	}
	pair.Commit()
	types := map[string]*datatype.Type{"int": intT, "double": doubleT, "short and doubles": pair}
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			for name, typ := range types {
				for _, n := range []int64{1, 1000, 20000} {
					out, in := newVector(n, typ), newVector(n, typ)
					data := make([]byte, typ.PackedSize(n, datatype.Native))
					for i := range data {
						data[i] = byte(i) & 0x3f // a number in any format
					}
					out.put(data)
					exchangeTyped(t, es, a, b, dest, source, out, in)
					if !bytes.Equal(in.get(), data) {
						t.Errorf("%d of %s: wrong data", n, name)
					}
					// And by way of a copy.
					must(t, a.AttachBuffer(1<<21))
					must(t, a.World().Bsend(out.base, n, typ, dest, 0))
					in = newVector(n, typ)
					id := b.World().Irecv(in.base, n, typ, source, 0)
					finishAll(t, es, b, &id)
					if !bytes.Equal(in.get(), data) {
						t.Errorf("%d of %s, buffered: wrong data", n, name)
					}
					must(t, a.DetachBuffer())
				}
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func exchangeTyped(t *testing.T, es []*Engine, a, b *Engine, dest, source int, out, in *vector) {
	t.Helper()
	recv := b.World().Irecv(in.base, in.count, in.typ, source, 0)
	send := a.World().Isend(out.base, out.count, out.typ, dest, 0, Standard)
	finishAll(t, es, b, &recv)
	finishAll(t, es, a, &send)
}

func TestMessagesOnTheirWayArriveBeforeTheEnd(t *testing.T) {
	for name, o := range map[string]options{
		"shm": shmWorld, "tcp": tcpWorld, "both": {clients: []int{2, 2}},
		"narrow": {clients: []int{2, 1}, tune: flows["1/1, packets of 100 bytes"]},
	} {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			n := len(es)
			got := make([][]byte, n)
			together(t, es, func(e *Engine) {
				c := e.World()
				must(t, e.AttachBuffer(1<<20))
				right, left := (int(e.me)+1)%n, (int(e.me)+n-1)%n
				id := c.Isend(at(pattern(5000, int(e.me))), 5000, byteT, right, 1, Standard)
				must(t, e.FreeRequest(&id))
				must(t, c.Bsend(at(pattern(5000, int(e.me))), 5000, byteT, right, 2))
				got[e.me] = make([]byte, 10000)
				must(t, c.Recv(at(got[e.me]), 5000, byteT, left, 1, nil))
				must(t, c.Recv(at(got[e.me][5000:]), 5000, byteT, left, 2, nil))
				must(t, e.Finish())
			})
			for i, p := range got {
				if want := pattern(5000, (i+n-1)%n); !bytes.Equal(p[:5000], want) || !bytes.Equal(p[5000:], want) {
					t.Errorf("rank %d: wrong data", i)
				}
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func TestALostClientIsReportedByName(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1, 1}})
	together(t, es, func(e *Engine) {
		if e.me == 1 {
			e.Abort()
			return
		}
		err := e.World().Recv(nil, 0, byteT, 1, 0, nil)
		wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
		if err != nil && !bytes.Contains([]byte(err.Error()), []byte("rank 1 of MPI_COMM_WORLD")) {
			t.Error(err)
		}
	})
}

func TestCollectivesOfBothKindsAgree(t *testing.T) {
	for name, o := range map[string]options{
		"one client": {clients: []int{3}}, "three clients": {clients: []int{2, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			together(t, es, func(e *Engine) {
				c := e.World()
				n := c.Size()
				for _, count := range []int64{1, 300} { // below and above IMPI's crossover
					mine, sum, all := newVector(count, intT), newVector(count, intT), newVector(count*int64(n), intT)
					value := func(r int, i int64) uint32 { return uint32(r*1000) + uint32(i) }
					var packed []byte
					for i := range count {
						packed = binary.NativeEndian.AppendUint32(packed, value(c.Rank(), i))
					}
					mine.put(packed)
					buf := func(v *vector) coll.Buf { return coll.Buf{Base: v.base, Count: v.count, Type: v.typ} }
					must(t, c.Allreduce(buf(mine), buf(sum), op.Predefined(abi.MPI_SUM)))
					for i, got := range words(sum.get()) {
						if want := uint32(n*(n-1)/2*1000) + uint32(n)*uint32(i); got != want {
							t.Errorf("sum %d is %d, want %d", i, got, want)
							break
						}
					}
					block := coll.Buf{Base: all.base, Count: count, Type: intT}
					must(t, c.Allgather(buf(mine), block))
					for i, got := range words(all.get()) {
						if want := value(i/int(count), int64(i)%count); got != want {
							t.Errorf("element %d is %d, want %d", i, got, want)
							break
						}
					}
					must(t, c.Bcast(buf(mine), n-1))
					if got := words(mine.get())[0]; got != value(n-1, 0) {
						t.Errorf("broadcast %d", got)
					}
				}
				must(t, c.Barrier())
			})
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func words(p []byte) []uint32 {
	w := make([]uint32, len(p)/4)
	for i := range w {
		w[i] = binary.NativeEndian.Uint32(p[4*i:])
	}
	return w
}
