package console

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
)

// screen is an output that tells when something is on it.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func newScreen() *screen { return &screen{news: make(chan struct{}, 100)} }

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news <- struct{}{}
	return s.text.Write(b)
}

// shows waits until a text is there.
func (s *screen) shows(text string) {
	for {
		s.mu.Lock()
		there := strings.Contains(s.text.String(), text)
		s.mu.Unlock()
		if there {
			return
		}
		<-s.news
	}
}

type result struct {
	answer string
	err    error
}

// ask asks in the background.
func ask(ctx context.Context, c *Console, p target.Prompt) chan result {
	got := make(chan result, 1)
	go func() {
		answer, err := c.Ask(ctx, p)
		got <- result{answer, err}
	}()
	return got
}

func TestAPersonAnswersSkipsAndQuits(t *testing.T) {
	in, keyboard := io.Pipe()
	out, quit := newScreen(), make(chan struct{})
	c := New(in, out, func() { close(quit) })
	typed := func(line string) { io.WriteString(keyboard, line+"\n") }

	server := ask(t.Context(), c, target.Prompt{What: "server", Command: "impirun -server 2", Answer: "its address"})
	out.shows("    impirun -server 2\n\nand type its address.\n")
	typed("where?")
	out.shows(`"where?" is no address:port`)
	typed("[fe80::1]:5000")
	if r := <-server; r.answer != "[fe80::1]:5000" || r.err != nil {
		t.Errorf("got %+v", r)
	}

	ctx, connected := context.WithCancel(t.Context())
	client := ask(ctx, c, target.Prompt{What: "client 0", Command: "one"})
	out.shows("    one\n")
	typed("1.2.3.4:5")
	out.shows("Nothing asks for an answer")
	connected()
	if r := <-client; r.err != context.Canceled {
		t.Errorf("got %+v", r)
	}
	typed("skip")
	out.shows("No case waits for you")

	client = ask(t.Context(), c, target.Prompt{What: "client 0", Command: "two"})
	out.shows("    two\n")
	typed("skip")
	if r := <-client; r.err != ErrSkip {
		t.Errorf("got %+v", r)
	}

	client = ask(t.Context(), c, target.Prompt{What: "client 0", Command: "three"})
	out.shows("    three\n")
	keyboard.Close()
	if r := <-client; r.err != ErrQuit {
		t.Errorf("got %+v", r)
	}
	<-quit
	if _, err := c.Ask(t.Context(), target.Prompt{}); err != ErrQuit {
		t.Errorf("who has quit is asked: %v", err)
	}
}
