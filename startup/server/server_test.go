package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport/wire"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// house is a running server and what it has logged.
type house struct {
	t    *testing.T
	s    *Server
	end  func() error // waits for Serve
	stop context.CancelCauseFunc

	mu   sync.Mutex
	logs []string
}

func start(t *testing.T, opt Options) *house {
	t.Helper()
	h := &house{t: t}
	if !opt.Bind.IsValid() {
		opt.Bind = loopback
	}
	if opt.Auth.Mask() == 0 {
		opt.Auth = auth.WithKey(5678)
	}
	if opt.CloseTimeout == 0 {
		opt.CloseTimeout = 300 * time.Millisecond // tests that keep their connection open need not wait longer
	}
	opt.Log = func(s string) { h.mu.Lock(); h.logs = append(h.logs, s); h.mu.Unlock() }
	s, err := Listen(opt)
	if err != nil {
		t.Fatal(err)
	}
	h.s = s
	ctx, cancel := context.WithCancelCause(context.Background())
	h.stop = cancel
	result := make(chan error, 1)
	go func() { result <- s.Serve(ctx) }()
	h.end = sync.OnceValue(func() error { return <-result })
	t.Cleanup(func() { cancel(errors.New("end of test")); h.end() })
	return h
}

func (h *house) logged(s string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Contains(strings.Join(h.logs, "\n"), s)
}

// guest is a connection of the test.
type guest struct {
	t *testing.T
	*net.TCPConn
}

func (h *house) visit() guest {
	h.t.Helper()
	c, err := net.Dial("tcp", h.s.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	return guest{h.t, c.(*net.TCPConn)}
}

func (g guest) say(msgs ...[]byte) {
	g.t.Helper()
	if _, err := g.Write(bytes.Join(msgs, nil)); err != nil {
		g.t.Error(err)
	}
}

func (g guest) hear(msgs ...[]byte) {
	g.t.Helper()
	want := bytes.Join(msgs, nil)
	got := make([]byte, len(want))
	if n, err := io.ReadFull(g, got); err != nil || !bytes.Equal(got, want) {
		g.t.Errorf("got %.80x, %v; want %.80x", got[:n], err, want)
	}
}

// hearEnd reads to the end, which must come without another byte.
func (g guest) hearEnd() {
	g.t.Helper()
	if b, err := io.ReadAll(g); len(b) > 0 || err != nil {
		g.t.Errorf("got %x, %v; want the end", b, err)
	}
}

func (h *house) client(rank int32) guest {
	g := h.visit()
	g.say(authKey, rightKey, impi(rank))
	g.hear(useKey)
	return g
}

func TestAServerAnnouncesItselfInOneLineAndServes(t *testing.T) {
	s, err := Listen(Options{Clients: 1, Bind: loopback, Auth: auth.WithKey(5678)})
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	result := make(chan error, 1)
	go func() {
		s.Announce(w)
		result <- s.Serve(context.Background())
		w.Close()
	}()
	line := make([]byte, 100)
	n, err := r.Read(line)
	if err != nil || !strings.HasSuffix(string(line[:n]), "\n") {
		t.Fatalf("%q, %v", line[:n], err)
	}
	addr, err := netip.ParseAddrPort(strings.TrimSuffix(string(line[:n]), "\n"))
	if err != nil || addr.Addr() != loopback || addr.Port() == 0 {
		t.Fatalf("%q", line[:n])
	}
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write(bytes.Join([][]byte{authKey, rightKey, impi(0), done, fini}, nil))
	rest, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(rest, bytes.Join([][]byte{useKey, impi(1), done}, nil)) {
		t.Errorf("%x, %v", rest, err)
	}
	c.Close()
	more, _ := io.ReadAll(r)
	if err := <-result; err != nil || len(more) > 0 {
		t.Errorf("%v, and after the line %q", err, more)
	}
}

func TestWhatCannotBeServed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, opt := range map[string]Options{
		"no clients": {Clients: 0}, "33 clients": {Clients: 33}, "port -1": {Clients: 1, Port: -1},
		"port 65536": {Clients: 1, Port: 65536},
		"port taken": {Clients: 1, Port: l.Addr().(*net.TCPAddr).Port},
	} {
		opt.Auth, opt.Bind = auth.WithNone(), loopback
		if s, err := Listen(opt); err == nil {
			t.Errorf("%s: listens at %v", name, s.Addr())
			s.listener.Close()
		}
	}
	if _, err := Listen(Options{Clients: 1, Bind: loopback}); !errors.Is(err, auth.ErrNoMethod) {
		t.Error(err)
	}
}

func TestAServerWithoutBindIsReachedByBothFamilies(t *testing.T) {
	s, err := Listen(Options{Clients: 1, Auth: auth.WithNone()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.listener.Close()
	if a := s.Addr(); !a.IsValid() || a.Addr().IsUnspecified() || a.Port() == 0 {
		t.Errorf("address %v", a)
	}
	for _, ip := range []string{"127.0.0.1", "::1"} {
		if probe, err := net.Listen("tcp", net.JoinHostPort(ip, "0")); err != nil {
			continue // this machine does not have the family
		} else {
			probe.Close()
		}
		c, err := net.DialTCP("tcp", nil,
			net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(ip), s.Addr().Port())))
		if err != nil {
			t.Errorf("%s: %v", ip, err)
			continue
		}
		c.Close()
	}
}

func TestAWrongKeyIsClosedWithoutAByteAndTheNextIsWelcome(t *testing.T) {
	h := start(t, Options{Clients: 1})
	g := h.visit()
	g.say(authKey, wrongKey, impi(0))
	g.hear(useKey)
	g.hearEnd()
	good := h.client(0)
	good.hear(impi(1))
	good.say(done, fini)
	good.hear(done)
	good.hearEnd()
	good.Close()
	if err := h.end(); err != nil {
		t.Error(err)
	}
}

// S13: silent connections, and 3 bytes of one.
func TestStrangersDoNotKeepAJobFromStarting(t *testing.T) {
	h := start(t, Options{Clients: 2})
	var strangers []guest
	for range 50 {
		strangers = append(strangers, h.visit())
	}
	strangers[0].say([]byte{1, 2, 3})
	a, b := h.client(0), h.client(1)
	a.hear(impi(2))
	b.hear(impi(2))
	for _, s := range strangers {
		s.hearEnd()
	}
	a.say(done, fini)
	b.say(done, fini)
	a.hear(done)
	b.hear(done)
}

// A client that does not read holds up neither the others nor, when it reads at last, itself.
func TestASlowReaderHoldsNobodyUp(t *testing.T) {
	h := start(t, Options{Clients: 2})
	slow, quick := h.client(0), h.client(1)
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MiB, and 8 of them more than sockets hold
	slow.say(done)
	quick.hear(impi(2))
	var all [][]byte
	for l := range wire.Label(8) {
		quick.say(coll(0x5000+l, data...))
		all = append(all, chdr(0x5000+l, 2, data...))
		quick.hear(all[l])
	}
	quick.say(done)
	quick.hear(done)
	slow.hear(impi(2))
	for _, b := range all {
		slow.hear(b)
	}
	slow.hear(done)
	slow.say(fini)
	quick.say(fini)
	slow.Close()
	quick.Close()
	if err := h.end(); err != nil {
		t.Error(err)
	}
}

func TestAClientThatTakesNothingIsGivenUp(t *testing.T) {
	// The other client, of this process, gets to its reading in less than that, however busy the machine is.
	h := start(t, Options{Clients: 2, WriteTimeout: time.Second, CloseTimeout: 100 * time.Millisecond})
	stuck, quick := h.client(0), h.client(1)
	stuck.say(done)
	quick.hear(impi(2))
	go io.Copy(io.Discard, quick)
	data := make([]byte, 8<<20)
	for l := range wire.Label(4) { // until the server has had enough, at which it hangs up on all
		if _, err := quick.Write(coll(0x5000+l, data...)); err != nil {
			break
		}
	}
	var ce *ClientError
	if err := h.end(); !errors.As(err, &ce) || ce.Rank != 0 {
		t.Error(err)
	}
}

func TestResetsAreReportedAtEveryStep(t *testing.T) {
	for name, said := range map[string][]byte{"EXCHANGE": coll(wire.HPort, 1), "RUN": done} {
		h := start(t, Options{Clients: 2})
		a, b := h.client(0), h.client(1)
		a.hear(impi(2))
		b.hear(impi(2))
		b.say(said)
		if name == "RUN" {
			a.say(done)
			a.hear(done)
			b.hear(done)
		}
		b.SetLinger(0)
		b.Close()
		if name == "RUN" {
			a.say(fini)
		} else {
			a.hearEnd()
		}
		a.Close()
		var ce *ClientError
		if err := h.end(); !errors.As(err, &ce) || ce.Rank != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEveryPhaseHasItsTime(t *testing.T) {
	short := 50 * time.Millisecond
	h := start(t, Options{Clients: 2, GatherTimeout: short})
	if err := h.end(); err == nil || err.Error() != "gave up after 50ms while waiting for clients: client 0, 1 missing" {
		t.Error(err)
	}
	h = start(t, Options{Clients: 2, RemindTime: short})
	for !h.logged("still waiting for clients: client 0, 1 missing; the server gives up after 30m0s (-deadline gather)") {
		time.Sleep(short)
	}
	h.stop(errors.New("enough"))
	h.end()
	h = start(t, Options{Clients: 1, ExchangeTimeout: short})
	h.client(0).hear(impi(1))
	if err := h.end(); err == nil ||
		!strings.Contains(err.Error(), "exchanging start-up values: client 0 (before its first label) missing") {
		t.Error(err)
	}
	h = start(t, Options{Clients: 1, RunTimeout: short})
	g := h.client(0)
	g.say(done)
	g.hear(impi(1), done)
	if err := h.end(); err == nil || !strings.Contains(err.Error(), "running: client 0 missing") {
		t.Error(err)
	}
	h = start(t, Options{Clients: 1, JoinTimeout: short})
	h.visit().hearEnd()
	if !h.logged("did not join in time, and never sent AUTH") {
		t.Errorf("%q", h.logs)
	}
}

func TestAUserWhoHasHadEnoughIsObeyed(t *testing.T) {
	h := start(t, Options{Clients: 1})
	g := h.visit()
	g.say(authKey)
	g.hear(useKey)
	why := errors.New("interrupted")
	h.stop(why)
	if err := h.end(); !errors.Is(err, why) {
		t.Error(err)
	}
	g.hearEnd()
	if c, err := net.Dial("tcp", h.s.Addr().String()); err == nil {
		c.Close()
		t.Error("still listening")
	}
}
