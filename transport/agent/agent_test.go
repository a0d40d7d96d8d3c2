package agent

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/pipe"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// patience is how long a test waits for what must come. It is a safety net, not a measurement.
const patience = time.Minute

// house is an agent under test: host 1 of 3, with processes 1, 2 and 3 of 0..4. The test plays everybody else.
type house struct {
	t     *testing.T
	job   *transport.Job
	agent *Agent
	hosts [3]net.Conn    // by host; [1] is nil
	procs [3][2]net.Conn // by local rank, lower and higher side
	lost  chan error
	warns chan string
}

func makeJob(datalen uint32) *transport.Job {
	j := &transport.Job{Me: -1, Clients: 3, MaxDataLen: datalen, AckMark: 2, HiWater: 4}
	for client, n := range []int32{1, 3, 1} {
		j.Hosts = append(j.Hosts, transport.Host{Addr: netip.MustParseAddrPort("127.0.0.1:1"), Client: int32(client),
			First: int32(len(j.Procs)), NProcs: n})
		for range n {
			j.Procs = append(j.Procs, transport.Proc{HostID: [16]byte{15: byte(client)}, PID: int64(len(j.Procs)),
				Host: int32(client), Client: int32(client)})
		}
	}
	return j
}

func newHouse(t *testing.T, datalen uint32, limit int) *house {
	t.Helper()
	return furnished(t, datalen, limit, nil)
}

// ends are the test's ends of the way from one process to another.
func (h *house) ends(src, dst int32) (from, to net.Conn) {
	end := func(r, other int32) net.Conn {
		if host := h.job.Procs[r].Host; host != 1 {
			return h.hosts[host]
		}
		return h.procs[r-1][side(other, r)]
	}
	return end(src, dst), end(dst, src)
}

// furnished is a house with more to its agent's configuration.
func furnished(t *testing.T, datalen uint32, limit int, more func(*Config)) *house {
	t.Helper()
	h := &house{t: t, job: makeJob(datalen), lost: make(chan error, 10), warns: make(chan string, 10)}
	c := Config{Job: h.job, Host: 1, Peers: make([][]int, 3), Lost: func(_ int32, err error) { h.lost <- err },
		Warn: func(s string) { h.warns <- s }, Limit: limit}
	for _, i := range []int{0, 2} {
		var fd int
		fd, h.hosts[i] = tcpPair(t)
		c.Peers[i] = []int{fd}
	}
	if more != nil {
		more(&c)
	}
	var pipes [][2]*pipe.End
	for i := range h.procs {
		ours, theirs, err := Pipes(h.job, int32(1+i))
		if err != nil {
			t.Fatal(err)
		}
		pipes = append(pipes, ours)
		for s, fd := range theirs {
			h.procs[i][s] = processOf(t, fd)
		}
	}
	var err error
	if h.agent, err = New(c, pipes); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.agent.Close)
	return h
}

// tcpPair is a TCP connection: the agent's descriptor, and the test's end.
func tcpPair(t *testing.T) (int, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	d, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f, err := d.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return fd, c
}

// packet is a packet from one process to another.
func (h *house) packet(kind transport.Kind, src, dst int32, payload string) []byte {
	hd := transport.Header{Kind: kind, MsgLen: uint64(len(payload)), Len: len(payload), SrqID: 7}
	name := func(r int32) *wire.ProcID {
		return &wire.ProcID{HostID: h.job.Procs[r].HostID, PID: h.job.Procs[r].PID}
	}
	b := make([]byte, wire.PacketSize)
	if !wire.Packet(b).Encode(&hd, name(src), name(dst)) {
		h.t.Fatal("not encoded")
	}
	return append(b, payload...)
}

func fini() []byte {
	b := make([]byte, wire.PacketSize)
	wire.Packet(b).SetType(wire.PkFini)
	return b
}

// expect reads exactly these bytes.
func expect(t *testing.T, c net.Conn, want []byte, what string) {
	t.Helper()
	got := make([]byte, len(want))
	c.SetReadDeadline(time.Now().Add(patience))
	for n := 0; n < len(got); {
		m, err := c.Read(got[n:])
		if err != nil {
			t.Fatalf("%s: %v after %d bytes", what, err, n+m)
		}
		n += m
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: another packet arrived", what)
	}
}

// gone waits for the end of a connection, and fails if anything comes first.
func gone(t *testing.T, c net.Conn, what string) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	if n, err := c.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: %d bytes, %v", what, n, err)
	}
}

func TestPacketsPassUnchanged(t *testing.T) {
	h := newHouse(t, 1000, 0)
	junk := h.packet(transport.SyncAck, 2, 0, "")
	for i := 96; i < 128; i++ {
		junk[i] = byte(i) // optional and reserved fields are not the agent's
	}
	wire.Packet(junk).SetLen(128) // as LAM does: nothing follows
	for _, tt := range []struct {
		from, to net.Conn
		b        []byte
	}{
		{h.hosts[0], h.procs[0][0], h.packet(transport.Data, 0, 1, "hello")},
		{h.hosts[0], h.procs[2][0], h.packet(transport.DataSync, 0, 3, strings.Repeat("x", 1000))},
		{h.hosts[2], h.procs[2][1], h.packet(transport.Data, 4, 3, "")},
		{h.hosts[2], h.procs[0][1], h.packet(transport.ProtoAck, 4, 1, "")},
		{h.procs[1][0], h.hosts[0], h.packet(transport.Cancel, 2, 0, "")},
		{h.procs[1][1], h.hosts[2], h.packet(transport.CancelYes, 2, 4, "")},
		{h.procs[1][0], h.hosts[0], junk},
		{h.procs[0][1], h.hosts[2], h.packet(transport.ProtoAck, 1, 4, "")},
	} {
		tt.from.Write(tt.b)
		expect(t, tt.to, tt.b, "relayed")
	}
}

func TestPacketsInPiecesAndInHeapsAreTheSame(t *testing.T) {
	h := newHouse(t, 300, 0)
	var heap, to1, to3 []byte
	for i := range 40 {
		p := h.packet(transport.Data, 0, 1+2*int32(i/3%2), strings.Repeat("abc", i))
		heap = append(heap, p...)
		if i/3%2 == 0 {
			to1 = append(to1, p...)
		} else {
			to3 = append(to3, p...)
		}
	}
	go func() {
		for i := range heap[:2000] {
			h.hosts[0].Write(heap[i : i+1])
		}
		h.hosts[0].Write(heap[2000:])
	}()
	expect(t, h.procs[0][0], to1, "process 1")
	expect(t, h.procs[2][0], to3, "process 3")
}

func TestFiniIsToldWhenAllHaveSaidIt(t *testing.T) {
	h := newHouse(t, 100, 0)
	last := h.packet(transport.Data, 3, 4, "the last")
	h.procs[2][1].Write(last)
	for i := range h.procs {
		for s := range h.procs[i] {
			h.procs[i][s].Write(fini())
		}
	}
	expect(t, h.hosts[2], append(last, fini()...), "host 2")
	expect(t, h.hosts[0], fini(), "host 0")
	h.hosts[0].Write(fini())
	gone(t, h.hosts[0], "both have said FINI to each other")
	// Host 2 has not finished: it gets its acknowledgements still.
	late, ack := h.packet(transport.DataSync, 4, 3, "late"), h.packet(transport.SyncAck, 3, 4, "")
	h.hosts[2].Write(late)
	expect(t, h.procs[2][1], late, "process 3")
	h.procs[2][1].Write(ack)
	expect(t, h.hosts[2], ack, "host 2")
	h.hosts[2].Write(fini())
	gone(t, h.hosts[2], "both have said FINI to each other")
	for i := range h.procs {
		for s := range h.procs[i] {
			expect(t, h.procs[i][s], fini(), "a process")
			gone(t, h.procs[i][s], "a process that has finished")
			h.procs[i][s].Close()
		}
	}
	h.hosts[0].Close()
	h.hosts[2].Close()
	if !h.agent.Finish(patience) {
		t.Error("not finished")
	}
	select {
	case err := <-h.lost:
		t.Error(err)
	default:
	}
}

// Where all are of libimpi, each process and each host has its FINI answered at once, and the others go on.
func TestWhoOfLibimpiLeavesIsAnsweredAtOnce(t *testing.T) {
	h := furnished(t, 100, 0, func(c *Config) {
		for i := range c.Job.Hosts {
			c.Job.Hosts[i].SameImpl = true
		}
	})
	for s := range h.procs[0] {
		h.procs[0][s].Write(fini())
		expect(t, h.procs[0][s], fini(), "process 1")
		gone(t, h.procs[0][s], "a process that has left")
		h.procs[0][s].Close()
	}
	h.hosts[0].Write(fini())
	expect(t, h.hosts[0], fini(), "host 0")
	gone(t, h.hosts[0], "a host that has left")
	h.hosts[0].Close()

	there, back := h.packet(transport.Data, 4, 2, "there"), h.packet(transport.Data, 2, 4, "back")
	h.hosts[2].Write(h.packet(transport.Data, 4, 1, "for nobody"))
	h.hosts[2].Write(there)
	expect(t, h.procs[1][1], there, "process 2")
	h.procs[1][0].Write(h.packet(transport.Data, 2, 0, "for nobody"))
	h.procs[1][1].Write(back)
	expect(t, h.hosts[2], back, "host 2")

	for i := 1; i < len(h.procs); i++ {
		for s := range h.procs[i] {
			h.procs[i][s].Write(fini())
			expect(t, h.procs[i][s], fini(), "a process")
			h.procs[i][s].Close()
		}
	}
	expect(t, h.hosts[2], fini(), "host 2")
	h.hosts[2].Write(fini())
	gone(t, h.hosts[2], "the last host")
	h.hosts[2].Close()
	if !h.agent.Finish(patience) {
		t.Error("not finished")
	}
	select {
	case err := <-h.lost:
		t.Error(err)
	case text := <-h.warns:
		t.Error(text)
	default:
	}
}

func TestAHostThatBreaksARuleIsLost(t *testing.T) {
	raw := func(change func(wire.Packet)) func(h *house) []byte {
		return func(h *house) []byte {
			b := h.packet(transport.Data, 0, 1, "")
			change(b)
			return b
		}
	}
	for name, tt := range map[string]struct {
		bytes func(h *house) []byte
		want  string
	}{
		"type 8":              {raw(func(p wire.Packet) { p.SetType(8) }), "pk_type 8"},
		"type 2^32-1":         {raw(func(p wire.Packet) { p.SetType(1<<32 - 1) }), "pk_type 4294967295"},
		"longer than agreed":  {raw(func(p wire.Packet) { p.SetLen(101); p.SetMsgLen(101) }), "maximum 100"},
		"pk_len 2^32-1":       {raw(func(p wire.Packet) { p.SetLen(1<<32 - 1); p.SetMsgLen(1<<64 - 1) }), "maximum 100"},
		"longer than message": {raw(func(p wire.Packet) { p.SetLen(2); p.SetMsgLen(1) }), "pk_len 2"},
		"unknown source":      {raw(func(p wire.Packet) { p.SetSrc(wire.ProcID{PID: 99}) }), "not there"},
		"source elsewhere":    {func(h *house) []byte { return h.packet(transport.Data, 4, 1, "") }, "not there"},
		"source is ours":      {func(h *house) []byte { return h.packet(transport.Data, 2, 1, "") }, "not there"},
		"unknown destination": {raw(func(p wire.Packet) { p.SetDst(wire.ProcID{PID: 99}) }), "not on this way"},
		"to another host":     {func(h *house) []byte { return h.packet(transport.Data, 0, 4, "") }, "not on this way"},
		"data after FINI": {func(h *house) []byte {
			return append(fini(), h.packet(transport.Data, 0, 1, "")...)
		}, "after FINI"},
		"cancel after FINI": {func(h *house) []byte {
			return append(fini(), h.packet(transport.Cancel, 0, 1, "")...)
		}, "after FINI"},
		"half a header": {func(h *house) []byte {
			return h.packet(transport.Data, 0, 1, "")[:64]
		}, "64 bytes into a packet"},
		"half a payload": {func(h *house) []byte {
			return h.packet(transport.Data, 0, 1, "hello")[:130]
		}, "130 bytes into a packet"},
		"nothing": {func(h *house) []byte { return nil }, "terminated abnormally"},
	} {
		h := newHouse(t, 100, 0)
		h.hosts[0].Write(tt.bytes(h))
		h.hosts[0].(*net.TCPConn).CloseWrite()
		select {
		case err := <-h.lost:
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "host 0 (client 0, 127.0.0.1:1)") {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(patience):
			t.Errorf("%s: not noticed", name)
		}
		// Others go on.
		p := h.packet(transport.Data, 4, 2, "on")
		h.hosts[2].Write(p)
		expect(t, h.procs[1][1], p, name)
		h.agent.Close()
	}
}

func TestAProcessThatBreaksARuleLosesItsSocket(t *testing.T) {
	for name, bytes := range map[string]func(h *house) []byte{
		"another's name":     func(h *house) []byte { return h.packet(transport.Data, 1, 0, "") },
		"to a neighbor":      func(h *house) []byte { return h.packet(transport.Data, 2, 1, "") },
		"a stranger's name":  func(h *house) []byte { return h.packet(transport.Data, 4, 0, "") },
		"nonsense":           func(h *house) []byte { return make([]byte, 4096) },
		"more after its end": func(h *house) []byte { return append(fini(), h.packet(transport.Data, 2, 0, "")...) },
	} {
		h := newHouse(t, 100, 0)
		h.procs[1][0].Write(bytes(h))
		gone(t, h.procs[1][0], name)
		if s := <-h.warns; !strings.Contains(s, "rank 2") || !strings.Contains(s, "protocol error") {
			t.Errorf("%s: %q", name, s)
		}
		p := h.packet(transport.Data, 1, 0, "on")
		h.procs[0][0].Write(p)
		expect(t, h.hosts[0], p, name)
		h.agent.Close()
	}
}

func TestADeadProcessDisturbsNobody(t *testing.T) {
	h := newHouse(t, 100, 0)
	for _, c := range h.procs[1] {
		c.Close()
	}
	for range 100 { // some of them while it dies
		p := h.packet(transport.Data, 0, 1, "on")
		h.hosts[0].Write(h.packet(transport.Data, 0, 2, "for the dead"))
		h.hosts[0].Write(p)
		expect(t, h.procs[0][0], p, "process 1")
	}
	select {
	case err := <-h.lost:
		t.Error(err)
	default:
	}
}

// A process that reads nothing holds up those who send to it, at the limit, and nobody else for ever: what it has
// not taken is not more than the limit and what is on the way there.
func TestWhoDoesNotReadIsWaitedForWithinBounds(t *testing.T) {
	const limit, datalen = 64 << 10, 1000
	h := newHouse(t, datalen, limit)
	p := h.packet(transport.Data, 0, 2, strings.Repeat("x", datalen))
	var sent int
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 8 << 20 / len(p) {
			h.hosts[0].SetWriteDeadline(time.Now().Add(patience))
			n, err := h.hosts[0].Write(p)
			sent += n
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	out := &h.agent.byProc[1][0].out
	for full := false; !full; time.Sleep(time.Millisecond) {
		h.agent.mu.Lock()
		full = out.waits() > limit
		if n := len(out.queue); n > 4*limit+bufferMax {
			t.Errorf("%d bytes wait", n)
		}
		h.agent.mu.Unlock()
	}
	q := h.packet(transport.Data, 4, 3, "others go on")
	h.hosts[2].Write(q)
	expect(t, h.procs[2][1], q, "process 3")
	for range 8 << 20 / len(p) {
		expect(t, h.procs[1][0], p, "process 2")
	}
	<-done
	h.agent.mu.Lock()
	defer h.agent.mu.Unlock()
	if cap(out.queue) > 4*limit+2*bufferMax {
		t.Errorf("the queue kept %d bytes", cap(out.queue))
	}
}

// Everybody sends to everybody at once, with small socket buffers, and reads at the same time.
func TestAllDirectionsAtOnce(t *testing.T) {
	const rounds, datalen = 300, 2000
	h := newHouse(t, datalen, 16<<10)
	var wg sync.WaitGroup
	flow := func(src, dst int32, from, to net.Conn) {
		p := h.packet(transport.Data, src, dst, strings.Repeat("x", datalen))
		wg.Go(func() {
			for range rounds {
				if _, err := from.Write(p); err != nil {
					t.Error(err)
					return
				}
			}
		})
		wg.Go(func() {
			for range rounds {
				expect(t, to, p, "a flow")
			}
		})
	}
	flow(0, 1, h.hosts[0], h.procs[0][0])
	flow(1, 4, h.procs[0][1], h.hosts[2])
	flow(4, 2, h.hosts[2], h.procs[1][1])
	flow(2, 0, h.procs[1][0], h.hosts[0])
	wg.Wait()
}

func TestAnIdleAgentUsesNoCPU(t *testing.T) {
	h := newHouse(t, 100, 0)
	p := h.packet(transport.Data, 0, 1, "wake")
	h.hosts[0].Write(p)
	expect(t, h.procs[0][0], p, "process 1")
	idles(t)
}

// idles waits until this process has done nothing for 300 ms. Threads of Go's that have something to finish, or get a
// core late, wake in one such time or the other; an agent that polls does in all of them.
func idles(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		var before, after unix.Rusage
		unix.Getrusage(unix.RUSAGE_SELF, &before)
		time.Sleep(300 * time.Millisecond)
		unix.Getrusage(unix.RUSAGE_SELF, &after)
		switches := after.Nvcsw - before.Nvcsw
		d := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
		if switches <= 100 && d <= 100*time.Millisecond {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%v of CPU and %d voluntary context switches in 300 ms of nothing", d, switches)
		}
	}
}

func TestDescriptorsThatCannotBeLinksAreRefused(t *testing.T) {
	j := makeJob(100)
	a, b, err := Pipes(j, 1)
	if err != nil {
		t.Fatal(err)
	}
	CloseSockets(b[:]...)
	if _, err := New(Config{Job: j, Host: 1, Peers: make([][]int, 3)}, [][2]*pipe.End{a}); err == nil ||
		!strings.Contains(err.Error(), "1 processes, and the host has 3") {
		t.Error(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fd, _ := syscall.Dup(int(w.Fd()))
	if _, err := New(Config{Job: j, Host: 1, Peers: [][]int{{fd}, nil, nil}}, nil); err == nil {
		t.Error("a pipe is no link")
	}
}

func TestTheViewOfAProcess(t *testing.T) {
	j := makeJob(100)
	for me := range int32(5) {
		j.Me = me
		v := View(j)
		if v.Hosts[0].SameImpl || v.Hosts[2].SameImpl {
			t.Errorf("rank %d takes others for libimpi's", me)
		}
		for r, p := range v.Procs {
			want := int32(ViewHost)
			if int32(r) != me {
				want = 2 * int32(side(int32(r), me))
			}
			if p.Host != want || p.HostID != j.Procs[r].HostID || p.PID != j.Procs[r].PID {
				t.Errorf("rank %d sees %d as %+v", me, r, p)
			}
		}
		ours, theirs, err := Pipes(j, me)
		if err != nil {
			t.Fatal(err)
		}
		if (theirs[0] < 0) != (me == 0) || (theirs[1] < 0) != (me == 4) {
			t.Errorf("rank %d has pipes %v", me, theirs)
		}
		closePipes(ours)
		CloseSockets(theirs[:]...)
	}
	if j.Procs[0].Host != 0 || len(j.Hosts) != 3 {
		t.Error("the job itself has changed")
	}
}

// No bytes of a host make the agent panic, or keep more than its buffer; and in pieces they mean the same.
func FuzzInbound(f *testing.F) {
	h := &house{job: makeJob(50)}
	f.Add(h.packet(transport.Data, 0, 1, "hello"), 3)
	f.Add(fini(), 64)
	f.Add(h.continuation(0, 2, 300), 77)
	f.Add(append(h.packet(transport.DataSync, 0, 3, ""), h.packet(transport.ProtoAck, 0, 2, "")...), 128)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		if piece < 1 || piece > 1000 {
			t.Skip()
		}
		whole, pieces := deaf(t), deaf(t)
		feed := func(in *inbound, b []byte) error {
			for len(b) > 0 {
				n := copy(in.buf[in.w:], b)
				if n == 0 {
					t.Fatal("no room for more")
				}
				in.w, b = in.w+n, b[n:]
				if err := in.pass(); err != nil {
					return err
				}
			}
			return nil
		}
		want := feed(whole, b)
		var got error
		for rest := b; len(rest) > 0 && got == nil; rest = rest[min(piece, len(rest)):] {
			got = feed(pieces, rest[:min(piece, len(rest))])
		}
		if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() || whole.link.fini != pieces.link.fini {
			t.Errorf("whole: %v, in pieces: %v", want, got)
		}
	})
}

// deaf is the inbound of host 0 in an agent whose other links take nothing.
func deaf(t *testing.T) *inbound {
	j := makeJob(50)
	j.Hosts[0].Stream = 300
	dir, err := tcp.NewDirectory(j)
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{config: Config{Job: j, Host: 1}, table: &table{job: j, dir: dir, host: 1}, byHost: make([]*link, 3)}
	mute := func(k kind, peer int32) *link {
		l := &link{kind: k, group: a.table.group(k, peer), peer: peer, fd: -1, out: outlet{ended: true}}
		a.links = append(a.links, l)
		a.open[l.group]++
		return l
	}
	a.byHost[0], a.byHost[2] = mute(aHost, 0), mute(aHost, 2)
	for p := range int32(3) {
		a.byProc = append(a.byProc, [2]*link{mute(aProcess, p+1), mute(aProcess, p+1)})
	}
	longest := a.table.longest(aHost, 0)
	return &inbound{agent: a, link: a.byHost[0], longest: longest, buf: make([]byte, bufferFor(longest))}
}

// A tolerant agent goes on without hosts and processes that are lost: it tells of each host, drops what is for one, and
// waits for nobody's FINI that will not come.
func TestATolerantAgentGoesOnWithoutThoseThatAreLost(t *testing.T) {
	h := furnished(t, 1000, 64<<10, func(c *Config) { c.Tolerant = true })
	wantLost := func(host string) {
		t.Helper()
		if err := <-h.lost; !strings.Contains(err.Error(), host) {
			t.Errorf("%v, want %s", err, host)
		}
	}
	h.hosts[0].Close()
	wantLost("host 0 ")
	p := h.packet(transport.Data, 2, 0, strings.Repeat("x", 900))
	for range 200 { // more than may wait
		h.procs[1][0].Write(p)
	}
	q := h.packet(transport.Data, 2, 4, "hello")
	h.procs[1][1].Write(q)
	expect(t, h.hosts[2], q, "host 2")
	h.procs[0][0].Close() // a process dies
	h.procs[0][1].Close()
	for _, pair := range h.procs[1:] {
		pair[0].Write(fini())
		pair[1].Write(fini())
	}
	expect(t, h.hosts[2], fini(), "host 2, when all that are left have finished")
	h.hosts[2].Close()
	wantLost("host 2 ")
	for _, pair := range h.procs[1:] {
		expect(t, pair[0], fini(), "a process, when no host is left")
	}
}

// A host whose processes are lost for others, and which may live nevertheless, sees no FINI, which would say that ours
// have come to their end.
func TestAHostThatIsForgottenSeesNoEndInOrder(t *testing.T) {
	h := furnished(t, 1000, 64<<10, func(c *Config) { c.Tolerant = true })
	h.agent.Forget(0)
	gone(t, h.hosts[0], "the host that is forgotten")
	p := h.packet(transport.Data, 2, 0, "nobody reads it")
	h.procs[1][0].Write(p)
	for _, pair := range h.procs {
		pair[0].Write(fini())
		pair[1].Write(fini())
	}
	expect(t, h.hosts[2], fini(), "the other host")
	h.hosts[2].Write(fini())
	for _, pair := range h.procs {
		expect(t, pair[0], fini(), "a process")
	}
	select {
	case err := <-h.lost:
		t.Errorf("who forgets it is told: %v", err)
	default:
	}
}
