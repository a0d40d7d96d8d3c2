package startup

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// door is one of two ranks, and where those that come through it are told.
func door(t *testing.T) (*Door, <-chan *LauncherEnd) {
	d, err := OpenDoor(2)
	if err != nil {
		t.Fatal(err)
	}
	in := make(chan *LauncherEnd, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Serve(func(rank int, link *LauncherEnd) {
			if rank != 1 {
				t.Errorf("rank %d has come", rank)
			}
			in <- link
		})
	}()
	t.Cleanup(func() { d.Close(); <-done })
	return d, in
}

func TestAProcessWithoutItsLinkComesThroughTheDoor(t *testing.T) {
	d, in := door(t)
	a := attachInBackground(t, envOf(EnvFD+"=1000000", d.Env(1)))
	link := <-in
	defer link.Close()
	if h := next[Hello](t, link); h.PID != os.Getpid() {
		t.Errorf("pid %d", h.PID)
	}
	link.Refuse("not yet")
	if r := <-a; r.err == nil || !strings.HasSuffix(r.err.Error(), "not yet") {
		t.Error(r.err)
	}
}

func TestAClosedDoorIsAnErrorThatNamesBothWays(t *testing.T) {
	d, _ := door(t)
	d.Close()
	for _, env := range []string{d.Env(0), EnvDoor + "=", EnvDoor + "=a:b:c"} {
		_, _, err := Attach(envOf(EnvFD+"=1000000", env))
		if err == nil || !strings.Contains(err.Error(), EnvFD+"=1000000") ||
			!strings.Contains(err.Error(), EnvDoor) && !strings.Contains(err.Error(), "the launcher's socket") {
			t.Errorf("%s: %v", env, err)
		}
	}
}

func TestStrangersDoNotComeThroughTheDoor(t *testing.T) {
	d, in := door(t)
	key := d.keys[1]
	for _, say := range []string{
		`{"type":"join","body":{"rank":0,"key":"` + key + `"}}`,
		`{"type":"join","body":{"rank":2,"key":"` + key + `"}}`,
		`{"type":"join","body":{"rank":-1,"key":"` + key + `"}}`,
		`{"type":"join","body":{"rank":1,"key":"` + key[1:] + `"}}`,
		`{"type":"join","body":{"rank":1}}`,
		`{"type":"join"}`,
		`{"type":"hello","body":{"version":4,"pid":5}}`,
		`{"type":"join","body":{"rank":1,"key":"` + key + strings.Repeat("x", maxJoin) + `"}}`,
		"knock",
	} {
		c, err := net.DialUnix("unix", nil, d.listener.Addr().(*net.UnixAddr))
		if err != nil {
			t.Fatal(err)
		}
		c.Write(append(be.AppendUint32(nil, uint32(len(say))), say...))
		c.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%.60s: %d bytes, %v", say, n, err)
		}
		c.Close()
	}
	select {
	case <-in:
		t.Error("one has come in")
	default:
	}
}
