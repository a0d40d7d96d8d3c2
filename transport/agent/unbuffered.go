package agent

import (
	"syscall"

	"github.com/libimpi/libimpi/transport/kernel"
	"github.com/libimpi/libimpi/transport/pipe"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// Long packets do not pass through a buffer of the agent. A packet from a process goes from the ring to the socket as
// soon as all of it is in the ring; what the socket does not take stays in the ring, and is owed to the socket. A
// packet to a process is read from the socket into its place in the ring, and published when it is whole. So packets of
// others never end up in the middle of one, and nobody waits for a process or host that has stopped in the middle of
// one.
//
// The agent checks and sends a copy of the header, because the process could change the one in the ring.
//
// A long packet for which there is no room waits in its ring or socket for some rounds of the loop. Then it goes
// through the buffer to the outlet's queue, as short packets do, because those behind it may be for somebody else.

const (
	// unbufferedMin is the shortest packet, in bytes, that passes by the buffer.
	unbufferedMin = 16 << 10
	// unbufferedMax is the longest: a writer that finds the ring full is woken when a quarter of it is free.
	unbufferedMax = pipe.RingBytes / 2
	// patientRounds is for how many rounds of the loop a packet waits for room.
	patientRounds = 64
	// narrowBytes is how many bytes are read at a time where a long packet is expected: enough for its header and a short
	// packet before it.
	narrowBytes = 1 << 10
)

// Stream is the longest continuation, in bytes, that processes behind an agent send and take. A ring has room for
// several of them.
const Stream = 120 << 10

func isUnbuffered(n int) bool { return n >= unbufferedMin && n <= unbufferedMax }

// forward sends the next packet of a process from its ring. If it answers false it has done nothing, and the packet
// must be read into the buffer.
func (a *Agent) forward(l *link) bool {
	in := &l.in
	in.wants = 0
	there, errno := l.pipe.Ahead()
	if in.w > 0 || there == 0 || errno != 0 {
		return false
	}
	if there < wire.PacketSize {
		return in.await(wire.PacketSize)
	}
	x, y := l.pipe.Peek(0, wire.PacketSize)
	copy(in.buf[copy(in.buf, x):], y)
	head := wire.Packet(in.buf[:wire.PacketSize])
	n, err := a.table.length(head, in.longest)
	if err != nil || !isUnbuffered(n) {
		return false
	}
	if there < n {
		return in.await(n)
	}
	to, err := in.next(head)
	if err != nil || to.pipe != nil {
		return false
	}
	x, y = l.pipe.Peek(wire.PacketSize, n-wire.PacketSize)
	switch {
	case to.out.ended || to.out.last:
		l.pipe.Discard(n)
	case to.out.waits() > 0:
		return in.beginsAgain()
	default:
		return a.sendFrom(l, to, head, x, y)
	}
	return true
}

// await has the loop look at the link's ring again when it holds n bytes. It returns false if it never will, because
// the process has closed it.
func (in *inbound) await(n int) bool {
	if in.link.pipe.Ended() {
		return false
	}
	in.wants, in.link.readable = n, false
	return true
}

// beginsAgain reports whether a packet for which there is no room tries again in the next round.
func (in *inbound) beginsAgain() bool {
	if in.tries++; in.tries < patientRounds {
		kernel.Yield()
		return true
	}
	in.tries = 0
	return false
}

// sendFrom sends a whole packet, whose payload stands in the ring, to an outlet in which nothing waits.
func (a *Agent) sendFrom(l, to *link, head wire.Packet, x, y []byte) bool {
	in, n := &l.in, len(head)+len(x)+len(y)
	k, errno := a.sendParts(to, head, x, y)
	switch errno {
	case 0:
	case unix.EINTR:
		return true
	case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
		return in.beginsAgain()
	default:
		a.breakOff(to)
		k = n
	}
	in.tries = 0
	count(l, to, head.Type(), len(x)+len(y))
	if k < len(head) { // hardly ever
		to.out.queue = append(append(append(to.out.queue, head[k:]...), x...), y...)
		a.interest(to, true)
		k = n
	}
	l.pipe.Discard(k)
	if in.owed = n - k; in.owed > 0 {
		to.out.debtor = l
		a.interest(to, true)
	}
	return true
}

// sendParts writes a prefix of x, y and z to a host, and returns its length. Not all of the three are empty.
func (a *Agent) sendParts(to *link, x, y, z []byte) (int, syscall.Errno) {
	if to.many != nil {
		return to.many.Send(x, y, z)
	}
	return a.vec.Send(to.fd, x, y, z)
}

// pay sends what an outlet is owed: the rest of a packet that stands in a ring, and precedes the queue. It returns
// whether the whole of it has left.
func (a *Agent) pay(to *link) bool {
	o := &to.out
	for o.debtor != nil {
		from := o.debtor
		x, y := from.pipe.Peek(0, from.in.owed)
		n, errno := a.sendParts(to, x, y, nil)
		switch errno {
		case 0:
			a.paid(o, n)
		case unix.EINTR:
		case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
			return false
		default:
			a.breakOff(to)
		}
	}
	return !o.ended
}

// paid notes that n bytes of what is owed have left, and discards them from the ring.
func (a *Agent) paid(o *outlet, n int) {
	from := o.debtor
	from.pipe.Discard(n)
	if from.in.owed -= n; from.in.owed == 0 {
		o.debtor = nil
		a.activate(from)
	}
}

// aim finds a place in a process's ring for the packet that begins at buf[0], or decides that it goes through the
// buffer (aside). It returns false if neither can be said in this round.
func (a *Agent) aim(l *link) bool {
	in := &l.in
	head := wire.Packet(in.buf[:wire.PacketSize])
	n, err := a.table.length(head, in.longest)
	if err != nil || !isUnbuffered(n) {
		in.aside = true
		return true
	}
	to, err := in.next(head)
	if err != nil || to.pipe == nil || to.out.ended || to.out.last || to.out.waits() > 0 || to.out.writer != nil {
		in.aside = true
		return true
	}
	room, errno := to.pipe.Free()
	if errno == 0 && room < n && in.beginsAgain() {
		return false
	}
	in.tries = 0
	if room < n {
		in.aside = true
		return true
	}
	x, y := to.pipe.Space(0, in.w)
	copy(y, in.buf[copy(x, in.buf[:in.w]):])
	in.to, in.got, in.whole = to, in.w, n
	to.out.writer = l
	return true
}

// place returns where the next bytes of a host go: first into x and y, the rest of the packet's place in a ring, if it
// has one, and then into buf.
func (in *inbound) place() (x, y, buf []byte) {
	buf = in.buf[in.w:]
	if in.to != nil {
		x, y = in.to.pipe.Space(in.got, in.whole-in.got)
	}
	if in.to != nil || in.narrow && !in.aside {
		buf = buf[:min(len(buf), narrowBytes)]
	}
	return x, y, buf
}

// arrived notes that n bytes have been read to where place said.
func (in *inbound) arrived(n int) {
	if in.to == nil {
		in.w += n
		return
	}
	beyond := max(0, in.got+n-in.whole)
	if in.got += n - beyond; in.got < in.whole {
		return
	}
	to := in.to
	in.to, to.out.writer = nil, nil
	in.narrow = true
	count(in.link, to, wire.Packet(in.buf[:wire.PacketSize]).Type(), in.whole-wire.PacketSize)
	in.w = copy(in.buf, in.buf[in.w:in.w+beyond])
	to.pipe.Publish(in.whole)
}

// evict moves a packet that is not whole out of the ring into the buffer, because another packet must go there first.
func (in *inbound) evict() {
	if in.to == nil {
		return
	}
	x, y := in.to.pipe.Space(in.w, in.got-in.w)
	in.w += copy(in.buf[in.w:], x)
	in.w += copy(in.buf[in.w:], y)
	in.to.out.writer = nil
	in.to, in.aside = nil, true
}

// inRing is how many bytes have arrived of a packet that is not whole and has a place in a ring.
func (in *inbound) inRing() int {
	if in.to == nil {
		return 0
	}
	return in.got
}
