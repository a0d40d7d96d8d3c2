package libimpi

import (
	stdcontext "context"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// resting counts what a transport is told of who waits.
type resting struct {
	*fake.Network
	armed, rests int
}

func (r *resting) Arm()  { r.armed++ }
func (r *resting) Rest() { r.armed, r.rests = 0, r.rests+1 }

// A client whose processes talk by another MPI library does what any client does, and nothing is looked after where
// nobody waits.
func TestAClientTalksByAnotherLibrary(t *testing.T) {
	const n = 3
	w := fake.New(fake.Options{Machines: []int{1, 1, 1}, Seed: 7, Late: 5})
	var es []*Engine
	var by []*resting
	for i := range n {
		open := func(ctx stdcontext.Context, r transport.Receiver, wake func()) (transport.Links, error) {
			l, err := w.Open(i)(ctx, r, wake)
			by = append(by, &resting{Network: l.Network.(*fake.Network)})
			l.Vendor, l.VendorName, l.Network = by[i], "another library", nil
			return l, err
		}
		job := w.Job(i)
		job.Procs = slices.Clone(job.Procs)
		job.Procs[1].HostID = job.Procs[0].HostID
		e, err := New(stdcontext.Background(), Config{Job: job, Home: w.Home(i), Open: open, Thread: ThreadNever})
		if err != nil {
			t.Fatal(err)
		}
		es = append(es, e)
	}
	must(t, w.Run(func(rank int) {
		e := es[rank]
		who := make([]uint64, 1<<17) // longer than what is sent at once
		who[0] = 1 << rank
		if err := e.World().Allreduce(coll.InPlace(), countBuf(who), op.Predefined(abi.MPI_BOR)); err != nil || who[0] != 7 {
			t.Error(who[0], err)
		}
		if err := e.World().Barrier(); err != nil {
			t.Error(err)
		}
		if !e.Connected() || e.Network().Retransmitted != 0 {
			t.Error("nothing carries what is said")
		}
		if err := e.Finish(); err != nil {
			t.Error(err)
		}
	}))
	for i, want := range []PeerClass{PeerSelf, PeerMachine, PeerClient} { // for a tool they are where they are
		if got := es[0].class(&es[0].peers[i]); got != want {
			t.Errorf("process %d is of class %d, not %d", i, got, want)
		}
	}
	for i, r := range by {
		if r.rests == 0 || r.armed > 0 || es[i].sleepers != 0 {
			t.Errorf("process %d: armed %d times since the last rest, of %d", i, r.armed, r.rests)
		}
	}
	if said := strings.Join(es[0].Report("here"), "\n"); !strings.Contains(said, "another library") {
		t.Errorf("the report says %q", said)
	}
}
