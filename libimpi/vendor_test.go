package libimpi

import (
	stdcontext "context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/background"
	"github.com/libimpi/libimpi/libimpi/counters"
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

// library counts what a process leaves to the library of its client.
type library struct {
	*fake.Network
	left []int // operations, by line
}

func (l *library) Begin(line int, o *transport.Operation) {
	l.left[line]++
	l.Network.Begin(line, o)
}

// client makes the engines of a client of n processes that talk by a library with collective operations.
func client(t *testing.T, n int) (*fake.World, []*Engine, []*library) {
	machines := make([]int, n)
	for i := range machines {
		machines[i] = 1
	}
	w := fake.New(fake.Options{Machines: machines, Seed: 11, Late: 5, Combine: addInts})
	var es []*Engine
	var by []*library
	for i := range n {
		open := func(ctx stdcontext.Context, r transport.Receiver, wake func()) (transport.Links, error) {
			l, err := w.Open(i)(ctx, r, wake)
			by = append(by, &library{l.Network.(*fake.Network), make([]int, fake.Lines)})
			l.Vendor, l.VendorName, l.Network = by[i], "another library", nil
			return l, err
		}
		job := w.Job(i)
		job.Procs = slices.Clone(job.Procs)
		for p := range job.Procs {
			job.Procs[p].HostID = job.Procs[0].HostID
		}
		e, err := New(stdcontext.Background(), Config{Job: job, Home: w.Home(i), Open: open, Thread: background.Never})
		if err != nil {
			t.Fatal(err)
		}
		es = append(es, e)
	}
	return w, es, by
}

// addInts adds vectors of MPI_INT.
func addInts(o *transport.Operation, in, inout []byte) {
	order := binary.NativeEndian
	if o.Type == abi.MPI_UINT64_T && o.Op == abi.MPI_MAX { // of context ids
		order.PutUint64(inout, max(order.Uint64(in), order.Uint64(inout)))
		return
	}
	if o.Type != abi.MPI_INT || o.Op != abi.MPI_SUM {
		panic("a reduction that the library was not to be asked for")
	}
	for i := 0; i < len(in); i += 4 {
		order.PutUint32(inout[i:], order.Uint32(in[i:])+order.Uint32(inout[i:]))
	}
}

// leaveAll has operations go by the library wherever they can.
func leaveAll(t *testing.T) {
	t.Helper()
	if err := choose.Choose("barrier:vendor,bcast:vendor,reduce:vendor,allreduce:vendor"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { choose.Choose("") })
}

func TestCollectiveOperationsOfAClientGoByItsLibrary(t *testing.T) {
	leaveAll(t)
	const n, root = 3, 2
	w, es, by := client(t, n)
	must(t, w.Run(func(rank int) {
		c := es[rank].World()
		sum := op.Predefined(abi.MPI_SUM)
		mine, all := []int32{int32(rank), 10}, []int32{-1, -1}
		must(t, c.Barrier())
		must(t, c.Allreduce(intBuf(mine), intBuf(all), sum))
		must(t, c.Allreduce(coll.InPlace(), intBuf(mine), sum))
		if want := []int32{3, 30}; !slices.Equal(all, want) || !slices.Equal(mine, want) {
			t.Errorf("allreduce: %v, in place %v", all, mine)
		}
		at := make([]int32, 1)
		must(t, c.Reduce(intBuf([]int32{1 << rank}), intBuf(at), sum, root))
		if rank == root && at[0] != 7 || rank != root && at[0] != 0 {
			t.Errorf("reduce at %d: %d", rank, at)
		}
		told := make([]int32, 5)
		if rank == root {
			copy(told, []int32{1, 2, 3, 4, 5})
		}
		every, err := datatype.Vector(3, 1, 2, datatype.Named(abi.MPI_INT))
		must(t, err)
		must(t, c.Bcast(coll.Buf{Base: intBuf(told).Base, Count: 1, Type: every}, root))
		if want := []int32{1, 0, 3, 0, 5}; rank != root && !slices.Equal(told, want) {
			t.Errorf("bcast: %v", told)
		}
		must(t, es[rank].Finish())
	}))
	for rank, l := range by { // and the barrier of the end
		if l.left[0] != 6 || l.left[1] != 0 {
			t.Errorf("process %d has left %v operations to the library, by line", rank, l.left)
		}
	}
}

// What the library does not know or is not for goes by messages.
func TestOperationsThatAreNotForTheLibraryGoByMessages(t *testing.T) {
	leaveAll(t)
	w, es, by := client(t, 3)
	before := make([]int, 3)
	must(t, w.Run(func(rank int) {
		e, c := es[rank], es[rank].World()
		some, err := c.Split(int32(min(rank, 1)), 0)
		must(t, err)
		byMessages := func(what string, err error) {
			if must(t, err); by[rank].left[0] != before[rank] {
				t.Errorf("%s goes by the library", what)
			}
		}
		before[rank] = by[rank].left[0]
		byMessages("what is of a smaller communicator", some.Barrier())
		byMessages("what is of a process alone", e.Self().Barrier())
		pair := coll.Buf{Base: intBuf([]int32{int32(rank), 0}).Base, Count: 1, Type: datatype.Named(abi.MPI_2INT)}
		byMessages("MPI_MAXLOC", c.Allreduce(coll.InPlace(), pair, op.Predefined(abi.MPI_MAXLOC)))
		id := record(t, c, coll.Nonblocking, []int32{int32(rank)}, 0).Start()
		byMessages("what does not block", e.Wait(&id, nil))
		if must(t, c.Barrier()); by[rank].left[0] == before[rank] {
			t.Error("nothing goes by the library")
		}
	}))
}

// Each communicator of all has a line of its own, as long as there are some, and gives it back when it is freed.
func TestEachCommunicatorHasALineOfItsOwn(t *testing.T) {
	leaveAll(t)
	w, es, _ := client(t, 2)
	must(t, w.Run(func(rank int) {
		c := es[rank].World()
		must(t, c.Barrier())
		var made []*Comm
		var lines []int
		for range fake.Lines { // with the world's there is one too many
			d, err := c.Dup()
			must(t, err)
			must(t, d.Barrier())
			made, lines = append(made, d), append(lines, d.line.number)
		}
		if want := []int{2, 3, 0}; c.line.number != 1 || !slices.Equal(lines, want) {
			t.Errorf("the duplicates have the lines %v, want %v", lines, want)
		}
		must(t, made[1].Free())
		reversed, err := c.Split(0, -int32(rank))
		must(t, err)
		root := []int32{int32(rank)}
		must(t, reversed.Bcast(intBuf(root), 1)) // who is rank 0 of the world
		if reversed.line.number != 3 || root[0] != 0 {
			t.Errorf("process %d has got %d by line %d", rank, root[0], reversed.line.number)
		}
	}))
}

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
		e, err := New(stdcontext.Background(), Config{Job: job, Home: w.Home(i), Open: open, Thread: background.Never})
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
		// A send that could not begin is nothing to look after.
		failing := e.World().SendInit(countBuf(who).Base, int64(len(who)), countType, (rank+1)%n, 1, Buffered)
		if err := e.Start(failing); err == nil || e.ways.library.carried != 0 {
			t.Errorf("without a buffer: %v; %d messages are looked after", err, e.ways.library.carried)
		}
		must(t, e.FreeRequest(&failing))
		if err := e.Finish(); err != nil {
			t.Error(err)
		}
	}))
	// For a tool they are where they are.
	for i, want := range []counters.Class{counters.Self, counters.Machine, counters.Client} {
		if got := es[0].class(&es[0].peers[i]); got != want {
			t.Errorf("process %d is of class %d, not %d", i, got, want)
		}
	}
	for i, r := range by {
		if r.rests == 0 || r.armed > 0 || es[i].waiting.sleepers != 0 {
			t.Errorf("process %d: armed %d times since the last rest, of %d", i, r.armed, r.rests)
		}
	}
	if said := strings.Join(es[0].Report("here"), "\n"); !strings.Contains(said, "another library") {
		t.Errorf("the report says %q", said)
	}
}
