// Package vendor is another MPI library that this process has loaded: it carries what the processes of a client say to
// each other (transport/vendor), and where its own launcher has started them it is their manager (startup/manager). The
// library has the ABI of MPI 5.0, MPICH's or Open MPI's. body.h has its calls, and is compiled once for each ABI; the
// table of these calls has the same types for all of them (calls.h).
//
//	load.c      loading it, and finding out which ABI it has
//	library.go  its calls, as Go sees them
//	vendor.go   loading and starting it; the transport's MPI
//	elf.go      for which machines a file is
//	manager.go  the manager.Manager over it
package vendor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/vendor"
)

// Library is the library of this process. One thread at a time is in it (mu): the engine's lock sees to that for what
// the transport calls, but a process may have to abort while another thread of it is inside.
type Library struct {
	setting, file, name string

	Only bool // it carries what ranks on one machine say to each other, too

	rank, size int

	mu    sync.Mutex
	open  []operation // requests that are under way, by their number less 1
	free  []int
	posts [vendor.Posts]memory
	ended bool
}

// memory is what a posted receive fills. It stays pinned when that is done: the next one mostly has the same.
type memory struct {
	at   *byte
	pins runtime.Pinner
}

// operation is a request of the library, with the memory that it has.
type operation struct {
	request uintptr
	pins    runtime.Pinner
}

var _ vendor.MPI = (*Library)(nil)

// Load loads the library that a setting names; nil: the setting names none. Nothing else is loaded then.
func Load(setting string) (*Library, error) {
	if setting == "" {
		return nil, nil
	}
	file, ok := strings.CutPrefix(setting, "vendor:")
	only := false
	if !ok {
		file, only = strings.CutPrefix(setting, "vendor-only:")
	}
	if file == "" || !ok && !only {
		return nil, fmt.Errorf("%s=%s: it is vendor:PATH or vendor-only:PATH, where PATH is another MPI library: "+
			"libmpi_abi.so.1 of any, libmpi.so.12 or libmpich.so.12 with MPICH's ABI, libmpi.so.40 of Open MPI; or unset",
			startup.EnvLocal, setting)
	}
	if err := load(file); err != nil {
		if elsewhere := ofAnotherKind(file, self); elsewhere != nil {
			err = elsewhere
		}
		return nil, fmt.Errorf("%s=%s: it is no MPI library that libimpi can use: %w", startup.EnvLocal, setting, err)
	}
	switch name := version(); {
	case strings.HasPrefix(name, "libimpi"):
		return nil, fmt.Errorf("%s=%s: this is libimpi itself. It takes another MPI library, or none if the variable is "+
			"not set", startup.EnvLocal, setting)
	case plugins != "":
		return nil, fmt.Errorf("%s=%s: this program has loaded another %s, which the plugins of this library (%s) would "+
			"take for it. A program that was compiled with Open MPI's mpicc cannot use this library: compile it with libimpi's",
			startup.EnvLocal, setting, plugins, name)
	case inUse():
		return nil, fmt.Errorf("%s=%s: somebody else uses this library in this process, or has", startup.EnvLocal, setting)
	default:
		return &Library{setting: setting, file: file, name: name, Only: only}, nil
	}
}

// Start initializes the library, with all processes that its launcher has started. It blocks until they have come.
func (l *Library) Start() error {
	level, err := start()
	if err == nil {
		l.rank, l.size, err = rankAndSize()
	}
	if err == nil && level < threads {
		err = fmt.Errorf("it provides thread level %d, and libimpi needs MPI_THREAD_SERIALIZED (%d)", level, threads)
	}
	return l.explain(err)
}

// explain adds the library to an error.
func (l *Library) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s=%s (%s): %w", startup.EnvLocal, l.setting, l.name, err)
}

// Name is what the library calls itself, Rank and Size are of its MPI_COMM_WORLD.
func (l *Library) Name() string { return l.name }
func (l *Library) Rank() int    { return l.rank }
func (l *Library) Size() int    { return l.size }

// Unlike is the error of a library that knows of other processes than the launcher of this one, who has started size.
// join is where these join an IMPI server; "": they do not.
func (l *Library) Unlike(launcher string, size int, join string) error {
	before, instead := "", ""
	switch {
	case join != "":
		before = startup.EnvJoin + "=" + join + " "
	case !l.openMPI():
		instead = fmt.Sprintf(", or on one machine with libimpi's `impirun -n %d PROGRAM`, which such a library "+
			"understands if it knows PMI-1", size)
	}
	if l.openMPI() {
		instead = "; Open MPI does not understand libimpi's impirun"
	}
	return l.explain(fmt.Errorf("its MPI_Init has found %d of the %d processes that %s has started: the library does not "+
		"belong to this launcher. Start the program with `%s%s -n %d PROGRAM`%s", l.size, size, launcher, before,
		l.launcher(), size, instead))
}

func (l *Library) openMPI() bool { return strings.HasPrefix(l.name, "Open MPI") }

// launcher is the library's own: beside it, or where Debian has it.
func (l *Library) launcher() string {
	suffix := ".mpich"
	if l.openMPI() {
		suffix = ".openmpi"
	}
	dir := filepath.Dir(l.file)
	for _, at := range []string{"../bin/mpiexec" + suffix, "../bin/mpiexec", "../../bin/mpiexec" + suffix} {
		if at := filepath.Join(dir, at); filepath.IsAbs(at) && executable(at) {
			return at
		}
	}
	return "the launcher of that library"
}

func executable(file string) bool {
	st, err := os.Stat(file)
	return err == nil && st.Mode()&0o111 != 0
}

// Gather gives every process a number, and returns those of all, by rank.
func (l *Library) Gather(mine int32) (all []int32, err error) {
	b := make([]byte, 4*l.size)
	if err := l.allgather(le.AppendUint32(nil, uint32(mine)), b); err != nil {
		return nil, err
	}
	for i := range l.size {
		all = append(all, int32(le.Uint32(b[4*i:])))
	}
	return all, nil
}

func (l *Library) allgather(mine, all []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.explain(allgather(mine, all))
}

// Finalize ends the library's part in this process. All processes of its world do so. More calls do nothing.
func (l *Library) Finalize() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil
	}
	l.ended = true
	return l.explain(end())
}

// GiveUp ends the library in a process that cannot join its job, so that it leaves nothing behind, if it has found no
// other process, for which it would wait.
func (l *Library) GiveUp() {
	if l.size == 1 {
		_ = l.Finalize() // why the process cannot join is what counts
	}
}

// abortWait is how long Abort waits for another thread to leave the library.
const abortWait = time.Second

// Abort has the library's launcher end all processes of its world, this one too.
func (l *Library) Abort(code int) error {
	for end := time.Now().Add(abortWait); !l.mu.TryLock() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return l.explain(stop(code))
}

// keep notes a request that is under way, with the memory that it has.
func (l *Library) keep(request uintptr, memory ...any) vendor.Request {
	if request == 0 {
		return vendor.Done
	}
	n := len(l.free)
	if n == 0 {
		l.open, l.free = append(l.open, operation{}), append(l.free, len(l.open))
		n = 1
	}
	i := l.free[n-1]
	l.free = l.free[:n-1]
	o := &l.open[i]
	o.request = request
	for _, m := range memory {
		o.pins.Pin(m)
	}
	return vendor.Request(i + 1)
}

// first is the first byte of some memory, to be pinned.
func first(b []byte) any { return unsafe.Pointer(unsafe.SliceData(b)) }

// Isend implements vendor.MPI.
func (l *Library) Isend(b []byte, to, tag int) (vendor.Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, err := isend(b, to, tag)
	if r == 0 {
		return vendor.Done, l.explain(err)
	}
	return l.keep(r, first(b)), l.explain(err)
}

// Irecv implements vendor.MPI.
func (l *Library) Irecv(b []byte, from, tag int) (vendor.Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, err := irecv(b, from, tag)
	if r == 0 {
		return vendor.Done, l.explain(err)
	}
	return l.keep(r, first(b)), l.explain(err)
}

// Post implements vendor.MPI.
func (l *Library) Post(at int, b []byte, from, tag int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := &l.posts[at]; m.at != unsafe.SliceData(b) {
		m.pins.Unpin()
		m.at = unsafe.SliceData(b)
		m.pins.Pin(m.at)
	}
	return l.explain(post(at, b, from, tag))
}

// Testany implements vendor.MPI.
func (l *Library) Testany(n int) (at, bytes int, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, bytes, ok, err = testany(n)
	return at, bytes, ok, l.explain(err)
}

// Withdraw implements vendor.MPI.
func (l *Library) Withdraw(at int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	left, err := withdraw(at)
	if err == nil && left != 0 {
		err = errors.New("MPI_Cancel: the receive is not cancelled")
	}
	l.posts[at].pins.Unpin()
	l.posts[at].at = nil
	return l.explain(err)
}

// Improbe implements vendor.MPI.
func (l *Library) Improbe(from, tag int) (vendor.Message, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	source, bytes, handle, there, err := improbe(from, tag)
	return vendor.Message{Handle: handle, From: source, Len: bytes}, there, l.explain(err)
}

// Imrecv implements vendor.MPI.
func (l *Library) Imrecv(m vendor.Message, b []byte) (vendor.Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, err := imrecv(b, m.Handle)
	if r == 0 {
		return vendor.Done, l.explain(err)
	}
	return l.keep(r, first(b)), l.explain(err)
}

// Test implements vendor.MPI.
func (l *Library) Test(r vendor.Request) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := &l.open[r-1]
	left, err := test(o.request)
	if o.request = left; left != 0 {
		return false, l.explain(err)
	}
	o.pins.Unpin()
	l.free = append(l.free, int(r-1))
	return err == nil, l.explain(err)
}

// Begin implements vendor.MPI.
func (l *Library) Begin(communicator int, o *transport.Operation) (vendor.Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, err := begin(communicator, o)
	return l.keep(r, first(o.Send), first(o.Recv)), l.explain(err)
}
