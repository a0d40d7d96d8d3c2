// Package filetest is what package file needs, in memory: members on goroutines, of one machine or several, and a file
// system with faults.
package filetest

import (
	"sync"
	"unsafe"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
)

// World is some members, and the file systems of their machines.
type World struct {
	Machines []int // by rank
	ranks    *colltest.World

	mu      sync.Mutex
	memory  map[[2]int][]byte // by the number of the call of Memory, and rank
	pointer int64
}

// New makes a world of a member for each entry of machines, which says on which machine it is.
func New(machines []int) *World {
	return &World{Machines: machines, ranks: colltest.New(len(machines)), memory: map[[2]int][]byte{}}
}

// Run calls f for every member, each on a goroutine of its own. When all of those that have not returned wait, each
// gets an error.
func (w *World) Run(f func(m file.Members) error) error {
	w.ranks = colltest.New(len(w.Machines))
	return w.ranks.Run(func(c *colltest.Comm) error { return f(&members{Comm: c, w: w}) })
}

// members are a world as one of its members sees it.
type members struct {
	*colltest.Comm
	w     *World
	calls int // of Memory
}

func (m *members) Machine(rank int) int { return m.w.Machines[rank] }
func (m *members) Barrier() error       { return coll.Barrier(m.Comm) }
func (m *members) Leave() error         { return nil }

func (m *members) Allgather(own, all []int64) error {
	recv := coll.Numbers(all)
	recv.Count = int64(len(own))
	return coll.Allgather(m.Comm, coll.Numbers(own), recv)
}

func (m *members) Gather(own []byte) ([][]byte, error) {
	lens := make([]int64, m.Size())
	if err := m.Allgather([]int64{int64(len(own))}, lens); err != nil {
		return nil, err
	}
	displs, total := make([]int64, m.Size()), int64(0)
	for r, n := range lens {
		displs[r], total = total, total+n
	}
	p := make([]byte, total)
	recv := coll.VBuf{Base: coll.Bytes(p).Base, Counts: lens, Displs: displs, Type: coll.Bytes(p).Type}
	if err := coll.Allgatherv(m.Comm, coll.Bytes(own), recv); err != nil {
		return nil, err
	}
	all := make([][]byte, m.Size())
	for r, n := range lens {
		all[r] = p[displs[r]:][:n]
	}
	return all, nil
}

func (m *members) Memory(each int) ([]datatype.Pointer, error) {
	m.calls++
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	parts := make([]datatype.Pointer, m.Size())
	for r := range parts {
		if m.Machine(r) != m.Machine(m.Rank()) {
			continue
		}
		key := [2]int{m.calls, r}
		if m.w.memory[key] == nil {
			m.w.memory[key] = make([]byte, each)
		}
		parts[r] = unsafe.Pointer(unsafe.SliceData(m.w.memory[key]))
	}
	return parts, nil
}

func (m *members) Isend(b []byte, to, tag int) (coll.Req, error) {
	return m.Comm.Isend(coll.Bytes(b), to, tag)
}

func (m *members) Irecv(b []byte, from, tag int) (coll.Req, error) {
	return m.Comm.Irecv(coll.Bytes(b), from, tag)
}

func (m *members) FetchAdd(by int64) (int64, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.pointer += by
	return m.w.pointer - by, nil
}

func (m *members) Store(v int64) error {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.pointer = v
	return nil
}
