package agent

import (
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport/pipe"
	"golang.org/x/sys/unix"
)

// process is the end of a pipe that a test holds in place of a process. It blocks, as a connection does.
type process struct {
	net.Conn // for what no test calls
	mu       sync.Mutex
	end      *pipe.End
	deadline time.Time
}

func processOf(t *testing.T, fd int) net.Conn {
	t.Helper()
	if fd < 0 {
		return nil
	}
	end, err := pipe.Open(fd)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{end: end}
	t.Cleanup(func() { p.Close() })
	return p
}

// wait returns when the end is to be looked at again, or with an error at the deadline. mu is held, but while it waits.
func (p *process) wait() error {
	if !p.deadline.IsZero() && time.Now().After(p.deadline) {
		return os.ErrDeadlineExceeded
	}
	p.end.Arm()
	if p.end.Pending() {
		p.mu.Unlock()
		runtime.Gosched()
		p.mu.Lock()
		return nil
	}
	fds := []unix.PollFd{{Fd: int32(p.end.Descriptor()), Events: unix.POLLIN}}
	p.mu.Unlock()
	unix.Poll(fds, 50)
	p.mu.Lock()
	if p.end.Descriptor() < 0 {
		return net.ErrClosed
	}
	p.end.Signal()
	return nil
}

func (p *process) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		n, errno := p.end.Read(b, nil)
		switch {
		case errno == 0 && n == 0:
			return 0, io.EOF
		case errno == 0:
			return n, nil
		case errno != unix.EAGAIN:
			return 0, errno
		}
		if err := p.wait(); err != nil {
			return 0, err
		}
	}
}

func (p *process) Write(b []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n < len(b) {
		k, errno := p.end.Write(b[n:], nil, nil)
		if n += k; errno == unix.EAGAIN || errno == 0 && n < len(b) {
			err = p.wait()
			p.end.Room()
		} else if errno != 0 {
			err = errno
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (p *process) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	return nil
}

func (p *process) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end.Close()
	return nil
}
