package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport/wire"
)

// ticking is a clock that goes on by a second when somebody looks.
func ticking() func() time.Time {
	now := time.Unix(1000, 0)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// watchedBench is a bench whose machine keeps views.
func watchedBench(t testing.TB, clients int) *bench {
	return newBench(t, rules{Clients: clients, Clock: ticking()})
}

func words(numbers ...uint32) (b []byte) {
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

// tell submits the labels of a client with one host of two processes for each port, and DONE.
func (b *bench) tell(id int, own bool, ports ...uint32) {
	n := uint32(len(ports))
	var addrs, procs, marks, waters, hostIDs, pids []byte
	for i, port := range ports {
		a := netip.MustParseAddr(fmt.Sprintf("::ffff:10.1.%d.%d", id, i)).As16()
		addrs = append(addrs, a[:]...)
		procs, marks, waters = append(procs, words(2)...), append(marks, words(10+port)...), append(waters, words(20+port)...)
		hostIDs = append(append(hostIDs, a[:]...), a[:]...)
		pids = append(pids, words(0, port, 0, port+1)...)
	}
	for i, data := range [wire.NLabels][]byte{words(0, 0, 0, 1), words(n), words(2 * n), words(1000 + uint32(id)),
		words(1 << 20), words(0xffffffff), words(0xffffffff), addrs, words(ports...), procs, marks, waters, hostIDs, pids} {
		b.in(id, coll(wire.Labels[i], data...))
	}
	if own {
		b.in(id, coll(wire.COwn, wire.Mine().Append(nil)...))
	}
	b.in(id, done)
}

// run joins two clients and makes them run; the first is of this library.
func (b *bench) run() {
	b.join(2)
	b.tell(0, true, 5000, 5001)
	b.tell(1, false, 6000)
	b.got(0)
	b.got(1)
}

func TestAViewShowsClientsInAnyOrderOfJoining(t *testing.T) {
	b := watchedBench(t, 3)
	v := b.m.View()
	if v.Phase != "waiting for clients" || len(v.Clients) != 3 || v.Clients[1].Stage != "not joined" ||
		!strings.Contains(v.Waiting, "0, 1, 2") {
		t.Errorf("at first %+v", v)
	}
	for _, rank := range []int{2, 0} {
		b.open(rank)
		b.in(rank, authKey, rightKey, impi(int32(rank)))
	}
	v = b.m.View()
	for i, stage := range []string{"joined", "not joined", "joined"} {
		if c := v.Clients[i]; c.Rank != i || c.Stage != stage || c.Since.IsZero() == (stage == "joined") {
			t.Errorf("client %d: %+v", i, c)
		}
	}
	if c := v.Clients[2]; c.Peer != "10.0.0.2:99" || c.Auth != "key (IMPI_AUTH_KEY)" ||
		!c.Since.Before(v.Clients[0].Since) {
		t.Errorf("client 2: %+v", c)
	}
	b.eof(2, nil)
	if v = b.m.View(); v.Clients[2].Stage != "not joined" || len(v.Log) != 1 ||
		!strings.Contains(v.Log[0].Text, "its rank is free again") {
		t.Errorf("a client has left: %+v", v)
	}
}

func TestAViewShowsTheTablesOfARunningJob(t *testing.T) {
	b := watchedBench(t, 2)
	b.join(2)
	b.tell(0, true, 5000, 5001)
	if v := b.m.View(); v.Clients[1].Stage != "exchanging, before its first label" || v.Hosts != nil {
		t.Errorf("in the exchange %+v", v)
	}
	b.tell(1, false, 6000)
	v := b.m.View()
	hosts := []HostView{{0, "10.1.0.0:5000", 0, 2, []int64{5000, 5001}}, {0, "10.1.0.1:5001", 2, 2, []int64{5001, 5002}},
		{1, "10.1.1.0:6000", 4, 2, []int64{6000, 6001}}}
	if v.Phase != "running" || v.Procs != 6 || v.AllHosts != 3 || !reflect.DeepEqual(v.Hosts, hosts) {
		t.Errorf("%+v", v)
	}
	values := []Value{{"IMPI version", "0.1"}, {"C_DATALEN", "1000"}, {"C_TAGUB", "1048576"}, {"H_ACKMARK", "5010"},
		{"H_HIWATER", "5020"}, {"C_COLL_XSIZE", "default"}, {"C_COLL_MAXLINEAR", "default"}}
	if !reflect.DeepEqual(v.Values, values) {
		t.Errorf("%+v", v.Values)
	}
	if !v.Clients[0].Own || v.Clients[1].Own {
		t.Error("which client is libimpi is not known")
	}
}

func TestProcessIDsAreThoseOfTheSystem(t *testing.T) {
	for _, tt := range [][2]int64{{wire.ProcPID(3, 4711), 4711}, {wire.ProcPID(2, 4711), wire.ProcPID(2, 4711)}, {12, 12},
		{-1, -1}} {
		if got := systemPID(3, tt[0]); got != tt[1] {
			t.Errorf("%#x: %#x, want %#x", tt[0], got, tt[1])
		}
	}
}

func TestAViewSaysHowAJobEnds(t *testing.T) {
	b := watchedBench(t, 2)
	b.run()
	b.in(0, fini)
	if v := b.m.View(); v.Over || v.Clients[0].Stage != "finished" || v.Clients[1].Stage != "running" {
		t.Errorf("one has finished: %+v", v)
	}
	b.in(1, fini)
	if v := b.m.View(); !v.Over || v.Failed || v.Outcome != "all clients have finished" || v.Waiting != "" ||
		v.Clients[1].Stage != "finished" {
		t.Errorf("all have finished: %+v", v)
	}
	b = watchedBench(t, 2)
	b.run()
	b.eof(1, errors.New("reset <b>"))
	v := b.m.View()
	if v.Over || v.Clients[1].Stage != "lost" || !strings.Contains(v.Clients[1].Why, "reset <b>") {
		t.Errorf("one is lost: %+v", v)
	}
	b.in(0, fini)
	if v = b.m.View(); !v.Over || !v.Failed || !strings.Contains(v.Outcome, "client 1") {
		t.Errorf("the others have finished: %+v", v)
	}
	b = watchedBench(t, 2)
	b.join(2)
	b.eof(0, nil)
	if v = b.m.View(); !v.Over || !v.Failed || v.Clients[0].Stage != "lost" || v.Clients[1].Stage != "ended with the job" {
		t.Errorf("lost in the exchange: %+v", v)
	}
}

func TestAViewIsBounded(t *testing.T) {
	b := watchedBench(t, 2)
	for i := range 3 * viewLines {
		b.m.log("%d %s", i, strings.Repeat("x", 2*viewLine))
	}
	v := b.m.View()
	if len(v.Log) != viewLines || v.Dropped != 2*viewLines || len(v.Log[0].Text) != viewLine {
		t.Errorf("%d lines, %d dropped, %d bytes", len(v.Log), v.Dropped, len(v.Log[0].Text))
	}
	w := newWatched(ticking())
	for range 3 {
		w.keep(wire.PPID, 2, 1, make([]byte, viewBytes/2+1))
	}
	if w.bytes > viewBytes {
		t.Errorf("%d bytes kept", w.bytes)
	}
	labels := map[wire.Label][][]byte{wire.HIPv6: {make([]byte, 16*(ViewHosts+5))},
		wire.HNProcs: {words(ViewPIDs + 9)}, wire.PPID: {make([]byte, 8*(ViewPIDs+9))}}
	if tab := tablesOf(labels, 1); len(tab.Hosts) != ViewHosts || tab.AllHosts != ViewHosts+5 ||
		len(tab.Hosts[0].PIDs) != ViewPIDs || tab.Procs != ViewPIDs+9 {
		t.Errorf("%d hosts of %d, %d pids of %d", len(tab.Hosts), tab.AllHosts, len(tab.Hosts[0].PIDs), tab.Procs)
	}
}

func TestNothingIsKeptForNobody(t *testing.T) {
	b := newBench(t, rules{Clients: 2})
	b.run()
	b.take(b.m.Ask())
	if v := b.m.View(); len(v.Clients) > 0 || len(b.got(0)) > 0 {
		t.Errorf("%+v", v)
	}
}

func report(number uint32, rows ...wire.Traffic) []byte { return wire.AppendTraffic(nil, number, rows) }

func TestClientsOfThisLibraryAreAskedForTheirTraffic(t *testing.T) {
	eachPiece(t, func(t *testing.T, piece int) {
		b := watchedBench(t, 2)
		b.piece = piece
		b.take(b.m.Ask()) // too early
		b.run()
		b.take(b.m.Ask())
		b.take(b.m.Ask()) // it has not answered
		b.want(0, "asked once", wire.AppendWatch(nil, 1))
		b.want(1, "foreign")
		row := wire.Traffic{Ours: 1, Theirs: 2, PacketsOut: 3, BytesIn: 1 << 40, Outstanding: 4, HighWater: 20, Silence: 7,
			State: wire.TrafficWaits}
		b.in(0, report(1, row))
		c := b.m.View().Clients[0]
		want := []Row{{Ours: 1, Theirs: 2, PacketsOut: 3, BytesIn: 1 << 40, Outstanding: 4, HighWater: 20, Silence: 7,
			Waits: true}}
		if !reflect.DeepEqual(c.Traffic, want) || c.Rows != 1 || c.Heard.IsZero() {
			t.Errorf("%+v", c)
		}
		b.take(b.m.Ask())
		b.want(0, "asked again", wire.AppendWatch(nil, 2))
		b.in(0, fini)
		b.take(b.m.Ask())
		b.want(0, "finished")
		b.in(1, fini)
		b.wantEnd(true)
	})
}

func TestTrafficThatMakesNoSenseIsDropped(t *testing.T) {
	good := wire.Traffic{Ours: 0, Theirs: 2}
	many := make([]wire.Traffic, wire.TrafficMax+1)
	for i := range many {
		many[i] = good
	}
	tests := []struct {
		what string
		msgs [][]byte
		rows int
	}{
		{"unasked number", [][]byte{report(2, good), report(0, good)}, 0},
		{"no such host", [][]byte{report(1, wire.Traffic{Ours: 0, Theirs: 3})}, 0},
		{"negative host", [][]byte{report(1, wire.Traffic{Ours: -1, Theirs: 0})}, 0},
		{"another's host", [][]byte{report(1, good, wire.Traffic{Ours: 2, Theirs: 0})}, 0},
		{"with itself", [][]byte{report(1, wire.Traffic{Ours: 0, Theirs: 0})}, 0},
		{"odd length", [][]byte{cmd(wire.CmdTraffic, make([]byte, wire.TrafficHead+1)...)}, 0},
		{"too long", [][]byte{cmd(wire.CmdTraffic, make([]byte, wire.TrafficMaxBytes+wire.TrafficSize)...)}, 0},
		{"a flood", [][]byte{report(1, good), bytes.Repeat(report(1, many...), 50)}, 1},
		{"more rows than fit", [][]byte{report(1, many...)}, wire.TrafficMax},
	}
	for _, tt := range tests {
		b := watchedBench(t, 2)
		b.run()
		b.take(b.m.Ask())
		b.in(0, tt.msgs...)
		b.in(1, report(1, good)) // a client that was not asked
		v := b.m.View()
		if len(v.Clients[0].Traffic) != tt.rows || len(v.Clients[1].Traffic) != 0 {
			t.Errorf("%s: %d and %d rows", tt.what, len(v.Clients[0].Traffic), len(v.Clients[1].Traffic))
		}
		b.in(0, fini)
		b.in(1, fini)
		b.wantEnd(true)
	}
}

func TestTrafficBeforeTheJobIsThrownAway(t *testing.T) {
	b := watchedBench(t, 1)
	b.open(0)
	b.in(0, authKey, rightKey, report(1, wire.Traffic{}), impi(0), report(0), done, report(1), fini)
	b.wantEnd(true)
}

func TestAServerShowsWhatItKnows(t *testing.T) {
	s, err := Listen(Options{Clients: 2, Bind: netip.MustParseAddr("127.0.0.1"), Auth: auth.WithNone(), Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { ended <- s.Serve(ctx) }()
	s.Ask()
	if v := s.View(); len(v.Clients) != 2 || v.Over {
		t.Errorf("%+v", v)
	}
	cancel(stop)
	if err := <-ended; !errors.Is(err, stop) {
		t.Error(err)
	}
	s.Ask()
	if v := s.View(); !v.Over || !v.Failed || !strings.Contains(v.Outcome, "stopped") {
		t.Errorf("%+v", v)
	}
}
