package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The memory of a pair of processes, as a file: layout.go says what is in it.

var errNoPair = errors.New("shm: descriptor is not the memory of a pair of processes")

// createPair makes the memory of a pair. Only its header takes memory at first.
func createPair() (fd int, err error) {
	if fd, err = memfd(); err != nil {
		return -1, fmt.Errorf("shm: memfd_create: %w", err)
	}
	if err = writePair(fd); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("shm: memory of a pair: %w", err)
	}
	return fd, nil
}

func writePair(fd int) error {
	if err := unix.Ftruncate(fd, pairBytes); err != nil {
		return err
	}
	if err := seal(fd, unix.F_SEAL_GROW); err != nil {
		return err
	}
	var b [lineBytes]byte
	*pairHeaderOf(b[:]) = pairHeader{magic: pairMagic, version: pairVersion, ringBytes: maxRingBytes, bytes: pairBytes}
	if k, err := unix.Pwrite(fd, b[:], 0); err != nil || k != len(b) {
		return fmt.Errorf("writing the header: %d bytes, %w", k, err)
	}
	return nil
}

// checkPair reports whether what another process has sent, or seems to have sent, is the memory of a pair.
func checkPair(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("shm: descriptor %d: %w", fd, err)
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		return errNoPair
	}
	var b [lineBytes]byte
	if k, err := unix.Pread(fd, b[:], 0); err != nil || k != len(b) {
		return errNoPair
	}
	h := *pairHeaderOf(b[:])
	switch {
	case h.magic != pairMagic:
		return errNoPair
	case h.version != pairVersion:
		return fmt.Errorf("shm: memory of a pair of layout version %d, this library has %d: are both jobs of one release?",
			h.version, pairVersion)
	case h.ringBytes != maxRingBytes || h.bytes != pairBytes || st.Size != pairBytes:
		return fmt.Errorf("shm: memory of a pair has %d bytes and rings of %d: damaged", st.Size, h.ringBytes)
	}
	return nil
}

// ringOfPair is where the ring of what an end sends begins.
func ringOfPair(end int) int { return pairRings + end*maxRingBytes }
