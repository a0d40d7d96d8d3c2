package ports

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// open opens a port of this test.
func open(t testing.TB, c Config) *Port {
	t.Helper()
	if !c.Bind.IsValid() {
		c.Bind = loopback
	}
	p, err := Listen(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// meetAt makes a line by a port.
func meetAt(t testing.TB, p *Port, c Config) (accepted, dialed transport.Line) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		var err error
		dialed, err = Dial(deadline(t), p.Name(), c)
		done <- err
	}()
	accepted, err := p.Accept(deadline(t))
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close(); dialed.Close() })
	return accepted, dialed
}

func TestWhoDialsAPortGetsALine(t *testing.T) {
	for _, tt := range []struct{ listens, dials, tls bool }{{false, false, false}, {true, false, false},
		{false, true, false}, {true, true, true}} {
		p := open(t, Config{Sealed: tt.listens})
		seen := map[[32]byte]bool{}
		for range 3 {
			a, b := meetAt(t, p, Config{Sealed: tt.dials})
			if a.Secret() != b.Secret() || seen[a.Secret()] || !a.First() || b.First() {
				t.Errorf("secrets %x and %x, first %v and %v", a.Secret(), b.Secret(), a.First(), b.First())
			}
			seen[a.Secret()] = true
			exchange(t, a, b, bytes.Repeat([]byte("a"), 1<<20), []byte("b"))
			_, sealed := a.(*line).stream.(connection).Conn.(*tls.Conn)
			if sealed != tt.tls {
				t.Errorf("TLS: %v, %+v", sealed, tt)
			}
			a.Close()
			if _, err := b.Exchange(deadline(t), nil); err == nil || !strings.Contains(err.Error(), "has gone") {
				t.Error(err)
			}
		}
	}
}

func TestAPortIsFoundByIPv6(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here:", err)
	} else {
		l.Close()
	}
	p := open(t, Config{Bind: netip.IPv6Loopback()})
	if !strings.HasPrefix(p.Name(), "impi://[::1]:") {
		t.Error(p.Name())
	}
	meetAt(t, p, Config{})
}

func TestAPortKeepsToItsPorts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := l.Addr().(*net.TCPAddr).Port
	_, err = Listen(Config{Bind: loopback, Ports: [2]int{n, n}})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Error(err)
	}
	p := open(t, Config{Ports: [2]int{n, n + 20}})
	if got := int(p.name.Addr.Port()); got <= n || got > n+20 {
		t.Errorf("port %d, not one behind %d", got, n)
	}
}

func TestManyMayDialAndEachIsAcceptedOnce(t *testing.T) {
	const n = 40
	p := open(t, Config{})
	var all sync.WaitGroup
	words := make(chan string, n)
	for i := range n {
		all.Go(func() {
			l, err := Dial(deadline(t), p.Name(), Config{})
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			got, err := l.Exchange(deadline(t), fmt.Append(nil, i))
			if err != nil || string(got) != fmt.Sprint("to ", i) {
				t.Errorf("%d hears %q, %v", i, got, err)
			}
		})
		all.Go(func() {
			l, err := p.Accept(deadline(t))
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			// What is to be said depends on who is there: two exchanges in one, by hand.
			_, got, err := readFrame(l.(*line).stream, 100)
			if err == nil {
				err = writeFrame(l.(*line).stream, frameExchange, []byte("to "+string(got)))
			}
			if err != nil {
				t.Error(err)
			}
			words <- string(got)
		})
	}
	all.Wait()
	close(words)
	seen := map[string]bool{}
	for w := range words {
		seen[w] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d have been accepted", len(seen), n)
	}
}

func TestWhoDoesNotKnowTheKeyIsToldNothing(t *testing.T) {
	p := open(t, Config{})
	wrong := p.name
	wrong.Key[5] ^= 1
	ctx := deadline(t)
	if _, err := Dial(ctx, wrong.String(), Config{}); !errors.Is(err, errTurnedAway) {
		t.Error(err)
	}
	// The bytes that a stranger hears: a hello, which is no secret, and the end.
	c, err := net.Dial("tcp", p.name.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write(said(newHello(0, 0)))
	c.Write(make([]byte, proofSize))
	if b, _ := io.ReadAll(c); len(b) != helloSize {
		t.Errorf("%d bytes", len(b))
	}
	meetAt(t, p, Config{})
}

func TestAPortThatDoesNotKnowTheKeyIsNotBelieved(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			x := handshake{key: make([]byte, keySize), purpose: portPurpose, ours: newHello(0, 0)}
			x.hear(c)
			x.listen(c)
			x.answer(c)
		}
	}()
	n := Name{netip.MustParseAddrPort(l.Addr().String()), newKey()}
	if _, err := Dial(deadline(t), n.String(), Config{}); !errors.Is(err, errProof) {
		t.Error(err)
	}
}

func TestNobodyStandsBetweenTheEndsOfASealedLine(t *testing.T) {
	// One in the middle hands on the proofs, which it cannot make, and then talks TLS to both.
	p := open(t, Config{Sealed: true})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", p.name.Addr.String())
			if err != nil {
				return
			}
			io.CopyN(b, a, helloSize)
			io.CopyN(a, b, helloSize)
			io.CopyN(b, a, proofSize)
			io.CopyN(a, b, proofSize)
			own, other := &handshake{key: make([]byte, keySize)}, &handshake{key: make([]byte, keySize)}
			go func() { own.seal(a, false); a.Close() }()
			other.seal(b, true)
			b.Close()
		}
	}()
	n := Name{netip.MustParseAddrPort(l.Addr().String()), p.name.Key}
	if _, err := Dial(deadline(t), n.String(), Config{Sealed: true}); err == nil {
		t.Error("the one in the middle has been taken for the port")
	}
	if _, err := p.Accept(soon(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("and been accepted: %v", err)
	}
}

func TestADialerWaitsUntilItsContextIsDone(t *testing.T) {
	p := open(t, Config{})
	if _, err := Dial(soon(t), p.Name(), Config{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	meetAt(t, p, Config{}) // nobody is accepted who has gone
	if _, err := p.Accept(soon(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// waits returns when so many wait at a port.
func waits(t testing.TB, p *Port, n int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		got := len(p.waiting)
		p.mu.Unlock()
		if got == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d wait, not %d", got, n)
		}
	}
}

func TestAPortThatIsClosedSaysSoToThoseWhoWait(t *testing.T) {
	p := open(t, Config{})
	done := make(chan error, 5)
	for range 5 {
		go func() {
			_, err := Dial(deadline(t), p.Name(), Config{})
			done <- err
		}()
	}
	waits(t, p, 5)
	accepted := make(chan error, 1)
	p2 := open(t, Config{})
	go func() {
		_, err := p2.Accept(deadline(t))
		accepted <- err
	}()
	p.Close()
	for range 5 {
		if err := <-done; !errors.Is(err, ErrNoPort) || !strings.Contains(err.Error(), "while we waited") {
			t.Error(err)
		}
	}
	if _, err := Dial(deadline(t), p.Name(), Config{}); !errors.Is(err, ErrNoPort) {
		t.Error(err)
	}
	if _, err := p.Accept(deadline(t)); err != ErrClosed {
		t.Error(err)
	}
	p2.Close()
	if err := <-accepted; err != ErrClosed {
		t.Error(err)
	}
	p2.Close()
}

func TestNoMoreWaitThanThereIsRoomFor(t *testing.T) {
	p := open(t, Config{})
	p.mu.Lock()
	p.waiting = make([]*waiter, maxWaiting)
	p.mu.Unlock()
	_, err := Dial(deadline(t), p.Name(), Config{})
	if err == nil || !strings.Contains(err.Error(), "wait there already") {
		t.Error(err)
	}
	p.mu.Lock()
	p.waiting = nil
	p.mu.Unlock()
	meetAt(t, p, Config{})
}

func TestWhoDiesWhileItWaitsOrIsAcceptedKeepsNobodyOut(t *testing.T) {
	p := open(t, Config{})
	prove1 := func() net.Conn {
		c, err := net.Dial("tcp", p.name.Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		x := handshake{key: p.name.Key[:], purpose: portPurpose, ours: newHello(0, 0)}
		if err := x.dial(c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := prove1()
	waits(t, p, 1)
	c.Close()
	waits(t, p, 0)
	c = prove1() // speaks although nothing has been said to it
	c.Write([]byte{frameHere, 0, 0, 0, 0})
	if b, _ := io.ReadAll(c); len(b) > 0 {
		t.Errorf("an answer: %x", b)
	}
	waits(t, p, 0)
	c = prove1() // dies when it is accepted
	go func() {
		readFrame(c, 0)
		c.Close()
	}()
	waits(t, p, 1)
	meetAt(t, p, Config{})
}

func TestGarbageAndFloodsKeepNobodyOut(t *testing.T) {
	var lines []string
	var mu sync.Mutex
	p := open(t, Config{Warn: func(s string) { mu.Lock(); lines = append(lines, s); mu.Unlock() }})
	var flood []net.Conn
	for i := range 500 {
		c, err := net.Dial("tcp", p.name.Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		switch i % 4 {
		case 0: // silent
		case 1:
			c.Write([]byte("GET / HTTP/1.1\r\n\r\n" + strings.Repeat("x", helloSize)))
		case 2:
			c.Write(said(newHello(0, 0))[:20])
		case 3:
			c.Write(said(newHello(0, 0)))
		}
		flood = append(flood, c)
	}
	begin := time.Now()
	meetAt(t, p, Config{})
	if d := time.Since(begin); d > greetTime {
		t.Errorf("it took %v", d)
	}
	p.gate.mu.Lock()
	if n := len(p.gate.list); n > maxStrangers {
		t.Errorf("%d strangers", n)
	}
	p.gate.mu.Unlock()
	for _, c := range flood {
		c.Close()
	}
	p.Close()
	if len(lines) == 0 || len(lines) > 20 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestAStrangerHasSomeTimeAndNoMore(t *testing.T) {
	p := open(t, Config{})
	p.gate.close()
	l, err := listen(&p.conf)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: l, whose: byAddress, greet: p.greet, warn: p.conf.warn, most: 4, patience: 30 * time.Millisecond}
	g.open()
	defer g.close()
	for _, words := range [][]byte{nil, said(newHello(0, 0))[:10], said(newHello(0, 0))} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Write(words)
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, c); err != nil && !isEnd(err) {
			t.Errorf("after %d bytes: %v", len(words), err)
		}
		c.Close()
	}
}

func TestALineEndsWhenNothingIsHeardOfItsOtherEnd(t *testing.T) {
	c := Config{Silence: 32 * time.Second}
	a, b := meetAt(t, open(t, c), c)
	for _, l := range []transport.Line{a, b} {
		raw, err := l.(*line).stream.(connection).Conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			for name, want := range map[int]int{unix.TCP_KEEPIDLE: 2, unix.TCP_USER_TIMEOUT: 36000} {
				if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, name); err != nil || got != want {
					t.Errorf("option %d is %d (%v), want %d", name, got, err, want)
				}
			}
		})
	}
}
