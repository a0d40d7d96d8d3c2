package ports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// What goes over a line are frames: a kind, a length, and so many bytes. Each end knows which kind comes next. Both
// ends of an exchange write at the same time, each on a goroutine of its own while it reads. So neither waits for the
// other to read, however much it is.

const (
	frameExchange byte = 1 // of Line.Exchange
	frameAccept   byte = 2 // from a port: it has been accepted
	frameHere     byte = 3 // to a port, as an answer to that
	frameClosed   byte = 4 // from a port: it has been closed, and nobody will accept
	frameFull     byte = 5 // from a port: too many wait there
	frameJoin     byte = 6 // the first exchange on a socket of the program's
)

const frameHead = 5 // bytes

// frameStep is how much room is made for a frame at first, in bytes: it becomes more only as bytes come.
const frameStep = 64 << 10

// writeFrame writes one.
func writeFrame(w io.Writer, kind byte, payload []byte) error {
	head := be.AppendUint32([]byte{kind}, uint32(len(payload)))
	if len(payload) <= frameStep {
		_, err := w.Write(append(head, payload...))
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(payload)
	return err
}

// readFrame reads one whose length is at most so many bytes, and not a byte more.
func readFrame(r io.Reader, most int) (kind byte, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := be.Uint32(head[1:])
	if head[0] < frameExchange || head[0] > frameJoin {
		return 0, nil, fmt.Errorf("protocol error: a frame of kind %d", head[0])
	}
	if uint64(n) > uint64(most) {
		return 0, nil, fmt.Errorf("protocol error: a frame of kind %d with %d bytes, %d are the most", head[0], n, most)
	}
	b := bytes.NewBuffer(make([]byte, 0, min(int(n), frameStep)))
	if _, err := io.CopyN(b, r, int64(n)); err != nil {
		return 0, nil, noEOF(err)
	}
	return head[0], b.Bytes(), nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// isEnd reports whether an error means that the other end has closed the connection, or died.
func isEnd(err error) bool {
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, unix.ECONNRESET, unix.EPIPE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// stream is what a line goes over. One may read while another writes.
type stream interface {
	io.ReadWriteCloser
	interrupt() // calls of Read and Write, under way or yet to come, fail with os.ErrDeadlineExceeded
	resume()    // not any more
	ended() bool
}

// connection is the stream of a connection of package net.
type connection struct{ net.Conn }

func (c connection) interrupt() { c.SetDeadline(time.Unix(1, 0)) }
func (c connection) resume()    { c.SetDeadline(time.Time{}) }

// ended looks below TLS.
func (c connection) ended() (yes bool) {
	inner := c.Conn
	for {
		outer, is := inner.(interface{ NetConn() net.Conn })
		if !is {
			break
		}
		inner = outer.NetConn()
	}
	if control, is := inner.(syscall.Conn); is {
		raw, err := control.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { yes = hungUp(int(fd)) })
		}
		yes = yes || err != nil // closed here
	}
	return yes
}

// hungUp reports whether the other end of a socket has ended, behind whatever it has sent.
func hungUp(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
}

// line is a transport.Line.
type line struct {
	stream stream
	first  bool
	secret [transport.SecretSize]byte

	mu     sync.Mutex // one exchange at a time
	broken error      // nobody knows what comes next
}

var _ transport.Line = (*line)(nil)

func (l *line) Secret() [transport.SecretSize]byte { return l.secret }

func (l *line) First() bool { return l.first }

func (l *line) Ended() bool { return l.stream.ended() }

func (l *line) Close() error { return l.stream.Close() }

// Exchange implements transport.Line.
func (l *line) Exchange(ctx context.Context, mine []byte) ([]byte, error) {
	if len(mine) > transport.MaxExchange {
		return nil, fmt.Errorf("%d bytes for the other leader, %d are the most", len(mine), transport.MaxExchange)
	}
	return l.exchange(ctx, frameExchange, mine, transport.MaxExchange)
}

// exchange gives and takes frames of one kind, theirs of at most so many bytes. After an error the line is of no use.
func (l *line) exchange(ctx context.Context, kind byte, mine []byte, most int) (theirs []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return nil, fmt.Errorf("the line to the other leader is broken: %w", l.broken)
	}
	defer interruptBy(ctx, l.stream)()
	wrote := make(chan error, 1)
	go func() {
		err := writeFrame(l.stream, kind, mine)
		if err != nil {
			l.stream.interrupt()
		}
		wrote <- err
	}()
	got, theirs, err := readFrame(l.stream, most)
	if err == nil && got != kind {
		err = fmt.Errorf("protocol error: a frame of kind %d instead of %d", got, kind)
	}
	if err != nil {
		l.stream.interrupt()
	}
	if sent := <-wrote; sent != nil && (err == nil || errors.Is(err, os.ErrDeadlineExceeded)) {
		err = sent
	}
	if err == nil {
		return theirs, nil
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case isEnd(err):
		err = fmt.Errorf("the other leader has gone: %w", err)
	}
	l.broken = err
	return nil, err
}

// interruptBy interrupts a stream when ctx is done. The caller calls what it answers when it needs that no more; the
// stream is not interrupted then.
func interruptBy(ctx context.Context, s stream) (done func()) {
	called := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		s.interrupt()
		close(called)
	})
	return func() {
		if !stop() {
			<-called
			s.resume()
		}
	}
}
