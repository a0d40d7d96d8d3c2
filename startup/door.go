package startup

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A process that has not inherited its rank's link joins through a door: a Unix socket whose name, and the rank's key,
// are in the environment. Shells and Python close descriptors in what they start, and keep the environment. The socket
// is of the abstract kind: it leaves no file behind.
//
// The first message on such a connection is join; after that it is a link like any other.

// joinBody says as which rank a process comes, by its number among those of the door, and proves that it may.
type joinBody struct {
	Rank int    `json:"rank"`
	Key  string `json:"key"`
}

const (
	maxJoin   = 1 << 10          // bytes of that message
	maxAtDoor = 64               // processes that have connected and not said it yet
	doorTime  = 10 * time.Second // in which they must
)

// Door is the launcher's end of all connections that processes make.
type Door struct {
	listener *net.UnixListener
	keys     []string // by rank
}

// OpenDoor makes a door for n ranks.
func OpenDoor(n int) (*Door, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@impi-" + rand.Text(), Net: "unix"})
	if err != nil {
		return nil, err
	}
	d := &Door{listener: l}
	for range n {
		d.keys = append(d.keys, rand.Text())
	}
	return d, nil
}

// Env is what to add to the environment of a rank.
func (d *Door) Env(rank int) string {
	name := strings.TrimPrefix(d.listener.Addr().String(), "@")
	return fmt.Sprintf("%s=%s:%d:%s", EnvDoor, name, rank, d.keys[rank])
}

// Serve calls joined, on a goroutine of its own, with the link of each process that comes with a rank's key, until
// Close.
func (d *Door) Serve(joined func(rank int, link *LauncherEnd)) {
	places := make(chan struct{}, maxAtDoor)
	for {
		conn, err := d.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // no descriptor is free
			continue
		}
		select {
		case places <- struct{}{}:
		default:
			conn.Close()
			continue
		}
		go func() {
			leave := sync.OnceFunc(func() { <-places })
			defer leave()
			rank, link, err := d.admit(conn)
			if err != nil {
				conn.Close()
				return
			}
			leave()
			joined(rank, link)
		}()
	}
}

// admit finds out which rank a process is.
func (d *Door) admit(conn *net.UnixConn) (int, *LauncherEnd, error) {
	if err := sameUser(conn); err != nil {
		return 0, nil, err
	}
	p, err := newPort(conn, maxJoin, false)
	if err != nil {
		return 0, nil, err
	}
	m, err := p.receive(time.Now().Add(doorTime))
	if err != nil {
		return 0, nil, err
	}
	b, err := decode[joinBody](m)
	if err != nil || m.Type != msgJoin || b.Rank < 0 || b.Rank >= len(d.keys) ||
		subtle.ConstantTimeCompare([]byte(b.Key), []byte(d.keys[b.Rank])) != 1 {
		return 0, nil, errors.New("not a process of ours")
	}
	conn.SetReadDeadline(time.Time{})
	p.limit = maxToLauncher
	return b.Rank, &LauncherEnd{port: p}, nil
}

// Close lets nobody in any more.
func (d *Door) Close() { d.listener.Close() }

// knock makes a link through the door that the launcher has named: text is the value of EnvDoor.
func knock(text string) (*port, error) {
	words := strings.Split(text, ":")
	if len(words) != 3 {
		return nil, fmt.Errorf("%s=%.200q does not say NAME:RANK:KEY", EnvDoor, text)
	}
	rank, err := strconv.Atoi(words[1])
	if err != nil {
		return nil, fmt.Errorf("%s=%.200q does not say NAME:RANK:KEY", EnvDoor, text)
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: "@" + words[0], Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("the launcher's socket: %w", err)
	}
	p, err := newPort(conn, maxToRank, true)
	if err == nil {
		err = sameUser(conn)
	}
	if err == nil {
		err = p.send(msgJoin, joinBody{rank, words[2]}, time.Now().Add(sendTime))
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("the launcher's socket: %w", err)
	}
	return p, nil
}

// sameUser refuses a process of another user at the other end. It need not be told why.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	if e := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil {
		return e
	}
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if uid := os.Geteuid(); int(peer.Uid) != uid {
		return fmt.Errorf("it is user %d's, and we are user %d", peer.Uid, uid)
	}
	return nil
}

// Refuse answers Hello with the reason why the process cannot be part of the job. Another may come on the same link.
func (l *LauncherEnd) Refuse(text string) error {
	l.state = finalized
	return l.refuse(text)
}
