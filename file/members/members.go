// Package members is what the members of an open file have in common (file.Members): a communicator of the file's own,
// memory that those of a machine map, and the word of the shared file pointer. To make them takes far longer than to
// open a file, so they stay with the communicator of MPI_File_open, and the next file that is opened on it finds them:
//
//	MPI_File_open -> which are idle at all members? one of them, or new ones -> in use (space.go)
//	MPI_File_close -> idle again; given up if the program has freed the communicator meanwhile, or when it does
//
// One goroutine at a time uses them, but for the shared file pointer.
package members

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
)

// Members implements file.Members.
type Members struct {
	own   Own
	space *Space
	index int // in Space.all, or notKept

	machines []int // by rank

	pointer

	memory []datatype.Pointer // of Memory; nil: none has been asked for
	each   int
}

// notKept is the index of members that no later file finds.
const notKept = -1

func newMembers(on Comm, s *Space) (*Members, error) {
	own, err := on.Duplicate()
	if err != nil {
		return nil, err
	}
	m := &Members{own: own, space: s}
	if err := m.number(); err != nil {
		m.discard()
		return nil, err
	}
	if m.pointer, err = newPointer(own); err != nil {
		m.discard()
		return nil, err
	}
	return m, nil
}

// number counts the machines of the members.
func (m *Members) number() error {
	ids, known := make([]int64, m.Size()), map[int64]int{}
	if err := m.Allgather([]int64{m.own.Machine()}, ids); err != nil {
		return err
	}
	for _, id := range ids {
		if _, is := known[id]; !is {
			known[id] = len(known)
		}
		m.machines = append(m.machines, known[id])
	}
	return nil
}

// Release ends the use by a file, when all members have closed that. What has lost members no later file finds.
func (m *Members) Release() {
	if m.each > keptMemory {
		m.forgetMemory()
	}
	if !m.space.keep(m) {
		m.discard()
	}
}

func (m *Members) discard() {
	m.forgetMemory()
	m.own.Discard()
}

// Own is the communicator of the members.
func (m *Members) Own() Own { return m.own }

// Leave implements file.Members.
func (m *Members) Leave() error { return m.own.Leave() }

// Rank implements file.Members, as the following do.
func (m *Members) Rank() int { return m.own.Rank() }

// Size is the number of members.
func (m *Members) Size() int { return m.own.Size() }

// Machine is the number of a member's machine, in the order of ranks.
func (m *Members) Machine(rank int) int { return m.machines[rank] }

// Barrier returns when all members have called it.
func (m *Members) Barrier() error {
	if m.Size() == 1 {
		return nil
	}
	return m.own.Barrier()
}

// Allgather gathers numbers.
func (m *Members) Allgather(own, all []int64) error {
	if m.Size() == 1 {
		copy(all, own)
		return nil
	}
	recv := coll.Numbers(all)
	recv.Count = int64(len(own))
	return m.own.Allgather(coll.Numbers(own), recv)
}

// Gather gathers bytes of any length, at all members.
func (m *Members) Gather(own []byte) ([][]byte, error) {
	if m.Size() == 1 {
		return [][]byte{own}, nil
	}
	lengths := make([]int64, m.Size())
	if err := m.Allgather([]int64{int64(len(own))}, lengths); err != nil {
		return nil, err
	}
	displs := make([]int64, len(lengths))
	total := int64(0)
	for r, n := range lengths {
		displs[r] = total
		total += n
	}
	bytes, all := make([]byte, total), make([][]byte, len(lengths))
	for r, n := range lengths {
		all[r] = bytes[displs[r]:][:n:n]
	}
	if total == 0 {
		return all, nil
	}
	recv := coll.Bytes(bytes)
	return all, m.own.Allgatherv(coll.Bytes(own), coll.VBuf{Base: recv.Base, Counts: lengths, Displs: displs,
		Type: recv.Type})
}

// pageBytes is a multiple of which the memory of a member begins: each lies in pages that its owner touches first.
const pageBytes = 4096

// Memory returns memory that the members of a machine map. It makes no communicator: those that goroutines would make
// at the same time could not be told apart by other clients.
func (m *Members) Memory(each int) ([]datatype.Pointer, error) {
	if m.memory != nil && m.each == each { // of an earlier file
		zeroed(m.memory[m.Rank()], each)
		return m.memory, m.Barrier()
	}
	m.forgetMemory()
	memory, sharers, err := m.newMemory((each + pageBytes - 1) &^ (pageBytes - 1))
	if sharers < m.Size() {
		all, failed := m.own.AllWell(err)
		if failed != nil {
			return nil, failed
		}
		if err == nil && !all {
			err = fmt.Errorf("the members of another machine have no memory")
		}
	}
	if err != nil {
		m.forgetMemory()
		if lost := m.own.Loss(); lost != nil {
			return nil, lost
		}
		return nil, &file.Error{Class: abi.MPI_ERR_NO_MEM,
			Text: fmt.Sprintf("no shared memory of %d bytes each: %v", each, err)}
	}
	m.memory, m.each = memory, each
	return memory, nil
}

// newMemory returns so many bytes of memory for each member of this machine, and how many of these share it.
func (m *Members) newMemory(each int) (memory []datatype.Pointer, sharers int, err error) {
	memory = make([]datatype.Pointer, m.Size())
	ranks := m.own.Sharers()
	if len(ranks) <= 1 {
		memory[m.Rank()] = coll.Numbers(make([]int64, each/pointerBytes)).Base
		return memory, len(ranks), nil
	}
	mapped, err := m.own.Map(each*len(ranks), pageBytes)
	if err != nil {
		return nil, len(ranks), err
	}
	for i, at := range parts(mapped, len(ranks)) {
		memory[ranks[i]] = at
	}
	return memory, len(ranks), nil
}

func (m *Members) forgetMemory() {
	m.own.Unmap()
	m.memory = nil
}

// Isend starts a message.
func (m *Members) Isend(b []byte, to, tag int) (coll.Req, error) { return m.own.Isend(b, to, tag) }

// Irecv starts to receive one.
func (m *Members) Irecv(b []byte, from, tag int) (coll.Req, error) { return m.own.Irecv(b, from, tag) }

// Wait ends messages.
func (m *Members) Wait(reqs ...coll.Req) error { return m.own.Wait(reqs...) }

var _ file.Members = (*Members)(nil)
