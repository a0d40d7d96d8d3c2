package tcp

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// patience bounds every wait of these tests; nothing is expected to take a noticeable part of it.
const patience = time.Minute

var loopback = netip.MustParseAddr("127.0.0.1")

// layout describes a job: for each client, for each of its hosts, the number of processes.
type layout [][]int

// makeJob is the tables of a job whose hosts listen at the given addresses.
func makeJob(lay layout, at []netip.AddrPort, tune func(*transport.Job)) *transport.Job {
	job := &transport.Job{MaxDataLen: 65536, TagUB: 1<<31 - 1, AckMark: 10, HiWater: 20, Clients: int32(len(lay))}
	for client, hosts := range lay {
		for _, n := range hosts {
			h := int32(len(job.Hosts))
			job.Hosts = append(job.Hosts, transport.Host{Addr: at[h], Client: int32(client), First: int32(len(job.Procs)),
				NProcs: int32(n)})
			for range n {
				p := transport.Proc{PID: int64(client+1)<<32 + int64(len(job.Procs)), Host: h, Client: int32(client)}
				p.HostID = [16]byte{12: 127, 15: byte(1 + h)} // a form of address that is not the one to connect to
				job.Procs = append(job.Procs, p)
			}
		}
	}
	if tune != nil {
		tune(job)
	}
	return job
}

func (l layout) hosts() (n int) {
	for _, c := range l {
		n += len(c)
	}
	return n
}

// received is one packet that was delivered.
type received struct {
	h       transport.Header
	payload string
}

// engine is what stands above a Host in these tests: a lock, and a list of what came.
type engine struct {
	mu   sync.Mutex
	cond *sync.Cond
	host *Host
	got  []received
	lost map[int32]error
	on   func(h *transport.Header, payload []byte) // instead of the list

	paced bool // its bursts are of sends that block
}

func newEngine() *engine {
	e := &engine{lost: map[int32]error{}}
	e.cond = sync.NewCond(&e.mu)
	return e
}

func (e *engine) Deliver(h *transport.Header, payload []byte) {
	if e.on != nil {
		e.on(h, payload)
		return
	}
	e.got = append(e.got, received{*h, string(payload)})
}

func (e *engine) Lost(peer int32, err error) {
	if _, twice := e.lost[peer]; twice {
		panic("a process was lost twice")
	}
	e.lost[peer] = err
}

// wake is what the watcher calls.
func (e *engine) wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.host != nil {
		e.host.Poll()
	}
	e.cond.Broadcast()
}

// until polls, and lets the others on this machine run, until done answers true.
func (e *engine) until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		if e.step(done) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: waited in vain; %d packets, lost: %v", what, len(e.got), e.lost)
		}
		time.Sleep(20 * time.Microsecond)
	}
}

func (e *engine) step(done func() bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.host.Poll()
	return done()
}

func (e *engine) await(t testing.TB, n int) {
	t.Helper()
	e.until(t, "packets", func() bool { return len(e.got) >= n })
}

// try sends a packet, if there is room.
func (e *engine) try(h transport.Header, payload string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	h.Len = len(payload)
	return e.host.Send(&h, []byte(payload))
}

// put sends a packet, polling while there is no room.
func (e *engine) put(t testing.TB, h transport.Header, payload string) {
	t.Helper()
	h.Len, h.MsgLen = len(payload), max(h.MsgLen, uint64(len(payload)))
	e.until(t, "room", func() bool { return e.host.Send(&h, []byte(payload)) })
}

// listen opens the listeners of a job.
func listen(t testing.TB, lay layout) ([]*Listener, []netip.AddrPort) {
	t.Helper()
	ls := make([]*Listener, lay.hosts())
	at := make([]netip.AddrPort, lay.hosts())
	for i := range ls {
		l, err := ListenBetween(loopback, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		ls[i], at[i] = l, l.Addr()
	}
	return ls, at
}

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// finishAll ends the communication of all hosts in order.
func finishAll(t *testing.T, es []*engine) {
	t.Helper()
	var wg sync.WaitGroup
	for i, e := range es {
		wg.Go(func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			if err := e.host.Finish(time.Now().Add(patience)); err != nil {
				t.Errorf("host %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// connect makes a job of real hosts.
func connect(t testing.TB, lay layout, tune func(*transport.Job), opts Options) []*engine {
	t.Helper()
	ls, at := listen(t, lay)
	es := make([]*engine, len(ls))
	var wg sync.WaitGroup
	for i := range ls {
		es[i] = newEngine()
		wg.Go(func() {
			h, err := Connect(deadline(t), makeJob(lay, at, tune), int32(i), ls[i], es[i], es[i].wake, opts)
			if err != nil {
				t.Errorf("host %d: %v", i, err)
				return
			}
			es[i].host = h
		})
	}
	wg.Wait()
	t.Cleanup(func() {
		for _, e := range es {
			if e.host != nil {
				e.mu.Lock()
				e.host.Abort()
				e.mu.Unlock()
				<-e.host.watch.done
			}
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return es
}

func TestEveryPairOfProcessesOfDifferentClientsCanTalk(t *testing.T) {
	lay := layout{{2, 1}, {1}, {1, 3, 1}}
	es := connect(t, lay, nil, Options{})
	job := es[0].host.job
	want := make([]int, len(es))
	for s, sp := range job.Procs {
		for d, dp := range job.Procs {
			if sp.Client != dp.Client {
				es[sp.Host].put(t, transport.Header{Kind: transport.Data, Src: int32(s), Dst: int32(d), MsgLen: 2,
					Tag: int32(100*s + d)}, "hi")
				want[dp.Host]++
			}
		}
	}
	for i, e := range es {
		e.await(t, want[i])
		for _, p := range e.got {
			if p.h.Tag != 100*p.h.Src+p.h.Dst || p.payload != "hi" {
				t.Errorf("host %d got %+v", i, p)
			}
		}
		for j, l := range e.host.links {
			if same := job.Hosts[j].Client == job.Hosts[i].Client; same != (l == nil) {
				t.Errorf("hosts %d and %d: same client %v, connected %v", i, j, same, l != nil)
			}
		}
	}
}

// strange connects to a host and says b.
func strange(t *testing.T, at netip.AddrPort, b []byte) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.Write(b)
	return c
}

func rank(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func TestBadHandshakesAreTurnedAwayAndTheMeshForms(t *testing.T) {
	lay := layout{{1}, {1, 1}, {1}}
	ls, at := listen(t, lay)
	var mu sync.Mutex
	var warnings []string
	opts := Options{Warn: func(s string) { mu.Lock(); warnings = append(warnings, s); mu.Unlock() }}
	es := []*engine{newEngine(), newEngine(), newEngine()} // host 3 is nobody but its rank
	var wg sync.WaitGroup
	start := func(i int) {
		wg.Go(func() {
			h, err := Connect(deadline(t), makeJob(lay, at, nil), int32(i), ls[i], es[i], es[i].wake, opts)
			if err != nil {
				t.Errorf("host %d: %v", i, err)
				return
			}
			es[i].host = h
		})
	}
	start(1)
	for _, b := range [][]byte{rank(4), rank(1 << 31), rank(1), rank(0), rank(2)} { // 2 is of 1's own client
		c := strange(t, at[1], b)
		c.SetReadDeadline(time.Now().Add(patience))
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("rank %x: answered", b)
		} else if e, ok := err.(net.Error); ok && e.Timeout() {
			t.Errorf("rank %x: not turned away", b)
		}
	}
	strange(t, at[1], []byte{0, 0, 0}).Close()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) { // before those that follow take its place
		mu.Lock()
		warned := strings.Contains(strings.Join(warnings, "\n"), "3 bytes instead")
		mu.Unlock()
		if warned {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no warning of one that says too little")
		}
	}
	for range 2 * maxStrangers {
		strange(t, at[1], []byte{0})
	}
	start(0)
	start(2)
	for i := range 3 {
		strange(t, at[i], rank(3))
	}
	wg.Wait()
	for _, e := range es {
		if e.host == nil {
			t.FailNow()
		}
		e.host.Abort()
	}
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(warnings, "\n")
	for _, want := range []string{"no host 4 is to", "no host 2147483648 is to", "no host 1 is to", "no host 0 is to",
		"host 2 is of our own client"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in:\n%s", want, all)
		}
	}
}

func TestTheSecondConnectionOfARankIsTurnedAway(t *testing.T) {
	lay := layout{{1}, {1}, {1}}
	ls, at := listen(t, lay)
	e := newEngine()
	var wg sync.WaitGroup
	wg.Go(func() {
		var err error
		if e.host, err = Connect(deadline(t), makeJob(lay, at, nil), 0, ls[0], e, e.wake, Options{}); err != nil {
			t.Error(err)
		}
	})
	strange(t, at[0], rank(2))
	second := strange(t, at[0], rank(2))
	third := strange(t, at[0], rank(2))
	closed := make(chan bool, 2)
	for _, c := range []net.Conn{second, third} {
		go func() { c.Read(make([]byte, 1)); closed <- true }()
	}
	<-closed // one of three may stay: two are closed, of the two watched here at least one
	strange(t, at[0], rank(1))
	wg.Wait()
	if e.host != nil {
		e.host.Abort()
	}
}

func TestWhoDoesNotComeIsNamed(t *testing.T) {
	lay := layout{{1}, {1}, {1}, {1}}
	ls, at := listen(t, lay)
	ls[0].Close()
	ctx, cancel := context.WithCancel(context.Background())
	m := newMesh(makeJob(lay, at, nil), 2, Options{})
	defer m.closeAll()
	done := make(chan error)
	go func() { done <- m.form(ctx, ls[2].tcp) }()
	c, err := ls[1].tcp.Accept() // host 1 is there
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b [4]byte
	if _, err := c.Read(b[:]); err != nil || string(b[:]) != string(rank(2)) {
		t.Errorf("handshake: %x, %v", b, err)
	}
	if host, _, _ := net.SplitHostPort(c.RemoteAddr().String()); host != "127.0.0.1" {
		t.Errorf("connected from %s", host)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		m.mu.Lock()
		settled := m.connected() == 1 && m.reasons[0] != nil
		m.mu.Unlock()
		if settled {
			break
		}
		if time.Now().After(end) {
			t.Fatal("host 1 is not connected, or host 0 not given up on")
		}
	}
	cancel()
	err = <-done
	if err == nil {
		t.Fatal("connected to nobody")
	}
	for _, want := range []string{"host 2: 2 of 3 connections", "host 0 (client 0, " + at[0].String() +
		") cannot be reached", "host 3 (client 3, " + at[3].String() + ") has not connected"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if _, err := net.Dial("tcp", at[2].String()); err == nil {
		t.Error("still listening")
	}
}

// A host that dies, with words of its own unread, ends the wait for others.
func TestAHostThatGoesWhileOthersConnectEndsTheMesh(t *testing.T) {
	lay := layout{{1}, {1, 1}}
	ls, at := listen(t, lay)
	ended := make(chan error)
	go func() {
		_, err := Mesh(deadline(t), makeJob(lay, at, nil), 0, ls[0], Options{})
		ended <- err
	}()
	strange(t, at[0], append(rank(1), "the beginning of a packet"...)).Close()
	var gone *HostGone
	if err := <-ended; !errors.As(err, &gone) || gone.Client != 1 || !strings.Contains(err.Error(), "host 1 (client 1, ") {
		t.Error(err)
	}
}

func TestConnectionsComeFromThePublishedAddress(t *testing.T) {
	lay := layout{{1}, {1}}
	ls, at := listen(t, lay)
	at[1] = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.77"), at[1].Port())
	e := newEngine()
	done := make(chan *Host)
	go func() {
		h, err := Connect(deadline(t), makeJob(lay, at, nil), 1, ls[1], e, e.wake, Options{})
		if err != nil {
			t.Error(err)
		}
		done <- h
	}()
	c, err := ls[0].tcp.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if from := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap(); from != at[1].Addr() {
		t.Errorf("from %v, want %v", from, at[1].Addr())
	}
	if h := <-done; h != nil {
		h.Abort()
	}
}

func TestTablesThatContradictThemselvesAreRefused(t *testing.T) {
	lay := layout{{2}, {1}}
	for name, spoil := range map[string]func(*transport.Job){
		"ackmark 0":         func(j *transport.Job) { j.AckMark = 0 },
		"ackmark > hiwater": func(j *transport.Job) { j.AckMark = 21 },
		"maxdatalen 0":      func(j *transport.Job) { j.MaxDataLen = 0 },
		"first":             func(j *transport.Job) { j.Hosts[1].First = 1 },
		"too many":          func(j *transport.Job) { j.Hosts[1].NProcs = 1 << 30 },
		"negative":          func(j *transport.Job) { j.Hosts[0].NProcs = -1 },
		"too few":           func(j *transport.Job) { j.Hosts[1].NProcs = 0 },
		"host of proc":      func(j *transport.Job) { j.Procs[2].Host = 0 },
		"same name":         func(j *transport.Job) { j.Procs[1] = j.Procs[0] },
	} {
		ls, at := listen(t, lay)
		job := makeJob(lay, at, spoil)
		_, err := Connect(deadline(t), job, 0, ls[0], newEngine(), func() {}, Options{})
		if err == nil || strings.Contains(err.Error(), "missing") {
			t.Errorf("%s: not refused: %v", name, err)
		}
	}
}
