package disk

import (
	"bytes"
	"errors"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

const readWrite = abi.MPI_MODE_RDWR | abi.MPI_MODE_CREATE

// open opens a file that is closed with the test.
func open(t *testing.T, fs *FileSystem, name string, mode int) file.Storage {
	t.Helper()
	f, err := fs.Open(name, mode, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func fresh(t *testing.T, sys system) (file.Storage, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data")
	return open(t, &FileSystem{sys}, name, readWrite), name
}

// wantClass checks class and text of an error.
func wantClass(t *testing.T, err error, class int, parts ...string) {
	t.Helper()
	var e *file.Error
	if !errors.As(err, &e) || e.Class != class {
		t.Fatalf("error %v, want one of class %d", err, class)
	}
	for _, part := range parts {
		if !strings.Contains(e.Text, part) {
			t.Errorf("%q lacks %q", e.Text, part)
		}
	}
}

func TestAFileIsWhatWasWrittenWhereverItWas(t *testing.T) {
	f, name := fresh(t, linux{})
	want := make([]byte, 1<<16)
	r := rand.New(rand.NewSource(1))
	end := int64(0)
	for range 200 {
		p := make([]byte, r.Intn(3000))
		r.Read(p)
		off := r.Int63n(int64(len(want) - len(p)))
		if n, err := f.WriteAt(p, off); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
		copy(want[off:], p)
		if len(p) > 0 {
			end = max(end, off+int64(len(p)))
		}
	}
	got := make([]byte, len(want)+10)
	if n, err := f.ReadAt(got, 0); int64(n) != end || err != nil || !bytes.Equal(got[:n], want[:end]) {
		t.Errorf("%d bytes of %d: %v", n, end, err)
	}
	if n, err := f.ReadAt(got, end+5); n != 0 || err != nil {
		t.Errorf("%d bytes behind the end: %v", n, err)
	}
	if size, err := f.Size(); size != end || err != nil {
		t.Error(size, err)
	}
	if onDisk, err := os.ReadFile(name); err != nil || !bytes.Equal(onDisk, want[:end]) {
		t.Error("the file differs", err)
	}
}

func TestSizesAreSetAndPreallocated(t *testing.T) {
	f, name := fresh(t, linux{})
	if _, err := f.WriteAt([]byte("abc"), 0); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		do   func(int64) error
		to   int64
		size int64
	}{{f.Allocate, 100000, 100000}, {f.Allocate, 10, 100000}, {f.Truncate, 2, 2}, {f.Truncate, 50, 50},
		{f.Allocate, 0, 50}} {
		if err := step.do(step.to); err != nil {
			t.Fatal(err)
		}
		if size, err := f.Size(); size != step.size || err != nil {
			t.Errorf("size %d after %d, want %d: %v", size, step.to, step.size, err)
		}
	}
	if err := f.Sync(); err != nil {
		t.Error(err)
	}
	if onDisk, _ := os.ReadFile(name); !bytes.Equal(onDisk, append([]byte("ab"), make([]byte, 48)...)) {
		t.Errorf("file %q", onDisk)
	}
}

func TestIdentityTellsFilesApart(t *testing.T) {
	f, name := fresh(t, linux{})
	again := open(t, New(), "ufs:"+name, abi.MPI_MODE_RDONLY)
	other, _ := fresh(t, linux{})
	a, _ := f.Identity()
	b, _ := again.Identity()
	c, err := other.Identity()
	if a != b || a == c || err != nil {
		t.Errorf("identities %v %v %v: %v", a, b, c, err)
	}
}

func TestPrefixesOfROMIOAreStripped(t *testing.T) {
	for name, want := range map[string]string{"ufs:a": "a", "nfs:/x/y": "/x/y", "lustre:b:c": "b:c", "a": "a",
		"./ufs:a": "./ufs:a", "other:a": "other:a", "pvfs2:z": "z", "ufs:": ""} {
		if got := Path(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestNamesAndModesAreRefusedWithTheirClass(t *testing.T) {
	fs, dir := New(), t.TempDir()
	there := filepath.Join(dir, "there")
	for _, err := range []error{os.WriteFile(there, nil, 0o666), os.Symlink("loop", filepath.Join(dir, "loop"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		mode  int
		class int
	}{
		{"", readWrite, abi.MPI_ERR_BAD_FILE},
		{"nfs:", readWrite, abi.MPI_ERR_BAD_FILE},
		{"a\x00b", readWrite, abi.MPI_ERR_BAD_FILE},
		{dir, abi.MPI_MODE_RDONLY, abi.MPI_ERR_BAD_FILE},
		{dir, abi.MPI_MODE_WRONLY, abi.MPI_ERR_BAD_FILE},
		{dir, readWrite, abi.MPI_ERR_BAD_FILE},
		{filepath.Join(dir, strings.Repeat("x", 300)), readWrite, abi.MPI_ERR_BAD_FILE},
		{filepath.Join(dir, "loop"), readWrite, abi.MPI_ERR_BAD_FILE},
		{filepath.Join(there, "below"), readWrite, abi.MPI_ERR_BAD_FILE},
		{filepath.Join(dir, "absent"), abi.MPI_MODE_RDWR, abi.MPI_ERR_NO_SUCH_FILE},
		{filepath.Join(dir, "absent"), abi.MPI_MODE_WRONLY, abi.MPI_ERR_NO_SUCH_FILE},
		{filepath.Join(dir, "absent", "below"), readWrite, abi.MPI_ERR_NO_SUCH_FILE},
		{there, readWrite | abi.MPI_MODE_EXCL, abi.MPI_ERR_FILE_EXISTS},
	} {
		_, err := fs.Open(c.name, c.mode, 0o666)
		wantClass(t, err, c.class, "open", c.name)
	}
	wantClass(t, fs.Remove(filepath.Join(dir, "absent")), abi.MPI_ERR_NO_SUCH_FILE, "delete")
	wantClass(t, fs.Remove(""), abi.MPI_ERR_BAD_FILE, "delete")
	wantClass(t, fs.Remove(dir), abi.MPI_ERR_BAD_FILE, "delete")
	if err := fs.Remove("ufs:" + there); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(there); !os.IsNotExist(err) {
		t.Error("the file is still there")
	}
}

func TestPermissionsAreThoseOfTheUmask(t *testing.T) {
	old := unix.Umask(0o027)
	defer unix.Umask(old)
	_, name := fresh(t, linux{})
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o640 {
		t.Error(st.Mode(), err)
	}
}

func TestAFileForWritingCanBeReadWhereThatIsAllowed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "data")
	f := open(t, New(), name, abi.MPI_MODE_WRONLY|abi.MPI_MODE_CREATE)
	if !f.(*regular).Readable() || !f.(*regular).Seekable() {
		t.Error("not readable")
	}
	if _, err := f.WriteAt([]byte("abc"), 0); err != nil {
		t.Error(err)
	}
	p := make([]byte, 3)
	if n, err := f.ReadAt(p, 0); n != 3 || err != nil {
		t.Error(n, err)
	}
	secret := faults{linux: linux{}, on: "Open", err: unix.EACCES, until: 1}
	g := open(t, &FileSystem{&secret}, name, abi.MPI_MODE_WRONLY)
	if g.(*regular).Readable() {
		t.Error("readable without permission")
	}
	if _, err := g.WriteAt([]byte("x"), 0); err != nil {
		t.Error(err)
	}
	_, err := g.ReadAt(p, 0)
	wantClass(t, err, abi.MPI_ERR_IO, "read", name, "offset 0, length 3", "bad file descriptor")
}

// faults is the kernel, but that a call fails, is interrupted or does a part. What is not said does not happen.
type faults struct {
	linux
	on    string // the name of the call
	after int64  // calls that work before
	until int64  // and from which one on they work again; 0: from none on
	err   error
	most  int // bytes that one call moves; 0: all
	storm int // every call is interrupted so many times
	limit uint64
	calls atomic.Int64

	mu          sync.Mutex
	interrupted map[string]int
}

func (f *faults) fault(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.interrupted == nil {
		f.interrupted = map[string]int{}
	}
	if f.interrupted[call] < f.storm {
		f.interrupted[call]++
		return unix.EINTR
	}
	f.interrupted[call] = 0
	if call == f.on {
		if n := f.calls.Add(1) - 1; n >= f.after && (f.until == 0 || n < f.until) {
			return f.err
		}
	}
	return nil
}

func (f *faults) part(p []byte) []byte {
	if f.most > 0 {
		return p[:min(len(p), f.most)]
	}
	return p
}

func (f *faults) Open(name string, flags int, perm uint32) (int, error) {
	if err := f.fault("Open"); err != nil {
		return -1, err
	}
	return f.linux.Open(name, flags, perm)
}

func (f *faults) Pread(fd int, p []byte, off int64) (int, error) {
	if err := f.fault("Pread"); err != nil {
		return -1, err
	}
	return f.linux.Pread(fd, f.part(p), off)
}

func (f *faults) Pwrite(fd int, p []byte, off int64) (int, error) {
	if err := f.fault("Pwrite"); err == errNone {
		return 0, nil
	} else if err != nil {
		return -1, err
	}
	return f.linux.Pwrite(fd, f.part(p), off)
}

func (f *faults) Read(fd int, p []byte) (int, error) {
	if err := f.fault("Read"); err != nil {
		return -1, err
	}
	return f.linux.Read(fd, f.part(p))
}

func (f *faults) Write(fd int, p []byte) (int, error) {
	if err := f.fault("Write"); err != nil {
		return -1, err
	}
	return f.linux.Write(fd, f.part(p))
}

func (f *faults) Fstat(fd int, st *unix.Stat_t) error {
	if err := f.fault("Fstat"); err != nil {
		return err
	}
	return f.linux.Fstat(fd, st)
}

func (f *faults) Ftruncate(fd int, size int64) error {
	if err := f.fault("Ftruncate"); err != nil {
		return err
	}
	return f.linux.Ftruncate(fd, size)
}

func (f *faults) Fallocate(fd int, off, n int64) error {
	if err := f.fault("Fallocate"); err != nil {
		return err
	}
	return f.linux.Fallocate(fd, off, n)
}

func (f *faults) Fsync(fd int) error {
	if err := f.fault("Fsync"); err != nil {
		return err
	}
	return f.linux.Fsync(fd)
}

func (f *faults) Lock(fd, command int, l *unix.Flock_t) error {
	if err := f.fault("Lock"); err != nil {
		return err
	}
	return f.linux.Lock(fd, command, l)
}

func (f *faults) FileLimit() uint64 {
	if f.limit > 0 {
		return f.limit
	}
	return unix.RLIM_INFINITY
}

var errNone = errors.New("nothing is written, and there is no error")

func TestPartsAndInterruptionsAreContinued(t *testing.T) {
	f, name := fresh(t, &faults{most: 7, storm: 3})
	want := make([]byte, 1000)
	rand.New(rand.NewSource(2)).Read(want)
	if n, err := f.WriteAt(want, 5); n != len(want) || err != nil {
		t.Fatal(n, err)
	}
	got := make([]byte, 2000)
	if n, err := f.ReadAt(got, 5); n != len(want) || err != nil || !bytes.Equal(got[:n], want) {
		t.Error(n, err)
	}
	for _, err := range []error{f.Truncate(500), f.Allocate(600), f.Sync()} {
		if err != nil {
			t.Error(err)
		}
	}
	unlock, err := f.Lock(0, 10, false)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if size, err := f.Size(); size != 600 || err != nil {
		t.Error(size, err)
	}
	if _, err := f.Identity(); err != nil {
		t.Error(err, name)
	}
}

func TestErrorsOfTheKernelHaveAClassAndSayWhere(t *testing.T) {
	for errno, class := range map[unix.Errno]int{
		unix.EIO: abi.MPI_ERR_IO, unix.ENOSPC: abi.MPI_ERR_NO_SPACE, unix.EDQUOT: abi.MPI_ERR_QUOTA,
		unix.EFBIG: abi.MPI_ERR_QUOTA, unix.EROFS: abi.MPI_ERR_READ_ONLY, unix.EPERM: abi.MPI_ERR_ACCESS,
		unix.EACCES: abi.MPI_ERR_ACCESS, unix.ETXTBSY: abi.MPI_ERR_FILE_IN_USE, unix.EBUSY: abi.MPI_ERR_FILE_IN_USE,
		unix.ESTALE: abi.MPI_ERR_IO, unix.ENOMEM: abi.MPI_ERR_NO_MEM, unix.EINVAL: abi.MPI_ERR_IO,
		unix.EEXIST: abi.MPI_ERR_FILE_EXISTS, unix.ENOENT: abi.MPI_ERR_NO_SUCH_FILE,
		unix.EISDIR: abi.MPI_ERR_BAD_FILE, unix.ESPIPE: abi.MPI_ERR_UNSUPPORTED_OPERATION,
	} {
		sys := &faults{on: "Pwrite", after: 2, err: errno, most: 100}
		f, name := fresh(t, sys)
		n, err := f.WriteAt(make([]byte, 1000), 40)
		if wantClass(t, err, class, "write "+name, "offset 40, length 1000", "after 200 bytes", errno.Error()); n != 200 {
			t.Errorf("%v: %d bytes", errno, n)
		}
		sys.on, sys.after = "Pread", 1
		sys.calls.Store(0)
		n, err = f.ReadAt(make([]byte, 1000), 40)
		if wantClass(t, err, class, "read "+name, "offset 40, length 1000", "after 100 bytes"); n != 100 {
			t.Errorf("%v: %d bytes", errno, n)
		}
	}
}

func TestEveryCallReportsItsFailure(t *testing.T) {
	for call, do := range map[string]func(f file.Storage) error{
		"Ftruncate": func(f file.Storage) error { return f.Truncate(10) },
		"Fallocate": func(f file.Storage) error { return f.Allocate(10) },
		"Fsync":     func(f file.Storage) error { return f.Sync() },
		"Lock":      func(f file.Storage) error { _, err := f.Lock(0, 10, false); return err },
	} {
		f, name := fresh(t, &faults{on: call, err: unix.EIO})
		wantClass(t, do(f), abi.MPI_ERR_IO, name, "input/output error")
	}
	sys := &faults{on: "Fstat", after: 1, err: unix.EIO}
	f, name := fresh(t, sys)
	_, err := f.Size()
	wantClass(t, err, abi.MPI_ERR_IO, name)
	_, err = f.Identity()
	wantClass(t, err, abi.MPI_ERR_IO, name)
	_, err = (&FileSystem{&faults{on: "Fstat", err: unix.EIO}}).Open(name, abi.MPI_MODE_RDONLY, 0)
	wantClass(t, err, abi.MPI_ERR_IO, "open", name)
	_, err = (&FileSystem{&faults{on: "Open", err: unix.EROFS}}).Open(name, readWrite, 0)
	wantClass(t, err, abi.MPI_ERR_READ_ONLY, "open", name)
}

func TestAWriteOfNothingEnds(t *testing.T) {
	f, _ := fresh(t, &faults{on: "Pwrite", after: 1, err: errNone, most: 10})
	n, err := f.WriteAt(make([]byte, 30), 0)
	if wantClass(t, err, abi.MPI_ERR_NO_SPACE, "after 10 bytes"); n != 10 {
		t.Error(n)
	}
	g, _ := fresh(t, &faults{on: "Pwrite", after: 1, until: 2, err: errNone, most: 10})
	if n, err := g.WriteAt(make([]byte, 30), 0); n != 30 || err != nil {
		t.Error(n, err)
	}
}

func TestTheLimitOfTheProcessIsAnErrorAndNoSignal(t *testing.T) {
	f, name := fresh(t, &faults{limit: 100})
	n, err := f.WriteAt(make([]byte, 50), 80)
	if wantClass(t, err, abi.MPI_ERR_QUOTA, name, "offset 80, length 50, after 20 bytes", "file too large"); n != 20 {
		t.Error(n)
	}
	n, err = f.WriteAt(make([]byte, 50), 200)
	if wantClass(t, err, abi.MPI_ERR_QUOTA, name); n != 0 {
		t.Error(n)
	}
	if n, err = f.WriteAt(make([]byte, 50), 50); n != 50 || err != nil {
		t.Error(n, err)
	}
	wantClass(t, f.Truncate(101), abi.MPI_ERR_QUOTA, name)
	wantClass(t, f.Allocate(101), abi.MPI_ERR_QUOTA, name)
	if err := f.Truncate(100); err != nil {
		t.Error(err)
	}
}

func TestPreallocationWithoutTheKernelKeepsTheData(t *testing.T) {
	for _, errno := range []unix.Errno{unix.EOPNOTSUPP, unix.ENOSYS} {
		f, name := fresh(t, &faults{on: "Fallocate", err: errno, most: 100000})
		want := make([]byte, 5<<20)
		copy(want[3000:], "somewhere")
		copy(want[1<<20-3:], "across two buffers")
		copy(want[4<<20:], "last")
		for _, at := range []int64{3000, 1<<20 - 3, 4 << 20} {
			if _, err := f.WriteAt(want[at:at+20], at); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Allocate(int64(len(want))); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(name)
		if !bytes.Equal(got, want) {
			t.Errorf("%v: %d bytes, not those that were written", errno, len(got))
		}
		if st := new(unix.Stat_t); unix.Stat(name, st) != nil || st.Blocks*512 < int64(len(want)) {
			t.Errorf("%v: %d blocks for %d bytes", errno, st.Blocks, len(want))
		}
	}
	f, name := fresh(t, &faults{on: "Fallocate", err: unix.ENOSPC})
	wantClass(t, f.Allocate(100), abi.MPI_ERR_NO_SPACE, "preallocate "+name, "length 100")
}

func TestLocksExcludeOtherOpensAndOtherGoroutines(t *testing.T) {
	f, name := fresh(t, linux{})
	g := open(t, New(), name, abi.MPI_MODE_RDWR)
	var inside, worst, shared atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		s := []file.Storage{f, g}[i%2]
		all.Go(func() {
			for k := range int64(50) {
				unlock, err := s.Lock(100+k%3, 110+k%3, false)
				if err != nil {
					t.Error(err)
					return
				}
				worst.Store(max(worst.Load(), inside.Add(1)))
				inside.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if worst.Load() != 1 {
		t.Errorf("%d at once", worst.Load())
	}
	unlock, err := f.Lock(0, 10, true)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := g.Lock(5, 15, true) // another process that reads
	if err != nil {
		t.Fatal(err)
	}
	apart, err := f.Lock(20, 30, false)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		wait, err := g.Lock(0, 3, false)
		if err != nil {
			t.Error(err)
		}
		shared.Add(1)
		wait()
		close(done)
	}()
	beside()
	apart()
	if shared.Load() != 0 {
		t.Error("an exclusive lock beside a shared one")
	}
	unlock()
	<-done
	if nothing, err := f.Lock(7, 7, false); err != nil {
		t.Error(err)
	} else {
		nothing()
	}
}

func TestAFileSystemWithoutLocksSaysSo(t *testing.T) {
	for _, errno := range []unix.Errno{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL} {
		f, _ := fresh(t, &faults{on: "Lock", err: errno})
		for range 2 { // the lock inside the process is not left behind
			if _, err := f.Lock(0, 10, false); err != file.ErrNoLocks {
				t.Errorf("%v: %v", errno, err)
			}
		}
	}
	_, name := fresh(t, linux{})
	reader := open(t, New(), name, abi.MPI_MODE_RDONLY)
	_, err := reader.Lock(0, 10, false)
	wantClass(t, err, abi.MPI_ERR_ACCESS, "lock "+name, "offset 0, length 10")
}

func TestALockEndsWithItsProcess(t *testing.T) {
	if name := os.Getenv("LOCKED_FILE"); name != "" {
		f := open(t, New(), name, abi.MPI_MODE_RDWR)
		if _, err := f.Lock(0, 100, false); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("locked\n")
		select {}
	}
	f, name := fresh(t, linux{})
	child := exec.Command(os.Args[0], "-test.run=TestALockEndsWithItsProcess")
	child.Env = append(os.Environ(), "LOCKED_FILE="+name)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if p := make([]byte, 7); string(p[:read(t, out, p)]) != "locked\n" {
		t.Fatalf("the other process said %q", p)
	}
	l := unix.Flock_t{Type: unix.F_WRLCK, Len: 10}
	if err := (linux{}).Lock(f.(*regular).fd, unix.F_OFD_GETLK, &l); err != nil || l.Type == unix.F_UNLCK {
		t.Errorf("there is no lock: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	unlock, err := f.Lock(0, 100, false)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	_ = child.Wait()
}

func read(t *testing.T, from interface{ Read([]byte) (int, error) }, p []byte) int {
	t.Helper()
	n, err := from.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAPipeIsReadAndWrittenInOrder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Skip("no FIFOs here: ", err)
	}
	want := make([]byte, 300000)
	rand.New(rand.NewSource(3)).Read(want)
	done := make(chan error)
	sys := &faults{storm: 2, most: 5000}
	go func() {
		w, err := (&FileSystem{sys}).Open(name, abi.MPI_MODE_WRONLY|abi.MPI_MODE_SEQUENTIAL, 0)
		if err == nil {
			_, err = w.WriteAt(want, 77)
			if seekable := w.(interface{ Seekable() bool }).Seekable(); err == nil && seekable {
				err = errors.New("seekable")
			}
			_ = w.Close()
		}
		done <- err
	}()
	f := open(t, New(), name, abi.MPI_MODE_RDONLY)
	got := make([]byte, len(want)+10)
	n, err := f.ReadAt(got, 12345)
	if n != len(want) || err != nil || !bytes.Equal(got[:n], want) {
		t.Errorf("%d bytes: %v", n, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if size, err := f.Size(); size != 0 || err != nil || f.Sync() != nil {
		t.Error(size, err)
	}
	wantClass(t, f.Truncate(0), abi.MPI_ERR_UNSUPPORTED_OPERATION, name)
	wantClass(t, f.Allocate(0), abi.MPI_ERR_UNSUPPORTED_OPERATION, name)
	if _, err := f.Lock(0, 1, true); err != file.ErrNoLocks {
		t.Error(err)
	}
}
