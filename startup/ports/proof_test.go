package ports

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// pipe is two ends of a connection inside the process, which nobody waits for longer than the tests may take.
func pipe(t testing.TB) (a, b net.Conn) {
	a, b = net.Pipe()
	for _, c := range []net.Conn{a, b} {
		c.SetDeadline(time.Now().Add(time.Minute))
		t.Cleanup(func() { c.Close() })
	}
	return a, b
}

func TestBothProveThatTheyKnowTheKeyAndHaveASecretOfTheirOwn(t *testing.T) {
	var secrets [][32]byte
	for range 2 {
		a, b := pipe(t)
		d := handshake{key: []byte("key"), purpose: "test", ours: newHello(1, 7)}
		l := handshake{key: []byte("key"), purpose: "test", ours: newHello(3, 8)}
		done := make(chan error, 1)
		go func() { done <- d.dial(a) }()
		if err := errors.Join(l.hear(b), l.listen(b), l.answer(b), <-done); err != nil {
			t.Fatal(err)
		}
		if d.derive(forLine) != l.derive(forLine) || d.theirs != l.ours || l.theirs != d.ours || !d.sealed() || !l.sealed() {
			t.Errorf("%+v, %+v", d, l)
		}
		secrets = append(secrets, d.derive(forLine))
	}
	if secrets[0] == secrets[1] {
		t.Error("two handshakes have one secret")
	}
}

func TestAProofIsOfOneSideOnePurposeOneKeyAndBothHellos(t *testing.T) {
	hi, ho := newHello(1, 0), newHello(0, 0)
	x := handshake{key: []byte("key"), purpose: "port", dials: hi.encode(), listens: ho.encode()}
	p := x.derive(sideDials)
	if !x.proven(sideDials, p[:]) {
		t.Fatal("refused")
	}
	others := []handshake{x, x, x, x, x, x}
	others[0].key = []byte("kex")
	others[1].purpose = "memory"
	others[2].dials[15] ^= 1 // a flag
	others[3].listens[51] ^= 1
	others[4].dials, others[4].listens = x.listens, x.dials
	others[5].channel = []byte("keys")
	for i, o := range others {
		if o.proven(sideDials, p[:]) {
			t.Errorf("accepted where something else is so (%d)", i)
		}
	}
	if x.proven(sideListens, p[:]) || x.proven(sideDials, nil) || x.proven(sideDials, p[:31]) {
		t.Error("accepted of the other side, or in part")
	}
}

// fakeDialer says to one that listens what it is given, and answers what comes back until the end.
func fakeDialer(c net.Conn, say func(hello [helloSize]byte) []byte) {
	var h [helloSize]byte
	if _, err := io.ReadFull(c, h[:]); err == nil {
		c.Write(say(h))
	}
	c.Close()
}

func TestWhatWasProvenOnceProvesNothingLater(t *testing.T) {
	key := []byte("key")
	record := func() (hello, proof []byte) {
		a, b := pipe(t)
		d := handshake{key: key, purpose: "test", ours: newHello(0, 0)}
		go d.dial(a)
		l := handshake{key: key, purpose: "test", ours: newHello(0, 0)}
		if err := errors.Join(l.hear(b), l.listen(b)); err != nil {
			t.Fatal(err)
		}
		p := l.derive(sideDials)
		return l.dials[:], p[:]
	}
	hello, proof := record()
	a, b := pipe(t)
	go func() {
		a.Write(hello)
		fakeDialer(a, func([helloSize]byte) []byte { return proof })
	}()
	l := handshake{key: key, purpose: "test", ours: newHello(0, 0)}
	if err := l.hear(b); err != nil {
		t.Fatal(err)
	}
	if err := l.listen(b); err != errProof {
		t.Errorf("a replay: %v", err)
	}
}

func TestWhatIsSentBackProvesNothing(t *testing.T) {
	// One that does not know the key lets two who do talk to themselves: it hands each what it has said itself.
	key := []byte("key")
	a, b := pipe(t)
	go io.Copy(b, b)
	d := handshake{key: key, purpose: "test", ours: newHello(0, 0)}
	if err := d.dial(a); err != errProof {
		t.Errorf("an echo: %v", err)
	}
	// One that listens is dialed twice, and each time gets what it says the other time: two listeners.
	var ends [2]net.Conn
	var ls [2]handshake
	done := make(chan error, 2)
	for i := range ends {
		var c net.Conn
		ends[i], c = pipe(t)
		ls[i] = handshake{key: key, purpose: "test", ours: newHello(0, 0)}
		go func() { done <- errors.Join(ls[i].hear(c), ls[i].listen(c)); c.Close() }()
	}
	h := said(newHello(0, 0))
	for _, c := range ends {
		c.Write(h)
	}
	// Neither says a proof that the other could be given: what there is to send back is what each has said, its hello.
	for _, c := range ends {
		go fakeDialer(c, func(h [helloSize]byte) []byte { return h[:proofSize] })
	}
	for range 2 {
		if err := <-done; !errors.Is(err, errProof) {
			t.Errorf("a reflection: %v", err)
		}
	}
}

// said is a hello as it travels.
func said(h hello) []byte { b := h.encode(); return b[:] }

func TestEitherEndMayDieAtEachByte(t *testing.T) {
	const whole = helloSize + proofSize
	for n := range whole {
		a, b := pipe(t)
		go func() { // dies after so many bytes of what a dialer says
			d := handshake{key: []byte("key"), purpose: "test", ours: newHello(0, 0)}
			d.dial(&dying{a, n})
			a.Close()
		}()
		l := handshake{key: []byte("key"), purpose: "test", ours: newHello(0, 0)}
		err := l.hear(b)
		if err == nil {
			err = l.listen(b)
		}
		if !isEnd(err) && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a dialer that dies after %d bytes: %v", n, err)
		}
		c, e := pipe(t)
		go func() { // and of what one says that listens
			l := handshake{key: []byte("key"), purpose: "test", ours: newHello(0, 0)}
			if x := (&dying{e, n}); l.hear(x) == nil && l.listen(x) == nil {
				l.answer(x)
			}
			e.Close()
		}()
		d := handshake{key: []byte("key"), purpose: "test", ours: newHello(0, 0)}
		if err := d.dial(c); !errors.Is(err, errTurnedAway) && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a listener that dies after %d bytes: %v", n, err)
		}
	}
}

// dying is an end that writes so many bytes.
type dying struct {
	net.Conn
	left int
}

func (d *dying) Write(p []byte) (int, error) {
	n := min(len(p), d.left)
	d.left -= n
	if n > 0 {
		d.Conn.Write(p[:n])
	}
	if n < len(p) {
		d.Conn.Close()
		return n, errors.New("dead")
	}
	return n, nil
}

func TestAHelloOfAnotherVersionIsNamed(t *testing.T) {
	h := newHello(0, 0)
	b := h.encode()
	if got, err := decodeHello(&b); err != nil || got != h {
		t.Errorf("%v, %v", got, err)
	}
	be.PutUint32(b[8:], 2)
	if _, err := decodeHello(&b); err == nil || err == errNoHello {
		t.Error(err)
	}
	b[0] = 'x'
	if _, err := decodeHello(&b); err != errNoHello {
		t.Error(err)
	}
}

func FuzzHellos(f *testing.F) {
	h := said(newHello(1, 2))
	f.Add(h, []byte("proof"))
	f.Add(h[:30], []byte{})
	f.Add(bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 8), []byte{})
	f.Fuzz(func(t *testing.T, hello, proof []byte) {
		rw := struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(append(bytes.Clone(hello), proof...)), io.Discard}
		l := handshake{key: []byte("key"), purpose: "test", ours: newHello(0, 0)}
		if l.hear(rw) == nil && l.listen(rw) == nil {
			t.Error("somebody has proved a key that nobody has told")
		}
		rw.Reader = bytes.NewReader(append(bytes.Clone(hello), proof...))
		if l.dial(rw) == nil {
			t.Error("somebody has proved a key that nobody has told")
		}
	})
}
