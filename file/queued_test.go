package file_test

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/filetest"
)

// long is more than a short access has.
const long = 100 << 10

// queued runs f at a member that is alone with its file, and checks that its members are given up once.
func queued(t *testing.T, d *filetest.Disk, f func(e *engine, q *file.Queued) error) {
	t.Helper()
	released := 0
	err := filetest.New([]int{0}).Run(func(m file.Members) error {
		e, pool := newEngine(), new(file.Pool)
		q, err := file.OpenQueued(file.Process{Engine: e, Checker: e, Pool: pool, Release: func() { released++ }}, m, d, name,
			readWrite, file.Hints{})
		if err != nil {
			return err
		}
		if err := f(e, q); err != nil {
			return err
		}
		err = q.Close()
		e.Lock()
		defer e.Unlock()
		if pool.Busy() {
			t.Error("the file is closed while an access is under way")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if released != 1 {
		t.Errorf("the members are given up %d times", released)
	}
}

// writing is a write of n bytes at an offset.
func writing(collective bool, off int64, n int) file.Access {
	return file.Access{Write: true, Collective: collective, Where: file.Explicit, Offset: off,
		Buf: coll.Bytes(bytes.Repeat([]byte{1}, n))}
}

func started(t *testing.T, q *file.Queued, a file.Access) uint64 {
	t.Helper()
	id, err := q.Start("MPI_File_iwrite_at", a)
	if err != nil {
		t.Error(err)
	}
	return id
}

func TestIndependentAccessesHaveFewGoroutines(t *testing.T) {
	const many = 20
	var running, most atomic.Int32
	gate := make(chan bool)
	d := filetest.NewDisk()
	d.Before = func(bool, int64, int) {
		n := running.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		<-gate
		running.Add(-1)
	}
	queued(t, d, func(e *engine, q *file.Queued) error {
		var ids [many]uint64
		for i := range ids {
			ids[i] = started(t, q, writing(false, int64(i)*long, long))
		}
		if e.Done(ids[0]) {
			t.Error("an access is done before it")
		}
		close(gate)
		for _, id := range ids {
			if n, err := e.Wait(id); n != long || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
		return nil
	})
	if most.Load() > 4 {
		t.Errorf("%d accesses at once", most.Load())
	}
}

// While a collective access is carried out, later collective operations wait, blocking or not; then they are carried
// out in the order of calls.
func TestCollectiveOperationsAreCarriedOutInOrder(t *testing.T) {
	const many = 10
	gate := make(chan bool)
	var order []int64
	d := filetest.NewDisk()
	d.Before = func(_ bool, off int64, _ int) {
		if off == 0 {
			<-gate
		}
		order = append(order, off)
	}
	queued(t, d, func(e *engine, q *file.Queued) error {
		var ids [many]uint64
		for i := range ids {
			ids[i] = started(t, q, writing(true, int64(i)*8, 8))
		}
		sized := make(chan error)
		go func() { sized <- q.SetSize(3) }()
		select {
		case <-sized:
			t.Error("the size is set before accesses that began earlier are done")
		case <-time.After(time.Millisecond):
		}
		close(gate)
		for i := many - 1; i >= 0; i-- {
			if n, err := e.Wait(ids[i]); n != 8 || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
		return <-sized
	})
	for i, off := range order {
		if off != int64(i)*8 {
			t.Fatalf("accesses at %d", order)
		}
	}
	if n := len(d.Bytes(name)); n != 3 {
		t.Errorf("the file has %d bytes", n)
	}
}

func TestAShortAccessIsDoneAtOnceUnlessTheLastTookLong(t *testing.T) {
	gate := make(chan bool)
	var slow, closed atomic.Bool
	d := filetest.NewDisk()
	d.Before = func(bool, int64, int) {
		if closed.Load() {
			<-gate
		}
		if slow.Load() {
			time.Sleep(time.Millisecond)
		}
	}
	queued(t, d, func(e *engine, q *file.Queued) error {
		slow.Store(true)
		if id := started(t, q, writing(false, 0, 8)); !e.Done(id) {
			t.Error("the first short access is not done at once")
		}
		slow.Store(false)
		closed.Store(true)
		id := started(t, q, writing(false, 0, 8)) // blocks for ever if it is carried out here
		if e.Done(id) {
			t.Error("an access is done before it")
		}
		close(gate)
		n, err := e.Wait(id)
		if n != 8 {
			t.Errorf("%d bytes", n)
		}
		return err
	})
}

func TestTheErrorOfAnAccessIsItsRequests(t *testing.T) {
	full := &file.Error{Class: abi.MPI_ERR_NO_SPACE, Text: "the disk is full"}
	d := filetest.NewDisk()
	d.Fault = func(bool, int64, int) (int, error) { return 3, full }
	queued(t, d, func(e *engine, q *file.Queued) error {
		for _, collective := range []bool{false, true} {
			if n, err := e.Wait(started(t, q, writing(collective, 0, long))); n != 3 || classOf(err) != abi.MPI_ERR_NO_SPACE {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
		return nil
	})
}

func TestARefusedAccessHasNoRequest(t *testing.T) {
	refused := &file.Error{Class: abi.MPI_ERR_COUNT, Text: "wrong"}
	queued(t, filetest.NewDisk(), func(e *engine, q *file.Queued) error {
		a := writing(true, 0, 8)
		a.Refused = refused
		if id, err := q.Start("MPI_File_iwrite_at_all", a); id != abi.MPI_REQUEST_NULL || err != refused {
			t.Errorf("request %d, %v", id, err)
		}
		if err := q.Begin("MPI_File_write_at_all_begin", a); err != refused {
			t.Errorf("%v", err)
		}
		return nil
	})
}

func TestASplitAccessEndsWithItsBytes(t *testing.T) {
	d := filetest.NewDisk()
	queued(t, d, func(e *engine, q *file.Queued) error {
		for _, where := range []file.Where{file.Explicit, file.Ordered} {
			a := writing(true, 0, 8)
			a.Where = where
			if err := q.Begin("MPI_File_write_all_begin", a); err != nil {
				return err
			}
			if n, err := q.End(); n != 8 || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
		return nil
	})
}

// A process is lost while an access waits for it: those who wait for that access learn of the loss, and the file stays
// open, since the access may still use it.
func TestALostProcessEndsWaiting(t *testing.T) {
	lost := errors.New("rank 1 is lost")
	gate := make(chan bool)
	d := filetest.NewDisk()
	d.Before = func(bool, int64, int) { <-gate }
	queued(t, d, func(e *engine, q *file.Queued) error {
		id := started(t, q, writing(true, 0, 8))
		e.Lose(lost)
		if err := q.SetSize(3); err != lost {
			t.Errorf("SetSize: %v", err)
		}
		if err := q.Close(); err != lost {
			t.Errorf("Close: %v", err)
		}
		e.Lose(nil)
		close(gate)
		_, err := e.Wait(id)
		return err
	})
}

func TestAFileThatCannotBeOpenedGivesItsMembersUp(t *testing.T) {
	released := 0
	filetest.New([]int{0}).Run(func(m file.Members) error {
		e := newEngine()
		_, err := file.OpenQueued(file.Process{Engine: e, Checker: e, Pool: new(file.Pool), Release: func() { released++ }},
			m, filetest.NewDisk(), name, abi.MPI_MODE_RDONLY, file.Hints{})
		if classOf(err) != abi.MPI_ERR_NO_SUCH_FILE {
			t.Errorf("%v", err)
		}
		return nil
	})
	if released != 1 {
		t.Errorf("they are given up %d times", released)
	}
}

// Calls that differ are errors of the request, and nothing is written; independent accesses are not compared.
func TestCollectiveAccessesAreComparedInTurn(t *testing.T) {
	d := filetest.NewDisk()
	queued(t, d, func(e *engine, q *file.Queued) error {
		e.Verify, e.Differ = true, errors.New("they differ")
		if _, err := e.Wait(started(t, q, writing(true, 0, 8))); err != e.Differ {
			t.Errorf("%v", err)
		}
		if err := q.Begin("MPI_File_write_at_all_begin", writing(true, 0, 8)); err != e.Differ {
			t.Errorf("%v", err)
		}
		if _, err := e.Wait(started(t, q, writing(false, 100, long))); err != nil {
			t.Errorf("%v", err)
		}
		if len(e.Compared) != 2 {
			t.Errorf("%q were compared", e.Compared)
		}
		return nil
	})
	if b := d.Bytes(name); len(b) < 8 || !bytes.Equal(b[:8], make([]byte, 8)) {
		t.Error("an access whose call differs has written")
	}
}

func TestViewsThatDifferAreNoted(t *testing.T) {
	for _, differ := range []bool{false, true} {
		d := filetest.NewDisk()
		err := filetest.New([]int{0, 0, 1}).Run(func(m file.Members) error {
			e := newEngine()
			e.Verify = true
			q, err := file.OpenQueued(file.Process{Engine: e, Checker: e, Pool: new(file.Pool), Release: func() {}}, m, d,
				name, readWrite, file.Hints{})
			if err != nil {
				return err
			}
			v := file.View{Etype: byteType, Filetype: byteType, Rep: file.Native}
			if differ && m.Rank() == 2 {
				v.Disp = 8
			}
			if err := q.SetView(v, file.Hints{}, nil); err != nil {
				return err
			}
			if q.ViewsDiffer() != differ {
				t.Errorf("rank %d: %v", m.Rank(), q.ViewsDiffer())
			}
			return q.Close()
		})
		if err != nil {
			t.Error(err)
		}
	}
}
