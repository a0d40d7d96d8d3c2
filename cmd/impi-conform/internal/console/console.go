// Package console asks a person, at a terminal or through pipes, to type commands on other machines.
//
// Flow: Ask shows a command, and waits until the tester sees that it runs, or until the person answers. A line is an
// answer for the prompt that has waited longest for one, or a word: "skip" gives up the case, "quit" gives up all
// cases. The end of the input is "quit".
package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
)

// What a prompt ends with if the person gives up.
var (
	ErrSkip = errors.New("the person at the console has given up the case")
	ErrQuit = errors.New("the person at the console has given up")
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 10

// Console is a person.
type Console struct {
	out  io.Writer
	quit func() // ends the run

	mu    sync.Mutex // guards what follows, and out
	asked []*question
	over  bool // the person has quit
}

type question struct {
	target.Prompt
	reply chan reply // has room for one
}

type reply struct {
	text string
	err  error
}

// New reads lines of in until it ends. quit is called when the person gives up.
func New(in io.Reader, out io.Writer, quit func()) *Console {
	c := &Console{out: out, quit: quit}
	go c.read(in)
	return c
}

func (c *Console) read(in io.Reader) {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		c.take(strings.TrimSpace(s.Text()))
	}
	c.take("quit")
}

// take acts on a line.
func (c *Console) take(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch line {
	case "":
	case "skip":
		if len(c.asked) == 0 {
			fmt.Fprintln(c.out, "No case waits for you.")
		}
		c.all(ErrSkip)
	case "quit":
		c.over = true
		c.all(ErrQuit)
		c.quit()
	default:
		c.answer(line)
	}
}

// all ends all prompts. The lock is held.
func (c *Console) all(err error) {
	for _, q := range c.asked {
		q.reply <- reply{err: err}
	}
	c.asked = nil
}

// answer gives a line to the prompt that has waited longest for one. The lock is held.
func (c *Console) answer(line string) {
	i := slices.IndexFunc(c.asked, func(q *question) bool { return q.Answer != "" })
	if i < 0 {
		fmt.Fprintln(c.out, `Nothing asks for an answer. "skip" gives up the case, "quit" gives up all.`)
		return
	}
	if _, _, err := net.SplitHostPort(line); err != nil {
		fmt.Fprintf(c.out, "%q is no address:port.\n", line)
		return
	}
	c.asked[i].reply <- reply{text: line}
	c.asked = slices.Delete(c.asked, i, i+1)
}

// Ask shows a prompt, and waits for its answer, for the end of ctx, or until the person gives up.
func (c *Console) Ask(ctx context.Context, p target.Prompt) (string, error) {
	q := &question{p, make(chan reply, 1)}
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return "", ErrQuit
	}
	fmt.Fprintf(c.out, "\nStart the %s:\n\n    %s\n\n", p.What, p.Command)
	if p.Answer != "" {
		fmt.Fprintf(c.out, "and type %s.\n", p.Answer)
	}
	c.asked = append(c.asked, q)
	c.mu.Unlock()
	select {
	case r := <-q.reply:
		return r.text, r.err
	case <-ctx.Done():
		c.mu.Lock()
		c.asked = slices.DeleteFunc(c.asked, func(other *question) bool { return other == q })
		c.mu.Unlock()
		return "", ctx.Err()
	}
}
