package disk

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

// ranges are the locks that goroutines of this process hold on one open file. The kernel's locks belong to the open
// file, and exclude others only: a second goroutine would get the lock that the first has, and lose it when the first
// gives it up.
type ranges struct {
	mu      sync.Mutex
	changed *sync.Cond
	held    []extent
}

// extent is bytes lo to hi, hi not included.
type extent struct{ lo, hi int64 }

func newRanges() *ranges {
	r := new(ranges)
	r.changed = sync.NewCond(&r.mu)
	return r
}

// take waits until nobody else holds any of the bytes.
func (r *ranges) take(e extent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.overlaps(e) {
		r.changed.Wait()
	}
	r.held = append(r.held, e)
}

func (r *ranges) overlaps(e extent) bool {
	for _, h := range r.held {
		if h.lo < e.hi && e.lo < h.hi {
			return true
		}
	}
	return false
}

func (r *ranges) give(e extent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, h := range r.held {
		if h == e {
			r.held[i] = r.held[len(r.held)-1]
			r.held = r.held[:len(r.held)-1]
			break
		}
	}
	r.changed.Broadcast()
}

// Lock locks bytes lo to hi, hi not included (file.Storage), with locks of the open file description: they end with the
// process, and the close of another descriptor of the same file does not end them. Goroutines of this process exclude
// each other for shared locks, too.
func (f *regular) Lock(lo, hi int64, shared bool) (unlock func(), err error) {
	if hi <= lo { // the kernel would take it for all bytes from lo on
		return func() {}, nil
	}
	e := extent{lo, hi}
	f.ranges.take(e)
	kind := int16(unix.F_WRLCK)
	if shared {
		kind = unix.F_RDLCK
	}
	switch err := f.lock(e, kind); err {
	case nil:
		return func() {
			_ = f.lock(e, unix.F_UNLCK) // it fails only for memory; the lock then ends when the file is closed
			f.ranges.give(e)
		}, nil
	case unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL:
		f.ranges.give(e)
		return nil, file.ErrNoLocks
	default:
		f.ranges.give(e)
		return nil, &file.Error{Class: lockClass(err),
			Text: fmt.Sprintf("lock %s, offset %d, length %d: %v", f.name, lo, hi-lo, err)}
	}
}

// lockClass tells apart a lock that the mode of the file does not allow.
func lockClass(err error) int {
	if err == unix.EBADF {
		return abi.MPI_ERR_ACCESS
	}
	return class(err)
}

func (f *regular) lock(e extent, kind int16) error {
	l := unix.Flock_t{Type: kind, Whence: unix.SEEK_SET, Start: e.lo, Len: e.hi - e.lo}
	return again(func() error { return f.sys.Lock(f.fd, unix.F_OFD_SETLKW, &l) })
}
