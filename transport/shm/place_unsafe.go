package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Place returns where the ranks of a new segment run, before they do. cores is how many CPUs they have together, by
// which they know whether they have to take turns. nodes are their NUMA nodes, by local rank, -1 where a rank has none
// of its own, nil where none has: the rings to a rank then stand in the memory of its node, from which it polls them,
// whoever touches them first, and so will what it writes on boards. The system may refuse that, which costs time and is
// no error.
func Place(fd, cores int, nodes []int) error { return placeRings(fd, cores, nodes, prefer) }

// placeRings is Place. prefer asks for memory of a node.
func placeRings(fd, cores int, nodes []int, prefer func(mem []byte, node int) error) error {
	h, err := readHeader(fd)
	if err != nil {
		return err
	}
	h.cores = uint32(cores)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&h)), headerBytes)
	if k, err := unix.Pwrite(fd, b, 0); err != nil || k != headerBytes {
		return fmt.Errorf("shm: writing the header: %d bytes, %w", k, err)
	}
	n := int(h.localSize)
	if len(nodes) != n {
		return nil
	}
	for rank, node := range nodes {
		bound := uint32(node + 1)
		at := controlOffset + rank*controlBytes(n) + int(unsafe.Offsetof(control{}.node))
		if k, err := unix.Pwrite(fd, unsafe.Slice((*byte)(unsafe.Pointer(&bound)), 4), int64(at)); err != nil || k != 4 {
			return fmt.Errorf("shm: writing the node of local rank %d: %d bytes, %w", rank, k, err)
		}
	}
	mem, err := unix.Mmap(fd, int64(ringOffset(n)), n*n*ringSize(n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	defer unix.Munmap(mem)
	each := n * ringSize(n)
	for rank, node := range nodes {
		if node >= 0 && prefer(mem[rank*each:(rank+1)*each], node) != nil {
			break // nor will it grant the next
		}
	}
	return nil
}

// placeBoard asks for memory of the members' nodes for the pages of a board that one of them alone writes: most of its
// slots. It does nothing where members are bound to no node, and comes before there is memory behind the board.
func (s *Segment) placeBoard(number int, members []int32) {
	off, _ := s.boardAt(number)
	for m, local := range members {
		node := int(atomic.LoadUint32(&s.control(int(local)).node)) - 1
		if node < 0 {
			continue
		}
		for _, block := range [...]struct{ at, size int }{
			{off + lineBytes + m*boardMemberSize, boardMemberSize},
			{off + boardWideOffset(s.n) + m*boardWideSlots*boardWideSize, boardWideSlots * boardWideSize},
		} {
			first, end := alignPage(block.at), (block.at+block.size)&^(pageBytes-1)
			if s.prefer(s.mem[first:end], node) != nil {
				return // nor will it grant the next
			}
		}
	}
}

// prefer asks the kernel to take memory of a node for mem, if it has some. What is said of shared memory holds for all
// that map it.
func prefer(mem []byte, node int) error {
	const preferred = 1 // MPOL_PREFERRED
	var nodes [16]uint64
	if node >= len(nodes)*64 {
		return unix.EINVAL
	}
	nodes[node/64] = 1 << (node % 64)
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(&mem[0])), uintptr(len(mem)), preferred,
		uintptr(unsafe.Pointer(&nodes)), uintptr(len(nodes)*64+1), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
