package script

import (
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"sync"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"

	"go.starlark.net/starlark"
)

// pause keeps a link from reading. What it returns goes on, once.
func pause(l *peer.Link, buffer size) starlark.Value {
	l.Conn.SetReadBuffer(int(buffer))
	resume := sync.OnceFunc(l.Pause())
	return builtin("resume", func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		resume()
		return starlark.None, nil
	})
}

func connectionKind() *kind {
	return &kind{Name: "connection", About: "A connection to a host of the client, on which nothing is checked.",
		of: reflect.TypeFor[*events.Conn](), Methods: connectionMethods[*events.Conn]()}
}

// stream is what connections to hosts and to the server have in common.
type stream interface {
	Write(b []byte) (int, error)
	Read(b []byte) (int, error)
	Close() error
	SetLinger(seconds int) error
}

// connectionMethods are those of a connection.
func connectionMethods[C stream]() []function {
	return []function{
		{"write(b)", "sends bytes; returns whether they could be sent", func(c C, b []byte) bool {
			_, err := c.Write(b)
			return err == nil
		}},
		{"read(size = 1)",
			"waits for bytes, and returns at most so many; none: the other side has hung up; None: nothing has come " +
				"until the deadline", func(c C, n size) (*[]byte, error) { return read(c, n) }},
		{"close()", "ends it", func(c C) { c.Close() }},
		{"reset()", "ends it by a TCP reset", func(c C) {
			c.SetLinger(0)
			c.Close()
		}},
	}
}

func read(c stream, want size) (*[]byte, error) {
	if want == 0 {
		return nil, fmt.Errorf("size is 0")
	}
	b := make([]byte, want)
	n, err := c.Read(b)
	var timeout net.Error
	if n == 0 && (errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()) {
		return nil, nil
	}
	b = b[:n]
	return &b, nil
}
