// Package pipe is a stream in both directions between two processes of one machine. Each direction is a ring in memory
// that both processes map. A socket pair wakes a process that sleeps, and its end tells of the other process's death.
//
//	New -> an End, and a descriptor for the other process -> Open there -> an End
//	Write -> copied into the ring -> published -> the reader wants to be woken? one byte on the socket
//	Read  -> copied out of the ring -> published -> the writer wants to be woken? one byte on the socket
//	Peek, Discard; Space, Publish -> the same without a copy (place.go)
//	CloseWrite -> marked in the memory -> the reader wants to be woken? one byte on the socket
//
// No method blocks. A process that is going to sleep calls Arm, looks at Pending once more, and then waits until epoll
// says that the socket (Descriptor) can be read; then it calls Signal, and reads and writes. A process that polls needs
// the socket only to learn of the other's death, and calls Signal now and then. An end that has closed its own
// direction still wakes the other end when it makes room.
//
// No wake-up is lost. Arm stores the wish and then Pending loads the positions. The other side stores its position and
// then loads the wish. All four accesses are sequentially consistent. So either Pending sees what has been published,
// or the other side sees the wish and writes to the socket.
//
// The other process may write anything into the memory at any time. Each end keeps its own positions in private memory,
// and accepts those of the other only if they fit the ring. Data may change until it has been copied out.
package pipe

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// RingBytes is the size of one direction's ring in bytes, a power of two. It holds several long packets, so that one
// can be copied in while another is copied out on another core.
const RingBytes = 512 << 10

// publishBytes is how many bytes Write copies before it lets the other side see them, so that both sides copy at the
// same time.
const publishBytes = 16 << 10

// enoughRoom is the room, in bytes, that is worth waking a writer for.
const enoughRoom = RingBytes / 4

// End is one end of a pipe. The caller serialises its methods; Arm and Pending may be called from any thread.
type End struct {
	fd   int
	mem  []byte
	out  half
	in   half
	full atomic.Bool // a Write found too little room: the writer waits for some
	over atomic.Bool // Read has answered the end of the stream
	gone bool        // the other end has closed its socket, or died
}

// half is one direction, as one end sees it.
type half struct {
	shared *positions
	ring   []byte
	at     uint64 // bytes that we have written, or read
}

// New makes a pipe. It returns our end, and the descriptor from which Open makes the other end, in another process or
// in this one. Errors are those of the kernel.
func New() (e *End, other int, err error) {
	mem, err := memory()
	if err != nil {
		return nil, -1, fmt.Errorf("pipe: %w", err)
	}
	defer unix.Close(mem)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, -1, os.NewSyscallError("socketpair", err)
	}
	if err = unix.Sendmsg(fds[0], []byte{0}, unix.UnixRights(mem), nil, 0); err == nil {
		e, err = attach(fds[0], mem, 0)
	}
	if err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, -1, fmt.Errorf("pipe: %w", err)
	}
	return e, fds[1], nil
}

// memory makes the memory of a pipe. It cannot shrink, so that no load turns into a SIGBUS.
func memory() (int, error) {
	fd, err := unix.MemfdCreate("libimpi-pipe", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, os.NewSyscallError("memfd_create", err)
	}
	if err = unix.Ftruncate(fd, memBytes); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

var errNoPipe = errors.New("pipe: the descriptor is not the end of a pipe")

// Open makes the other end from a descriptor of New. Unless there is an error, the descriptor belongs to the End.
func Open(fd int) (*End, error) {
	var b [1]byte
	oob := make([]byte, unix.CmsgSpace(4))
	n, k, _, _, err := unix.Recvmsg(fd, b[:], oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if err != nil || n != 1 {
		return nil, errors.Join(errNoPipe, err)
	}
	list, err := unix.ParseSocketControlMessage(oob[:k])
	if err != nil || len(list) != 1 {
		return nil, errors.Join(errNoPipe, err)
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errNoPipe, err)
	}
	defer unix.Close(fds[0])
	var st unix.Stat_t
	have, err := unix.FcntlInt(uintptr(fds[0]), unix.F_GET_SEALS, 0)
	if err != nil || have&seals != seals || unix.Fstat(fds[0], &st) != nil || st.Size != memBytes {
		return nil, errors.Join(errNoPipe, err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(errNoPipe, err)
	}
	return attach(fd, fds[0], 1)
}

// attach maps the memory. side 0 writes the first ring, side 1 the second.
func attach(fd, memfd, side int) (*End, error) {
	mem, err := unix.Mmap(memfd, 0, memBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	e := &End{fd: fd, mem: mem, out: halfOf(mem, side), in: halfOf(mem, 1-side)}
	// The memory is unmapped when nobody uses the End any more: one thread may call Arm while another closes it.
	runtime.AddCleanup(e, func(mem []byte) { unix.Munmap(mem) }, mem)
	return e, nil
}

// Descriptor is the socket, for epoll: it becomes readable when Signal is to be called. It is -1 after Close.
func (e *End) Descriptor() int { return e.fd }

// Write copies a prefix of a, b and c, any of which may be empty, into the ring, and returns its length in bytes. It
// returns EAGAIN if there is no room, and EPROTO if the other process has written nonsense into the shared positions.
func (e *End) Write(a, b, c []byte) (int, syscall.Errno) {
	h := &e.out
	used := h.at - atomic.LoadUint64(&h.shared.read)
	if used > RingBytes {
		return 0, unix.EPROTO
	}
	room := int(RingBytes - used)
	if room == 0 && len(a)+len(b)+len(c) > 0 {
		e.full.Store(true)
		return 0, unix.EAGAIN
	}
	n, unseen := 0, 0
	for _, p := range [3][]byte{a, b, c} {
		for len(p) > 0 && n < room {
			at := int(h.at % RingBytes)
			k := copy(h.ring[at:min(RingBytes, at+room-n, at+publishBytes)], p)
			p = p[k:]
			h.at += uint64(k)
			n += k
			if unseen += k; unseen >= publishBytes {
				unseen = 0
				e.publish(&h.shared.written, h.at, &h.shared.wantsData)
			}
		}
	}
	if unseen > 0 {
		e.publish(&h.shared.written, h.at, &h.shared.wantsData)
	}
	if short := n < len(a)+len(b)+len(c); short != e.full.Load() {
		e.full.Store(short)
	}
	return n, 0
}

// Read copies what there is, first into a and then into b, and returns how many bytes. One of the two may be empty. It
// returns EAGAIN if there is nothing, 0 without an error at the end of the stream, and EPROTO as Write does.
func (e *End) Read(a, b []byte) (int, syscall.Errno) {
	if e.over.Load() {
		return 0, 0
	}
	h := &e.in
	there := atomic.LoadUint64(&h.shared.written) - h.at
	if there == 0 {
		if !e.gone && atomic.LoadUint32(&h.shared.closed) == 0 {
			return 0, unix.EAGAIN
		}
		// What was written before the end may have come after our look.
		if there = atomic.LoadUint64(&h.shared.written) - h.at; there == 0 {
			e.over.Store(true)
			return 0, 0
		}
	}
	if there > RingBytes {
		return 0, unix.EPROTO
	}
	n, unseen, have := 0, 0, int(there)
	for _, p := range [2][]byte{a, b} {
		for len(p) > 0 && n < have {
			at := int(h.at % RingBytes)
			k := copy(p, h.ring[at:min(RingBytes, at+have-n, at+publishBytes)])
			p = p[k:]
			h.at += uint64(k)
			n += k
			if unseen += k; unseen >= publishBytes {
				unseen = 0
				e.release(h)
			}
		}
	}
	if unseen > 0 {
		e.release(h)
	}
	return n, 0
}

// release tells the other side that the bytes before our position are free again.
func (e *End) release(h *half) {
	atomic.StoreUint64(&h.shared.read, h.at)
	if atomic.LoadUint32(&h.shared.wantsRoom) != 0 && RingBytes-(atomic.LoadUint64(&h.shared.written)-h.at) >= enoughRoom {
		e.ring(&h.shared.wantsRoom)
	}
}

// publish stores a position for the other side, and wakes it if it sleeps and has asked for that.
func (e *End) publish(position *uint64, at uint64, wish *uint32) {
	atomic.StoreUint64(position, at)
	if atomic.LoadUint32(wish) != 0 {
		e.ring(wish)
	}
}

// ring writes a byte to the socket if the other side wishes to be woken. If the socket is full there are enough bytes
// in it already.
func (e *End) ring(wish *uint32) {
	if atomic.SwapUint32(wish, 0) != 0 && e.fd >= 0 {
		unix.SendmsgN(e.fd, bell[:], nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}
}

var bell [1]byte

// Room reports whether there is room enough for a Write that found none to be tried again.
func (e *End) Room() bool {
	if !roomIn(&e.out) {
		return false
	}
	e.full.Store(false)
	return true
}

func roomIn(h *half) bool {
	used := atomic.LoadUint64(&h.shared.written) - atomic.LoadUint64(&h.shared.read)
	return used > RingBytes || RingBytes-used >= enoughRoom
}

// readable reports whether Read would answer something other than EAGAIN: data, or the end that CloseWrite has made.
func (e *End) readable() bool { return e.Holds(1) }

// Pending reports whether there is something to read, or room for a writer that waits for some.
func (e *End) Pending() bool { return e.readable() || e.Granted() }

// Granted reports whether our last Write found too little room, and there is some now.
func (e *End) Granted() bool { return e.full.Load() && roomIn(&e.out) }

// Arm asks the other side to wake us when Pending becomes true.
func (e *End) Arm() {
	atomic.StoreUint32(&e.in.shared.wantsData, 1)
	if e.full.Load() {
		atomic.StoreUint32(&e.out.shared.wantsRoom, 1)
	}
}

// Disarm takes the wish back. The other side may have written to the socket already.
func (e *End) Disarm() {
	if atomic.LoadUint32(&e.in.shared.wantsData) != 0 {
		atomic.StoreUint32(&e.in.shared.wantsData, 0)
	}
	if atomic.LoadUint32(&e.out.shared.wantsRoom) != 0 {
		atomic.StoreUint32(&e.out.shared.wantsRoom, 0)
	}
}

// Signal empties the socket, and notes if the other end has closed it.
func (e *End) Signal() {
	var b [64]byte
	for e.fd >= 0 && !e.gone {
		n, err := unix.Read(e.fd, b[:])
		switch {
		case n > 0 || err == unix.EINTR: // behind a few bytes may be the end, of which epoll has told with these
		case err == unix.EAGAIN:
			return
		default: // the other end has closed, or died; all that it had published is there
			e.gone = true
		}
	}
}

// CloseWrite ends our direction: the other end reads what has been written, and then the end of the stream. The other
// direction goes on.
func (e *End) CloseWrite() {
	s := e.out.shared
	atomic.StoreUint32(&s.closed, 1)
	if atomic.LoadUint32(&s.wantsData) != 0 {
		e.ring(&s.wantsData)
	}
}

// Close ends both directions and closes the socket. A shutdown tells the other end even if a forked child has a copy.
func (e *End) Close() {
	if e.fd >= 0 {
		unix.Shutdown(e.fd, unix.SHUT_WR)
		unix.Close(e.fd)
		e.fd = -1
	}
}
