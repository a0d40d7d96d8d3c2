package tree

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
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
)

// Branch is a branch of the tree: a process on another machine, or a node on this one, that a launcher has started, and
// the machines that it stands for.
//
// Flow: the command is started -> the other end says hello -> it is told what to start (the start frame, with the list
// of its machines) -> letters in both directions, until it ends. A command that ends before the hello is started again,
// if what it says on stderr gives hope (shells.Shell.MayComeLater), after a pause that doubles, until the time for
// starting is over.
type Branch struct {
	l       *Launching
	Members []Member // the first is where the process is

	cmd     Command
	through string
	frames  *Frames
	stdin   io.Closer
	stdout  io.Closer
	errors  *heldErrors
	mail    *mailbox

	// What follows is for the launcher's loop alone.

	Reached bool // it has said hello
	Over    bool // no more is heard of it, or it was not reached
	open    int  // members that have not ended
}

// The pauses between attempts.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 4 * time.Second
)

// Follow starts a branch and hears it to its end. It tells the launcher, and blocks until then.
func (b *Branch) Follow() {
	if err := b.reach(); err != nil {
		b.l.by.Missed(b, err)
		return
	}
	start := b.l.start
	start.Members = b.Members
	if until, ok := b.l.time.Deadline(); ok {
		start.Limit = time.Until(until)
	}
	b.mail.begin(b.frames, b.stdin, start)
	b.l.by.Hello(b)
	for {
		x, err := b.frames.letter()
		if err == nil {
			err = b.l.by.Letter(b, x)
		}
		if err != nil {
			b.mail.close()
			b.l.by.Ended(b, b.finish(err))
			return
		}
	}
}

// reach starts the command until the other end says hello.
func (b *Branch) reach() error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		said, err := b.attempt()
		if err == nil || b.Members[0].Local {
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
func (b *Branch) attempt() (said string, err error) {
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
	if !b.l.shell.MayComeLater(said) || b.Members[0].Local {
		b.errors.release()
	}
	return said, err
}

// launch starts the command with pipes to it.
func (b *Branch) launch() error {
	m := &b.Members[0]
	cmd := exec.Command(b.l.shell.Self, shells.NodeWord)
	if !m.Local {
		cmd = b.l.shell.Command(m.Name, m.User, m.Port, b.l.size)
	}
	// What is typed at the terminal, ^C above all, is for us, and not for a shell, whose end would look like a machine's.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: !m.Local && !b.l.shell.Asks}
	if m.Input == InputOwn {
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
	if b.cmd, err = b.l.by.Run(cmd); err != nil {
		b.errors.drop()
		in.Close()
		out.Close()
		return err
	}
	if b.errors.pipe != nil {
		go b.errors.copy()
	}
	b.through, b.stdin, b.stdout = shells.Through(cmd), in, out
	b.frames = &Frames{in: out, out: in}
	return nil
}

// greet waits for the hello. If the program is not there, it is sent.
func (b *Branch) greet() error {
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
	m, err := b.frames.Receive()
	b.frames.in = b.stdout.(io.Reader)
	switch {
	case err != nil:
		return err
	case m.Hello == nil || m.Hello.Version != nodeVersion:
		return fmt.Errorf("impirun on %s is of another release", b.Members[0].Name)
	}
	return nil
}

// send sends this program to a machine that has none, if it can run it.
func (b *Branch) send() error {
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
func (b *Branch) finish(err error) error {
	b.stdin.Close()
	if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrClosed) {
		b.cmd.Kill()
	} else {
		err = errors.New("the connection has ended")
	}
	defer b.stdout.Close()
	defer b.errors.close()
	defer time.AfterFunc(EndTime, func() { b.cmd.Kill() }).Stop()
	if status := b.cmd.Wait(); status != nil {
		return fmt.Errorf("%w (%s: %w)", err, b.through, status)
	}
	return err
}

// Put sends a letter down the branch, after those before it. It does not block.
func (b *Branch) Put(x Letter) { b.mail.put(x) }

// Leave notes that one of its machines has ended. The last ends its stream. It is for the launcher's
// loop alone, as is Kill.
func (b *Branch) Leave() {
	if b.open--; b.open == 0 {
		b.mail.finish()
	}
}

// Kill kills the command. What it has started notices that its launcher has gone.
func (b *Branch) Kill() {
	if b.Reached && !b.Over {
		b.stdin.Close()
		b.cmd.Kill()
	}
}

// Has reports whether a machine is one of a branch's. Members are in the order of their numbers.
func (b *Branch) Has(number int) bool {
	_, found := slices.BinarySearchFunc(b.Members, number, func(m Member, n int) int { return m.Number - n })
	return found
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
