package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
)

// A branch of the tree: a process on another machine, or a node on this one, that a launcher has started, and the
// machines that it stands for.
//
// Flow: the command is started -> the other end says hello -> it is told what to start (the start frame, with the list
// of its machines) -> letters in both directions, until it ends. A command that ends before the hello is started again,
// if what it says on stderr gives hope (shell.mayComeLater), after a pause that doubles, until the time for starting is
// over.
type branch struct {
	l       *launching
	members []member // the first is where the process is

	cmd     command
	through string
	frames  *frames
	stdin   io.Closer
	stdout  io.Closer
	errors  *heldErrors
	mail    *mailbox
	reached bool // it has said hello; for the launcher's loop alone, as what follows
	open    int  // members that have not ended
	over    bool
}

// launching is what all branches of a process have in common, and whom they tell. Functions are called by a goroutine
// of the branch's own.
type launching struct {
	shell *shells.Shell
	start startFrame      // without members
	time  context.Context // over when the time for starting is, or nobody is to be started any more
	limit time.Duration   // that time
	run   func(*exec.Cmd) (command, error)
	size  int64     // of this program, in bytes
	err   io.Writer // where what remote shells and other machines write to stderr goes

	hello  func(*branch)               // it has been reached
	letter func(*branch, letter) error // one has come up; an error: it is nonsense
	ended  func(b *branch, why error)  // it was reached, and says no more
	missed func(b *branch, why error)  // it was not reached

	mu      sync.Mutex // guards what follows
	waiting []string   // machines that are tried again
	since   time.Time  // from when on
	told    bool       // the user knows
}

// The pauses between attempts.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 4 * time.Second
)

// follow starts a branch and hears it to its end.
func (b *branch) follow() {
	if err := b.reach(); err != nil {
		b.l.missed(b, err)
		return
	}
	start := b.l.start
	start.Members = b.members
	if until, ok := b.l.time.Deadline(); ok {
		start.Limit = time.Until(until)
	}
	b.mail.begin(b.frames, b.stdin, start)
	b.l.hello(b)
	for {
		x, err := b.frames.letter()
		if err == nil {
			err = b.l.letter(b, x)
		}
		if err != nil {
			b.mail.close()
			b.l.ended(b, b.finish(err))
			return
		}
	}
}

// reach starts the command until the other end says hello.
func (b *branch) reach() error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		said, err := b.attempt()
		if err == nil || b.members[0].Local {
			return err
		}
		reason := lastLine(said)
		if over := context.Cause(b.l.time); over != nil { // we have ended it
			return withReason(over, reason)
		}
		if !b.l.shell.MayComeLater(said) {
			return err
		}
		b.l.waits(b, reason)
		select {
		case <-time.After(pause):
		case <-b.l.time.Done():
			return withReason(context.Cause(b.l.time), reason)
		}
	}
}

// withReason adds what a shell has said last, if it has said anything.
func withReason(err error, reason string) error {
	if reason == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, reason)
}

// attempt starts the command once. If it does not say hello, said is what came on its stderr.
func (b *branch) attempt() (said string, err error) {
	if err := b.launch(); err != nil {
		return "", err
	}
	cmd := b.cmd
	inTime := context.AfterFunc(b.l.time, func() { cmd.Kill() })
	err = b.greet()
	if !inTime() && err == nil {
		err = io.EOF
	}
	if err == nil {
		b.errors.release()
		return "", nil
	}
	err = b.finish(err)
	said = b.errors.text()
	if !b.l.shell.MayComeLater(said) || b.members[0].Local {
		b.errors.release()
	}
	return said, err
}

// launch starts the command with pipes to it.
func (b *branch) launch() error {
	m := &b.members[0]
	cmd := exec.Command(b.l.shell.Self, shells.NodeWord)
	if !m.Local {
		cmd = b.l.shell.Command(m.Name, m.User, m.Port, b.l.size)
	}
	// What is typed at the terminal, ^C above all, is for us, and not for a shell, whose end would look like a machine's.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: !m.Local && !b.l.shell.Asks}
	if m.Input == inputOwn {
		cmd.ExtraFiles = []*os.File{os.Stdin} // inputFD
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	b.errors = &heldErrors{to: b.l.err, done: make(chan struct{})}
	cmd.Stderr = os.Stderr
	if m.Local {
		close(b.errors.done)
	} else {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer w.Close()
		cmd.Stderr, b.errors.pipe = w, r
	}
	if b.cmd, err = b.l.run(cmd); err != nil {
		b.errors.drop()
		in.Close()
		out.Close()
		return err
	}
	if b.errors.pipe != nil {
		go b.errors.copy()
	}
	b.through, b.stdin, b.stdout = shells.Through(cmd), in, out
	b.frames = &frames{in: out, out: in}
	return nil
}

// greet waits for the hello. If the program is not there, it is sent.
func (b *branch) greet() error {
	var begin [8]byte
	if _, err := io.ReadFull(b.frames.in, begin[:]); err != nil {
		return err
	}
	sent := string(begin[:]) == shells.Absent[:8]
	if sent {
		if err := b.send(); err != nil {
			return err
		}
		if _, err := io.ReadFull(b.frames.in, begin[:]); err != nil {
			return fmt.Errorf("impirun is not there, and the one that was sent does not run: %w", err)
		}
	}
	b.frames.in = io.MultiReader(bytes.NewReader(begin[:]), b.stdout.(io.Reader))
	m, err := b.frames.receive()
	b.frames.in = b.stdout.(io.Reader)
	switch {
	case err != nil:
		return err
	case m.Hello == nil || m.Hello.Version != nodeVersion:
		return fmt.Errorf("impirun on %s is of another release", b.members[0].Name)
	}
	return nil
}

// send sends this program to a machine that has none, if it can run it.
func (b *branch) send() error {
	var line []byte
	for one := make([]byte, 1); len(line) < 64; {
		if _, err := io.ReadFull(b.frames.in, one); err != nil {
			return err
		}
		if one[0] == '\n' {
			break
		}
		line = append(line, one[0])
	}
	if there := strings.TrimPrefix(string(line), shells.Absent[8:]); there != shells.Architecture() {
		return fmt.Errorf("impirun is not there, neither at %s nor in its PATH, and ours is for %s, not for %s",
			b.l.shell.Self, shells.Architecture(), there)
	}
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(b.frames.out, f)
	return err
}

// finish waits for the end of the command, and says how it was. One that talks nonsense is killed.
func (b *branch) finish(err error) error {
	b.stdin.Close()
	if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrClosed) {
		b.cmd.Kill()
	} else {
		err = errors.New("the connection has ended")
	}
	defer b.stdout.Close()
	defer b.errors.close()
	defer time.AfterFunc(endTime, func() { b.cmd.Kill() }).Stop()
	if status := b.cmd.Wait(); status != nil {
		return fmt.Errorf("%w (%s: %w)", err, b.through, status)
	}
	return err
}

// kill kills the command. What it has started notices that its launcher has gone.
func (b *branch) kill() {
	if b.reached && !b.over {
		b.stdin.Close()
		b.cmd.Kill()
	}
}

// newBranch makes a branch of a launching; follow starts it.
func (l *launching) newBranch(members []member) *branch {
	return &branch{l: l, members: members, open: len(members), mail: newMailbox()}
}

// has says whether a machine is one of a branch's. Members are in the order of their numbers.
func (b *branch) has(number int) bool {
	_, found := slices.BinarySearchFunc(b.members, number, func(m member, n int) int { return m.Number - n })
	return found
}

// patience is how long machines are waited for before the user is told, once.
const patience = 1500 * time.Millisecond

// waits notes that a machine will be tried again.
func (l *launching) waits(b *branch, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		l.since = time.Now()
	}
	if name := b.members[0].Name; !slices.Contains(l.waiting, name) {
		l.waiting = append(l.waiting, name)
	}
	if l.told || time.Since(l.since) < patience {
		return
	}
	l.told = true
	fmt.Fprintf(l.err, "impirun: waiting for %s, which cannot be reached yet: %s. It is tried again until %v are over "+
		"(-deadline start)\n", strings.Join(l.waiting, ", "), reason, l.limit)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// heldErrors is the stderr of a command: held back until it is clear whether the command is tried again, in which case
// nobody need know what it said.
type heldErrors struct {
	pipe *os.File // nil: it is our own, and not ours to hold
	to   io.Writer
	done chan struct{} // closed when all has been read

	mu   sync.Mutex
	held []byte
	free bool
}

// unbound is what srun says where Slurm binds nobody, of our wish that it bind nobody.
var unbound = []byte("lacks support for cpu binding")

// maxHeld bounds what is held, in bytes.
const maxHeld = 64 << 10

func (h *heldErrors) copy() {
	defer close(h.done)
	buf := make([]byte, 4096)
	for {
		n, err := h.pipe.Read(buf)
		h.mu.Lock()
		if h.free {
			h.to.Write(buf[:n])
		} else if len(h.held) < maxHeld {
			h.held = append(h.held, buf[:n]...)
		}
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// release writes what was held, and all that follows.
func (h *heldErrors) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = true
	for line := range bytes.Lines(h.held) {
		if !bytes.Contains(line, unbound) {
			h.to.Write(line)
		}
	}
	h.held = nil
}

func (h *heldErrors) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.held)
}

// close waits for the end of the pipe, but not for what the command has left behind with it, such as the master of
// connections that ssh can share.
func (h *heldErrors) close() {
	if h.pipe == nil {
		return
	}
	select {
	case <-h.done:
	case <-time.After(time.Second):
	}
	h.pipe.Close()
}

// drop closes the pipe of a command that does not run: nobody reads it, and nothing will come.
func (h *heldErrors) drop() {
	if h.pipe != nil {
		h.pipe.Close()
	}
}

// mailbox is what is to be sent down a branch, in order, so that nobody who sends has to wait for it.
type mailbox struct {
	mu     sync.Mutex
	more   *sync.Cond
	list   [][]byte
	last   bool // the stream ends behind the list
	closed bool
}

func newMailbox() *mailbox {
	m := &mailbox{}
	m.more = sync.NewCond(&m.mu)
	return m
}

// put adds a letter.
func (m *mailbox) put(x letter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed && !m.last {
		m.list = append(m.list, x.bytes())
		m.more.Signal()
	}
}

// finish ends the stream when all has been sent.
func (m *mailbox) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = true
	m.more.Signal()
}

func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.list = true, nil
	m.more.Signal()
}

// begin sends the start frame and then what there is and what comes.
func (m *mailbox) begin(f *frames, stdin io.Closer, start startFrame) {
	go func() {
		if f.send(frame{Start: &start}) != nil {
			return // its end tells why
		}
		for {
			m.mu.Lock()
			for len(m.list) == 0 && !m.closed && !m.last {
				m.more.Wait()
			}
			if m.closed || len(m.list) == 0 {
				m.mu.Unlock()
				stdin.Close()
				return
			}
			next := m.list[0]
			m.list = m.list[1:]
			m.mu.Unlock()
			if _, err := f.out.Write(next); err != nil {
				return
			}
		}
	}()
}
