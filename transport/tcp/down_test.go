package tcp

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cable is a network of two namespaces with one link between them.
type cable struct{ names [2]string }

// newCable makes one, or skips the test where that cannot be done.
func newCable(t *testing.T) *cable {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a link that goes down needs network namespaces, and they need root")
	}
	c := &cable{}
	for i := range c.names {
		c.names[i] = fmt.Sprintf("impi-%d-%d", os.Getpid(), i)
	}
	for i, name := range c.names {
		if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
			t.Skipf("no network namespace %d: %v %s", i, err, out)
		}
		t.Cleanup(func() { exec.Command("ip", "netns", "del", name).Run() })
	}
	if out, err := exec.Command("ip", "link", "add", "end", "netns", c.names[0], "type", "veth", "peer", "name", "end",
		"netns", c.names[1]).CombinedOutput(); err != nil {
		t.Skipf("no link between namespaces: %v %s", err, out)
	}
	for i := range c.names {
		c.ip(t, i, "addr", "add", c.addr(i).String()+"/24", "dev", "end")
		c.ip(t, i, "link", "set", "end", "up")
	}
	return c
}

func (c *cable) addr(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 78, 0, byte(i + 1)}) }

func (c *cable) ip(t *testing.T, i int, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", append([]string{"-n", c.names[i]}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %v: %v %s", args, err, out)
	}
}

// at runs f on a thread in namespace i, which ends with it.
func (c *cable) at(t *testing.T, i int, f func() error) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		ns, err := os.Open("/run/netns/" + c.names[i])
		if err != nil {
			done <- err
			return
		}
		defer ns.Close()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err == nil {
			err = f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A link that really goes down: no reset and no end of the stream comes, and nobody sends anything.
func TestAHostBehindALinkThatGoesDownIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := newCable(t)
	silence := 2 * time.Second
	var l *Listener
	c.at(t, 0, func() (err error) {
		l, err = ListenBetween(c.addr(0), 0, 0)
		return err
	})
	job := makeJob(layout{{1}, {1}}, []netip.AddrPort{l.Addr(), netip.AddrPortFrom(c.addr(1), 1)}, nil)
	e := newEngine()
	done := make(chan error)
	go func() {
		var err error
		e.host, err = Connect(deadline(t), job, 0, l, e, e.wake, Options{Silence: silence})
		done <- err
	}()
	var other net.Conn
	c.at(t, 1, func() (err error) {
		other, err = net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(l.Addr()))
		return err
	})
	defer other.Close()
	other.Write(rank(1))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	defer func() {
		e.mu.Lock()
		e.host.Abort()
		e.mu.Unlock()
		<-e.host.watch.done
	}()
	c.ip(t, 1, "link", "set", "end", "down")
	e.until(t, "loss", func() bool { return len(e.lost) == 1 })
	if err := e.lost[1]; err == nil || !strings.Contains(err.Error(), "nothing has been heard of it") &&
		!strings.Contains(err.Error(), "timed out") {
		t.Errorf("lost: %v", err)
	}
}
