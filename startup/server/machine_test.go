package server

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport/wire"
)

// bench holds a machine and what it has done so far.
type bench struct {
	t      testing.TB
	m      *machine
	sent   map[int][]byte
	closed map[int]bool
	reset  int // how many of them out of order
	logs   []string
	hung   bool
	over   bool
	piece  int // bytes fed at a time; 0: all
}

func newBench(t testing.TB, r rules) *bench {
	t.Helper()
	if r.Auth.Mask() == 0 {
		r.Auth = auth.WithKey(5678)
	}
	m, err := newMachine(r)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, m: m, sent: map[int][]byte{}, closed: map[int]bool{}}
}

func (b *bench) take(acts []action) {
	for _, a := range acts {
		if b.over {
			b.t.Errorf("%+v after the end", a)
		}
		switch a.Do {
		case doSend:
			if b.closed[a.Conn] {
				b.t.Errorf("something sent to %d after Close", a.Conn)
			}
			b.sent[a.Conn] = append(b.sent[a.Conn], a.Data...)
		case doReset:
			b.reset++
		case doClose:
			if b.closed[a.Conn] {
				b.t.Errorf("%d closed twice", a.Conn)
			}
			b.closed[a.Conn] = true
		case doHang:
			b.hung = true
		case doLog:
			b.logs = append(b.logs, a.Text)
		case doTerminate:
			b.over = true
		}
	}
}

func (b *bench) open(id int)            { b.take(b.m.Opened(id, fmt.Sprintf("10.0.0.%d:99", id))) }
func (b *bench) eof(id int, err error)  { b.take(b.m.Closed(id, err)) }
func (b *bench) got(id int) (s []byte)  { s, b.sent[id] = b.sent[id], nil; return s }
func (b *bench) logged(sub string) bool { return strings.Contains(strings.Join(b.logs, "\n"), sub) }

func (b *bench) in(id int, msgs ...[]byte) {
	data := bytes.Join(msgs, nil)
	for len(data) > 0 {
		n := len(data)
		if b.piece > 0 {
			n = min(n, b.piece)
		}
		chunk := bytes.Clone(data[:n])
		b.take(b.m.Received(id, chunk))
		clear(chunk) // the machine must not have kept it
		data = data[n:]
	}
}

func (b *bench) want(id int, what string, msgs ...[]byte) {
	b.t.Helper()
	want := bytes.Join(msgs, nil)
	if got := b.got(id); !bytes.Equal(got, want) {
		b.t.Errorf("%s: connection %d got\n%x, want\n%x", what, id, got, want)
	}
}

func cmd(c wire.Command, payload ...byte) []byte {
	return append(wire.Cmd{Cmd: c, Len: int32(len(payload))}.Append(nil), payload...)
}
func coll(l wire.Label, data ...byte) []byte {
	return append(wire.AppendColl(nil, l, len(data)), data...)
}
func chdr(l wire.Label, mask uint32, data ...byte) []byte {
	return append(wire.AppendChdr(nil, l, mask, len(data)), data...)
}

var (
	authKey  = wire.AppendAuth(nil, wire.AuthKeyMask)
	rightKey = wire.AppendAuthKey(nil, 5678)
	wrongKey = wire.AppendAuthKey(nil, 1234)
	useKey   = wire.ServerAuth{Which: 1}.Append(nil)
	useNone  = wire.ServerAuth{Which: 0}.Append(nil)
	done     = cmd(wire.CmdDone)
	fini     = cmd(wire.CmdFini)
)

func impi(n int32) []byte { return wire.AppendImpi(nil, n) }

// join makes connections 0..n-1 the clients of those ranks.
func (b *bench) join(n int) {
	b.t.Helper()
	for i := range n {
		b.open(i)
		b.in(i, authKey, rightKey, impi(int32(i)))
	}
	for i := range n {
		b.want(i, "joining", useKey, impi(int32(n)))
	}
	if b.hung {
		b.t.Error("the listening socket is closed before the job is over")
	}
}

func (b *bench) wantEnd(ok bool) {
	b.t.Helper()
	if !b.over || !b.hung || (b.m.Err() == nil) != ok {
		b.t.Errorf("over %v, error %v, want success %v; log %q", b.over, b.m.Err(), ok, b.logs)
	}
}

// Every test that feeds bytes runs with whole messages, one byte at a time, and odd pieces (S6).
func eachPiece(t *testing.T, f func(t *testing.T, piece int)) {
	for _, p := range []int{0, 1, 3} {
		t.Run(fmt.Sprintf("pieces of %d", p), func(t *testing.T) { f(t, p) })
	}
}

func TestS1OnlyOneToThirtyTwoClients(t *testing.T) {
	for n, ok := range map[int]bool{-1: false, 0: false, 1: true, 2: true, 32: true, 33: false, math.MaxInt32: false} {
		if _, err := newMachine(rules{Clients: n, Auth: auth.WithNone()}); (err == nil) != ok {
			t.Errorf("%d clients: %v", n, err)
		}
	}
	if _, err := newMachine(rules{Clients: 1}); !errors.Is(err, auth.ErrNoMethod) {
		t.Error("nothing enabled:", err)
	}
	if _, err := newMachine(rules{Clients: 1, Auth: auth.WithNone(), Preference: []int32{1}}); !errors.Is(err,
		auth.ErrNoMethod) {
		t.Error("nothing enabled is preferred:", err)
	}
}

func TestS2AuthenticationIsNegotiated(t *testing.T) {
	both := auth.Methods{None: true, HasKey: true, Key: 5678}
	tests := []struct {
		m    auth.Methods
		mask uint32
		pref []int32
		want []byte // nil: closed
	}{
		{both, 3, nil, useKey}, {both, 1, nil, useNone}, {both, 3, []int32{0, 1}, useNone}, {both, 3, []int32{3, 1, 0},
			useKey}, {both, 0, nil, nil}, {both, 0x80000000, nil, nil}, {auth.WithNone(), 2, nil, nil},
		{auth.WithKey(1), 1, nil, nil},
	}
	for _, tt := range tests {
		b := newBench(t, rules{Clients: 1, Auth: tt.m, Preference: tt.pref})
		b.open(7)
		b.in(7, wire.AppendAuth(nil, tt.mask))
		b.want(7, fmt.Sprintf("%+v", tt), tt.want)
		if b.closed[7] != (tt.want == nil) {
			t.Errorf("%+v: closed %v", tt, b.closed[7])
		}
		if warned := b.logged("warning: 10.0.0.7:99 has authenticated with IMPI_AUTH_NONE"); warned != bytes.Equal(tt.want,
			useNone) {
			t.Errorf("%+v: log %q", tt, b.logs)
		}
	}
}

func TestS3AWrongKeyIsAnsweredByHangingUp(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, rules{Clients: 2})
		b.piece = piece
		b.open(1)
		b.in(1, authKey, wrongKey, impi(0))
		b.want(1, "wrong key", useKey)
		if !b.closed[1] || !b.logged("wrong key") {
			t.Errorf("closed %v, log %q", b.closed[1], b.logs)
		}
		b.eof(1, nil)
		b.open(2)
		b.in(2, authKey, rightKey)
		b.want(2, "right key", useKey)
		b.in(2, impi(0))
		b.open(3)
		b.in(3, authKey, rightKey, impi(1))
		b.want(2, "size", impi(2))
		b.want(3, "size", useKey, impi(2))
	})
}

func TestS4OddAuthCommands(t *testing.T) {
	tests := []struct {
		name string
		msg  []byte
		ok   bool
	}{
		{"two masks", cmd(wire.CmdAuth, 0, 0, 0, 2, 0, 0, 0, 1), true},
		{"no mask", cmd(wire.CmdAuth), false},
		{"three bytes", cmd(wire.CmdAuth, 0, 0, 2), false},
		{"five bytes", cmd(wire.CmdAuth, 0, 0, 0, 2, 0), false},
		{"len -1", wire.Cmd{Cmd: wire.CmdAuth, Len: -1}.Append(nil), false},
		{"len 2^31-1", wire.Cmd{Cmd: wire.CmdAuth, Len: math.MaxInt32}.Append(nil), false},
		{"len 68", wire.Cmd{Cmd: wire.CmdAuth, Len: 68}.Append(nil), false},
		{"IMPI first", impi(0), false},
		{"unknown first", cmd(0x11111111), false},
		{"HTTP", []byte("GET / HTTP/1.0\r\n\r\n"), false},
	}
	for _, tt := range tests {
		b := newBench(t, rules{Clients: 1})
		b.open(1)
		b.in(1, tt.msg)
		if bytes.Equal(b.got(1), useKey) != tt.ok || b.closed[1] == tt.ok {
			t.Errorf("%s: closed %v, log %q", tt.name, b.closed[1], b.logs)
		}
	}
}

// A rank that is free, in an IMPI of the wrong length.
func TestS5ARankHasFourBytes(t *testing.T) {
	for _, rank := range [][]byte{{}, {0}, {0, 0, 0}, {0, 0, 0, 0, 0}, make([]byte, 8)} {
		b := newBench(t, rules{Clients: 1})
		b.open(1)
		b.in(1, authKey, rightKey, cmd(wire.CmdImpi, rank...))
		b.want(1, "authenticated and no more", useKey)
		if !b.closed[1] || b.m.phase != gathering {
			t.Errorf("IMPI with %d bytes: closed %v, %v", len(rank), b.closed[1], b.m.phase)
		}
	}
}

// What comes with AUTH can be no part of the TLS that the server has yet to ask for.
func TestWhoGoesOnBeforeTLSIsTurnedAway(t *testing.T) {
	secured := auth.Methods{Secret: "s", TLS: true}
	hello := wire.AppendAuth(nil, wire.AuthTLSMask)
	for _, piece := range []int{0, 1, len(hello)} {
		b := newBench(t, rules{Clients: 1, Auth: secured})
		b.piece = piece
		b.open(1)
		b.in(1, hello)
		if b.closed[1] {
			t.Fatal(b.logs)
		}
		b = newBench(t, rules{Clients: 1, Auth: secured})
		b.piece = piece
		b.open(1)
		b.in(1, hello, []byte{22})
		if !b.closed[1] || !b.logged("went on before it was told to") {
			t.Errorf("pieces of %d: closed %v, %q", piece, b.closed[1], b.logs)
		}
	}
}

func TestBytesOfNoConnectionAreNobodys(t *testing.T) {
	b := newBench(t, rules{Clients: 1})
	b.in(7, authKey, rightKey, impi(0))
	b.want(7, "unknown")
	b.eof(7, nil)
}

func TestS5TheSizeComesWhenAllHaveJoined(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, rules{Clients: 2})
		b.piece = piece
		b.open(1)
		b.in(1, authKey, rightKey, impi(0))
		b.want(1, "first", useKey)
		for i, r := range []int32{0, -1, 2, math.MaxInt32, math.MinInt32} { // taken, or impossible
			id := 10 + i
			b.open(id)
			b.in(id, authKey, rightKey, impi(r))
			b.want(id, "bad rank", useKey)
			if !b.closed[id] || b.closed[1] {
				t.Errorf("rank %d: closed %v, first closed %v", r, b.closed[id], b.closed[1])
			}
		}
		for i, m := range [][]byte{cmd(wire.CmdImpi), cmd(wire.CmdImpi, 0, 0, 0, 1, 0), cmd(wire.CmdImpi, 0, 0, 1), coll(1),
			done, fini, authKey} {
			id := 20 + i
			b.open(id)
			b.in(id, authKey, rightKey, m)
			if !b.closed[id] {
				t.Errorf("%x was accepted before IMPI", m)
			}
		}
		b.open(30)
		b.in(30, authKey, rightKey, cmd(0x01020304, 1, 2, 3), cmd(0x7fffffff), impi(1)) // unknown commands are skipped
		b.want(30, "second", useKey, impi(2))
		b.want(1, "first", impi(2))
		if b.m.phase != exchanging || b.hung {
			t.Error(b.m.phase, b.hung)
		}
	})
}

func TestARankIsFreeAgainWhenItsClientLeavesBeforeTheStart(t *testing.T) {
	b := newBench(t, rules{Clients: 2})
	b.open(1)
	b.in(1, authKey, rightKey, impi(0))
	b.eof(1, errors.New("connection reset"))
	if !b.logged("client 0 (10.0.0.1:99) was lost (connection reset)") {
		t.Errorf("%q", b.logs)
	}
	for i := 2; i < 4; i++ {
		b.open(i)
		b.in(i, authKey, rightKey, impi(int32(i-2)))
	}
	b.want(3, "size", useKey, impi(2))
	if b.over {
		t.Error(b.m.Err())
	}
}

func TestS7ALabelIsBroadcastAsSoonAsComplete(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, rules{Clients: 3})
		b.piece = piece
		b.join(3)
		b.in(2, coll(wire.CNHosts, 22))
		b.in(0, coll(wire.CNHosts, 0, 0))
		b.want(0, "not complete")
		b.in(1, coll(wire.CNHosts))
		for i := range 3 {
			b.want(i, "complete, in order of rank", chdr(wire.CNHosts, 7, 0, 0, 22))
		}
		b.in(0, coll(wire.CDataLen, 1))
		b.in(2, coll(wire.CDataLen, 3))
		b.want(1, "1 may still come")
		b.in(1, coll(wire.CTagUB, 9)) // passes over DATALEN
		for i := range 3 {
			b.want(i, "omitted by 1, sent to 1 as well", chdr(wire.CDataLen, 5, 1, 3))
		}
		b.in(0, done)
		b.want(0, "2 may still send TAGUB")
		b.in(2, done)
		for i := range 3 {
			b.want(i, "omitted by two with DONE", chdr(wire.CTagUB, 2, 9))
		}
		b.in(1, done)
		for i := range 3 {
			b.want(i, "DONE", done)
		}
	})
}

// S8: exact bytes for 1, 2, 3 and 32 clients with different numbers of hosts; bit 31 of the mask.
func TestS8BroadcastsAreExactForEveryNumberOfClients(t *testing.T) {
	for _, n := range []int{1, 2, 3, 32} {
		b := newBench(t, rules{Clients: n})
		b.join(n)
		full := uint32(1<<n - 1)
		for _, label := range wire.Labels {
			var all []byte
			for i := range n {
				data := bytes.Repeat([]byte{byte(i)}, i%5*4)
				all = append(all, data...)
				b.in(i, coll(label, data...))
			}
			for i := range n {
				b.want(i, label.String(), chdr(label, full, all...))
			}
		}
		b.in(n-1, coll(0x4000, 1))
		for i := range n {
			b.in(i, done)
		}
		for i := range n {
			b.want(i, "only the last", chdr(0x4000, 1<<(n-1), 1), done)
			b.in(i, fini)
		}
		b.wantEnd(true)
	}
}

// S7, S9: whatever the interleaving of lock-step and pipelined clients, everybody gets the same bytes.
func TestS9EveryInterleavingGivesTheSameBroadcasts(t *testing.T) {
	streams := make([][]byte, 3)
	var want []byte
	for k, label := range append(wire.Labels[:], 0x5000) {
		mask, all := uint32(0), []byte(nil)
		for i := range streams {
			if (k+i)%4 == 3 {
				continue // omitted
			}
			data := bytes.Repeat([]byte{byte(k<<4 | i)}, (k*7+i*3)%23)
			streams[i] = append(streams[i], coll(label, data...)...)
			mask |= 1 << i
			all = append(all, data...)
		}
		want = append(want, chdr(label, mask, all...)...)
	}
	want = append(want, done...)
	for i := range streams {
		streams[i] = append(streams[i], done...)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		b := newBench(t, rules{Clients: 3})
		for i := range 3 { // a client may send everything before the others are there
			b.open(i)
		}
		rest := [3][]byte{}
		for i, s := range streams {
			rest[i] = append(append(append(bytes.Clone(authKey), rightKey...), impi(int32(i))...), s...)
		}
		for len(rest[0])+len(rest[1])+len(rest[2]) > 0 {
			i := rnd.IntN(3)
			n := min(len(rest[i]), 1+rnd.IntN(60))
			b.in(i, rest[i][:n])
			rest[i] = rest[i][n:]
		}
		for i := range 3 {
			b.want(i, "stream", useKey, impi(3), want)
			b.in(i, fini)
		}
		b.wantEnd(true)
	}
}

func TestS10WhatIsUnknownDoesNoHarm(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := newBench(t, rules{Clients: 2})
		b.piece = piece
		b.join(2)
		b.in(0, cmd(0x22222222), cmd(-1, 1), cmd(0x33333333, make([]byte, 4096)...), authKey, impi(1))
		b.in(0, coll(wire.NoLabel, 1, 2, 3), coll(0x1050, 5), coll(wire.CNHosts, 6), coll(wire.NoLabel), fini)
		b.in(1, coll(0x1050, 7), coll(0x7fffffff, 8), done)
		for i := range 2 {
			b.want(i, "unknown labels are forwarded", chdr(0x1050, 3, 5, 7), chdr(wire.CNHosts, 1, 6))
		}
		b.in(0, cmd(wire.CmdDone, 1, 2, 3, 4, 5))
		for i := range 2 {
			b.want(i, "DONE with payload", chdr(0x7fffffff, 2, 8), done)
		}
		b.in(0, coll(0x1000, 1), done, cmd(0x44444444, 9), cmd(wire.CmdFini, 1, 2)) // all consumed; FINI counts
		b.want(0, "running")
		if b.over {
			t.Error("FINI before DONE, or a second one, was counted")
		}
		b.in(0, fini)
		b.in(1, done, fini)
		b.wantEnd(true)
	})
}

func TestS10AMegabyteNobodyWantsIsDiscarded(t *testing.T) {
	b := newBench(t, rules{Clients: 1})
	b.join(1)
	b.in(0, cmd(0x22222222, make([]byte, 1<<20)...), done)
	b.want(0, "after it", done)
	if n := cap(b.m.conns[0].buf); n > 64 {
		t.Errorf("%d bytes held", n)
	}
}

func TestS10LabelsThatDoNotAscendEndTheJob(t *testing.T) {
	for _, labels := range [][]wire.Label{{5, 5}, {5, 4}, {-1}, {0x3100, 0x1000}, {7, math.MinInt32}} {
		b := newBench(t, rules{Clients: 2})
		b.join(2)
		for _, l := range labels {
			b.in(1, coll(l, 1))
		}
		b.wantEnd(false)
		var ce *ClientError
		if !errors.As(b.m.Err(), &ce) || ce.Rank != 1 || !b.closed[0] || !b.closed[1] || !b.logged("must ascend") {
			t.Errorf("%v: %v, closed %v, log %q", labels, b.m.Err(), b.closed, b.logs)
		}
	}
}

func TestLengthsThatCannotBeEndTheJobWithoutMemory(t *testing.T) {
	for _, c := range []wire.Cmd{{Cmd: wire.CmdColl, Len: -1}, {Cmd: wire.CmdColl, Len: math.MaxInt32},
		{Cmd: wire.CmdColl, Len: 3},
		{Cmd: wire.CmdColl, Len: 0}, {Cmd: 0x55555555, Len: math.MinInt32}, {Cmd: wire.CmdDone, Len: -1},
		{Cmd: wire.CmdFini, Len: math.MaxInt32}} {
		b := newBench(t, rules{Clients: 2})
		b.join(2)
		b.in(0, c.Append(nil))
		b.wantEnd(false)
	}
	b := newBench(t, rules{Clients: 2, MaxStored: 1000})
	b.join(2)
	for l := range wire.Label(100) {
		if !b.over {
			b.in(0, coll(l+1, 1))
		}
	}
	b.wantEnd(false)
	if !b.logged("that others are not ready for") {
		t.Errorf("%q", b.logs)
	}
}

func TestS13IdleConnectionsHoldNothingUp(t *testing.T) {
	b := newBench(t, rules{Clients: 1, MaxPending: 3})
	b.open(100)
	b.open(101)
	b.in(101, []byte{1, 2, 3})
	b.open(0)
	b.in(0, authKey, rightKey, impi(0))
	b.want(0, "joined", useKey, impi(1))
	if !b.closed[100] || !b.closed[101] || b.closed[0] || len(b.logs) > 0 {
		t.Errorf("closed %v, log %q", b.closed, b.logs)
	}
}

func TestTheOldestOfTooManySilentConnectionsGoes(t *testing.T) {
	b := newBench(t, rules{Clients: 1, MaxPending: 2})
	for i := range 4 {
		b.open(i)
	}
	if !b.closed[0] || !b.closed[1] || b.closed[2] || b.closed[3] {
		t.Error(b.closed)
	}
}

// Who has said more stays, and a crowd from one address makes room for itself only.
func TestACrowdDoesNotKeepAClientOut(t *testing.T) {
	const crowd = 1000
	b := newBench(t, rules{Clients: 1, MaxPending: 8})
	b.open(0) // from an address of its own, silent for now
	for i := range crowd {
		b.take(b.m.Opened(100+i, fmt.Sprintf("10.9.9.9:%d", 1000+i)))
		if i == crowd/2 {
			b.take(b.m.Opened(99, "10.9.9.9:99")) // an honest one among them, which has begun to prove who it is
			b.in(99, authKey)
		}
	}
	if b.closed[0] || b.closed[99] || b.reset != len(b.closed) {
		t.Errorf("crowded out, or not told to try again: %d closed, %d reset", len(b.closed), b.reset)
	}
	b.in(0, authKey, rightKey, impi(0))
	b.want(0, "joined", useKey, impi(1))
	if len(b.logs) > 24 {
		t.Errorf("%d lines about strangers", len(b.logs))
	}
}

func FuzzMachine(f *testing.F) {
	all := bytes.Join([][]byte{authKey, rightKey, impi(0), coll(wire.CNHosts, 1), coll(0x4000), done, fini}, nil)
	f.Add(all, uint8(3))
	f.Add(authKey, uint8(1))
	own := coll(wire.COwn, wire.Mine().Append(nil)...)
	for _, said := range [][]byte{wire.AppendTraffic(nil, 1, []wire.Traffic{{}, {Ours: 1}}), wire.AppendWatch(nil, 1),
		cmd(wire.CmdTraffic), wire.Cmd{Cmd: wire.CmdTraffic, Len: 1 << 20}.Append(nil), wire.AppendWill(nil, 0, "why")} {
		f.Add(bytes.Join([][]byte{own, done, said, fini}, nil), uint8(5))
	}
	f.Add(append(bytes.Clone(all[:28]), wire.Cmd{Cmd: wire.CmdColl, Len: -1}.Append(nil)...), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		for _, first := range []bool{true, false} {
			b := newBench(t, rules{Clients: 2, MaxPayload: 1 << 16, MaxStored: 1 << 16, Clock: ticking()})
			b.piece = int(piece)
			b.open(0)
			b.open(1)
			if first { // the other is a good client: whatever the first says, the job must end
				b.in(0, data)
				b.in(1, authKey, rightKey, impi(1), coll(wire.CNHosts, 2), done, fini)
			} else { // arbitrary bytes of a client that has joined
				b.in(1, authKey, rightKey, impi(1))
				b.in(0, authKey, rightKey, impi(0))
				b.in(1, done)
				b.in(0, data[:len(data)/2])
				b.take(b.m.Ask())
				b.in(0, data[len(data)/2:])
				b.in(1, fini)
			}
			if v := b.m.View(); len(v.Clients) != 2 || len(v.Clients[0].Traffic) > wire.TrafficMax {
				t.Errorf("%+v", v)
			}
			b.eof(0, nil)
			b.eof(1, nil)
			b.take(b.m.Stop(errors.New("end of test")))
			if !b.over || !b.closed[0] || !b.closed[1] {
				t.Fatalf("not over: %v, phase %v", b.closed, b.m.phase)
			}
		}
	})
}
