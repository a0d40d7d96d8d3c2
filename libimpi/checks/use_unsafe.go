package checks

import (
	"cmp"
	"hash/maphash"
	"os"
	"slices"
	"unsafe"

	"github.com/libimpi/libimpi/datatype"
	"golang.org/x/sys/unix"
)

// Use is what an operation does with memory of the program: exactly the bytes of its datatypes, without what lies
// between them.
type Use struct {
	Call    string    // "MPI_Irecv"
	Returns []uintptr // where it was called from; nil: not known

	buffers    [2]buffer
	n          int
	id         uint64 // of its request; 0: it has none yet
	persistent bool
	active     bool // under way, as the program has to see it
	busy       bool // stands in the list of memory in use
	freed      bool // the program has freed the request, and the operation goes on
	summed     bool
}

// buffer is an argument.
type buffer struct {
	name   string
	writes bool
	runs   []run // in the order of addresses, none of which touch; none: no data, or too many to tell
	sum    uint64
}

// run is memory from low to high.
type run struct{ low, high uintptr }

// mostRuns bounds how many runs are listed of a buffer. A buffer with more is not looked at.
const mostRuns = 1 << 14

// New is the use of a call.
func New(call string, returns []uintptr) *Use { return &Use{Call: call, Returns: returns} }

// Keeps says that the operation has a persistent request: it is under way from Start to its completion.
func (u *Use) Keeps() *Use {
	u.persistent = true
	return u
}

// Reads adds an argument from which the operation sends count elements.
func (u *Use) Reads(name string, base datatype.Pointer, count int64, t *datatype.Type) *Use {
	return u.add(name, base, count, t, false)
}

// Writes adds an argument into which it receives.
func (u *Use) Writes(name string, base datatype.Pointer, count int64, t *datatype.Type) *Use {
	return u.add(name, base, count, t, true)
}

func (u *Use) add(name string, base datatype.Pointer, count int64, t *datatype.Type, writes bool) *Use {
	if u.n < len(u.buffers) && t != nil && count > 0 && t.Size() > 0 {
		u.buffers[u.n] = buffer{name: name, writes: writes, runs: runsOf(base, count, t)}
		u.n++
	}
	return u
}

// runsOf lists what count elements are in memory.
func runsOf(base datatype.Pointer, count int64, t *datatype.Type) []run {
	if p, n, single := t.Span(base, count); single && !t.IsView() {
		return []run{{uintptr(p), uintptr(p) + uintptr(n)}}
	}
	var c datatype.Cursor
	var list datatype.Runs
	c.Init(base, count, t, datatype.Native)
	var runs []run
	for at := int64(0); at < c.Len(); {
		at = c.List(&list, at, c.Len())
		if list.N == 0 || len(runs)+list.N > mostRuns {
			return nil
		}
		for i := range list.N {
			low := uintptr(base) + uintptr(list.Off[i])
			runs = append(runs, run{low, low + uintptr(list.Len[i])})
		}
	}
	return ordered(runs)
}

// ordered sorts runs, and joins those that touch.
func ordered(runs []run) []run {
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.low, b.low) })
	n := 0
	for _, r := range runs {
		if n > 0 && r.low <= runs[n-1].high {
			runs[n-1].high = max(runs[n-1].high, r.high)
			continue
		}
		runs[n] = r
		n++
	}
	return runs[:n]
}

// common is how many bytes two buffers share.
func common(a, b []run) (bytes uintptr) {
	for len(a) > 0 && len(b) > 0 {
		if low, high := max(a[0].low, b[0].low), min(a[0].high, b[0].high); low < high {
			bytes += high - low
		}
		if a[0].high < b[0].high {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return bytes
}

// span is the memory from the first to the last byte of all buffers.
func (u *Use) span() (low, high uintptr, some bool) {
	for i := range u.buffers[:u.n] {
		if runs := u.buffers[i].runs; len(runs) > 0 {
			first, last := runs[0].low, runs[len(runs)-1].high
			if !some {
				low, high, some = first, last, true
			}
			low, high = min(low, first), max(high, last)
		}
	}
	return low, high, some
}

// sum notes what is sent.
func (u *Use) sum(seed maphash.Seed) {
	u.summed = true
	for i := range u.buffers[:u.n] {
		if b := &u.buffers[i]; !b.writes {
			b.sum = sumOf(seed, b.runs)
		}
	}
}

// changed returns the argument that is not what it was when sum noted it, and how; "": all are.
func (u *Use) changed(seed maphash.Seed) (argument, how string) {
	if !u.summed {
		return "", ""
	}
	for i := range u.buffers[:u.n] {
		b := &u.buffers[i]
		switch {
		case b.writes:
		case !present(b.runs):
			return b.name, "has been given back"
		case sumOf(seed, b.runs) != b.sum:
			return b.name, "has changed"
		}
	}
	return "", ""
}

func sumOf(seed maphash.Seed, runs []run) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, r := range runs {
		h.Write(bytesOf(r))
	}
	return h.Sum64()
}

func bytesOf(r run) []byte {
	return unsafe.Slice((*byte)(pointer(r.low)), r.high-r.low)
}

func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// unmapped is from how many bytes on C's free may take memory out of the process.
const unmapped = 64 << 10

// present reports whether memory is there: a program that gives a long buffer back too early must not end here.
func present(runs []run) bool {
	page := uintptr(os.Getpagesize())
	var seen []byte
	for _, r := range runs {
		if r.high-r.low < unmapped {
			continue
		}
		first := r.low &^ (page - 1)
		pages := (r.high - first + page - 1) / page
		if uintptr(len(seen)) < pages {
			seen = make([]byte, pages)
		}
		_, _, err := unix.Syscall(unix.SYS_MINCORE, first, r.high-first, uintptr(unsafe.Pointer(&seen[0])))
		if err == unix.ENOMEM {
			return false
		}
	}
	return true
}
