package shm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

func TestAttachRefusesWhatIsNoSegment(t *testing.T) {
	file := func(content []byte) int {
		p := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(p, content, 0o600); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.Open(p, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	mem := func(size int64, seals int, h *header) int {
		fd, err := memfd()
		if err != nil {
			t.Fatal(err)
		}
		unix.Ftruncate(fd, size)
		if h != nil {
			var b [headerBytes]byte
			*headerOf(b[:]) = *h
			unix.Pwrite(fd, b[:], 0)
		}
		if seals != 0 {
			unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		}
		return fd
	}
	good := header{magic: magic, version: version, localSize: 2, bytes: uint64(segmentBytes(2)),
		ringBytes: uint32(ringSize(2))}
	but := func(change func(h *header)) *header { h := good; change(&h); return &h }
	size, seal := int64(segmentBytes(2)), unix.F_SEAL_SHRINK
	for name, fd := range map[string]int{
		"not open":      -1,
		"empty file":    file(nil),
		"ordinary file": file(make([]byte, 8192)),
		"empty memfd":   mem(0, seal, nil),
		"zeros":         mem(size, seal, nil),
		"not sealed":    mem(size, 0, &good),
		"truncated":     mem(size-1, seal, &good),
		"magic":         mem(size, seal, but(func(h *header) { h.magic++ })),
		"version":       mem(size, seal, but(func(h *header) { h.version++ })),
		"no ranks":      mem(size, seal, but(func(h *header) { h.localSize = 0 })),
		"more ranks":    mem(size, seal, but(func(h *header) { h.localSize = 3 })),
		"many ranks":    mem(size, seal, but(func(h *header) { h.localSize = 1 << 31 })),
		"ring size":     mem(size, seal, but(func(h *header) { h.ringBytes *= 2 })),
		"size":          mem(size, seal, but(func(h *header) { h.bytes++ })),
	} {
		if s, err := Attach(fd, 0); err == nil {
			t.Errorf("%s: attached", name)
			s.Close()
		} else if fd >= 0 {
			unix.Close(fd)
		}
	}
	s, err := Attach(mem(size, seal, &good), 0)
	if err != nil {
		t.Fatalf("the control case: %v", err)
	}
	s.Close()
}

func TestAttachRefusesRanksThatAreNotThere(t *testing.T) {
	fd := create(t, 2)
	for _, rank := range []int{-1, 2} {
		if _, err := Attach(fd, rank); err == nil {
			t.Errorf("rank %d of 2 attached", rank)
		}
	}
	for _, n := range []int{-1, 0, MaxLocal + 1} {
		if _, err := Create(n); err == nil {
			t.Errorf("a segment for %d ranks", n)
		}
	}
}

func TestNewRefusesTablesThatDoNotFit(t *testing.T) {
	s := attach(t, create(t, 2), 0)
	defer s.Close()
	for _, w := range [][]int32{nil, {0}, {0, 1, 2}, {5, 5}, {-1, 0}} {
		if _, err := New(Config{Segment: s, World: w, Receiver: &receiver{}}); err == nil {
			t.Errorf("%v accepted", w)
		}
	}
	x, err := New(Config{Segment: s, World: []int32{70000, 3}, Receiver: &receiver{}})
	if err != nil {
		t.Fatal(err)
	}
	for w, want := range map[int32]int{70000: 0, 3: 1, 4: -1, 2: -1, 70001: -1, -1: -1} {
		if got := x.Local(w); got != want {
			t.Errorf("world rank %d: local rank %d, want %d", w, got, want)
		}
	}
}

// inUse is the memory behind a segment, in bytes.
func inUse(t *testing.T, fd int) int {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		t.Fatal(err)
	}
	return int(st.Blocks * 512)
}

// TestMemoryGrowsWithThePairsThatTalk in a segment of many ranks.
func TestMemoryGrowsWithThePairsThatTalk(t *testing.T) {
	const n = 5000
	fd := create(t, n)
	var got []packet
	a, b := attach(t, fd, 1), attach(t, fd, n-1)
	defer a.Close()
	defer b.Close()
	from, to := newTransport(t, a, &receiver{}), newTransport(t, b, keep(&got))
	before := inUse(t, fd)
	from.Send(&transport.Header{Src: 101, Dst: 100 + n - 1, Len: 3, MsgLen: 3}, []byte("abc"))
	to.Poll()
	if len(got) != 1 || string(got[0].Payload) != "abc" {
		t.Fatalf("came: %v", got)
	}
	if more := inUse(t, fd) - before; before > alignPage(positionOffset(n)) || more > ringSize(n)+2*pageBytes {
		t.Errorf("%d bytes for %d ranks, and %d for the pair that talks", before, n, more)
	}
}

// TestNothingIsReservedBeforeUse keeps the footprint of a job that says hello small.
func TestNothingIsReservedBeforeUse(t *testing.T) {
	fd := create(t, 64)
	s := attach(t, fd, 0)
	defer s.Close()
	newTransport(t, s, &receiver{}).Poll()
	if got := inUse(t, fd); got > alignPage(positionOffset(64)) {
		t.Errorf("%d bytes in use before the first message", got)
	}
}
