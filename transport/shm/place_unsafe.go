package shm

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Place says where the ranks of a new segment run, before they do. cores is how many CPUs they have together, by which
// they know whether they have to take turns. nodes are their NUMA nodes, by local rank, -1 where a rank has none of its
// own, nil where none has: the rings to a rank then stand in the memory of its node, from which it polls them, whoever
// touches them first. The system may refuse that, which costs time and is no error.
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
