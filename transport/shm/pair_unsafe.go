package shm

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The memory of a pair as Go types, and where it is mapped.

type pairHeader struct {
	magic     uint64
	version   uint32
	ringBytes uint32
	bytes     uint64
	_         [5]uint64
}

type pairEnd struct {
	left uint32
	_    [15]uint32
}

type pairHead struct {
	header    pairHeader
	ends      [2]pairEnd
	positions [2]position
}

func pairHeaderOf(b []byte) *pairHeader { return (*pairHeader)(unsafe.Pointer(&b[0])) }

// addresses are a part of this process's addresses where the memory of one guest after the other is mapped: the pages
// with its control block, then the pair's memory. They stay in use for good, and while there is no guest they can be
// read and written to no effect: a thread that looks for a packet, or wakes the guest, does not hold the engine's lock
// and may come too late.
type addresses struct{ base unsafe.Pointer }

// pagesBefore is what the control block, which may cross from one page to the next, takes.
func pagesBefore() int { return 2 * os.Getpagesize() }

func addressBytes() int {
	page := os.Getpagesize()
	return pagesBefore() + (pairBytes+page-1)&^(page-1)
}

const nowhere = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE

// reserveAddresses takes no memory.
func reserveAddresses() (*addresses, error) {
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(addressBytes()), unix.PROT_NONE, nowhere)
	if err != nil {
		return nil, fmt.Errorf("shm: addresses for a guest: %w", err)
	}
	return &addresses{base}, nil
}

// fill maps the memory of a guest, whose control block is at an offset of its segment.
func (a *addresses) fill(pair, home, control int) error {
	page := os.Getpagesize()
	if err := a.mapFile(home, int64(control&^(page-1)), 0, pagesBefore()); err != nil {
		return fmt.Errorf("shm: mapping the control block of a guest: %w", err)
	}
	if err := a.mapFile(pair, 0, pagesBefore(), pairBytes); err != nil {
		return fmt.Errorf("shm: mapping %d bytes for a guest: %w", pairBytes, err)
	}
	return nil
}

func (a *addresses) mapFile(fd int, off int64, at, n int) error {
	_, err := unix.MmapPtr(fd, off, unsafe.Add(a.base, at), uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

// empty lets go of a guest's memory. Should the kernel refuse that, it stays until the next guest comes.
func (a *addresses) empty() {
	unix.MmapPtr(-1, 0, a.base, uintptr(addressBytes()), unix.PROT_READ|unix.PROT_WRITE, nowhere|unix.MAP_FIXED)
}

func (a *addresses) free() error { return unix.MunmapPtr(a.base, uintptr(addressBytes())) }

// control is the control block that is at an offset of the guest's segment.
func (a *addresses) control(off int) *control {
	return (*control)(unsafe.Add(a.base, off&(os.Getpagesize()-1)))
}

func (a *addresses) pair() *pairHead { return (*pairHead)(unsafe.Add(a.base, pagesBefore())) }

// ring is that of what an end sends.
func (a *addresses) ring(end int) unsafe.Pointer {
	return unsafe.Add(a.base, pagesBefore()+ringOfPair(end))
}

func (g *guest) view() *pairHead { return g.memory.pair() }

// furnish makes a peer of a guest. Threads without the lock see the ring last.
func (p *peer) furnish(g *guest, ctl *control, size int) {
	o, in := &p.out, &p.in
	o.tail, o.limit, o.ring = 0, 0, nil
	o.ctl, o.pos = ctl, &g.view().positions[g.end]
	in.read, in.told = 0, 0
	in.ctl, in.pos, in.size, in.max = ctl, &g.view().positions[1-g.end], uint32(size), uint32(maxPayload(size))
	in.open(g.memory.ring(1 - g.end))
}

// open shows a ring to threads without the lock.
func (in *inbound) open(ring unsafe.Pointer) { atomic.StorePointer(&in.ring, ring) }

// closeIn closes a ring that was open: nothing is in it any more.
func (s *Segment) closeIn(in *inbound) {
	if in.ring != nil {
		in.open(unsafe.Pointer(&s.nothing[0]))
	}
}

// arrived reports whether there is another record.
func (in *inbound) arrived() bool {
	return atomic.LoadUint32(&(*record)(unsafe.Add(in.ring, in.read&uint64(in.size-1))).state) != 0
}
