package ports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Two processes of one machine. The one that comes first among the participants listens, the other dials its abstract
// Unix socket; both prove a key of their own (proof.go). Then the descriptors of their memory go both ways:
//
//	dials  -> offer  {can it?, local rank}, descriptors of the pair's memory and of its own segment
//	       <- answer {has it admitted the guest?, local rank}, descriptor of its own segment
//	       -> done   {has it admitted the guest, too?}
//
// If anything is not possible, whoever finds out says no, and the other undoes what it has done: the two are connected
// by TCP then. The end of a connection is no such answer: the other has gone, and Join fails.

const (
	nearPurpose = "memory"
	maxDialing  = 64 // that dial at a time
	nearRetries = 8  // by one that has been turned away, perhaps as one of too many strangers
)

// sharing is the part of Join in which memory is shared.
type sharing struct {
	*assembly
	ctx     context.Context // done when it is over
	cancel  context.CancelCauseFunc
	settled chan struct{} // closed when it is settled with all
}

// shareMemory settles with each process of this machine whether memory is shared.
func (a *assembly) shareMemory(ctx context.Context) error {
	if a.left == 0 {
		return nil
	}
	s := &sharing{assembly: a, settled: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	defer s.cancel(nil)
	var dial []int
	for i := range a.Me {
		if a.ways[i] == unsolved {
			dial = append(dial, i)
		}
	}
	g := gate{listener: a.unix, whose: byProcess, greet: s.greet, warn: a.conf.warn,
		most: maxStrangers + a.left - len(dial), patience: greetTime}
	g.open()
	var dialers sync.WaitGroup
	turns := make(chan struct{}, maxDialing)
	for _, i := range dial {
		dialers.Go(func() {
			turns <- struct{}{}
			w, err := s.dial(i)
			s.settle(i, w, err)
			<-turns
		})
	}
	select {
	case <-s.settled:
	case <-s.ctx.Done():
	}
	cause := context.Cause(s.ctx)
	s.cancel(nil)
	g.close()
	dialers.Wait()
	return a.unreached(cause)
}

// settle notes what has come of a pair.
func (s *sharing) settle(i int, w way, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.ctx.Err() == nil {
			s.why[i] = err
		}
		s.cancel(errOthers)
		return
	}
	s.ways[i] = w
	if s.left--; s.left == 0 {
		close(s.settled)
	}
}

// errOthers is why a pair is not settled when it is the fault of neither.
var errOthers = errors.New("another process could not be reached")

// unreached is nil if all pairs are settled, and else names those that are not.
func (a *assembly) unreached(cause error) error {
	if a.left == 0 {
		return nil
	}
	var errs []error
	for i, w := range a.ways {
		switch {
		case a.why[i] != nil:
			errs = append(errs, fmt.Errorf("%s, on this machine: %w", a.called(i), a.why[i]))
		case cause != errOthers && (w == unsolved || w == settling):
			errs = append(errs, fmt.Errorf("%s, on this machine, has not come: %w", a.called(i), cause))
		}
	}
	return fmt.Errorf("processes of other jobs cannot be reached: %w", errors.Join(errs...))
}

// greet hears who has dialed, and settles with it.
func (s *sharing) greet(c *stranger) error {
	x := handshake{purpose: nearPurpose, ours: newHello(0, uint32(s.Me))}
	if err := x.hear(c); err != nil {
		return err
	}
	i := int(x.theirs.from)
	if i <= s.Me || i >= len(s.ways) || !s.is(i, unsolved) {
		return fmt.Errorf("participant %d of the meeting is not expected", i)
	}
	c.spoke()
	x.key = s.key(i, nearPurpose)
	if err := x.listen(c); err != nil {
		return err
	}
	if !c.keep() {
		return errTooLate
	}
	defer c.Close()
	if !s.begin(i) {
		return fmt.Errorf("participant %d of the meeting has come already", i)
	}
	c.SetDeadline(time.Time{})
	defer interruptBy(s.ctx, connection{c.Conn})()
	w, err := s.admit(i, &x, c.Conn.(*net.UnixConn))
	s.settle(i, w, err)
	return nil
}

// is reports whether a pair stands so.
func (s *sharing) is(i int, w way) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ways[i] == w
}

// begin claims a pair for one connection. False: another has it.
func (s *sharing) begin(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ways[i] != unsolved {
		return false
	}
	s.ways[i] = settling
	return true
}

// admit is the part of the one that listens.
func (s *sharing) admit(i int, x *handshake, c *net.UnixConn) (way, error) {
	if err := x.answer(c); err != nil {
		return noWay, gone(err)
	}
	offer, err := s.receive(c)
	if err != nil {
		return noWay, err
	}
	if !offer.yes || len(offer.fds) != 2 {
		s.discard(offer.fds)
		return far, send(c, false, 0)
	}
	if err := s.takeIn(i, offer.fds[0], offer.fds[1], offer.local, false); err != nil {
		s.apart(i, err)
		return far, send(c, false, 0)
	}
	home, local := s.conf.Memory.Residence()
	done := parcel{}
	if err = send(c, true, local, home); err == nil {
		done, err = s.receive(c)
	}
	s.discard(done.fds)
	if err == nil && done.yes {
		return near, nil
	}
	s.part(s.Number[i])
	return far, err
}

// dial settles with a process that listens.
func (s *sharing) dial(i int) (way, error) {
	var d net.Dialer
	wait := retryMin
	for try := 0; ; wait = min(2*wait, retryMax) {
		c, err := d.DialContext(s.ctx, "unix", s.cards[i].unix.String())
		if err == nil {
			var w way
			w, err = s.offer(i, c.(*net.UnixConn))
			if c.Close(); err == nil {
				return w, nil
			}
		}
		switch {
		case s.ctx.Err() != nil:
			return noWay, context.Cause(s.ctx)
		case errors.Is(err, unix.EAGAIN): // too many wait there to be heard
		case !errors.Is(err, errTurnedAway) || try == nearRetries:
			return noWay, err
		default:
			try++
		}
		pause(s.ctx, wait)
	}
}

// offer is the part of the one that dials.
func (s *sharing) offer(i int, c *net.UnixConn) (way, error) {
	defer interruptBy(s.ctx, connection{c})()
	x := handshake{key: s.key(i, nearPurpose), purpose: nearPurpose, ours: newHello(0, uint32(s.Me))}
	if err := x.dial(c); err != nil {
		return noWay, err
	}
	pair, err := s.conf.Memory.Offer()
	if err != nil {
		s.apart(i, err)
		if err := send(c, false, 0); err != nil {
			return noWay, err
		}
		answer, err := s.receive(c)
		s.discard(answer.fds)
		return far, err
	}
	fd, home, local := pair.Descriptors()
	var answer parcel
	if err = send(c, true, local, fd, home); err == nil {
		answer, err = s.receive(c)
	}
	if err != nil || !answer.yes || len(answer.fds) != 1 {
		pair.Close()
		s.discard(answer.fds)
		if err == nil && answer.yes {
			err = send(c, false, 0)
		}
		return far, err
	}
	err = s.takeIn(i, fd, answer.fds[0], answer.local, true)
	if err != nil {
		s.apart(i, err)
		return far, send(c, false, 0)
	}
	if err := send(c, true, 0); err != nil {
		s.part(s.Number[i])
		return noWay, err
	}
	return near, nil
}

// takeIn is Memory.Admit.
func (s *sharing) takeIn(i, pair, home, local int, offered bool) error {
	s.conf.Lock.Lock()
	defer s.conf.Lock.Unlock()
	return s.conf.Memory.Admit(s.Number[i], pair, home, local, offered)
}

// apart tells the user why memory is not shared.
func (s *sharing) apart(i int, err error) {
	s.conf.warn("no memory is shared with %s, which is reached by TCP: %v", s.called(i), err)
}

func (s *sharing) discard(fds []int) {
	for _, fd := range fds {
		s.conf.Memory.Discard(fd)
	}
}

// parcel is what goes over the Unix socket after the proofs: a byte that is 1 or 0, a local rank in 4, and descriptors.
type parcel struct {
	yes   bool
	local int
	fds   []int
}

const (
	parcelSize     = 5
	maxDescriptors = 4 // more are cut off by the kernel; none has more than 2
)

// send sends a parcel.
func send(c *net.UnixConn, yes bool, local int, fds ...int) error {
	b := be.AppendUint32(make([]byte, 1, parcelSize), uint32(local))
	if yes {
		b[0] = 1
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	_, _, err := c.WriteMsgUnix(b, rights, nil)
	return gone(err)
}

// receive takes one, and not a byte more. The descriptors are the caller's, and none if there is an error.
func (s *sharing) receive(c *net.UnixConn) (p parcel, err error) {
	var b [parcelSize]byte
	room := make([]byte, unix.CmsgSpace(4*maxDescriptors))
	for at := 0; at < len(b) && err == nil; {
		var n, control, flags int
		n, control, flags, _, err = c.ReadMsgUnix(b[at:], room)
		at += n
		p.fds = append(p.fds, descriptors(room[:control])...)
		if err == nil && flags&unix.MSG_CTRUNC != 0 {
			err = errors.New("protocol error: too many descriptors")
		}
	}
	if err != nil || b[0] > 1 {
		s.discard(p.fds)
		if err == nil {
			err = fmt.Errorf("protocol error: neither yes nor no, but %d", b[0])
		}
		return parcel{}, gone(err)
	}
	p.yes, p.local = b[0] == 1, int(be.Uint32(b[1:]))
	return p, nil
}

// descriptors are those of a control message.
func descriptors(control []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	for i := range messages {
		if list, err := unix.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, list...)
		}
	}
	return fds
}

// gone returns what the end of a connection means once the proofs are through.
func gone(err error) error {
	if isEnd(err) {
		return fmt.Errorf("it has gone: %w", err)
	}
	return err
}

// byProcess counts connections of Unix sockets by the process that they come from.
func byProcess(c net.Conn) string {
	from := "this machine"
	raw, err := c.(syscall.Conn).SyscallConn()
	if err == nil {
		raw.Control(func(fd uintptr) {
			if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
				from = fmt.Sprintf("process %d of user %d", cred.Pid, cred.Uid)
			}
		})
	}
	return from
}
