package shm

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Segments of other jobs, by whose descriptors this process learns of the death of its guests: one descriptor for all
// guests of a segment.
//
// A process loses all its record locks of a file as soon as it closes any descriptor of it. It holds none of files that
// are not its own segment, so those can be closed at any time, and one of its own that has come from elsewhere never.

// fileID says which file a descriptor is of.
type fileID struct{ dev, ino uint64 }

// home is a segment in which guests live.
type home struct {
	fd   int
	id   fileID
	n    int // local ranks
	uses int
}

func fileOf(fd int) (fileID, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fileID{}, fmt.Errorf("shm: descriptor %d: %w", fd, err)
	}
	return fileID{uint64(st.Dev), st.Ino}, nil
}

// enter returns the home behind a descriptor, which it takes over.
func (s *Segment) enter(fd int) (*home, error) {
	id, err := fileOf(fd)
	if err == nil && id == s.id {
		return nil, errOwnSegment
	}
	if h := s.homes[id]; err == nil && h != nil {
		s.discard(fd)
		h.uses++
		return h, nil
	}
	var header header
	if err == nil {
		header, err = readHeader(fd)
	}
	if err != nil {
		s.discard(fd)
		return nil, fmt.Errorf("the segment of a process of another job: %w", err)
	}
	h := &home{fd, id, int(header.localSize), 1}
	if s.homes == nil {
		s.homes = map[fileID]*home{}
	}
	s.homes[id] = h
	unix.CloseOnExec(fd)
	return h, nil
}

// exit is the end of one use of a home.
func (s *Segment) exit(h *home) {
	if h.uses--; h.uses == 0 {
		delete(s.homes, h.id)
		unix.Close(h.fd)
	}
}

// discard closes a descriptor of another process's, if that can be done without harm.
func (s *Segment) discard(fd int) {
	if id, err := fileOf(fd); err == nil && id != s.id {
		unix.Close(fd)
	}
}
