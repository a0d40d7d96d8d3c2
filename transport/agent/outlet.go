package agent

import (
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// outlet is the way out on one socket, for any number of goroutines. What the kernel does not take at once is copied
// and waits for the outlet's own goroutine. When more than the limit waits, put waits too.
type outlet struct {
	raw   syscall.RawConn
	half  interface{ CloseWrite() error }
	limit int

	mu     sync.Mutex // guards all below
	more   sync.Cond  // there is something to write, or nothing ever again
	room   sync.Cond  // less waits than before
	queue  []byte     // queue[off:] waits
	off    int
	last   bool          // no more will come: close our direction when all is written
	broken bool          // nothing can be written; what comes is dropped
	idle   bool          // the goroutine waits for more
	done   chan struct{} // closed when the goroutine has ended
}

func newOutlet(conn net.Conn, limit int) (*outlet, error) {
	sc, ok := conn.(syscall.Conn)
	half, canHalf := conn.(interface{ CloseWrite() error })
	if !ok || !canHalf {
		return nil, net.UnknownNetworkError(conn.LocalAddr().Network())
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, err
	}
	o := &outlet{raw: raw, half: half, limit: limit, done: make(chan struct{})}
	o.more.L, o.room.L = &o.mu, &o.mu
	return o, nil
}

// put sends whole packets after all that was put before. b is not kept. If patient, it waits while too much waits.
func (o *outlet) put(b []byte, patient bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for patient && len(o.queue)-o.off > o.limit && !o.broken {
		o.room.Wait()
	}
	if o.broken || o.last {
		return
	}
	if len(o.queue) == 0 && o.idle {
		n, err := o.now(b)
		if err != nil {
			o.breakOff()
			return
		}
		if b = b[n:]; len(b) == 0 {
			return
		}
	}
	o.queue = append(o.queue, b...)
	o.more.Signal()
}

// now writes what the kernel takes without waiting.
func (o *outlet) now(b []byte) (n int, err error) {
	rawErr := o.raw.Write(func(fd uintptr) bool {
		n, err = write(int(fd), b)
		return true
	})
	if rawErr != nil {
		return 0, rawErr
	}
	return n, err
}

// write answers how much of b is out; 0 and no error: there is no room.
func write(fd int, b []byte) (int, error) {
	for {
		n, err := unix.SendmsgN(fd, b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch err {
		case nil:
			return n, nil
		case unix.EINTR:
		case unix.EAGAIN, unix.ENOBUFS:
			return 0, nil
		default:
			return 0, err
		}
	}
}

// run writes what waits, until there is no more.
func (o *outlet) run() {
	defer close(o.done)
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for o.off == len(o.queue) && !o.last && !o.broken {
			o.queue, o.off = o.queue[:0], 0
			if cap(o.queue) > bufferMin {
				o.queue = nil
			}
			o.idle = true
			o.more.Wait()
			o.idle = false
		}
		if o.broken {
			return
		}
		if o.off == len(o.queue) {
			o.half.CloseWrite()
			return
		}
		b := o.queue[o.off:] // put appends behind it, and moves nothing while we are not idle
		o.mu.Unlock()
		n, err := o.drain(b)
		o.mu.Lock()
		o.off += n
		if o.off > len(o.queue)/2 && o.off < len(o.queue) {
			o.queue = o.queue[:copy(o.queue, o.queue[o.off:])]
			o.off = 0
		}
		if err != nil {
			o.breakOff()
		}
		o.room.Broadcast()
	}
}

// drain waits until some of b has gone.
func (o *outlet) drain(b []byte) (n int, err error) {
	rawErr := o.raw.Write(func(fd uintptr) bool {
		n, err = write(int(fd), b)
		return n > 0 || err != nil
	})
	if rawErr != nil {
		return 0, rawErr
	}
	return n, err
}

// breakOff gives up writing; o.mu is held. What the peer has sent before is still read: its end decides.
func (o *outlet) breakOff() {
	o.broken = true
	o.queue, o.off = nil, 0
	o.more.Signal()
	o.room.Broadcast()
}

// abandon drops what waits and what comes.
func (o *outlet) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.breakOff()
}

// finish closes our direction when all is written.
func (o *outlet) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = true
	o.more.Signal()
}

// wait returns when the outlet's goroutine has ended.
func (o *outlet) wait() { <-o.done }
