// Package inquiry is how impi-stat asks a launcher on the same machine what the ranks of its job wait for.
//
// Flow: a launcher listens at an abstract Unix socket whose name has its user and its process (Listen) -> impi-stat
// finds those names in /proc/net/unix (List) -> connects, and sends one word, text or json (Ask) -> the launcher makes
// a report, writes it, and closes. Both refuse processes of other users, as the kernel knows them.
//
// An abstract socket leaves no file behind, and is seen only in the launcher's network namespace.
package inquiry

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// prefix begins the names of the sockets.
const prefix = "@impi-stat-"

// Times and lengths.
const (
	wordTime = 5 * time.Second  // in which a client has to send its word
	sendTime = 10 * time.Second // in which it has to read the answer
	askTime  = 15 * time.Second // in which a launcher has to answer
	maxWord  = 16
	maxText  = 64 << 20
	maxAsked = 4 // clients at the same time
)

// Formats are the words of a client.
type Format string

// The formats of an answer.
const (
	Text Format = "text"
	JSON Format = "json"
)

// ErrForeign is the error for a job of another user.
var ErrForeign = errors.New("it is another user's")

// Job is a launcher that can be asked.
type Job struct {
	PID, UID int
}

func nameOf(j Job) string { return fmt.Sprintf("%s%d-%d", prefix, j.UID, j.PID) }

// Listen makes this process answer. answer is called on a goroutine of its own. Close ends that.
func Listen(answer func(Format) []byte) (io.Closer, error) {
	name := nameOf(Job{os.Getpid(), os.Geteuid()})
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil, err
	}
	places := make(chan struct{}, maxAsked)
	go func() {
		for {
			conn, err := l.AcceptUnix()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				time.Sleep(10 * time.Millisecond) // no descriptor is free
				continue
			}
			select {
			case places <- struct{}{}:
				go func() {
					defer func() { <-places }()
					defer conn.Close()
					serve(conn, answer)
				}()
			default:
				conn.Close()
			}
		}
	}()
	return l, nil
}

// serve answers one client.
func serve(conn *net.UnixConn, answer func(Format) []byte) {
	if peer, err := peerOf(conn); err != nil || int(peer.Uid) != os.Geteuid() {
		return
	}
	conn.SetDeadline(time.Now().Add(wordTime))
	word, err := bufio.NewReader(io.LimitReader(conn, maxWord)).ReadString('\n')
	if err != nil {
		return
	}
	if f := Format(strings.TrimSpace(word)); f == Text || f == JSON {
		b := answer(f)
		conn.SetDeadline(time.Now().Add(sendTime))
		conn.Write(b)
	}
}

// List returns the launchers of this machine that can be asked, of all users, by process.
func List() ([]Job, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse(f)
}

// parse reads /proc/net/unix.
func parse(in io.Reader) (list []Job, err error) {
	s := bufio.NewScanner(in)
	for s.Scan() {
		fields := strings.Fields(s.Text())
		if len(fields) == 0 {
			continue
		}
		rest, ok := strings.CutPrefix(fields[len(fields)-1], prefix)
		uid, pid, found := strings.Cut(rest, "-")
		if !ok || !found {
			continue
		}
		u, e1 := strconv.Atoi(uid)
		p, e2 := strconv.Atoi(pid)
		if j := (Job{p, u}); e1 == nil && e2 == nil && nameOf(j) == fields[len(fields)-1] && !slices.Contains(list, j) {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b Job) int { return a.PID - b.PID })
	return list, s.Err()
}

// Ask asks a launcher. It returns ErrForeign if the launcher is not this user's.
func Ask(j Job, f Format) ([]byte, error) {
	if j.UID != os.Geteuid() {
		return nil, fmt.Errorf("%w: user %d", ErrForeign, j.UID)
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: nameOf(j), Net: "unix"})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	peer, err := peerOf(conn)
	if err != nil {
		return nil, err
	}
	if int(peer.Uid) != j.UID { // somebody has taken the name
		return nil, fmt.Errorf("%w: user %d", ErrForeign, peer.Uid)
	}
	conn.SetDeadline(time.Now().Add(askTime))
	if _, err := conn.Write([]byte(string(f) + "\n")); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(conn, maxText))
	if err == nil && len(b) == 0 {
		err = errors.New("it does not answer: others are asking, or it is ending")
	}
	return b, err
}

// peerOf is the process at the other end, as it was when it connected or listened.
func peerOf(conn *net.UnixConn) (peer *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	if e := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil {
		return nil, e
	}
	return peer, err
}
