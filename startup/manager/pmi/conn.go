package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// conn is the connection to the manager. One goroutine at a time asks; one more may abort.
type conn struct {
	net.Conn
	in     *bufio.Reader
	format format
	name   string // of the manager, in errors

	write sync.Mutex // held for one message

	mu     sync.Mutex
	asking bool       // an answer is awaited
	ended  bool       // Finalize has begun, or Close: that the manager goes is no news
	heard  chan heard // what watch hears; nil: it does not run, and whoever asks reads
}

// heard is an answer, or why there will be none.
type heard struct {
	a   answer
	err error
}

var (
	errGone    = errors.New("the manager has closed its connection")
	errHalf    = errors.New("the manager has closed its connection in the middle of an answer")
	errUnasked = errors.New("it has said something that it was not asked for")
)

// strange is the error of an answer that is none to the question.
func (c *conn) strange(cmd, text string) error {
	return fmt.Errorf("%s, %s: the manager has answered %.200q", c.name, cmd, text)
}

// bounded is a context for an answer that needs nobody else.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("the manager has not answered within %v", answerTime))
}

// soon is ask for an answer that needs nobody else.
func (c *conn) soon(ctx context.Context, cmd, want string, fields ...string) (answer, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return c.ask(ctx, cmd, want, fields...)
}

// ask asks one thing. The answer's command must be want, and its rc, if there is one, 0.
func (c *conn) ask(ctx context.Context, cmd, want string, fields ...string) (answer, error) {
	c.mu.Lock()
	c.asking = true
	c.mu.Unlock()
	if err := c.say(cmd, fields...); err != nil {
		return answer{}, err
	}
	a, err := c.receive(ctx, cmd)
	if err != nil {
		return a, err
	}
	if a.cmd != want {
		return a, c.strange(cmd, a.text)
	}
	if why := a.refused(); why != nil {
		return a, fmt.Errorf("%s, %s: the manager has answered %w", c.name, cmd, why)
	}
	return a, nil
}

// say writes a message.
func (c *conn) say(cmd string, fields ...string) error {
	c.write.Lock()
	defer c.write.Unlock()
	c.SetWriteDeadline(time.Now().Add(answerTime))
	if _, err := io.WriteString(c.Conn, c.format.write(cmd, fields...)); err != nil {
		return fmt.Errorf("%s, %s: %w", c.name, cmd, told(err))
	}
	return nil
}

// told is an error of the connection, for people.
func told(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errHalf
	case errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return errGone
	}
	return err
}

// receive waits for an answer.
func (c *conn) receive(ctx context.Context, cmd string) (answer, error) {
	var h heard
	if c.heard != nil {
		select {
		case got, ok := <-c.heard:
			if h = got; !ok {
				h.err = errGone
			}
		case <-ctx.Done():
			h.err = context.Cause(ctx)
		}
	} else {
		c.SetReadDeadline(time.Time{})
		stop := context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Unix(1, 0)) })
		h = c.next()
		if !stop() && errors.Is(h.err, os.ErrDeadlineExceeded) {
			h.err = context.Cause(ctx)
		}
	}
	if h.err != nil {
		return h.a, fmt.Errorf("%s, %s: %w", c.name, cmd, told(h.err))
	}
	return h.a, nil
}

// next reads a message.
func (c *conn) next() heard {
	text, err := c.format.read(c.in)
	if err != nil {
		return heard{err: err}
	}
	a, err := c.format.parse(text)
	if err != nil {
		return heard{err: fmt.Errorf("the manager has sent %.200q: %w", text, err)}
	}
	return heard{a: a}
}

// watch begins to read whether or not an answer is awaited, and calls gone if the manager goes before the end.
func (c *conn) watch(gone func(error)) {
	c.SetReadDeadline(time.Time{})
	c.heard, c.asking = make(chan heard, 1), false
	go func() {
		defer close(c.heard)
		for {
			h := c.next()
			c.mu.Lock()
			asking, ended := c.asking, c.ended
			c.asking = false
			c.mu.Unlock()
			switch {
			case asking:
				c.heard <- h
			case ended:
			case h.err == nil:
				h.err = fmt.Errorf("%w: %.200q", errUnasked, h.a.text)
				gone(h.err)
			default:
				gone(told(h.err))
			}
			if h.err != nil || ended {
				return
			}
		}
	}()
}

// end notes that what comes after the next answer is no news.
func (c *conn) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
}

// Close closes the connection.
func (c *conn) Close() error {
	c.end()
	return c.Conn.Close()
}
