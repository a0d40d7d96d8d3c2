package libimpi

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/filetest"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// Files are tested in one machine, between clients, and over a fake transport: what members have in common, and access
// that goes on in the background. What files contain is package file's business.

var fileWays = []struct {
	name string
	o    options
}{
	{"machine", options{clients: []int{4}}},
	{"alone", options{clients: []int{1}}},
	{"clients", options{clients: []int{1, 3}}},
	{"late", options{clients: []int{3}, fake: &fake.Options{Seed: 3, Late: 10}}},
	{"late, clients", options{clients: []int{2, 2}, fake: &fake.Options{Seed: 5, Late: 10}}},
}

// everyFile runs body for each process of a file that is open, on all ways, and closes the file.
func everyFile(t *testing.T, body func(t *testing.T, e *Engine, f *File, disk *filetest.Disk)) {
	for _, way := range fileWays {
		t.Run(way.name, func(t *testing.T) {
			es, disk := makeWorld(t, way.o), filetest.NewDisk()
			together(t, es, func(e *Engine) {
				f := openOn(t, e.World(), disk)
				body(t, e, f, disk)
				must(t, f.Close())
			})
			noFailure(t, es)
		})
	}
}

func openOn(tb testing.TB, c *Comm, disk *filetest.Disk) *File {
	tb.Helper()
	f, err := c.OpenFile(disk, "data", abi.MPI_MODE_CREATE|abi.MPI_MODE_RDWR, file.Hints{}, nil)
	must(tb, err)
	return f
}

// bytesAccess is one of some bytes at an offset.
func bytesAccess(write, collective bool, off int64, b []byte) file.Access {
	return file.Access{Write: write, Collective: collective, Where: file.Explicit, Offset: off, Buf: byteBuf(b)}
}

func TestMembersOfAFileExchangeWhatTheyHave(t *testing.T) {
	everyFile(t, func(t *testing.T, e *Engine, f *File, disk *filetest.Disk) {
		m := f.members
		me, n := m.Rank(), m.Size()
		all := make([]int64, 2*n)
		must(t, m.Allgather([]int64{int64(me), -int64(me)}, all))
		own := pattern(me*me*1000, me)
		texts, err := m.Gather(own)
		must(t, err)
		for r := range n {
			if all[2*r] != int64(r) || all[2*r+1] != -int64(r) {
				t.Errorf("numbers of rank %d: %d", r, all[2*r:2*r+2])
			}
			if !bytes.Equal(texts[r], pattern(r*r*1000, r)) {
				t.Errorf("bytes of rank %d: %d", r, len(texts[r]))
			}
		}
		in := make([]byte, 100<<10)
		recv, err := m.Irecv(in, (me+n-1)%n, 7)
		must(t, err)
		send, err := m.Isend(pattern(len(in), me), (me+1)%n, 7)
		must(t, err)
		must(t, m.Wait(send, recv))
		if !bytes.Equal(in, pattern(len(in), (me+n-1)%n)) {
			t.Error("a message has arrived as another")
		}
		for r := range n {
			if m.Machine(0) != 0 || m.Machine(r) < 0 || m.Machine(r) >= n {
				t.Errorf("machine %d of rank %d", m.Machine(r), r)
			}
		}
	})
}

func TestMembersOfAMachineSeeEachOthersMemory(t *testing.T) {
	everyFile(t, func(t *testing.T, e *Engine, f *File, disk *filetest.Disk) {
		m := f.members
		for _, each := range []int{4096, 4096, 200 << 10} { // the second time it is the same
			memory, err := m.Memory(each)
			must(t, err)
			mine := bytesAt(memory[m.Rank()], int64(each))
			if !bytes.Equal(mine, make([]byte, each)) {
				t.Error("the memory is not empty")
			}
			must(t, m.Barrier())
			copy(mine, pattern(each, m.Rank()))
			must(t, m.Barrier())
			for r, p := range memory {
				shared := e.home.Memory != nil && m.Machine(r) == m.Machine(m.Rank())
				if (p != nil) != (shared || r == m.Rank()) {
					t.Errorf("memory of rank %d: %v", r, p)
				} else if p != nil && !bytes.Equal(bytesAt(p, int64(each)), pattern(each, r)) {
					t.Errorf("memory of rank %d is another's", r)
				}
			}
			must(t, m.Barrier())
		}
	})
}

// All members draw numbers from the pointer; nobody gets one twice.
func TestThePointerIsSharedByAll(t *testing.T) {
	const draws = 50
	everyFile(t, func(t *testing.T, e *Engine, f *File, disk *filetest.Disk) {
		m := f.members
		must(t, m.Barrier())
		if m.Rank() == 0 {
			must(t, m.Store(1000))
		}
		must(t, m.Barrier())
		own := make([]int64, draws)
		for i := range own {
			var err error
			own[i], err = m.FetchAdd(3)
			must(t, err)
		}
		all := make([]int64, draws*m.Size())
		must(t, m.Allgather(own, all))
		seen := map[int64]bool{}
		for _, v := range all {
			if v < 1000 || (v-1000)%3 != 0 || v >= 1000+int64(3*len(all)) || seen[v] {
				t.Errorf("somebody has drawn %d", v)
			}
			seen[v] = true
		}
		must(t, m.Barrier())
	})
}

func TestAFileFindsWhatAnEarlierOneHad(t *testing.T) {
	es, disk := world(t, 3), filetest.NewDisk()
	together(t, es, func(e *Engine) {
		c, err := e.World().Dup()
		must(t, err)
		first := openOn(t, c, disk)
		_, err = first.members.FetchAdd(5)
		must(t, err)
		second := openOn(t, c, disk)
		used := first.members
		if used == second.members {
			t.Error("two open files have the same members")
		}
		must(t, first.Close())
		third := openOn(t, c, disk)
		if third.members != used {
			t.Error("what the first had is not used again")
		}
		if at, err := third.PositionShared(); at != 0 || err != nil {
			t.Errorf("the shared pointer of a new file is %d: %v", at, err)
		}
		must(t, second.Close())
		must(t, c.Free())
		if n := len(third.Group().Worlds()); n != 3 {
			t.Errorf("%d members", n)
		}
		must(t, third.Close()) // after its communicator
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, ctx := range e.contexts.low[1:] {
			if ctx != nil && ctx.comm != e.predefined.world && ctx.comm != e.predefined.self {
				t.Errorf("context %d is left", ctx.cid)
			}
		}
	})
	noFailure(t, es)
}

func TestAWrongArgumentOfOneMemberIsAnErrorAtAll(t *testing.T) {
	es, disk := world(t, 3), filetest.NewDisk()
	together(t, es, func(e *Engine) {
		var refused *Error
		if e.Me() == 1 {
			refused = errorf(abi.MPI_ERR_BAD_FILE, "no name")
		}
		_, err := e.World().OpenFile(disk, "data", abi.MPI_MODE_CREATE|abi.MPI_MODE_RDWR, file.Hints{}, refused)
		want := abi.MPI_ERR_OTHER
		if e.Me() == 1 {
			want = abi.MPI_ERR_BAD_FILE
		}
		wantClass(t, err, want)
		f := openOn(t, e.World(), disk)
		a := bytesAccess(true, true, 0, make([]byte, 8))
		if a.Refused = Refusal(refused); e.Me() == 1 {
			a.Refused = &file.Error{Class: abi.MPI_ERR_COUNT, Text: "wrong"}
		}
		_, err = f.Do(&a)
		wantClass(t, err, abi.MPI_ERR_COUNT)
		id, err := f.Start("MPI_File_iwrite_all", a)
		if err == nil {
			err = e.Wait(&id, nil)
		}
		wantClass(t, err, abi.MPI_ERR_COUNT)
		if err := f.Begin("MPI_File_write_all_begin", a); err == nil {
			_, err = f.End()
			wantClass(t, err, abi.MPI_ERR_COUNT)
		} else {
			wantClass(t, err, abi.MPI_ERR_COUNT)
		}
		must(t, f.Close())
	})
	noFailure(t, es)
}

func TestFilesAreNotForOtherImplementations(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}, tune: func(job *transport.Job) {
		for i := range job.Hosts {
			job.Hosts[i].SameImpl = false
		}
	}})
	for _, e := range es {
		_, err := e.World().OpenFile(filetest.NewDisk(), "data", abi.MPI_MODE_RDWR, file.Hints{}, nil)
		wantClass(t, err, abi.MPI_ERR_UNSUPPORTED_OPERATION)
	}
}

// Accesses of all kinds are under way at once, waited for in another order, and each has its own status.
func TestManyAccessesAreUnderWay(t *testing.T) {
	const many, size = 40, 1000
	everyFile(t, func(t *testing.T, e *Engine, f *File, disk *filetest.Disk) {
		if fakeOf(e) != nil {
			return // its processes have one thread
		}
		me, n := int64(f.members.Rank()), int64(f.members.Size())
		place := func(i int) int64 { return (int64(i)*n + me) * size }
		ids, st := make([]uint64, many), make([]CStatus, many)
		for i := range ids {
			var err error
			ids[i], err = f.Start("MPI_File_iwrite_at_all", bytesAccess(true, i%3 == 0, place(i), pattern(size-i, i+int(me))))
			must(t, err)
		}
		must(t, e.WaitAll(ids, st))
		for i := range st {
			if st[i].Bytes() != int64(size-i) || ids[i] != nullRequest {
				t.Errorf("access %d: %d bytes", i, st[i].Bytes())
			}
		}
		in := make([][]byte, many)
		for i := range ids {
			var err error
			in[i] = make([]byte, size)
			ids[i], err = f.Start("MPI_File_iwrite_at_all", bytesAccess(false, i%3 == 1, place(i), in[i][:size-i]))
			must(t, err)
		}
		blocking := make([]byte, size)
		read := bytesAccess(false, true, place(0), blocking)
		got, err := f.Do(&read) // after the collective ones
		must(t, err)
		if got != size || !bytes.Equal(blocking, pattern(size, int(me))) {
			t.Errorf("%d bytes", got)
		}
		for left := many; left > 0; left-- {
			var s CStatus
			at, err := e.WaitAny(ids, &s)
			must(t, err)
			want := pattern(size-max(at, 0), at+int(me))
			if at < 0 || at >= many || s.Bytes() != int64(len(want)) || !bytes.Equal(in[at][:len(want)], want) {
				t.Fatalf("access %d: %d bytes", at, s.Bytes())
			}
		}
		must(t, f.Begin("MPI_File_write_at_all_begin", bytesAccess(true, true, place(0), pattern(size, 3))))
		wrote, err := f.End()
		must(t, err)
		if wrote != size {
			t.Errorf("%d bytes in a split access", wrote)
		}
	})
}

func TestTheErrorOfAnAccessIsItsFiles(t *testing.T) {
	e, disk := world(t, 1)[0], filetest.NewDisk()
	disk.Fault = func(bool, int64, int) (int, error) {
		return 3, &file.Error{Class: abi.MPI_ERR_NO_SPACE, Text: "the disk is full"}
	}
	f := openOn(t, e.World(), disk)
	write := bytesAccess(true, false, 0, make([]byte, 100<<10))
	start := func() uint64 {
		id, err := f.Start("MPI_File_iwrite_at", write)
		must(t, err)
		return id
	}
	id := start()
	var st CStatus
	err := e.Wait(&id, &st)
	wantClass(t, err, abi.MPI_ERR_NO_SPACE)
	if AsError(err).File != f || st.Bytes() != 3 {
		t.Errorf("%v, %d bytes", err, st.Bytes())
	}
	free := start()
	must(t, e.FreeRequest(&free))
	must(t, f.Close()) // when that is done, too
	idle(t, e, 0)
}

// Accesses cannot be cancelled: to try has no effect on an independent one, and is an error for a collective one, as
// for any collective operation.
func TestAccessesAreNotCancelled(t *testing.T) {
	e, disk := world(t, 1)[0], filetest.NewDisk()
	gate := make(chan bool)
	disk.Before = func(bool, int64, int) { <-gate }
	f := openOn(t, e.World(), disk)
	var ids [2]uint64
	for i := range ids {
		var err error
		ids[i], err = f.Start("MPI_File_iwrite_at", bytesAccess(true, i == 1, 0, make([]byte, 100<<10)))
		must(t, err)
	}
	var st CStatus
	if done, err := e.Test(&ids[0], &st); done || err != nil || !f.Pending() {
		t.Errorf("an access is done before it: %v", err)
	}
	must(t, e.Cancel(ids[0]))
	wantClass(t, e.Cancel(ids[1]), abi.MPI_ERR_REQUEST)
	close(gate)
	must(t, e.Wait(&ids[0], &st))
	if st.Cancelled() {
		t.Error("it is cancelled")
	}
	must(t, e.Wait(&ids[1], nil))
	if f.Pending() {
		t.Error("an access is pending that the program has completed")
	}
	must(t, f.Close())
	idle(t, e, 0)
}

// A member is lost while others wait for it in a collective access that nobody waits for yet.
func TestALostMemberEndsACollectiveAccess(t *testing.T) {
	es, disk := world(t, 2), filetest.NewDisk()
	files := make([]*File, 2)
	together(t, es, func(e *Engine) { files[e.Me()] = openOn(t, e.World(), disk) })
	e := es[0]
	id, err := files[0].Start("MPI_File_iwrite_at", bytesAccess(true, true, 0, make([]byte, 8)))
	must(t, err)
	e.loss.failed.Store(errorf(abi.MPI_ERR_PROC_ABORTED, "rank 1 is lost"))
	e.ring()
	if err := e.Wait(&id, nil); err == nil {
		t.Error("no error")
	}
	if err := files[0].Close(); err == nil {
		t.Error("the file is closed without the other member")
	}
	e.mu.Lock()
	for e.files.Busy() {
		e.mu.Unlock()
		runtime.Gosched()
		e.mu.Lock()
	}
	e.mu.Unlock()
	e.loss.failed.Store(nil)
}

var _ coll.Comm = (*collective)(nil)

// Collective accesses of two files are under way at the same time, and end in another order.
func TestTwoFilesAreAtWorkAtOnce(t *testing.T) {
	const size, many = 8000, 3
	everyFile(t, func(t *testing.T, e *Engine, f *File, disk *filetest.Disk) {
		if fakeOf(e) != nil {
			return
		}
		files := [...]*File{f, openOn(t, e.World(), disk)}
		me := int64(f.members.Rank())
		var ids [2 * many]uint64
		for i := range ids {
			var err error
			ids[i], err = files[i%2].Start("MPI_File_iwrite_at_all",
				bytesAccess(true, true, (me*many+int64(i/2))*size, pattern(size, i)))
			must(t, err)
		}
		must(t, e.World().Barrier())
		for i := len(ids) - 1; i >= 0; i-- {
			must(t, e.Wait(&ids[i], nil))
		}
		must(t, files[1].Close())
	})
}
