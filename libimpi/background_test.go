package libimpi

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// doneWithoutUs waits outside of MPI until a request is done, and reports whether it is.
func doneWithoutUs(e *Engine, id uint64) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); runtime.Gosched() {
		e.mu.Lock()
		done := e.find(id).state.done
		e.mu.Unlock()
		if done {
			return true
		}
	}
	return false
}

func TestTheProgressThreadReceivesWhileTheProgramComputes(t *testing.T) {
	for _, o := range []options{{}, {noRead: true}, {readAll: true}} {
		o.clients, o.thread = []int{2}, true
		es := makeWorld(t, o)
		const n = 1 << 20
		sent, got := bytes.Repeat([]byte("libimpi!"), n/8), make([]byte, n)
		for range 20 {
			clear(got)
			r := es[1].World().Irecv(at(got), n, byteT, 0, 3)
			s := es[0].World().Isend(at(sent), n, byteT, 1, 3, Standard)
			if !doneWithoutUs(es[1], r) || !doneWithoutUs(es[0], s) {
				t.Fatal("the message has not moved")
			}
			must(t, es[1].Wait(&r, nil))
			must(t, es[0].Wait(&s, nil))
			if !bytes.Equal(sent, got) {
				t.Fatal("the message has changed")
			}
		}
	}
}

func TestTheProgressThreadTakesWhatCameBeforeItsReceive(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}, thread: true})
	const n = 300 << 10
	every2, err := datatype.Vector(n/2, 1, 2, byteT)
	must(t, err)
	every2.Commit()
	sent, got := bytes.Repeat([]byte("ab"), n/2), make([]byte, n)
	s := es[0].World().Isend(at(sent), 1, every2, 1, 3, Standard)
	settle(es[1])
	r := es[1].World().Irecv(at(got), 1, every2, 0, 3)
	if !doneWithoutUs(es[1], r) || !doneWithoutUs(es[0], s) {
		t.Fatal("the message has not moved")
	}
	must(t, es[1].Wait(&r, nil))
	must(t, es[0].Wait(&s, nil))
	if !bytes.Equal(got, bytes.Repeat([]byte("a\x00"), n/2)) {
		t.Fatal("the message has changed")
	}
}

func wantStarted(t *testing.T, e *Engine, id uint64) {
	t.Helper()
	if err := e.Start(id); err != nil {
		t.Fatal(err)
	}
}

// Collective operations of several rounds, started or persistent, end without a call.
func TestTheProgressThreadCarriesTasksOut(t *testing.T) {
	const n = 1 << 18
	for _, p := range []int{2, 3} {
		es := makeWorld(t, options{clients: []int{p}, thread: true})
		mine, sum := make([]int32, n), make([][]int32, p)
		for i := range mine {
			mine[i] = int32(i)
		}
		kept := make([]uint64, p)
		for turn := range 10 {
			ids := make([]uint64, p)
			for r, e := range es {
				if turn == 0 || turn == 5 { // from then on it is persistent
					sum[r] = make([]int32, n)
				}
				clear(sum[r])
				if turn > 5 {
					ids[r] = kept[r]
					wantStarted(t, e, ids[r])
					continue
				}
				form := coll.Nonblocking
				if turn == 5 {
					form = coll.Persistent
				}
				task, err := e.World().Later(form)
				must(t, err)
				must(t, task.Operations().Allreduce(intBuf(mine), intBuf(sum[r]), op.Predefined(abi.MPI_SUM)))
				if turn < 5 {
					ids[r] = task.Start()
					continue
				}
				kept[r] = task.Keep()
				ids[r] = kept[r]
				wantStarted(t, e, ids[r])
			}
			for r, e := range es {
				if !doneWithoutUs(e, ids[r]) {
					t.Fatalf("%d ranks, turn %d: the operation of rank %d has not ended", p, turn, r)
				}
			}
			for r, e := range es {
				must(t, e.Wait(&ids[r], nil))
				if sum[r][n-1] != int32(p)*(n-1) {
					t.Fatalf("%d ranks, turn %d: rank %d has %d", p, turn, r, sum[r][n-1])
				}
			}
		}
	}
}

// Ranks that poll when they are alerted, and only then, complete long operations on a board, of which the last turn may
// be short.
func TestEachTurnOfALongOperationAlerts(t *testing.T) {
	const p = 4
	es := world(t, p)
	comms := make([]*Comm, p)
	together(t, es, func(e *Engine) {
		c := crowdedBoards(e)
		must(t, c.Barrier()) // opens the board
		comms[e.Me()] = c
	})
	for i := range 4 * longKinds {
		var ids [p]uint64
		var got, want [p][]byte
		for me, c := range comms {
			task, err := c.Later(coll.Nonblocking)
			must(t, err)
			n := []int{131_072, 70_001, 33_000, 9_000}[i/longKinds]
			got[me], want[me] = longOperation(t, task.Operations(), i%longKinds, n, i, me, p)
			ids[me] = task.Start()
			c.engine.home.Attention.Arm()
		}
		for alerted := true; alerted; {
			alerted = false
			for _, e := range es {
				if e.home.Attention.Relax(); e.home.Attention.Arm() {
					alerted = true
					e.mu.Lock()
					e.pollLocal()
					e.mu.Unlock()
				}
			}
		}
		for me, e := range es {
			if !e.find(ids[me]).state.done {
				t.Fatalf("operation %d of kind %d: rank %d has not been alerted", i, i%longKinds, me)
			}
			must(t, e.Wait(&ids[me], nil))
			if !bytes.Equal(got[me], want[me]) {
				t.Errorf("operation %d: rank %d got something else", i, me)
			}
			e.home.Attention.Disarm()
		}
	}
	together(t, es, func(e *Engine) { e.World().NoBoard() })
	noFailure(t, es)
}
