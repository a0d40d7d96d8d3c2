package debugger

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// TerminalWord makes impirun the other end of a rank's terminal; the name of its socket follows, and what the rank is.
const TerminalWord = "--terminal"

// terminal is a pseudo-terminal that a tool controls. Its name is that of an abstract unix socket, of which this user's
// processes get the master.
type terminal struct {
	name   string
	title  string
	rank   int
	master *os.File
	slave  *os.File // nil: the process has it, or gets it
	once   bool     // the first who comes has the master alone
	socket *net.UnixListener
	came   chan struct{} // closed when somebody has got the master
}

// newTerminal makes the terminal of a rank of a job.
func newTerminal(job string, rank int, title string) (*terminal, error) {
	master, slave, err := openPTY()
	if err != nil {
		return nil, fmt.Errorf("a terminal for rank %d: %w", rank, err)
	}
	return handOut(&terminal{title: title, rank: rank, master: master, slave: slave}, job)
}

// newConnection makes the connection of a rank's gdbserver, in the form of a terminal: that of one debugger, whose end
// gdbserver has to notice.
func newConnection(job string, rank int, title string) (*terminal, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a connection for rank %d: %w", rank, err)
	}
	return handOut(&terminal{title: title, rank: rank, once: true, master: os.NewFile(uintptr(fds[0]), "debugger"),
		slave: os.NewFile(uintptr(fds[1]), "gdbserver")}, job)
}

// handOut begins to hand out a terminal of a rank of a job.
func handOut(t *terminal, job string) (_ *terminal, err error) {
	t.name, t.came = fmt.Sprintf("impi-%s.%d", job, t.rank), make(chan struct{})
	t.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: "@" + t.name, Net: "unix"})
	if err != nil {
		t.close()
		return nil, fmt.Errorf("the socket of the terminal of rank %d: %w", t.rank, err)
	}
	go t.serve()
	return t, nil
}

func (t *terminal) close() {
	t.master.Close()
	t.slave.Close() // of nil it is an error, and does nothing
	if t.socket != nil {
		t.socket.Close()
	}
}

// openPTY makes a pseudo-terminal.
func openPTY() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, err
	}
	return master, slave, nil
}

// serve hands the master to whoever asks for it, one after the other, until the socket is closed.
func (t *terminal) serve() {
	first := true
	for {
		c, err := t.socket.AcceptUnix()
		if err != nil {
			return
		}
		if mine(c) {
			_, _, err := c.WriteMsgUnix([]byte{0}, unix.UnixRights(int(t.master.Fd())), nil)
			if err == nil && first {
				first = false
				close(t.came)
			}
			if err == nil && t.once {
				c.Close()
				t.master.Close()
				t.socket.Close()
				return
			}
		}
		c.Close()
	}
}

// mine reports whether the process at the other end of a unix socket is this user's.
func mine(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	err = errors.Join(raw.Control(func(fd uintptr) {
		peer, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}))
	return err == nil && peer != nil && int(peer.Uid) == os.Getuid()
}

// openTime is how long a pane or a window may take to open.
const openTime = 20 * time.Second

// await waits until somebody has come to each terminal.
func await(list []*terminal, where string) error {
	limit := time.After(openTime)
	for _, t := range list {
		select {
		case <-t.came:
		case <-limit:
			return fmt.Errorf("the terminal of rank %d has not opened within %v (-debug-in %s)", t.rank, openTime, where)
		}
	}
	return nil
}

// background is a script that starts a command which is nobody's child: it outlives the job, until its user has read
// what it shows.
const background = `"$@" </dev/null >/dev/null 2>&1 &`

// showInWindows opens a window for each terminal.
func showInWindows(list []*terminal, env []string) error {
	self, err := shells.Self()
	if err != nil {
		return err
	}
	getenv := func(name string) string { return valueIn(env, name) }
	for _, t := range list {
		words := slices.Concat([]string{"-c", background, "sh"}, emulator(getenv),
			[]string{self, TerminalWord, t.name, t.title})
		cmd := exec.Command("/bin/sh", words...)
		cmd.Env = env
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("a window for rank %d: %w", t.rank, err)
		}
	}
	return nil
}

// show brings terminals to where they are to be, and waits until they are there.
func show(list []*terminal, where string, env []string) (err error) {
	switch where {
	case options.InTmux:
		err = showInTmux(list, env)
	case options.InWindows:
		err = showInWindows(list, env)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	return await(list, where)
}

// give makes the terminal that of a process.
func (t *terminal) give(p *supervise.Process) {
	p.Files, p.Terminal = [3]*os.File{t.slave, t.slave, t.slave}, true
	t.slave = nil
}

func valueIn(env []string, name string) (value string) {
	for _, setting := range env {
		if v, ok := strings.CutPrefix(setting, name+"="); ok {
			value = v
		}
	}
	return value
}
