package libimpi

import (
	"math/bits"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/onesided"
)

// What the members of an open file have in common (file.Members): a communicator of the file's own with a board, and
// the word of the shared file pointer. To make them takes far longer than to open a file, so they stay with the
// communicator of MPI_File_open, and the next file that is opened on it finds them:
//
//	MPI_File_open -> which are idle at all members? one of them, or new ones -> in use
//	MPI_File_close -> idle again; given up if the program has freed the communicator meanwhile, or when it does
//
// One goroutine at a time uses them, but for the shared file pointer.
type fileMembers struct {
	comm   *Comm
	parent *Comm
	index  int // in parent.files.all; -1: not there

	machines []int // by rank

	pointer *Window // of a word of rank 0
	word    *int64  // the word, if all members map it

	memory []datatype.Pointer // of Memory; nil: none has been asked for
	mapped onesided.Mapped    // what other processes map, too
	each   int
}

// fileSpace are a communicator's. The engine's lock guards it.
type fileSpace struct {
	all    []*fileMembers // alike at all members
	idle   uint64         // which of them are not in use, as bits
	closed bool           // the communicator is freed
}

const (
	// mostSpaces is how many files may be open on a communicator that share what they need with later ones.
	mostSpaces = 62
	// keptMemory is how much of Memory a closed file leaves to the next one, in bytes of each member.
	keptMemory = 64 << 10
	// allWellBit is set in what members say when they look for an idle one, unless the call was refused.
	allWellBit = 1 << 63
)

// onlyOurFiles refuses members of another implementation: IMPI knows no files.
func (c *Comm) onlyOurFiles() error {
	if r, p := c.foreign(); p != nil {
		return errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION, "rank %d of %s belongs to IMPI client %d, which is not libimpi: "+
			"IMPI has no files between implementations", r, c.describe(), p.Client)
	}
	return nil
}

// takeFileMembers finds what a new file needs. refused is why this member cannot open one: then nobody does.
func (c *Comm) takeFileMembers(refused *Error) (*fileMembers, error) {
	if err := c.onlyOurFiles(); err != nil {
		return nil, err
	}
	e := c.engine
	e.mu.Lock()
	mine, made := c.files.idle|allWellBit, len(c.files.all)
	e.mu.Unlock()
	if refused != nil {
		mine = 0
	}
	idle := []uint64{mine}
	if c.Size() > 1 {
		if err := c.Allreduce(countBuf([]uint64{mine}), countBuf(idle), op.Predefined(abi.MPI_BAND)); err != nil {
			return nil, err
		}
	}
	if idle[0]&allWellBit == 0 {
		if refused == nil {
			refused = errorf(abi.MPI_ERR_OTHER, "another process of %s calls it with wrong arguments", c.describe())
		}
		return nil, refused
	}
	if idle[0] &^= allWellBit; idle[0] != 0 {
		e.mu.Lock()
		defer e.mu.Unlock()
		m := c.files.all[bits.TrailingZeros64(idle[0])]
		c.files.idle &^= 1 << m.index
		if m.comm.rank == 0 { // nobody else has the file yet
			atomic.StoreInt64((*int64)(m.pointer.Base()), 0)
		}
		return m, nil
	}
	m, err := c.newFileMembers()
	if err != nil {
		return nil, err
	}
	if m.index = made; made == mostSpaces {
		m.index = -1
		return m, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.files.all = append(c.files.all, m)
	return m, nil
}

func (c *Comm) newFileMembers() (*fileMembers, error) {
	own, err := c.Dup()
	if err != nil {
		return nil, err
	}
	m := &fileMembers{comm: own, parent: c}
	if err := m.open(); err != nil {
		m.discard()
		return nil, err
	}
	return m, nil
}

func (m *fileMembers) open() (err error) {
	if m.comm.MayHaveBoard() {
		board, err := m.comm.OpenBoard(true)
		if err != nil {
			return err
		}
		if board != nil {
			m.comm.UseBoard(NewBoardCounters(board))
		}
	}
	if err := m.number(); err != nil {
		return err
	}
	bytes := int64(0)
	if m.comm.rank == 0 {
		bytes = pointerBytes
	}
	m.pointer, err = m.comm.NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: bytes, Unit: 1,
		Alloc: func(int64) (datatype.Pointer, error) { return numberBuf(make([]int64, 1)).Base, nil }})
	if err != nil {
		return err
	}
	if m.pointer.Together() || m.Size() == 1 {
		m.word = (*int64)(m.pointer.At(0))
	}
	return m.pointer.Lock(0, false, abi.MPI_MODE_NOCHECK)
}

// number counts the machines of the members.
func (m *fileMembers) number() error {
	first, known := make([]int64, m.Size()), map[int64]int{}
	if err := m.Allgather([]int64{int64(m.comm.MachineColor())}, first); err != nil {
		return err
	}
	for _, id := range first {
		if _, is := known[id]; !is {
			known[id] = len(known)
		}
		m.machines = append(m.machines, known[id])
	}
	return nil
}

// pageBytes is a multiple of which the memory of a member begins: each lies in pages that its owner touches first.
const pageBytes = 4096

// pointerBytes is the size of the shared file pointer.
const pointerBytes = 8

// release ends the use by a file, when all members have closed that.
func (m *fileMembers) release() {
	if m.each > keptMemory {
		m.forgetMemory()
	}
	c := m.parent
	e := c.engine
	e.mu.Lock()
	keep := m.index >= 0 && !c.files.closed
	if keep {
		c.files.idle |= 1 << m.index
	}
	e.mu.Unlock()
	if !keep {
		m.discard()
	}
}

func (m *fileMembers) discard() {
	m.forgetMemory()
	if m.pointer != nil {
		m.pointer.forget()
	}
	if m.comm.board.Begun != nil {
		m.comm.NoBoard()
	}
	m.comm.Discard()
}

// LeaveFiles gives up what files may find on a communicator that is freed, but for those that are open.
func (c *Comm) LeaveFiles() {
	e := c.engine
	e.mu.Lock()
	s := c.files
	c.files = fileSpace{closed: true}
	e.mu.Unlock()
	for _, m := range s.all {
		if s.idle&(1<<m.index) != 0 {
			m.discard()
		}
	}
}

// Rank implements file.Members, as the following do.
func (m *fileMembers) Rank() int { return int(m.comm.rank) }

// Size is the number of members.
func (m *fileMembers) Size() int { return m.comm.Size() }

// Machine is the number of a member's machine, in the order of ranks.
func (m *fileMembers) Machine(rank int) int { return m.machines[rank] }

// Barrier returns when all members have called it.
func (m *fileMembers) Barrier() error {
	if m.Size() == 1 {
		return nil
	}
	return m.comm.Barrier()
}

// Allgather gathers numbers.
func (m *fileMembers) Allgather(own, all []int64) error {
	if m.Size() == 1 {
		copy(all, own)
		return nil
	}
	recv := numberBuf(all)
	recv.Count = int64(len(own))
	return m.comm.Allgather(numberBuf(own), recv)
}

// Gather gathers bytes of any length, at all members.
func (m *fileMembers) Gather(own []byte) ([][]byte, error) {
	if m.Size() == 1 {
		return [][]byte{own}, nil
	}
	lengths := make([]int64, m.Size())
	if err := m.Allgather([]int64{int64(len(own))}, lengths); err != nil {
		return nil, err
	}
	places := make([]int64, len(lengths))
	total := int64(0)
	for r, n := range lengths {
		places[r] = total
		total += n
	}
	bytes, all := make([]byte, total), make([][]byte, len(lengths))
	for r, n := range lengths {
		all[r] = bytes[places[r]:][:n:n]
	}
	if total == 0 {
		return all, nil
	}
	return all, m.comm.Allgatherv(byteBuf(own), coll.VBuf{Base: startOf(bytes), Counts: lengths, Displs: places,
		Type: byteType})
}

// Memory returns memory that the members of a machine map. It makes no communicator: those that goroutines would make
// at the same time could not be told apart by other clients.
func (m *fileMembers) Memory(each int) ([]datatype.Pointer, error) {
	own := m.memory
	if own != nil && m.each == each { // of an earlier file
		clear(bytesAt(own[m.Rank()], int64(each)))
		return own, m.Barrier()
	}
	m.forgetMemory()
	sharers := m.comm.sharers()
	ranks := sharers.Ranks
	own = make([]datatype.Pointer, m.Size())
	part := int64(each+pageBytes-1) &^ (pageBytes - 1)
	var err error
	if len(ranks) > 1 {
		if m.mapped, err = sharers.Map(int(part)*len(ranks), pageBytes, false); err == nil {
			for i, r := range ranks {
				own[r] = offset(startOf(m.mapped.Bytes), int64(i)*part)
			}
		}
	} else {
		own[m.Rank()] = numberBuf(make([]int64, part/pointerBytes)).Base
	}
	if len(ranks) < m.Size() {
		all, failed := onesided.AllWell(&m.comm.ops, err)
		if failed != nil {
			return nil, failed
		}
		if err == nil && !all {
			err = errorf(abi.MPI_ERR_NO_MEM, "the members of another machine have no memory")
		}
	}
	if err != nil {
		m.forgetMemory()
		return nil, errorf(abi.MPI_ERR_NO_MEM, "no shared memory of %d bytes each: %v", each, err)
	}
	m.memory, m.each = own, each
	return own, nil
}

func (m *fileMembers) forgetMemory() {
	m.mapped.Forget(m.comm.engine.home.Memory)
	m.mapped, m.memory = onesided.Mapped{}, nil
}

// Isend starts a message.
func (m *fileMembers) Isend(b []byte, to, tag int) (coll.Req, error) {
	c := m.comm
	return coll.Req(c.isend(c.p2p, startOf(b), int64(len(b)), byteType, to, int32(tag), modeStandard)), nil
}

// Irecv starts to receive one.
func (m *fileMembers) Irecv(b []byte, from, tag int) (coll.Req, error) {
	c := m.comm
	return coll.Req(c.irecv(c.p2p, startOf(b), int64(len(b)), byteType, from, int32(tag))), nil
}

// Wait ends messages.
func (m *fileMembers) Wait(reqs ...coll.Req) error { return m.comm.ops.Wait(reqs...) }

// FetchAdd implements file.Pointer.
func (m *fileMembers) FetchAdd(by int64) (int64, error) {
	if m.word != nil {
		return atomic.AddInt64(m.word, by) - by, nil
	}
	return m.accumulate(by, op.Predefined(abi.MPI_SUM))
}

// Store implements file.Pointer.
func (m *fileMembers) Store(v int64) error {
	if m.word != nil {
		atomic.StoreInt64(m.word, v)
		return nil
	}
	_, err := m.accumulate(v, op.Predefined(abi.MPI_REPLACE))
	return err
}

// accumulate combines a number with the word of rank 0, whose engine does it, and returns what was there.
func (m *fileMembers) accumulate(v int64, how coll.Op) (int64, error) {
	own, old := []int64{v}, []int64{0}
	at := onesided.Place{Target: 0, Count: 1, Type: numberType}
	if _, err := m.pointer.Accumulate(numberBuf(own), numberBuf(old), at, how, numberType, false); err != nil {
		return 0, err
	}
	if err := m.pointer.Flush(0, false, "MPI_Win_flush"); err != nil {
		return 0, err
	}
	return old[0], nil
}
