package shm

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Memory of windows that all ranks reach without a descriptor of each other: parts of the segment's file, which grows
// by them. Each part has a page more, whose last word counts the ranks that have it mapped. The last of them gives the
// memory back to the kernel. Addresses in the file are not used again: there are enough of them.

// annexed are the parts of the file that this rank has mapped.
type annexed struct {
	sync.Mutex
	parts map[*byte]annex // by their first byte
}

// annex is one of them.
type annex struct {
	mem []byte // with the page that counts
	off int64
}

// maxAnnex is how many bytes can be given away in all.
const maxAnnex = 1 << 62

var errAnnexFull = fmt.Errorf("shm: the memory of windows has had %d bytes in all", int64(maxAnnex))

// shareBehind is Share.
func (s *Segment) shareBehind(n, align int) (mem []byte, id uint64, err error) {
	length := uint64(alignPage(n) + pageBytes)
	given := &headerOf(s.mem).given
	before := atomic.AddUint64(given, length) - length
	if before%pageBytes != 0 || before > maxAnnex || length > maxAnnex {
		return nil, 0, errAnnexFull
	}
	if err := s.growTo(uint64(len(s.mem)) + before + length); err != nil {
		return nil, 0, fmt.Errorf("shm: memory of %d bytes: %w", n, err)
	}
	page := before / pageBytes
	if mem, err = s.findBehind(page, n, align); err != nil {
		return nil, 0, err
	}
	return mem, idBehind | page, nil
}

// growTo makes the segment's file at least that long. Others may do so at the same time: it never becomes shorter.
func (s *Segment) growTo(size uint64) error {
	err := resize(s.fd, size)
	if errors.Is(err, unix.EPERM) && s.reaches(size) { // it is longer than that: resize would have shrunk it
		return nil
	}
	return err
}

// reaches reports whether the segment's file is that long.
func (s *Segment) reaches(size uint64) bool {
	var st unix.Stat_t
	return unix.Fstat(s.fd, &st) == nil && uint64(st.Size) >= size
}

// findBehind is Find: the number is a page's, counted from the end of the segment.
func (s *Segment) findBehind(page uint64, n, align int) ([]byte, error) {
	if page > maxAnnex/pageBytes || n <= 0 || n > math.MaxInt-2*pageBytes {
		return nil, fmt.Errorf("shm: no memory of %d bytes at page %d of windows", n, page)
	}
	length := alignPage(n) + pageBytes
	off := uint64(len(s.mem)) + page*pageBytes
	if !s.reaches(off + uint64(length)) {
		return nil, fmt.Errorf("shm: page %d of windows does not begin %d bytes", page, n)
	}
	mem, err := mapAll(s.fd, int64(off), length, align)
	if err != nil {
		return nil, fmt.Errorf("shm: mapping %d bytes: %w", n, err)
	}
	if err := reserve(s.fd, int(off)+length-pageBytes, pageBytes); err != nil {
		unmapAll(mem)
		return nil, err
	}
	atomic.AddUint64(lastWord(mem), 1)
	s.annexed.Lock()
	defer s.annexed.Unlock()
	if s.annexed.parts == nil {
		s.annexed.parts = map[*byte]annex{}
	}
	s.annexed.parts[&mem[0]] = annex{mem, int64(off)}
	return mem[:n:n], nil
}

// forgetBehind is Forget. It returns false if that is no such memory.
func (s *Segment) forgetBehind(mem []byte) bool {
	s.annexed.Lock()
	a, ok := s.annexed.parts[&mem[0]]
	delete(s.annexed.parts, &mem[0])
	s.annexed.Unlock()
	if !ok {
		return false
	}
	if atomic.AddUint64(lastWord(a.mem), ^uint64(0)) == 0 {
		unix.Fallocate(s.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, a.off, int64(len(a.mem)))
	}
	unmapAll(a.mem)
	return true
}
