package libimpi

import (
	"sync/atomic"
	"testing"
)

// startBurst starts many short sends to rank 1 of two clients.
func startBurst(c *Comm, buf []byte, n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = c.Isend(at(buf), int64(len(buf)), byteT, 1, int32(i), Standard)
	}
	return ids
}

// takeBurst receives n messages of any tag.
func takeBurst(t *testing.T, es []*Engine, n int) {
	t.Helper()
	buf := make([]byte, 8)
	for range n {
		id := es[1].World().Irecv(at(buf), 8, byteT, 0, anyTag)
		finishAll(t, es, es[1], &id)
	}
}

func TestSendsOfABurstArriveInOrderWhateverCallFollows(t *testing.T) {
	const n = 300 // more than a window
	for _, tt := range []struct {
		name string
		call func(e *Engine, ids []uint64) error
	}{
		{"MPI_Waitall", func(e *Engine, ids []uint64) error { return e.WaitAll(ids, nil) }},
		{"MPI_Wait, each", func(e *Engine, ids []uint64) error {
			for i := range ids {
				if err := e.Wait(&ids[i], nil); err != nil {
					return err
				}
			}
			return nil
		}},
		{"MPI_Testall", func(e *Engine, ids []uint64) error {
			for {
				if done, err := e.TestAll(ids, nil); done || err != nil {
					return err
				}
			}
		}},
		{"nothing, for the program computes", func(e *Engine, ids []uint64) error { return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			es := makeWorld(t, tcpWorld)
			together(t, es, func(e *Engine) {
				c := e.World()
				buf := make([]byte, 8)
				if e.me == 0 {
					ids := startBurst(c, buf, n)
					must(t, tt.call(e, ids))
					must(t, c.Recv(at(buf), 8, byteT, 1, 0, nil))
					must(t, e.WaitAll(ids, nil))
					return
				}
				for i := range n {
					var st Status
					must(t, c.Recv(at(buf), 8, byteT, 0, anyTag, &st))
					if int(st.Tag) != i {
						t.Errorf("message %d came as number %d", st.Tag, i)
					}
				}
				must(t, c.Send(at(buf), 8, byteT, 0, 0, Standard))
			})
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func errorOf[T any](_ T, err error) error { return err }

// The fast path answers for sends that are over; it must know when something waits for such a call. Each call that
// waits or tests lets it go, also one that finds a request done at once.
func TestTheFastPathIsToldOfWhatHasGathered(t *testing.T) {
	index := make([]int32, 1)
	for name, call := range map[string]func(e *Engine, id []uint64) error{
		"MPI_Wait":     func(e *Engine, id []uint64) error { return e.Wait(&id[0], nil) },
		"MPI_Waitall":  func(e *Engine, id []uint64) error { return e.WaitAll(id, nil) },
		"MPI_Waitany":  func(e *Engine, id []uint64) error { return errorOf(e.WaitAny(id, nil)) },
		"MPI_Waitsome": func(e *Engine, id []uint64) error { return errorOf(e.WaitSome(id, index, nil)) },
		"MPI_Test":     func(e *Engine, id []uint64) error { return errorOf(e.Test(&id[0], nil)) },
		"MPI_Testall":  func(e *Engine, id []uint64) error { return errorOf(e.TestAll(id, nil)) },
		"MPI_Testany": func(e *Engine, id []uint64) error {
			_, _, err := e.TestAny(id, nil)
			return err
		},
		"MPI_Testsome":               func(e *Engine, id []uint64) error { return errorOf(e.TestSome(id, index, nil)) },
		"MPI_Request_get_status":     func(e *Engine, id []uint64) error { return errorOf(e.GetStatus(id[0], nil)) },
		"MPI_Request_get_status_all": func(e *Engine, id []uint64) error { return errorOf(e.GetStatusAll(id, nil)) },
		"MPI_Request_get_status_any": func(e *Engine, id []uint64) error {
			_, _, err := e.GetStatusAny(id, nil)
			return err
		},
		"MPI_Request_get_status_some": func(e *Engine, id []uint64) error { return errorOf(e.GetStatusSome(id, index, nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, tcpWorld)
			e, buf := es[0], make([]byte, 8)
			ids := startBurst(e.World(), buf, 100)
			if e.shared.Gathered == 0 {
				t.Fatal("nothing has gathered")
			}
			must(t, call(e, ids[99:]))
			if e.shared.Gathered != 0 {
				t.Error("something waits after the call")
			}
			takeBurst(t, es, len(ids))
		})
	}
}

// Sends that the fast path completes one by one are no burst.
func TestWaitsInTheFastPathEndBursts(t *testing.T) {
	es := makeWorld(t, tcpWorld)
	e, buf := es[0], make([]byte, 8)
	for range 100 {
		startBurst(e.World(), buf, 1)
		atomic.AddUint32(&e.shared.Turns, 1)
		if e.shared.Gathered != 0 {
			t.Fatal("a single send has gathered")
		}
	}
	takeBurst(t, es, 100)
	e.shared.Turns = 0
}

// A persistent send is started without blocking, too.
func TestPersistentSendsGather(t *testing.T) {
	es := makeWorld(t, tcpWorld)
	e, buf := es[0], make([]byte, 8)
	ids := make([]uint64, 64)
	for i := range ids {
		ids[i] = e.World().SendInit(at(buf), 8, byteT, 1, 0, Standard)
	}
	gathered := false
	for _, id := range ids {
		if err := e.Start(id); err != nil {
			t.Fatal(err)
		}
		gathered = gathered || e.shared.Gathered != 0
	}
	if !gathered {
		t.Error("nothing has gathered")
	}
	must(t, e.WaitAll(ids, nil))
	takeBurst(t, es, len(ids))
}

// sendStream sends many short messages to rank 1 by sends that block.
func sendStream(t *testing.T, c *Comm, buf []byte, n int) {
	t.Helper()
	for i := range n {
		must(t, c.Send(at(buf), int64(len(buf)), byteT, 1, int32(i), Standard))
	}
}

// Blocking sends of short messages are over when their packets are copied. They arrive in order, whatever follows.
func TestBlockingSendsOfAStreamArriveInOrderWhateverFollows(t *testing.T) {
	const n = 1000 // more than some windows
	long := make([]byte, 1<<20)
	for _, tt := range []struct {
		name string
		call func(e *Engine) error
	}{
		{"a receive", func(e *Engine) error { return nil }},
		{"a probe", func(e *Engine) error { return e.World().Probe(1, 0, new(Status)) }},
		{"MPI_Iprobe", func(e *Engine) error { _, err := e.World().Iprobe(1, 0, new(Status)); return err }},
		{"a synchronous send", func(e *Engine) error { return e.World().Send(at(long), 8, byteT, 1, n, Synchronous) }},
		{"a long message", func(e *Engine) error { return e.World().Send(at(long), 1<<20, byteT, 1, n, Standard) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			es := makeWorld(t, tcpWorld)
			together(t, es, func(e *Engine) {
				c, buf := e.World(), make([]byte, 1<<20)
				if e.me == 0 {
					sendStream(t, c, buf[:8], n)
					must(t, tt.call(e))
					must(t, c.Recv(at(buf), 8, byteT, 1, 0, nil))
					return
				}
				for i := range n {
					var st Status
					must(t, c.Recv(at(buf), 8, byteT, 0, anyTag, &st))
					if int(st.Tag) != i {
						t.Errorf("message %d came as number %d", st.Tag, i)
					}
				}
				if tt.name == "a synchronous send" || tt.name == "a long message" {
					must(t, c.Recv(at(buf), 1<<20, byteT, 0, n, nil))
				}
				must(t, c.Send(at(buf), 8, byteT, 0, 0, Standard))
			})
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

// A program that computes after its last blocking send need not call anything for it to arrive.
func TestBlockingSendsOfAStreamLeaveWhileTheProgramComputes(t *testing.T) {
	es := makeWorld(t, tcpWorld)
	buf := make([]byte, 8)
	sendStream(t, es[0].World(), buf, 100)
	for range 100 {
		must(t, es[1].World().Recv(at(buf), 8, byteT, 0, anyTag, nil))
	}
}

// What collectives send leaves at once.
func TestSendsOfCollectivesDoNotGather(t *testing.T) {
	es := makeWorld(t, tcpWorld)
	e, buf := es[0], make([]byte, 8)
	c := e.World()
	for i := range 100 {
		must(t, c.send(c.coll, at(buf), 8, byteT, 1, int32(i), modeStandard))
		if e.shared.Gathered != 0 {
			t.Fatal("a send of a collective has gathered")
		}
	}
}
