package libimpi

import (
	"fmt"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// quietAfter checks that nothing is left of agreements and freed communicators.
func quietAfter(t *testing.T, es []*Engine, contexts int) {
	t.Helper()
	noFailure(t, es)
	for _, e := range es {
		idle(t, e, 0)
		n := len(e.contexts.high)
		for _, c := range e.contexts.low {
			if c != nil {
				n++
			}
		}
		if n != contexts {
			t.Errorf("rank %d: %d contexts, want %d", e.me, n, contexts)
		}
	}
}

func TestGroupsMakeCommunicators(t *testing.T) {
	for name, o := range spaces {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			together(t, es, func(e *Engine) {
				w := e.World().Group()
				for i := range 20 { // again and again under one tag: a slow process is not overtaken in an agreement
					c, err := e.CreateFromGroup(w, "all")
					must(t, err)
					if c.Size() != 3 || c.Rank() != int(e.me) {
						t.Errorf("rank %d of %d", c.Rank(), c.Size())
					}
					d, err := c.Dup()
					must(t, err)
					must(t, d.Free())
					if i%3 == 0 { // else the quick ones run ahead
						must(t, c.Barrier())
					}
				}
			})
			noFailure(t, es)
		})
	}
}

// Threads of each process make communicators of the same group, each under its own tag.
func TestStringTagsKeepThreadsApart(t *testing.T) {
	for name, o := range spaces {
		if o.fake != nil {
			continue // its processes have one thread each
		}
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			var mu sync.Mutex
			seen := map[uint64]string{} // context id -> tag
			together(t, es, func(e *Engine) {
				var wg sync.WaitGroup
				for thread := range 4 {
					wg.Go(func() {
						for i := range 4 {
							tag := fmt.Sprintf("thread %d, %d", thread, i)
							c, err := e.CreateFromGroup(e.World().Group(), tag)
							if err != nil {
								t.Error(err)
								return
							}
							mu.Lock()
							if other, ok := seen[c.CID()]; ok && other != tag {
								t.Errorf("%s has the context of %s", tag, other)
							}
							seen[c.CID()] = tag
							mu.Unlock()
							if err := c.Barrier(); err != nil {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
			})
			if len(seen) != 16 {
				t.Errorf("%d communicators, want 16", len(seen))
			}
			noFailure(t, es)
		})
	}
}

func TestAnAgreementLeavesNothing(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}})
	together(t, es, func(e *Engine) {
		for range 30 {
			c, err := e.CreateFromGroup(e.World().Group(), "x")
			must(t, err)
			must(t, c.Free())
		}
	})
	quietAfter(t, es, 4)
}

// Two calls with one tag in one process at the same time are the program's error; it is told.
func TestAnAgreementIsOpenOnce(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}})
	e := es[0]
	c, err := e.openAgreement(agreeToCreate, "x", e.World().Group())
	must(t, err)
	_, err = e.openAgreement(agreeToCreate, "x", e.World().Group())
	wantClass(t, err, abi.MPI_ERR_ARG)
	c.closeAgreement()
	c, err = e.openAgreement(agreeToCreate, "x", e.World().Group())
	must(t, err)
	c.closeAgreement()
}

// What another has sent for its next call at the same place is there when the place opens again, in order.
func TestMessagesForTheNextAgreementStay(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}})
	a, b := es[0], es[1]
	g := a.World().Group()
	here, err := a.openAgreement(agreeToCreate, "x", g)
	must(t, err)
	for round := range 2 {
		there, err := b.openAgreement(agreeToCreate, "x", g)
		must(t, err)
		for i := range 3 {
			must(t, there.ops.Send(countBuf([]uint64{uint64(10*round + i)}), 0, 5))
		}
		there.closeAgreement()
	}
	got := make([]uint64, 1)
	for round := range 2 {
		for i := range 3 {
			must(t, here.ops.Recv(countBuf(got), 1, 5))
			if got[0] != uint64(10*round+i) {
				t.Errorf("round %d, message %d: %d", round, i, got[0])
			}
		}
		here.closeAgreement()
		here, err = a.openAgreement(agreeToCreate, "x", g)
		must(t, err)
	}
	here.closeAgreement()
	quietAfter(t, es, 4)
}

func TestGroupsMakeIntercommunicators(t *testing.T) {
	for name, o := range halves {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			together(t, es, func(e *Engine) {
				groups := [2]*Group{NewGroup([]int32{1, 0}), NewGroup([]int32{2, 3})}
				mine, theirs := groups[e.me/2], groups[1-e.me/2]
				for range 5 {
					c, err := e.CreateInterFromGroups(mine, 1, theirs, 1, "tag")
					must(t, err)
					if !c.Inter() || c.Ranks() != 2 || c.RemoteGroup().Compare(theirs) != abi.MPI_IDENT ||
						c.Group().Compare(mine) != abi.MPI_IDENT {
						t.Errorf("rank %d: groups %v and %v", e.me, c.Group().Worlds(), c.RemoteGroup().Worlds())
					}
					must(t, c.Barrier())
				}
			})
			noFailure(t, es)
		})
	}
}

// Another implementation's leader may send in the point-to-point context of the peer communicator.
func TestALeaderIsHeardInEitherContext(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}, tune: foreign})
	together(t, es, func(e *Engine) {
		w := e.World()
		if e.me == 1 { // the other implementation: the same conversation, in the other context
			in := make([]uint64, 2)
			must(t, w.recv(w.coll, countBuf(in).Base, 2, countType, 0, 7, nil))
			must(t, w.send(w.p2p, countBuf([]uint64{9, 1}).Base, 2, countType, 0, 7, modeStandard))
			ranks := make([]int32, 1)
			must(t, w.recv(w.coll, intBuf(ranks).Base, 1, intType, 0, 7, nil))
			must(t, w.send(w.p2p, intBuf([]int32{1}).Base, 1, intType, 0, 7, modeStandard))
			must(t, w.Barrier())
			return
		}
		c, err := e.Self().CreateInter(0, w, 1, 7)
		must(t, err)
		wantCIDs(t, c, 10)
		if c.RemoteGroup().World(0) != 1 {
			t.Errorf("remote group %v", c.RemoteGroup().Worlds())
		}
		must(t, w.Barrier())
	})
	noFailure(t, es)
}

// A freed communicator is there as long as a receive or a persistent request of it is, and not longer.
func TestAFreedCommunicatorGoesWithItsLastRequest(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}})
	a, b := es[0], es[1]
	const cid = 70
	c, d := agreed(t, a, cid), agreed(t, b, cid)
	in, kept, out := make([]byte, 8), make([]byte, 8), pattern(8, 1)
	recv := d.Irecv(at(in), 8, byteT, 0, 1)
	again := d.RecvInit(at(kept), 8, byteT, 0, 2)
	unread := c.Isend(at(out), 8, byteT, 1, 9, Standard) // nobody will ask for it
	until(t, es, "a message that waits", func() bool { return b.contexts.find(cid).space.Oldest() != nil })
	must(t, d.Free())
	if b.contexts.find(cid) == nil {
		t.Fatal("gone while a receive waits")
	}
	first := c.Isend(at(out), 8, byteT, 1, 1, Standard)
	finishAll(t, es, b, &recv)
	if b.contexts.find(cid) == nil {
		t.Fatal("gone while there is a persistent request")
	}
	if err := b.Start(again); err != nil {
		t.Fatal(err)
	}
	second := c.Isend(at(out), 8, byteT, 1, 2, Standard)
	id := again
	finishAll(t, es, b, &id)
	must(t, b.FreeRequest(&again))
	if b.contexts.find(cid) != nil || b.contexts.find(cid+1) != nil {
		t.Error("still there, and nothing uses it")
	}
	finishAll(t, es, a, &unread, &first, &second)
	must(t, c.Free())
	quietAfter(t, es, 4)
}
