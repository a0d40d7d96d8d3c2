package ports

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

// A line over a socket that the program has connected (MPI_Comm_join; MPI 5.0, 11.10.4). Who is at its other end is
// what the program has made sure of: nothing is proved. Each end sends, at the same time as the other,
//
//	magic 8, version 4, nonce 32, public key 32 (X25519)
//
// The lesser nonce is first. The secret comes of both public keys, so that who only listens does not learn it. The
// socket stays the program's: its mode, blocking or not, is not touched, and not a byte too many is read.

const (
	joinMagic   = "IMPIJOIN"
	joinVersion = 1
	joinKey     = 32
	joinSize    = 12 + nonceSize + joinKey
)

// Over makes a line over a connected stream socket of the program's, which stays the program's: it must be neither used
// nor closed before the line has been closed, and is empty then, if no exchange has failed. It blocks until the other
// end does the same, or ctx is done.
func Over(ctx context.Context, fd int) (transport.Line, error) {
	s, err := newSocket(fd)
	if err != nil {
		return nil, err
	}
	l := &line{stream: s}
	if err := l.join(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return l, nil
}

// join makes first and the secret.
func (l *line) join(ctx context.Context) error {
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	var nonce [nonceSize]byte
	rand.Read(nonce[:])
	mine := be.AppendUint32([]byte(joinMagic), joinVersion)
	mine = append(append(mine, nonce[:]...), own.PublicKey().Bytes()...)
	theirs, err := l.exchange(ctx, frameJoin, mine, joinSize)
	if err != nil {
		return err
	}
	key, err := parseJoin(theirs)
	if err != nil {
		return err
	}
	shared, err := own.ECDH(key)
	if err != nil {
		return fmt.Errorf("protocol error: its public key: %w", err)
	}
	a, b := mine, theirs
	switch bytes.Compare(mine, theirs) {
	case 0:
		return errors.New("what this end says comes back: the socket leads to nobody else")
	case +1:
		a, b = b, a
	default:
		l.first = true
	}
	l.secret = derive(shared, "socket", forLine, a, b)
	return nil
}

// parseJoin checks what the other end has said first, and returns its public key.
func parseJoin(b []byte) (*ecdh.PublicKey, error) {
	if len(b) != joinSize || string(b[:8]) != joinMagic {
		return nil, errors.New("what the socket brings is not from MPI_Comm_join: was it empty?")
	}
	if v := be.Uint32(b[8:]); v != joinVersion {
		return nil, fmt.Errorf("the other end joins by version %d of the protocol, this process by %d", v, joinVersion)
	}
	return ecdh.X25519().NewPublicKey(b[12+nonceSize:])
}

// socket is the stream of a socket of the program's. It never blocks in the socket, whatever its mode, but in poll.
type socket struct {
	fd    int // a duplicate
	event int // an eventfd: interrupted if it is not 0
}

// newSocket makes sure that fd is a connected stream socket.
func newSocket(fd int) (*socket, error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	switch {
	case err != nil:
		return nil, fmt.Errorf("descriptor %d is no socket: %w", fd, err)
	case kind != unix.SOCK_STREAM:
		return nil, fmt.Errorf("descriptor %d is no stream socket", fd)
	}
	if _, err := unix.Getpeername(fd); err != nil {
		return nil, fmt.Errorf("descriptor %d is no connected socket: %w", fd, err)
	}
	s := &socket{}
	if s.fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if s.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(s.fd)
		return nil, os.NewSyscallError("eventfd", err)
	}
	return s, nil
}

func (s *socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, errno := kernel.Recv(s.fd, p)
		switch {
		case errno == 0 && n == 0:
			return 0, io.EOF
		case errno == 0:
			return n, nil
		case errno != unix.EAGAIN && errno != unix.EINTR:
			return 0, errno
		}
		if err := s.await(unix.POLLIN); err != nil {
			return 0, err
		}
	}
}

func (s *socket) Write(p []byte) (done int, err error) {
	for done < len(p) {
		n, errno := kernel.Send(s.fd, p[done:])
		done += n
		if errno == 0 {
			continue
		}
		if errno != unix.EAGAIN && errno != unix.EINTR {
			return done, errno
		}
		if err := s.await(unix.POLLOUT); err != nil {
			return done, err
		}
	}
	return done, nil
}

// await blocks until the socket is ready, or interrupted.
func (s *socket) await(events int16) error {
	for {
		fds := []unix.PollFd{{Fd: int32(s.fd), Events: events}, {Fd: int32(s.event), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("poll", err)
		case fds[1].Revents != 0:
			return os.ErrDeadlineExceeded
		default:
			return nil
		}
	}
}

func (s *socket) interrupt() { unix.Write(s.event, []byte{7: 1}) }

func (s *socket) resume() {
	var count [8]byte
	unix.Read(s.event, count[:])
}

func (s *socket) ended() bool { return s.fd < 0 || hungUp(s.fd) }

// Close leaves the program's socket as it is.
func (s *socket) Close() error {
	if s.fd < 0 {
		return os.ErrClosed
	}
	unix.Close(s.event)
	err := unix.Close(s.fd)
	s.fd, s.event = -1, -1
	return err
}
