package libimpi

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// sizes around every limit that changes the protocol, in bytes.
func sizes(e *Engine, peer int) []int {
	l := e.peers[peer].Limits
	if l.Eager == 0 { // itself
		l.Eager, l.Packet = selfEager, selfEager
	}
	s := []int{0, 1, 7, 8, 24, 25, 40, 64, 4096}
	for _, at := range []int{l.Eager, l.Packet, 2 * l.Packet, selfEager} {
		s = append(s, at-1, at, at+1)
	}
	if raceOn { // everything is ten times slower
		return []int{0, 1, 8, 41, l.Eager, l.Eager + 1, l.Packet, l.Packet + 1, 2*l.Packet + 5}
	}
	return append(s, 3*l.Packet+5, 1<<20+3)
}

// every other block of 4 bytes
func strided(count int64) *datatype.Type {
	t, err := datatype.Vector(count, 4, 8, byteT)
	if err != nil {
		panic(err)
	}
	t.Commit()
	return t
}

// shapes are the same n bytes in two shapes: one run of memory, and blocks with gaps.
func shapes(n int) map[string]func() *vector {
	s := map[string]func() *vector{"run": func() *vector { return newVector(int64(n), byteT) }}
	if n >= 4 {
		// One element of blocks, and the odd bytes behind.
		s["blocks"] = func() *vector {
			t, err := datatype.Struct([]int64{1, int64(n % 4)}, []int64{0, int64(n/4*8 + 3)}, []*datatype.Type{
				strided(int64(n / 4)), byteT})
			if err != nil {
				panic(err)
			}
			t.Commit()
			return newVector(1, t)
		}
	}
	return s
}

var worlds = map[string]func(tb testing.TB) []*Engine{
	"self": func(tb testing.TB) []*Engine { return world(tb, 1) },
	"shm":  func(tb testing.TB) []*Engine { return world(tb, 2) },
	"shm without reading": func(tb testing.TB) []*Engine {
		return makeWorld(tb, options{clients: []int{2}, noRead: true})
	},
	"shm, reading all": func(tb testing.TB) []*Engine {
		return makeWorld(tb, options{clients: []int{2}, readAll: true})
	},
	"tcp": func(tb testing.TB) []*Engine { return makeWorld(tb, options{clients: []int{1, 1}}) },
}

// ends are sender and receiver of a world of one or two.
func ends(es []*Engine) (a, b *Engine, dest, source int) {
	return es[0], es[len(es)-1], len(es) - 1, 0
}

func TestMessagesOfAllModesSizesAndShapesArriveWhole(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			for _, n := range sizes(es[0], dest) {
				for from, out := range shapes(n) {
					for to, in := range shapes(n) {
						for _, mode := range []SendMode{Standard, Synchronous, Ready} {
							for _, early := range []bool{false, true} {
								if mode == Ready && early {
									continue
								}
								what := fmt.Sprintf("%d bytes from %s to %s, mode %d, early %t", n, from, to, mode, early)
								oneMessage(t, es, a, b, dest, source, out(), in(), mode, early, what)
								if t.Failed() {
									return
								}
							}
						}
					}
				}
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

// oneMessage sends one message; early: before its receive is posted.
func oneMessage(t *testing.T, es []*Engine, a, b *Engine, dest, source int, out, in *vector, mode SendMode,
	early bool, what string) {
	t.Helper()
	data := pattern(int(out.typ.Size()*out.count), int(mode)+3)
	out.put(data)
	var send, recv uint64
	tag := int32(len(data) & 0xff)
	if early {
		send = a.World().Isend(out.base, out.count, out.typ, dest, tag, mode)
		settle(es...)
		if done, _ := a.GetStatus(send, nil); done && mode == Synchronous {
			t.Errorf("%s: a synchronous send is done before its receive", what)
		}
	}
	recv = b.World().Irecv(in.base, in.count, in.typ, source, tag)
	if !early {
		send = a.World().Isend(out.base, out.count, out.typ, dest, tag, mode)
	}
	st := finishAll(t, es, b, &recv)[0]
	finishAll(t, es, a, &send)
	if !bytes.Equal(in.get(), data) {
		t.Errorf("%s: wrong data", what)
	}
	if want := newVector(in.count, in.typ).put(data); !bytes.Equal(in.mem, want.mem) {
		t.Errorf("%s: bytes of a gap were written", what)
	}
	if st.Source != int32(source) || st.Tag != tag || st.Bytes() != int64(len(data)) || st.Cancelled() {
		t.Errorf("%s: status %+v", what, st)
	}
	if send != nullRequest || recv != nullRequest {
		t.Errorf("%s: requests %#x and %#x after completion", what, send, recv)
	}
}

func TestBlockingCallsExchange(t *testing.T) {
	for name, build := range worlds {
		if name == "self" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			es := build(t)
			all := sizes(es[0], 1)
			together(t, es, func(e *Engine) {
				c, peer := e.World(), 1-int(e.me)
				for i, n := range all {
					mode := []SendMode{Standard, Synchronous}[i%2]
					out, in := pattern(n, int(e.me)), make([]byte, n)
					if e.me == 0 {
						must(t, c.Send(at(out), int64(n), byteT, peer, 1, mode))
					}
					var st Status
					must(t, c.Recv(at(in), int64(n), byteT, abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st))
					if e.me == 1 {
						must(t, c.Send(at(out), int64(n), byteT, peer, 1, mode))
					}
					if !bytes.Equal(in, pattern(n, peer)) || st.Bytes != int64(n) || st.Source != int32(peer) || st.Tag != 1 {
						t.Errorf("%d bytes: status %+v, or wrong data", n, st)
					}
					must(t, c.Sendrecv(at(out), int64(n), byteT, peer, 2, at(in), int64(n), byteT, peer, 2, &st))
					if !bytes.Equal(in, pattern(n, peer)) {
						t.Errorf("sendrecv of %d bytes: wrong data", n)
					}
					must(t, c.SendrecvReplace(at(out), int64(n), byteT, peer, 3, peer, 3, &st))
					if !bytes.Equal(out, pattern(n, peer)) {
						t.Errorf("sendrecv_replace of %d bytes: wrong data", n)
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

func TestTruncationIsReportedAndTheSenderCompletes(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			for _, n := range sizes(es[0], dest) {
				if n < 9 {
					continue
				}
				for _, early := range []bool{false, true} {
					for shape, in := range shapes(n - 5) {
						data := pattern(n, n)
						to := in()
						var send, recv uint64
						if early {
							send = a.World().Isend(at(data), int64(n), byteT, dest, 4, Synchronous)
							settle(es...)
						}
						recv = b.World().Irecv(to.base, to.count, to.typ, source, 4)
						if !early {
							send = a.World().Isend(at(data), int64(n), byteT, dest, 4, Synchronous)
						}
						var st CStatus
						until(t, es, "the receive", func() bool {
							done, err := b.Test(&recv, &st)
							if done {
								wantClass(t, err, abi.MPI_ERR_TRUNCATE)
							}
							return done
						})
						finishAll(t, es, a, &send)
						if !bytes.Equal(to.get(), data[:n-5]) || st.Bytes() != int64(n-5) {
							t.Fatalf("%d bytes into %d (%s, early %t): status %+v, or wrong data", n, n-5, shape, early, st)
						}
					}
				}
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func TestMessagesOfOneSourceDoNotOvertake(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			// Long, short, long, ... with one tag: the first packets decide, however the rest interleaves.
			const n = 40
			var sends, recvs []*uint64
			var in []*vector
			for i := range n {
				v := newVector(int64(size(i)), byteT).put(pattern(size(i), i))
				id := a.World().Isend(v.base, v.count, byteT, dest, 1, Standard)
				sends = append(sends, &id)
			}
			for i := range n {
				v := newVector(int64(size(i)), byteT)
				from := []int{source, abi.MPI_ANY_SOURCE}[i/2%2]
				id := b.World().Irecv(v.base, v.count, byteT, from, []int32{1, abi.MPI_ANY_TAG}[i%2])
				recvs, in = append(recvs, &id), append(in, v)
			}
			st := finishAll(t, es, b, recvs...)
			finishAll(t, es, a, sends...)
			for i := range n {
				if st[i].Bytes() != int64(size(i)) || !bytes.Equal(in[i].get(), pattern(size(i), i)) {
					t.Errorf("receive %d got %d bytes, want %d of message %d", i, st[i].Bytes(), size(i), i)
				}
			}
		})
	}
}

// size is the length of the i-th message in a mix of lengths.
func size(i int) int { return []int{300 << 10, 8, 100 << 10, 0, 20 << 10}[i%5] + i }

func TestAFloodOfUnexpectedMessagesIsKeptInOrder(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			const n = 5000
			var sends []*uint64
			for i := range n {
				v := newVector(int64(i%200), byteT).put(pattern(i%200, i))
				id := a.World().Isend(v.base, v.count, byteT, dest, int32(i%3), Standard)
				sends = append(sends, &id)
			}
			finishAll(t, es, a, sends...)
			// Tag by tag, the last tag first.
			for tag := int32(2); tag >= 0; tag-- {
				for i := int(tag); i < n; i += 3 {
					v := newVector(200, byteT)
					id := b.World().Irecv(v.base, 200, byteT, source, tag)
					st := finishAll(t, es, b, &id)[0]
					if st.Bytes() != int64(i%200) || !bytes.Equal(v.get()[:i%200], pattern(i%200, i)) {
						t.Fatalf("message %d: %d bytes, want %d", i, st.Bytes(), i%200)
					}
				}
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func TestNothingIsSentToOrReceivedFromProcNull(t *testing.T) {
	es := world(t, 1)
	e, c := es[0], es[0].World()
	must(t, c.Send(nil, 0, byteT, abi.MPI_PROC_NULL, 0, Standard))
	must(t, c.Bsend(nil, 0, byteT, abi.MPI_PROC_NULL, 0))
	st := Status{Source: 77}
	must(t, c.Recv(nil, 0, byteT, abi.MPI_PROC_NULL, 0, &st))
	if st != procNullStatus {
		t.Errorf("receive: %+v", st)
	}
	must(t, c.Probe(abi.MPI_PROC_NULL, 0, &st))
	m, err := c.Mprobe(abi.MPI_PROC_NULL, 0, &st)
	if must(t, err); !m.NoProc() || st != procNullStatus {
		t.Error("a matched probe finds nothing at MPI_PROC_NULL")
	}
	if m, err = c.Improbe(abi.MPI_PROC_NULL, 0, &st); err != nil || m == nil || !m.NoProc() {
		t.Error("Improbe finds nothing at MPI_PROC_NULL")
	}
	if found, err := c.Iprobe(abi.MPI_PROC_NULL, 0, &st); !found || err != nil || st != procNullStatus {
		t.Errorf("iprobe: %t %v %+v", found, err, st)
	}
	for _, id := range []uint64{
		c.Irecv(nil, 0, byteT, abi.MPI_PROC_NULL, 0), c.RecvInit(nil, 0, byteT, abi.MPI_PROC_NULL, 0),
	} {
		persistent := id
		if r := e.requests.find(id); r.state.persistent {
			if err := e.Start(id); err != nil {
				t.Error(err)
			}
		}
		var cs CStatus
		if err := e.Wait(&id, &cs); err != nil || cs.Source != abi.MPI_PROC_NULL || cs.Tag != abi.MPI_ANY_TAG ||
			cs.Bytes() != 0 {
			t.Errorf("wait: %v, %+v", err, cs)
		}
		if id != nullRequest {
			must(t, e.FreeRequest(&persistent))
		}
	}
	id := c.SendInit(nil, 0, byteT, abi.MPI_PROC_NULL, 0, Buffered)
	if err := e.Start(id); err != nil {
		t.Error(err)
	}
	must(t, e.Wait(&id, nil))
	must(t, e.FreeRequest(&id))
	idle(t, e, 0)
}
