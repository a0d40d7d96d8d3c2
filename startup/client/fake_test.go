package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// fake is a server of a job with two clients: it answers as scripted, as if client 1 had said the same as client 0,
// with another process id.
type fake struct {
	auth     []byte                // instead of NONE
	size     []byte                // instead of {IMPI, 4, 2}
	replace  map[wire.Label][]byte // instead of both shares
	mask     map[wire.Label]uint32 // instead of 3
	before   map[wire.Label][]byte // sent before a broadcast
	done     []byte                // instead of DONE
	stop     int                   // hang up after so many bytes; 0: never
	bytewise bool
	swallow  bool // labels that IMPI 0.0 does not know, as the server of Notre Dame does
}

// cutoff is a connection that ends after some bytes, or sends them one by one.
type cutoff struct {
	net.Conn
	left     int
	bytewise bool
}

func (c *cutoff) Write(b []byte) (int, error) {
	if c.left > 0 && len(b) >= c.left {
		c.Conn.Write(b[:c.left-1])
		c.Conn.Close()
		return 0, io.ErrClosedPipe
	}
	if c.left > 0 {
		c.left -= len(b)
	}
	if !c.bytewise {
		return c.Conn.Write(b)
	}
	for i := range b {
		if _, err := c.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}

func (f *fake) serve(conn net.Conn) error {
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok && f.bytewise {
		tcp.SetNoDelay(true)
	}
	c := &cutoff{conn, f.stop, f.bytewise}
	in := make([]byte, 12)
	if _, err := io.ReadFull(conn, in); err != nil {
		return err
	}
	if _, err := c.Write(or(f.auth, wire.ServerAuth{}.Append(nil))); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, in); err != nil {
		return err
	}
	if _, err := c.Write(or(f.size, wire.AppendImpi(nil, 2))); err != nil {
		return err
	}
	last := wire.Label(0)
	for {
		head := make([]byte, wire.CmdSize)
		if _, err := io.ReadFull(conn, head); err != nil {
			return err
		}
		cmd, _ := wire.ParseCmd(head)
		payload := make([]byte, cmd.Len)
		if _, err := io.ReadFull(conn, payload); err != nil {
			return err
		}
		if cmd.Cmd == wire.CmdDone {
			if _, err := c.Write(or(f.done, wire.Cmd{Cmd: wire.CmdDone}.Append(nil))); err != nil {
				return err
			}
			io.Copy(io.Discard, conn)
			return nil
		}
		label, data, _ := wire.ParseColl(payload)
		if cmd.Cmd != wire.CmdColl || label <= last { // C2
			return fmt.Errorf("%v %v after %v", cmd, label, last)
		}
		last = label
		if f.swallow && label.Index() < 0 {
			continue
		}
		if _, err := c.Write(append(bytes.Clone(f.before[label]), f.broadcast(label, data)...)); err != nil {
			return err
		}
	}
}

func (f *fake) broadcast(label wire.Label, data []byte) []byte {
	other := bytes.Clone(data)
	if label == wire.PPID {
		other[0]++
	}
	both := append(bytes.Clone(data), other...)
	if r, ok := f.replace[label]; ok {
		both = r
	}
	mask := uint32(3)
	if m, ok := f.mask[label]; ok {
		mask = m
	}
	return append(wire.AppendChdr(nil, label, mask, len(both)), both...)
}

func or(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}

func u32s(v ...uint32) (b []byte) {
	for _, x := range v {
		b = be.AppendUint32(b, x)
	}
	return b
}

func oneProc() Contribution {
	return Default(Host{Addr: netip.MustParseAddrPort("10.0.0.1:5000"), Procs: []Proc{{PID: 7}}})
}

// run is one conversation of a client 0 with f.
func (f *fake) run(t *testing.T, c Contribution, opt Options) (*transport.Job, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		l.Close()
		if err != nil {
			served <- err
			return
		}
		served <- f.serve(conn)
	}()
	job, s, err := Connect(t.Context(), l.Addr().String(), 0, auth.WithNone(), c, opt)
	if s != nil {
		s.Fail("", nil)
	}
	if serr := <-served; err == nil && serr != nil {
		t.Errorf("the server saw: %v", serr)
	}
	return job, err
}

func TestC1WhatTheServerMayChoose(t *testing.T) {
	for _, tt := range []struct {
		auth wire.ServerAuth
		more string
		want string // in the error; "": accepted
	}{
		{wire.ServerAuth{Which: 0, Len: 0}, "", ""},
		{wire.ServerAuth{Which: 0, Len: 5}, "12345", ""},
		{wire.ServerAuth{Which: 1}, "", "method 1, which we did not offer"},
		{wire.ServerAuth{Which: 31}, "", "did not offer"},
		{wire.ServerAuth{Which: 32}, "", "did not offer"},
		{wire.ServerAuth{Which: -1}, "", "did not offer"},
		{wire.ServerAuth{Which: math.MaxInt32}, "", "did not offer"},
		{wire.ServerAuth{Which: 0, Len: -1}, "", "announced -1 bytes"},
	} {
		f := &fake{auth: append(tt.auth.Append(nil), tt.more...)}
		_, err := f.run(t, oneProc(), Options{})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.auth, err)
		}
	}
	if _, _, err := Connect(t.Context(), "127.0.0.1:1", 0, auth.Methods{}, oneProc(), Options{}); !errors.Is(err,
		auth.ErrNoMethod) {
		t.Error(err)
	}
}

func TestC3WhatAServerMayAddIsSkipped(t *testing.T) {
	unknown := append(wire.Cmd{Cmd: 0x12345678, Len: 3}.Append(nil), 1, 2, 3)
	odd := append(wire.AppendChdr(nil, 0x1050, 2, 3), 1, 2, 3)
	again := append(wire.AppendChdr(nil, wire.CVersion, 3, 1), 9)
	early := append(wire.AppendChdr(nil, wire.PPID, 2, 2), 9, 9)
	for _, bytewise := range []bool{false, true} {
		f := &fake{bytewise: bytewise,
			size:   append(bytes.Clone(unknown), wire.AppendImpi(nil, 2)...),
			before: map[wire.Label][]byte{wire.CNHosts: unknown, wire.HPort: append(odd, again...), wire.PIPv6: early},
			done: append(append(bytes.Clone(odd), unknown...),
				append(wire.Cmd{Cmd: wire.CmdDone, Len: 2}.Append(nil), 1, 2)...)}
		j, err := f.run(t, oneProc(), Options{})
		if err != nil || len(j.Procs) != 2 || j.Procs[1].Host != 1 || j.Procs[1].Client != 1 {
			t.Errorf("bytewise %v: %+v, %v", bytewise, j, err)
		}
	}
}

func TestC3TablesThatCannotBeAreErrors(t *testing.T) {
	two := func(l wire.Label, a, b uint32) *fake { return &fake{replace: map[wire.Label][]byte{l: u32s(a, b)}} }
	data := func(l wire.Label, b []byte) *fake { return &fake{replace: map[wire.Label][]byte{l: b}} }
	mask := func(l wire.Label, m uint32, b []byte) *fake {
		return &fake{mask: map[wire.Label]uint32{l: m}, replace: map[wire.Label][]byte{l: b}}
	}
	id := wire.EncodeAddr(netip.MustParseAddr("10.0.0.1"))
	pid := be.AppendUint64(nil, uint64(wire.ProcPID(0, 7)))
	tests := []struct {
		name string
		f    *fake
		want string
	}{
		{"too short", data(wire.CNHosts, u32s(1)), "too few for client 1"},
		{"too long", data(wire.CNHosts, u32s(1, 1, 1)), "4 bytes too many"},
		{"one byte too long", data(wire.HPort, append(u32s(5000, 1), 0)), "1 bytes too many"},
		{"no hosts", two(wire.CNHosts, 1, 0), "client 1 says 0"},
		{"hosts beyond counting", two(wire.CNHosts, 1, math.MaxUint32), "client 1 says 4294967295"},
		{"hosts without bytes", two(wire.CNHosts, 1, 1<<30), "H_IPV6: 32 bytes are too few for client 1"},
		{"no processes", two(wire.CNProcs, 1, 0), "client 1 says 0"},
		{"more processes than on hosts", two(wire.CNProcs, 1, 2), "the client has 2"},
		{"processes on hosts beyond the client's", two(wire.HNProcs, 1, math.MaxUint32), "the client has 1"},
		{"datalen 0", two(wire.CDataLen, 65536, 0), "client 1 says 0"},
		{"tag bound 32766", two(wire.CTagUB, 2147483647, 32766), "says 32766"},
		{"tag bound negative", two(wire.CTagUB, 2147483647, 1<<31), "says -2147483648"},
		{"crossover differs", two(wire.CCollXSize, math.MaxUint32, 7),
			"client 0 says 1024 and client 1 says 7 (the default is 1024)"},
		{"linear limit differs", two(wire.CCollMaxLinear, math.MaxUint32, 5), "client 0 says 4 and client 1 says 5"},
		{"crossover -2", two(wire.CCollXSize, math.MaxUint32, math.MaxUint32-1), "client 1 says -2"},
		{"port 0", two(wire.HPort, 5000, 0), "host 1 (client 1) says 0"},
		{"port 65536", two(wire.HPort, 5000, 65536), "says 65536"},
		{"ports of two bytes, as MP-MPICH sends them", data(wire.HPort, []byte{0x13, 0x88, 0x13, 0x88}), "too few"},
		{"ackmark 0", two(wire.HAckMark, 10, 0), "says 0"},
		{"hiwater 0", two(wire.HHiWater, 20, 0), "says 0"},
		{"ackmark above hiwater", two(wire.HAckMark, 10, 21), "says 20, less than its H_ACKMARK 21"},
		{"two processes of one name",
			&fake{replace: map[wire.Label][]byte{wire.PIPv6: append(id[:], id[:]...), wire.PPID: append(pid, pid...)}},
			"cannot tell them apart"},
		{"a label left out", mask(wire.CTagUB, 1, u32s(2147483647)), "client 1 contributed nothing"},
		{"a client too many", mask(wire.CTagUB, 7, u32s(2147483647, 1, 1)), "clients that do not exist"},
		{"another value for us", two(wire.CDataLen, 1, 1), "another value for client 0"},
		{"no version 0.0", data(wire.CVersion, u32s(0, 0, 1, 0)), "1 lists from 2 clients"},
		{"no common version", data(wire.CVersion, append(u32s(0, 0), u32s(0, 0, 0, 1, 0, 0)...)), "3 lists"},
		{"versions cut short", data(wire.CVersion, u32s(0, 0, 0)), "not a number of versions"},
		{"no versions", data(wire.CVersion, nil), "0 lists"},
		{"versions of one client", mask(wire.CVersion, 1, u32s(0, 0)), "not all clients contributed"},
		{"DONE too early", &fake{before: map[wire.Label][]byte{wire.HPort: wire.Cmd{Cmd: wire.CmdDone}.Append(nil)}},
			"DONE before we did"},
		{"COLL without head",
			&fake{before: map[wire.Label][]byte{wire.HPort: wire.Cmd{Cmd: wire.CmdColl, Len: 7}.Append(nil)}},
			"COLL with 7 bytes"},
		{"huge COLL",
			&fake{before: map[wire.Label][]byte{wire.HPort: wire.Cmd{Cmd: wire.CmdColl, Len: math.MaxInt32}.Append(nil)}},
			"COLL with 2147483647 bytes"},
		{"negative length", &fake{before: map[wire.Label][]byte{wire.HPort: wire.Cmd{Cmd: 5, Len: -1}.Append(nil)}},
			"with -1 bytes"},
		{"DONE of negative length", &fake{done: wire.Cmd{Cmd: wire.CmdDone, Len: -1}.Append(nil)}, "with -1 bytes"},
	}
	for _, tt := range tests {
		if j, err := tt.f.run(t, oneProc(), Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v; want %q", tt.name, j, err, tt.want)
		}
	}
}

func TestC4ClientsAgreeOnTheHighestVersionThatAllHave(t *testing.T) {
	both := oneProc()
	both.Versions = []wire.Version{{}, {Minor: 1}}
	tests := []struct {
		c    Contribution
		data []byte
		want wire.Version
		ok   bool
	}{
		{oneProc(), u32s(0, 0, 0, 0), wire.Version{}, true},
		{both, append(u32s(0, 0, 0, 1), u32s(0, 0)...), wire.Version{}, true},
		{both, append(u32s(0, 0, 0, 1), u32s(0, 0, 0, 1, 0, 2)...), wire.Version{Minor: 1}, true},
		{oneProc(), append(u32s(0, 0), u32s(0, 0, 3, 1)...), wire.Version{}, true},
		{oneProc(), append(u32s(0, 0), u32s(3, 1)...), wire.Version{}, false}, // none in common
	}
	for i, tt := range tests {
		c, err := tt.c.complete()
		if err != nil {
			t.Fatal(err)
		}
		tab := newTables(0, 2, c.values(0), false)
		if err := tab.take(wire.CVersion, 3, tt.data); (err == nil) != tt.ok || tab.version != tt.want {
			t.Errorf("%d: %v, %v", i, tab.version, err)
		}
	}
}

func TestC5SizesThatCannotBe(t *testing.T) {
	for _, n := range []int32{0, -1, 33, math.MaxInt32, math.MinInt32} {
		if _, err := (&fake{size: wire.AppendImpi(nil, n)}).run(t, oneProc(), Options{}); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("the job has %d clients", n)) {
			t.Errorf("size %d: %v", n, err)
		}
	}
	if _, err := (&fake{size: append(wire.Cmd{Cmd: wire.CmdImpi, Len: 8}.Append(nil), make([]byte, 8)...)}).run(t,
		oneProc(), Options{}); err == nil {
		t.Error("IMPI of 8 bytes was accepted")
	}
}

// C5: the server hangs up at every byte of what it has to say.
func TestC5AServerThatHangsUpAnywhereIsReported(t *testing.T) {
	total := 8 + 12 + 8
	for _, v := range must(t, oneProc()).values(0) {
		total += 16 + 2*len(v)
	}
	for n := 1; n <= total; n += 1 + n/40 {
		_, err := (&fake{stop: n}).run(t, oneProc(), Options{})
		if err == nil || !strings.Contains(err.Error(), "closed by the server") {
			t.Errorf("after %d bytes: %v", n-1, err)
		}
	}
	if _, err := (&fake{stop: total + 1}).run(t, oneProc(), Options{}); err != nil {
		t.Error(err)
	}
}

func must(t *testing.T, c Contribution) Contribution {
	t.Helper()
	c, err := c.complete()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A server that says nothing at each step is given up in time.
func TestASilentServerIsGivenUp(t *testing.T) {
	for step, f := range map[string]*fake{
		"authenticating":      {auth: []byte{}},
		"joining as client 0": {size: []byte{}},
		"waiting for DONE":    {done: []byte{}},
		"exchanging C_NHOSTS": {before: map[wire.Label][]byte{wire.CNHosts: wire.Cmd{Cmd: 9, Len: 1 << 20}.Append(nil)}},
	} {
		opt := Options{AuthTimeout: 50 * time.Millisecond, JoinTimeout: 50 * time.Millisecond,
			ExchangeTimeout: 50 * time.Millisecond}
		if _, err := f.run(t, oneProc(), opt); err == nil || !strings.Contains(err.Error(), step+": no answer in time") {
			t.Errorf("%s: %v", step, err)
		}
	}
}

// MP-MPICH leaves out TAGUB, ACKMARK and HIWATER.
func TestATolerantClientHasDefaultsForWhatIsLeftOut(t *testing.T) {
	f := &fake{mask: map[wire.Label]uint32{}, replace: map[wire.Label][]byte{}}
	for l, own := range map[wire.Label]uint32{wire.CDataLen: 65536, wire.CTagUB: 2147483647,
		wire.CCollXSize:     math.MaxUint32,
		wire.CCollMaxLinear: math.MaxUint32, wire.HAckMark: 10, wire.HHiWater: 20} {
		f.mask[l], f.replace[l] = 1, u32s(own)
	}
	j, err := f.run(t, oneProc(), Options{Tolerant: true})
	if err != nil {
		t.Fatal(err)
	}
	if j.MaxDataLen != 1 || j.TagUB != 32767 || j.XSize != 1024 || j.MaxLinear != 4 || j.AckMark != 1 || j.HiWater != 1 {
		t.Errorf("%+v", j)
	}
	f = &fake{mask: map[wire.Label]uint32{wire.HPort: 1}, replace: map[wire.Label][]byte{wire.HPort: u32s(5000)}}
	if _, err := f.run(t, oneProc(), Options{Tolerant: true}); err == nil {
		t.Error("a client without ports was accepted")
	}
}

func TestContributionsThatNobodyCouldAcceptAreRefused(t *testing.T) {
	for name, f := range map[string]func(*Contribution){
		"no hosts":              func(c *Contribution) { c.Hosts = nil },
		"no processes":          func(c *Contribution) { c.Hosts[0].Procs = nil },
		"no port":               func(c *Contribution) { c.Hosts[0].Addr = netip.MustParseAddrPort("10.0.0.1:0") },
		"no address":            func(c *Contribution) { c.Hosts[0].Addr = netip.MustParseAddrPort("0.0.0.0:1") },
		"ackmark above hiwater": func(c *Contribution) { c.Hosts[0].AckMark, c.Hosts[0].HiWater = 5, 4 },
		"tag bound":             func(c *Contribution) { c.TagUB = 5 },
		"crossover":             func(c *Contribution) { c.XSize = -2 },
		"linear limit":          func(c *Contribution) { c.MaxLinear = -2 },
		"versions from 0.1":     func(c *Contribution) { c.Versions = []wire.Version{{Minor: 1}} },
		"versions descend":      func(c *Contribution) { c.Versions = []wire.Version{{}, {Minor: 1}, {Minor: 1}} },
	} {
		c := oneProc()
		f(&c)
		if _, _, err := Connect(t.Context(), "127.0.0.1:1", 0, auth.WithNone(), c, Options{}); err == nil ||
			strings.Contains(err.Error(), "no IMPI server") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, rank := range []int32{-1, 32} {
		if _, _, err := Connect(t.Context(), "127.0.0.1:1", rank, auth.WithNone(), oneProc(), Options{}); err == nil ||
			!strings.Contains(err.Error(), "ranks are 0 to 31") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func FuzzTables(f *testing.F) {
	c, _ := oneProc().complete()
	own := c.values(0)
	for i := range wire.Labels {
		f.Add(uint8(i), uint32(3), append(bytes.Clone(own[i]), own[i]...))
	}
	mine := said()
	f.Add(uint8(14), uint32(3), mine.Append(mine.Append(nil)))
	f.Add(uint8(15), uint32(3), make([]byte, 2*wire.MachineSize))
	f.Fuzz(func(t *testing.T, at uint8, mask uint32, data []byte) {
		tab := newTables(0, 2, own, at&0x80 != 0)
		for i, l := range wire.Labels {
			b := (&fake{}).broadcast(l, own[i])[wire.CmdSize+wire.ChdrSize:]
			m := uint32(3)
			if i == int(at&0x0f) {
				b, m = data, mask
			}
			if tab.take(l, m, b) != nil {
				return
			}
		}
		owns, all := mine.Append(mine.Append(nil)), uint32(3)
		if at&0x0f == 14 {
			owns, all = data, mask
		}
		if err := tab.takeOwn(all, owns, mine, auth.WithNone()); err != nil {
			return
		}
		if at&0x0f == 15 {
			tab.takeMachines(mask, data, c.machines())
		}
		if j, err := tab.job(); err == nil && (len(j.Procs) < 2 || len(j.Hosts) < 2 || j.AckMark > j.HiWater ||
			j.AckMark < 1 || j.MaxDataLen < 1) {
			t.Fatalf("%+v", j)
		}
	})
}

// A server that strangers crowd closes connections before it has heard them; a client knocks again.
func TestAClientThatIsCrowdedOutKnocksAgain(t *testing.T) {
	for _, tt := range []struct {
		refusals int
		joins    bool
	}{{0, true}, {1, true}, {retries, true}, {math.MaxInt, false}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		knocks := make(chan int, 1)
		go func() {
			n := 0
			for ; ; n++ {
				c, err := l.Accept()
				if err != nil {
					break
				}
				if n < tt.refusals {
					c.(*net.TCPConn).SetLinger(0)
					c.Close()
					continue
				}
				go new(fake).serve(c)
			}
			knocks <- n
		}()
		c := Default(Host{Addr: netip.MustParseAddrPort("127.0.0.1:9"), Procs: []Proc{{PID: 1}}})
		_, s, err := Connect(t.Context(), l.Addr().String(), 0, auth.Methods{None: true}, c,
			Options{RetryTime: time.Microsecond})
		if (err == nil) != tt.joins || err != nil && !strings.Contains(err.Error(), "no authentication method in common") {
			t.Errorf("%d refusals: %v", tt.refusals, err)
		}
		if s != nil {
			s.Fail("", nil)
		}
		l.Close()
		if n := <-knocks; n < min(tt.refusals, retries)+1 {
			t.Errorf("%d refusals: %d knocks", tt.refusals, n)
		}
	}
}
