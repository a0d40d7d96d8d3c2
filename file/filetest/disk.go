package filetest

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

// Disk is a file system in memory. It is one for all members.
type Disk struct {
	// Fault is asked before each read and write: how much of it is done, and the error then. Nil: all is done.
	Fault func(write bool, off int64, n int) (done int, err error)
	// Before is called before each read and write, at whose member others may go on meanwhile.
	Before func(write bool, off int64, n int)
	// Unreadable: files can be written only.
	Unreadable bool
	// NoLocks: the file system has none.
	NoLocks bool

	mu            sync.Mutex
	change        *sync.Cond
	files         map[string]*content
	Reads, Writes int // how many calls there were
	lost          []string
}

// content is a file: its bytes, and who holds locks on it.
type content struct {
	number int64
	data   []byte
	locks  map[*held]bool
}

type held struct {
	lo, hi int64
	shared bool
}

// NewDisk makes an empty one.
func NewDisk() *Disk {
	d := &Disk{files: map[string]*content{}}
	d.change = sync.NewCond(&d.mu)
	return d
}

// Bytes is what a file has.
func (d *Disk) Bytes(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.files[name]; c != nil {
		return c.data
	}
	return nil
}

// Locked is how many locks are held on a file.
func (d *Disk) Locked(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.files[name].locks)
}

// Lost is where somebody has written a byte again as it was before another wrote it: a window was read, modified and
// written without a lock. It is for tests in which no byte is written twice.
func (d *Disk) Lost() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// Open implements file.FileSystem.
func (d *Disk) Open(name string, mode int, perm uint32) (file.Storage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.files[name]
	switch {
	case c == nil && mode&abi.MPI_MODE_CREATE == 0:
		return nil, &file.Error{Class: abi.MPI_ERR_NO_SUCH_FILE, Text: "open " + name + ": no such file"}
	case c != nil && mode&abi.MPI_MODE_EXCL != 0:
		return nil, &file.Error{Class: abi.MPI_ERR_FILE_EXISTS, Text: "open " + name + ": file exists"}
	case c == nil:
		c = &content{number: int64(len(d.files) + 1), locks: map[*held]bool{}}
		d.files[name] = c
	}
	return &opened{d: d, c: c}, nil
}

// Remove implements file.FileSystem.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files[name] == nil {
		return &file.Error{Class: abi.MPI_ERR_NO_SUCH_FILE, Text: "remove " + name + ": no such file"}
	}
	delete(d.files, name)
	return nil
}

// opened is an open file.
type opened struct {
	d    *Disk
	c    *content
	read []seen // since it last wrote
}

// seen is what somebody has read.
type seen struct {
	off  int64
	data []byte
}

// fault is how much of a call is done, and its error. d.mu is held.
func (o *opened) fault(write bool, off int64, n int) (int, error) {
	if o.d.Fault == nil {
		return n, nil
	}
	return o.d.Fault(write, off, n)
}

// before lets others go on.
func (o *opened) before(write bool, off int64, n int) {
	if o.d.Before != nil {
		o.d.Before(write, off, n)
	}
}

// Readable and Seekable implement file.Limits.
func (o *opened) Readable() bool { return !o.d.Unreadable }
func (o *opened) Seekable() bool { return true }

func (o *opened) ReadAt(p []byte, off int64) (int, error) {
	if o.d.Unreadable {
		return 0, &file.Error{Class: abi.MPI_ERR_ACCESS, Text: "read: the file can be written only"}
	}
	o.before(false, off, len(p))
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	o.d.Reads++
	n, err := o.fault(false, off, len(p))
	if off >= int64(len(o.c.data)) {
		return 0, err
	}
	n = copy(p[:n], o.c.data[off:])
	o.read = append(o.read, seen{off, bytes.Clone(p[:n])})
	return n, err
}

func (o *opened) WriteAt(p []byte, off int64) (int, error) {
	o.before(true, off, len(p))
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	o.d.Writes++
	n, err := o.fault(true, off, len(p))
	o.grow(off + int64(n))
	o.compare(p[:n], off)
	return copy(o.c.data[off:], p[:n]), err
}

// compare finds bytes that are about to be written as this member has read them, though others have changed them.
func (o *opened) compare(p []byte, off int64) {
	for _, s := range o.read {
		for at := max(off, s.off); at < min(off+int64(len(p)), s.off+int64(len(s.data))); at++ {
			if was := s.data[at-s.off]; was == p[at-off] && was != o.c.data[at] {
				o.d.lost = append(o.d.lost, fmt.Sprintf("byte %d, which has become %d, is %d again", at, o.c.data[at], was))
			}
		}
	}
	o.read = nil
}

// grow makes the file at least so long.
func (o *opened) grow(n int64) {
	if more := n - int64(len(o.c.data)); more > 0 {
		o.c.data = append(o.c.data, make([]byte, more)...)
	}
}

func (o *opened) Size() (int64, error) {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	return int64(len(o.c.data)), nil
}

func (o *opened) Truncate(size int64) error {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	o.grow(size)
	o.c.data = o.c.data[:size]
	return nil
}

func (o *opened) Allocate(size int64) error {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	o.grow(size)
	return nil
}

func (o *opened) Sync() error                 { return nil }
func (o *opened) Identity() ([2]int64, error) { return [2]int64{o.c.number}, nil }
func (o *opened) Close() error                { return nil }

func (o *opened) Lock(lo, hi int64, shared bool) (func(), error) {
	if o.d.NoLocks {
		return nil, file.ErrNoLocks
	}
	if lo < 0 || lo >= hi {
		return nil, fmt.Errorf("lock on bytes %d to %d", lo, hi)
	}
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	for o.c.conflicts(lo, hi, shared) {
		o.d.change.Wait()
	}
	h := &held{lo, hi, shared}
	o.c.locks[h] = true
	return func() {
		o.d.mu.Lock()
		defer o.d.mu.Unlock()
		delete(o.c.locks, h)
		o.d.change.Broadcast()
	}, nil
}

// conflicts reports whether a lock has to wait.
func (c *content) conflicts(lo, hi int64, shared bool) bool {
	for h := range c.locks {
		if h.lo < hi && lo < h.hi && !(shared && h.shared) {
			return true
		}
	}
	return false
}
