// Package shm moves packets between the ranks of one machine: rings in shared memory, doorbells for sleeping ranks, and
// direct copies from or to a peer's memory for long messages.
//
// Flow: the launcher calls Create and hands the descriptor to every rank; each rank calls Attach, then New for the
// transport. Send writes a record into the ring to its peer (send_unsafe.go), the peer's Poll hands it to the engine
// in place (receive_unsafe.go). A rank with nothing to do sleeps on its bell (bell.go). Read and Write
// copy long messages between the two processes (read_unsafe.go). layout.go describes the memory byte by byte. alive.go
// notices dead ranks. Processes of other jobs on the machine come and go as guests (guest.go).
//
// Nothing here has a name in a file system: when the last rank is gone, so is the segment.
package shm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// Segment is the memory that the ranks of one machine share, as one of them sees it.
type Segment struct {
	fd        int
	id        fileID
	n         int // local ranks
	rank      int // own local rank
	ringBytes int
	mem       []byte
	privMem   []byte
	priv      *private
	peers     []peer // by local rank, then guests, in private memory
	nothing   []byte // a ring in which nothing is, instead of those that are closed
	bell      *control
	cores     int
	maxWait   time.Duration       // longestWait, but in tests
	reserved  [Boards]atomic.Bool // boards behind which this rank has found memory
	clock     func() uint64       // machineTime, but in tests

	prefer func(mem []byte, node int) error // asks for memory of a node

	guests []*guest     // by index among the peers less n; nil: nobody
	rooms  []*addresses // where they are mapped, likewise
	vacant []int        // guests that are nil, in the order in which they left
	homes  map[fileID]*home

	annexed annexed
}

var errNoSegment = errors.New("shm: descriptor is not a job segment")

// Create makes the segment for localSize ranks (1..MaxLocal) and returns its descriptor, which is
// close-on-exec: the launcher dups it into each rank. Memory is reserved for the header and the control
// blocks only; rings get theirs when they are first used. Errors are those of the kernel.
func Create(localSize int) (fd int, err error) { return CreateUnder(os.Getpid(), localSize) }

// CreateUnder is Create by one who is not the ancestor of all ranks: that process is. Where Yama restricts who may read
// another process's memory, they let it and its descendants read theirs.
func CreateUnder(ancestor, localSize int) (fd int, err error) {
	if localSize < 1 || localSize > MaxLocal {
		return -1, fmt.Errorf("shm: %d local ranks: 1 to %d are possible", localSize, MaxLocal)
	}
	fd, err = memfd()
	if err != nil {
		return -1, fmt.Errorf("shm: %w", err)
	}
	if err = initialise(fd, ancestor, localSize); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func memfd() (int, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("libimpi", flags|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // Linux before 6.3
		fd, err = unix.MemfdCreate("libimpi", flags)
	}
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w (ranks share memory by it: a container's seccomp profile must allow it)",
			err)
	}
	return fd, nil
}

// resize gives a file its size. Where that is more than the user's limit for files the kernel would not only refuse it,
// but send a signal that ends the program.
func resize(fd int, size uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil && size > limit.Cur {
		return fmt.Errorf("%d bytes: %w (raise ulimit -f, which counts for memory, too)", size, unix.EFBIG)
	}
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return fmt.Errorf("%d bytes: %w", size, err)
	}
	return nil
}

func initialise(fd, ancestor, n int) error {
	size := segmentBytes(n)
	if err := resize(fd, uint64(size)); err != nil {
		return fmt.Errorf("shm: a segment of %w", err)
	}
	if err := unix.Fallocate(fd, 0, 0, int64(positionOffset(n))); err != nil {
		return fmt.Errorf("shm: reserving memory for %d ranks: %w", n, err)
	}
	if err := seal(fd, 0); err != nil { // windows may make it grow: annex.go
		return fmt.Errorf("shm: %w", err)
	}
	var b [headerBytes]byte
	*headerOf(b[:]) = header{magic: magic, version: version, localSize: uint32(n), bytes: uint64(size),
		ringBytes: uint32(ringSize(n)), creator: uint32(ancestor), cores: uint32(runtime.NumCPU())}
	if k, err := unix.Pwrite(fd, b[:], 0); err != nil || k != len(b) {
		return fmt.Errorf("shm: writing the header: %d bytes, %w", k, err)
	}
	return nil
}

// seal takes care that a file does not shrink, which would turn a load into SIGBUS. more are other seals.
func seal(fd, more int) error {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL|more); err != nil {
		return fmt.Errorf("sealing memory: %w", err)
	}
	return nil
}

// Attach joins the segment behind fd as local rank localRank. When it succeeds, the descriptor belongs to
// the Segment: closing it, or any duplicate of it in this process, tells the other ranks that this one is
// dead. Nothing in the segment is believed before it is checked against the kernel's idea of the file.
func Attach(fd, localRank int) (*Segment, error) {
	h, err := readHeader(fd)
	if err != nil {
		return nil, err
	}
	id, err := fileOf(fd)
	if err != nil {
		return nil, err
	}
	n := int(h.localSize)
	if localRank < 0 || localRank >= n {
		return nil, fmt.Errorf("shm: local rank %d of %d", localRank, n)
	}
	if err := lockRank(fd, localRank); err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	s := &Segment{fd: fd, id: id, n: n, rank: localRank, ringBytes: ringSize(n), cores: int(h.cores), maxWait: longestWait,
		clock: machineTime, prefer: prefer}
	if err := s.mapMemory(); err != nil {
		return nil, err
	}
	allowReading(int(h.creator))
	s.publish()
	return s, nil
}

func readHeader(fd int) (header, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return header{}, fmt.Errorf("shm: descriptor %d: %w", fd, err)
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		return header{}, errNoSegment
	}
	var b [headerBytes]byte
	if k, err := unix.Pread(fd, b[:], 0); err != nil || k != len(b) {
		return header{}, errNoSegment
	}
	h := *headerOf(b[:])
	if h.magic != magic {
		return header{}, errNoSegment
	}
	if h.version != version {
		return header{}, fmt.Errorf("shm: segment of layout version %d, this library has %d: "+
			"are launcher and library from one release?", h.version, version)
	}
	if h.localSize < 1 || h.localSize > MaxLocal ||
		h.ringBytes != uint32(ringSize(int(h.localSize))) ||
		h.bytes != uint64(segmentBytes(int(h.localSize))) || st.Size < int64(h.bytes) {
		return header{}, fmt.Errorf("shm: segment for %d ranks has %d bytes and rings of %d: damaged",
			h.localSize, st.Size, h.ringBytes)
	}
	return h, nil
}

func (s *Segment) mapMemory() error {
	var err error
	s.mem, err = unix.Mmap(s.fd, 0, segmentBytes(s.n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("shm: mapping %d bytes: %w", segmentBytes(s.n), err)
	}
	if s.nothing, err = unix.Mmap(-1, 0, maxRingBytes, unix.PROT_READ, nowhere); err == nil {
		s.privMem, err = unix.Mmap(-1, 0, privateBytes(MaxLocal), unix.PROT_NONE, nowhere)
	}
	if err == nil {
		err = s.grow(s.n)
	}
	if err != nil {
		s.unmap()
		return fmt.Errorf("shm: private memory: %w", err)
	}
	s.mapPrivate(s.privMem)
	s.bell = s.control(s.rank)
	return nil
}

// unmap gives back what mapMemory has mapped, or some of it.
func (s *Segment) unmap() error {
	var err error
	for _, mem := range [][]byte{s.mem, s.nothing, s.privMem} {
		if mem != nil {
			err = errors.Join(err, unix.Munmap(mem))
		}
	}
	return err
}

// publish makes this rank known to the others; the state comes last.
func (s *Segment) publish() {
	s.priv.probe = rand.Uint64()
	if !registerBarrier() {
		s.priv.fence = 1
		atomic.OrUint32(&s.bell.sleepers, sleepersNoBarrier)
	}
	atomic.StoreUint32(&s.bell.pid, uint32(os.Getpid()))
	atomic.StoreUint64(&s.bell.self, self)
	atomic.StoreUint64(&s.bell.probeAddr, s.probeAddress())
	atomic.StoreUint64(&s.bell.probeValue, s.priv.probe)
	atomic.StoreUint32(&s.bell.state, stateAttached)
}

// Home is the segment as the engine sees it. world has the world rank of each local rank.
func (s *Segment) Home(world []int32) transport.Home {
	return transport.Home{World: world, Rank: s.rank, Cores: s.cores, Lock: &s.priv.lock, Bell: s, Attention: s, Boards: s,
		Memory: s}
}

// Close leaves the segment, and guests, in good order: the others do not take it for death. No call on the Segment or
// on its Transport may be under way or come later.
func (s *Segment) Close() error {
	atomic.StoreUint32(&s.bell.state, stateDetached)
	for _, g := range s.guests {
		if g == nil {
			continue
		}
		if g.err == nil {
			s.leave(g, leftInOrder)
		}
		s.dismiss(g)
	}
	var err error
	for _, room := range s.rooms {
		err = errors.Join(err, room.free())
	}
	return errors.Join(err, s.unmap(), unix.Close(s.fd))
}

// Size is the bytes of the segment's address space, of which few are memory.
func (s *Segment) Size() int { return len(s.mem) }

// Leave says that this process takes part no more, for now: peers do not expect anything of it, and may see it end.
func (s *Segment) Leave() { atomic.StoreUint32(&s.bell.state, stateDetached) }

// Return takes Leave back.
func (s *Segment) Return() { atomic.StoreUint32(&s.bell.state, stateAttached) }

// reserve makes sure that memory stands behind a part of the segment.
func (s *Segment) reserve(off, n int) error { return reserve(s.fd, off, n) }

// release gives memory back that stands behind whole pages: they are zero from now on.
func (s *Segment) release(off, n int) error {
	return unix.Fallocate(s.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(n))
}

// reserve makes sure that memory stands behind a part of a file: without it a store could be SIGBUS.
func reserve(fd, off, n int) error {
	for {
		err := unix.Fallocate(fd, 0, int64(off), int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("shm: no memory for %d bytes: %w", n, err)
		}
		return nil
	}
}

// openOut prepares the ring to dst for sending and tells dst about it.
func (s *Segment) openOut(dst int) error {
	if dst >= s.n {
		return s.openToGuest(s.guests[dst-s.n])
	}
	posOff, pos := s.positionAt(s.rank, dst)
	ringOff, ring := s.ringAt(s.rank, dst)
	if err := errors.Join(s.reserve(posOff, lineBytes), s.reserve(ringOff, s.ringBytes)); err != nil {
		return err
	}
	o := &s.peers[dst].out
	o.ctl, o.pos, o.limit, o.ring = s.control(dst), pos, uint64(s.ringBytes), ring
	atomic.OrUint64(&s.inbound(dst)[s.rank/64], 1<<(s.rank%64))
	return nil
}

// openIn prepares the ring from src for receiving. The sender has reserved its memory, or so it says: we
// reserve it again, which costs nothing if it is true.
func (s *Segment) openIn(src int) error {
	posOff, pos := s.positionAt(src, s.rank)
	ringOff, ring := s.ringAt(src, s.rank)
	if err := errors.Join(s.reserve(posOff, lineBytes), s.reserve(ringOff, s.ringBytes)); err != nil {
		return err
	}
	in := &s.peers[src].in
	in.ctl, in.pos, in.size, in.max = s.control(src), pos, uint32(s.ringBytes), uint32(maxPayload(s.ringBytes))
	in.open(ring)
	return nil
}
