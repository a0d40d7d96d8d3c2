package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

var errEnded = errors.New("the implementation has ended")

// soon is how long after the end of a client what it has done before may still be on its way.
const soon = time.Second

// past is a deadline that ends a wait at once.
var past = time.Unix(1, 0)

// accepted is the next connection to a listener. None comes any more when the client under test has left the server, or
// soon after it has ended.
func (j *Job) accepted(l net.Listener) (net.Conn, error) {
	var watchers sync.WaitGroup
	var once sync.Once
	var gone error
	interrupt := func(why string, args ...any) {
		once.Do(func() {
			gone = fmt.Errorf(why, args...)
			l.(*net.TCPListener).SetDeadline(past)
		})
	}
	over := make(chan struct{})
	watchers.Go(func() {
		if j.endsBefore(over) {
			code, _ := j.Main.Wait(j.T.Context())
			interrupt("it has ended with exit code %d", code)
		}
	})
	if j.server != nil {
		watchers.Go(func() {
			if n, err := peek(j.server.TCPConn); n == 0 && (err == io.EOF || isReset(err)) {
				interrupt("it has left the server")
			}
		})
	}
	c, err := l.Accept()
	close(over)
	if j.server != nil {
		j.server.SetReadDeadline(past)
	}
	watchers.Wait()
	if j.server != nil {
		j.server.SetReadDeadline(j.T.Deadline())
	}
	if gone != nil {
		l.(*net.TCPListener).SetDeadline(j.T.Deadline())
		if err != nil {
			err = gone
		}
	}
	return c, err
}

// endsBefore waits until over is closed or, soon after the client under test has ended, reports that.
func (j *Job) endsBefore(over chan struct{}) bool {
	select {
	case <-j.Main.Ended():
	case <-over:
		return false
	}
	select {
	case <-time.After(soon):
		return true
	case <-over:
		return false
	}
}

// Exit waits for the end of the client under test and wants this exit code. One that was started by hand is not seen
// to end; its players are.
func (j *Job) Exit(code int) {
	for _, f := range j.further {
		f.Exit(code)
	}
	if j.Main.ByHand() && j.index > 0 {
		return // its players are those of the first
	}
	if j.Main.ByHand() {
		j.vanishes(code != 0)
		return
	}
	got, err := j.Main.Wait(j.T.Context())
	if err != nil {
		j.T.Fatalf("the client has not ended in time")
	}
	j.T.Check(got == code, "the client ended with exit code %d, must be %d", got, code)
}

// ExitBadly waits for the end of the client under test and wants an exit code other than 0, and a message. Of one that
// was started by hand it wants that its connections end, and without FINI.
func (j *Job) ExitBadly() {
	if j.Main.ByHand() {
		j.vanishes(true)
		return
	}
	got, err := j.Main.Wait(j.T.Context())
	switch {
	case err != nil:
		j.T.Fatalf("the client has not ended in time")
	case got == 0:
		j.T.Errorf("the client ended with exit code 0, as if nothing had happened")
	case strings.TrimSpace(j.Main.Stderr()) == "":
		j.T.Errorf("the client ended with exit code %d and said nothing on stderr", got)
	}
	for _, crash := range []string{"panic:", "fatal error:", "SIGSEGV", "core dumped", "Segmentation fault"} {
		j.T.Check(!strings.Contains(j.Main.Stderr(), crash), "the client crashed (%q)", crash)
	}
}

// vanishes waits for what can be seen of the end of a client that was started by hand: its connections end; if badly,
// the one to the server without FINI.
func (j *Job) vanishes(badly bool) {
	if err := j.players.Over(j.T.Context()); err != nil {
		j.T.Stop()
		j.T.Fatalf("the players do not end: %v", err)
	}
	if j.server == nil && j.theirs == nil {
		j.T.Skip("the client was started by hand: of one that need not connect nothing is seen")
	}
	for badly && j.server != nil {
		c, err := codec.ReadCmd(j.server, maxCmd)
		if err != nil {
			j.T.Check(j.T.Context().Err() == nil, "the client does not hang up on the server")
			break
		}
		j.T.Check(c.Cmd != int32(wire.CmdFini), "the client says FINI to the server as if it had finished")
	}
	for _, l := range j.Links() {
		if badly {
			l.Ignore()
		}
		j.await(func() bool { return l.ended != nil }, "host %d does not close the connection to host %d", l.Theirs, l.Ours)
	}
}

// GoesOn waits until the client under test has sent something to be taken, or ended with a code, 1 for one that was
// started by hand and has hung up.
func (j *Job) GoesOn() (code int, ended bool) {
	for {
		if j.queued() > 0 {
			return 0, false
		}
		select {
		case <-j.Main.Ended():
			code, _ = j.Main.Wait(j.T.Context())
			return code, true
		case <-j.T.Context().Done():
			j.T.Fatalf("the client neither goes on nor ends")
		case <-time.After(5 * time.Millisecond):
		}
		if over, cancel := context.WithCancel(context.Background()); j.Main.ByHand() {
			cancel()
			if j.players.Over(over) == nil {
				return 1, true
			}
		} else {
			cancel()
		}
	}
}
