package libimpi

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// spaces are the kinds of job that communicators are tested in.
var spaces = map[string]options{
	"one client":  {clients: []int{3}},
	"two clients": {clients: []int{2, 1}},

	"one client, fake":  {clients: []int{3}, fake: &fake.Options{Seed: 1}},
	"two clients, fake": {clients: []int{2, 1}, fake: &fake.Options{Seed: 2, Room: 2}},
}

// foreign makes each client of a job take the others for another implementation, beside which IMPI's rule chooses ids.
func foreign(j *transport.Job) {
	for i := range j.Hosts {
		j.Hosts[i].SameImpl, j.Hosts[i].Exchange = false, false
	}
}

// ids checks a communicator's context ids.
func wantCIDs(t *testing.T, c *Comm, p2p uint64) {
	t.Helper()
	if c.p2p.cid != p2p || c.coll.cid != p2p+1 {
		t.Errorf("rank %d: context ids %d and %d, want %d and %d", c.engine.me, c.p2p.cid, c.coll.cid, p2p, p2p+1)
	}
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	if c.engine.contexts.find(p2p) != c.p2p || c.engine.contexts.find(p2p+1) != c.coll {
		t.Errorf("rank %d: the contexts of %d are not known", c.engine.me, p2p)
	}
}

func TestContextIdsAreCountedAsIMPISays(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 1}, tune: foreign})
	together(t, es, func(e *Engine) {
		w := e.World()
		wantCIDs(t, w, 0)
		c, err := w.Dup()
		must(t, err)
		wantCIDs(t, c, 2)
		c, err = w.Dup()
		must(t, err)
		wantCIDs(t, c, 4)
		// The largest of all counts, made odd (IMPI 0.0, 4.3).
		if e.me == 1 {
			e.contexts.ids.Largest = 40
		}
		c, err = c.Dup()
		must(t, err)
		wantCIDs(t, c, 42)
		// All colors of a split have the same id, and those without a color count, too.
		color := int32(e.me % 2)
		if e.me == 2 {
			color = abi.MPI_UNDEFINED
		}
		c, err = w.Split(color, 0)
		must(t, err)
		if (c == nil) != (e.me == 2) {
			t.Errorf("rank %d of color %d: %v", e.me, color, c)
		}
		if c != nil {
			wantCIDs(t, c, 44)
			if c.Size() != 1 || c.spans() {
				t.Errorf("size %d, spans %t", c.Size(), c.spans())
			}
		}
		g, err := w.Group().Incl([]int{2, 0})
		must(t, err)
		c, err = w.Create(g)
		must(t, err)
		if (c == nil) != (e.me == 1) {
			t.Errorf("rank %d: %v", e.me, c)
		}
		if c != nil {
			wantCIDs(t, c, 46)
			if c.Rank() != map[int32]int{2: 0, 0: 1}[e.me] || !c.spans() {
				t.Errorf("rank %d is rank %d, spans %t", e.me, c.Rank(), c.spans())
			}
			must(t, c.Barrier())
		}
		c, err = w.Dup()
		must(t, err)
		wantCIDs(t, c, 48)
		// Freeing lowers no count: messages may be under way.
		must(t, c.Free())
		c, err = w.Dup()
		must(t, err)
		wantCIDs(t, c, 50)
		// Far beyond the dense table.
		e.contexts.ids.Largest = 1<<40 + 1
		c, err = w.Dup()
		must(t, err)
		wantCIDs(t, c, 1<<40+2)
		must(t, c.Barrier())
		must(t, c.Free())
		// And to the end of all ids.
		e.mu.Lock()
		if e.me == 0 {
			e.contexts.ids.Largest = contexts.Most - 1
		}
		e.mu.Unlock()
		_, err = w.Dup()
		wantClass(t, err, abi.MPI_ERR_OTHER)
		must(t, w.Barrier())
	})
	noFailure(t, es)
}

// A block of ids serves many communicators, and the processes need not wait for each other: the first makes all of them
// before the second makes any. Then the first member gives a new block, which nobody else can give.
func TestContextIdsComeInBlocks(t *testing.T) {
	for name, o := range map[string]options{"one client": {clients: []int{2}}, "two clients": {clients: []int{1, 1}}} {
		t.Run(name, func(t *testing.T) {
			es, base := makeWorld(t, o), uint64(0)
			if len(o.clients) > 1 {
				base = contexts.Own
			}
			for _, e := range es {
				for n := 1; n < contexts.BlockSize; n++ {
					c, err := e.World().Dup()
					must(t, err)
					wantCIDs(t, c, base+uint64(2*n))
					c.Discard()
				}
			}
			const block = 2 * contexts.BlockSize
			together(t, es, func(e *Engine) {
				c, err := e.World().Dup()
				must(t, err)
				wantCIDs(t, c, base+block) // the first one that rank 0 gives
				d, err := c.Dup()          // has no block yet
				must(t, err)
				wantCIDs(t, d, base+3*block)
				d, err = e.World().Dup()
				must(t, err)
				wantCIDs(t, d, base+block+2)
				back, err := c.Group().Incl([]int{1, 0})
				must(t, err)
				g, err := c.CreateGroup(back, 7) // brings a block along, of rank 1
				must(t, err)
				wantCIDs(t, g, base+2*block)
				d, err = g.Dup()
				must(t, err)
				wantCIDs(t, d, base+2*block+2)
			})
			noFailure(t, es)
		})
	}
}

// Beside another implementation a process that is making a communicator makes all members of another one fail, and
// nobody waits. Nonblocking duplications and groups do not come into it.
func TestByIMPIsRuleOneCommunicatorIsMadeAtATime(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 1}, tune: foreign})
	together(t, es, func(e *Engine) {
		w := e.World()
		var another contexts.Choice
		if e.me == 1 { // its other thread waits for processes that have not come yet
			another = e.choose()
		}
		for range 2 {
			_, err := w.Dup()
			wantClass(t, err, abi.MPI_ERR_OTHER)
			_, err = w.Split(0, 0)
			wantClass(t, err, abi.MPI_ERR_OTHER)
		}
		g, err := w.CreateGroup(w.Group(), 7)
		must(t, err)
		must(t, g.Free())
		d := w.Unopened()
		id := w.Idup(d, func() {})
		must(t, e.Wait(&id, nil))
		must(t, d.Free())
		if e.me == 1 {
			e.chosen(&another)
		}
		d, err = w.Dup()
		must(t, err)
		wantCIDs(t, d, 2)
		must(t, d.Free())
	})
	noFailure(t, es)
}

// No member waits where there is no block: the giver tells the others so.
func TestAllMembersLearnThatNoContextIdIsLeft(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 1}})
	together(t, es, func(e *Engine) {
		w := e.World()
		for n := 1; n < contexts.BlockSize; n++ {
			c, err := w.Dup()
			must(t, err)
			c.Discard()
		}
		if e.me == 0 {
			e.contexts.ids, _ = contexts.New(2, 1<<57, 1<<58) // a process of so many that its first block does not exist
		}
		_, err := w.Dup()
		wantClass(t, err, abi.MPI_ERR_OTHER)
		_, err = w.CreateGroup(w.Group(), 7)
		wantClass(t, err, abi.MPI_ERR_OTHER)
		id := w.Idup(w.Unopened(), func() { t.Error("opened") })
		wantClass(t, e.Wait(&id, nil), abi.MPI_ERR_OTHER)
	})
	noFailure(t, es)
}

func TestSplitOrdersByKeyAndThenByRank(t *testing.T) {
	for name, o := range spaces {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			together(t, es, func(e *Engine) {
				for _, tt := range []struct {
					keys [3]int32
					want []int32
				}{
					{[3]int32{0, 0, 0}, []int32{0, 1, 2}},
					{[3]int32{5, 5, -1}, []int32{2, 0, 1}},
					{[3]int32{-1 << 31, 1<<31 - 1, 0}, []int32{0, 2, 1}},
				} {
					c, err := e.World().Split(7, tt.keys[e.me])
					must(t, err)
					if !slices.Equal(c.group.Worlds(), tt.want) || c.rank != int32(slices.Index(tt.want, e.me)) {
						t.Errorf("keys %v: ranks %v, mine %d", tt.keys, c.group.Worlds(), c.rank)
					}
					// Messages go by the new ranks.
					var st Status
					right, left := (c.Rank()+1)%3, (c.Rank()+2)%3
					in, out := []byte{0}, []byte{byte(e.me)}
					must(t, c.Sendrecv(at(out), 1, byteT, right, 0, at(in), 1, byteT, left, 0, &st))
					if in[0] != byte(tt.want[left]) || st.Source != int32(left) {
						t.Errorf("rank %d got from %d by rank %d", c.rank, in[0], st.Source)
					}
				}
			})
		})
	}
}

func TestCommunicatorsKeepMessagesApart(t *testing.T) {
	es := late(t, 2, 1)
	together(t, es, func(e *Engine) {
		w := e.World()
		d, err := w.Dup()
		must(t, err)
		if w.Compare(w) != abi.MPI_IDENT || w.Compare(d) != abi.MPI_CONGRUENT || w.Compare(e.Self()) != abi.MPI_UNEQUAL {
			t.Error("compare")
		}
		peer := 1 - w.Rank()
		a, b := []byte{1}, []byte{2}
		x, y := []byte{0}, []byte{0}
		ids := []uint64{
			w.Irecv(at(x), 1, byteT, peer, abi.MPI_ANY_TAG), d.Irecv(at(y), 1, byteT, abi.MPI_ANY_SOURCE, 0),
			d.Isend(at(b), 1, byteT, peer, 0, Standard), w.Isend(at(a), 1, byteT, peer, 0, Standard),
		}
		must(t, w.Barrier()) // takes none of them
		must(t, e.WaitAll(ids, nil))
		if x[0] != 1 || y[0] != 2 {
			t.Errorf("got %d and %d", x[0], y[0])
		}
		must(t, d.Free())
		if !d.freed {
			t.Error("not freed")
		}
	})
}

// agreed makes a communicator of the whole world without a word between the processes, at one of them only.
func agreed(t *testing.T, e *Engine, cid uint64) *Comm {
	t.Helper()
	c, err := e.newComm(e.World().group, cid)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// earlyFor is how many messages wait for a context.
func (t *contextTable) earlyFor(cid uint64) (n int) {
	all, _ := t.early.Check()
	for m := range all {
		if m.CID == cid {
			n++
		}
	}
	return n
}

func TestMessagesWaitForTheirCommunicator(t *testing.T) {
	for name, o := range map[string]options{"shm": {clients: []int{2}}, "tcp": {clients: []int{1, 1}}} {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			a, b := es[0], es[1]
			const cid = 70
			c := agreed(t, a, cid)
			const n = 12
			var sends []*uint64
			for i := range n {
				v := newVector(int64(size(i)), byteT).put(pattern(size(i), i))
				id := c.Isend(v.base, v.count, byteT, 1, 3, SendMode(i%2))
				sends = append(sends, &id)
			}
			// A synchronous one is cancelled while nobody knows its communicator.
			cancelled := c.Isend(at(pattern(8, 0)), 8, byteT, 1, 3, Synchronous)
			waiting := func() int { // the watcher may be at it
				b.mu.Lock()
				defer b.mu.Unlock()
				return b.contexts.earlyFor(cid)
			}
			until(t, es, "early packets", func() bool { return waiting() == n+1 })
			must(t, a.Cancel(cancelled))
			if st := finishAll(t, es, a, &cancelled)[0]; !st.Cancelled() {
				t.Error("a message that nobody could have received was not cancelled")
			}
			if k := waiting(); k != n {
				t.Errorf("%d packets are waiting, want %d", k, n)
			}
			d := agreed(t, b, cid)
			if waiting() != 0 || b.contexts.early.Contexts() != 0 {
				t.Errorf("%d messages are waiting still", waiting())
			}
			for i := range n {
				in := make([]byte, size(i))
				id := d.Irecv(at(in), int64(len(in)), byteT, 0, 3)
				if finishAll(t, es, b, &id); !bytes.Equal(in, pattern(size(i), i)) {
					t.Errorf("message %d: wrong data", i)
				}
			}
			finishAll(t, es, a, sends...)
			for _, e := range es {
				idle(t, e, 0)
			}
			noFailure(t, es)
		})
	}
}

func TestCancelledEarlyMessagesLeaveNothing(t *testing.T) {
	es := late(t, 2, 1)
	e := es[0]
	for cid := range uint64(100) {
		e.deliver(transport.Header{Kind: transport.DataSync, Src: 1, CID: 1000 + cid, SrqID: 5}, nil)
		e.deliver(transport.Header{Kind: transport.Cancel, Src: 1, SrqID: 5}, nil)
	}
	if kept := e.peers[1].Pressure.Kept(); kept != 0 || e.contexts.early.Contexts() != 0 {
		t.Errorf("%d bytes for %d communicators", kept, e.contexts.early.Contexts())
	}
}

func TestAFreedCommunicatorEndsWhatItHasBegun(t *testing.T) {
	for name, o := range map[string]options{
		"reading": {clients: []int{2}}, "not reading": {clients: []int{2}, noRead: true},
	} {
		t.Run(name, func(t *testing.T) {
			es := makeWorld(t, o)
			a, b := es[0], es[1]
			const cid = 70 // not a count of anybody's
			c, d := agreed(t, a, cid), agreed(t, b, cid)
			out, in, in2 := pattern(300<<10, 1), make([]byte, 300<<10), make([]byte, 8)
			recv, small := d.Irecv(at(in), 300<<10, byteT, 0, 1), d.Irecv(at(in2), 8, byteT, abi.MPI_ANY_SOURCE, 2)
			send := c.Isend(at(out), 300<<10, byteT, 1, 1, Standard)
			must(t, c.Free())
			must(t, d.Free())
			id := c.Isend(at(out), 8, byteT, 1, 2, Standard) // queued, as it were, before the freeing
			finishAll(t, es, b, &recv, &small)
			finishAll(t, es, a, &send, &id)
			if !bytes.Equal(in, out) || !bytes.Equal(in2, out[:8]) {
				t.Error("wrong data")
			}
			if a.contexts.find(cid) != nil || a.contexts.find(cid+1) != nil || b.contexts.find(cid+1) != nil {
				t.Error("a quiet context is still known")
			}
			// What comes for a context that is gone is kept aside and harms nothing.
			a.deliver(transport.Header{Kind: transport.Data, Src: 1, LSRank: 1, CID: cid}, []byte("x"))
			if a.contexts.earlyFor(cid) != 1 {
				t.Error("a late message is not kept")
			}
			noFailure(t, es)
		})
	}
}

func TestColorsCountClientsAndHosts(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 1}})
	together(t, es, func(e *Engine) {
		if got, want := e.World().Colors(), [4]int32{2, e.me / 2, 3, e.me}; got != want {
			t.Errorf("rank %d: colors %v, want %v", e.me, got, want)
		}
		if got, want := e.Self().Colors(), [4]int32{1, 0, 1, 0}; got != want {
			t.Errorf("rank %d alone: colors %v, want %v", e.me, got, want)
		}
	})
}

func TestNamesForMessages(t *testing.T) {
	es := late(t, 1, 1)
	c := agreed(t, es[0], 8)
	if got := fmt.Sprint(es[0].World(), es[0].Self(), c); got != "MPI_COMM_WORLD MPI_COMM_SELF communicator 8 of size 1" {
		t.Error(got)
	}
}

// Several threads duplicate one communicator each, one after the other: the ids differ.
func TestConstructorsInTurnOfSeveralThreads(t *testing.T) {
	es := world(t, 2)
	var mu [2]sync.Mutex
	var ids [2][]uint64
	together(t, []*Engine{es[0], es[1], es[0], es[1]}, func(e *Engine) {
		for range 4 {
			mu[e.me].Lock()
			c, err := e.World().Dup()
			must(t, err)
			ids[e.me] = append(ids[e.me], c.p2p.cid)
			mu[e.me].Unlock()
		}
	})
	if want := []uint64{2, 4, 6, 8, 10, 12, 14, 16}; !slices.Equal(ids[0], want) || !slices.Equal(ids[1], want) {
		t.Errorf("ids %v and %v", ids[0], ids[1])
	}
}

func TestCommunicatorsThatSpanClientsLeaveNothingBehind(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}, tune: foreign})
	for _, e := range es {
		e.mu.Lock()
		e.contexts.ids.Largest = lowContexts - 60 // ids below and above that are kept in different ways
		e.mu.Unlock()
	}
	together(t, es, func(e *Engine) {
		for range 100 {
			c, err := e.World().Dup()
			must(t, err)
			must(t, c.Free())
		}
		must(t, e.World().Barrier())
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.contexts.ids.Largest < lowContexts+100 || e.contexts.ids.Largest > lowContexts+200 {
			t.Errorf("after 100 communicators the largest context id is %d", e.contexts.ids.Largest)
		}
		for cid := range e.contexts.high {
			if cid&(contexts.Self|contexts.Partitioned|contexts.Own|contexts.Home) == 0 {
				t.Errorf("context %d is still there", cid)
			}
		}
		if n := len(e.contexts.spare); n != 2 {
			t.Errorf("%d spare contexts, want those of one communicator", n)
		}
	})
	noFailure(t, es)
}
