package server

import (
	"errors"
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

func TestS11DoneComesWhenAllAreDoneAndOnce(t *testing.T) {
	b := newBench(t, rules{Clients: 2})
	b.join(2)
	b.in(0, done, done, cmd(wire.CmdDone, 1))
	b.want(0, "not all")
	b.in(1, done)
	b.want(0, "all", done)
	b.want(1, "all", done)
	b.in(0, done)
	b.want(0, "again")
}

func TestS12TheJobEndsWellAfterEveryFini(t *testing.T) {
	b := newBench(t, rules{Clients: 3})
	b.join(3)
	for i := range 3 {
		b.in(i, done)
	}
	for i := range 3 {
		b.want(i, "running", done)
		b.in(i, fini, fini)
		b.want(i, "no reply to FINI")
		b.eof(i, nil)
	}
	b.wantEnd(true)
	if len(b.logs) > 0 {
		t.Errorf("%q", b.logs)
	}
}

func TestS12AClientThatDiesIsNamedWithItsStep(t *testing.T) {
	reset := errors.New("connection reset by peer")
	tests := []struct {
		name string
		in   []byte
		all  bool // the others have said DONE too
		err  error
		want string
	}{
		{"at once", nil, false, nil, "client 1 (10.0.0.1:99) hung up before its first label"},
		{"by reset", nil, false, reset, "client 1 (10.0.0.1:99) was lost (connection reset by peer) before its first label"},
		{"after a label", coll(wire.HPort, 1), false, nil, "client 1 (10.0.0.1:99) hung up after H_PORT"},
		{"in a label", coll(wire.HPort, 1)[:11], false, nil, "before its first label"},
		{"after DONE", done, false, nil, "client 1 (10.0.0.1:99) hung up after DONE"},
		{"running", done, true, nil, "client 1 (10.0.0.1:99) hung up before FINI"},
		{"running, by reset", done, true, reset, "client 1 (10.0.0.1:99) was lost (connection reset by peer) before FINI"},
	}
	for _, tt := range tests {
		b := newBench(t, rules{Clients: 3})
		b.join(3)
		b.in(1, tt.in)
		if tt.all {
			b.in(0, done)
			b.in(2, done)
		}
		b.eof(1, tt.err)
		if !b.logged(tt.want) {
			t.Errorf("%s: log %q", tt.name, b.logs)
		}
		if tt.all { // the rest is served on
			if b.over || b.closed[0] || b.closed[2] {
				t.Errorf("%s: over", tt.name)
			}
			b.in(0, fini)
			b.in(2, fini)
		}
		b.wantEnd(false)
		var ce *ClientError
		if !errors.As(b.m.Err(), &ce) || ce.Rank != 1 {
			t.Errorf("%s: %v", tt.name, b.m.Err())
		}
	}
}

func TestAStreamThatGoesWrongInTheRunCountsAsDeath(t *testing.T) {
	b := newBench(t, rules{Clients: 2})
	b.join(2)
	b.in(0, done)
	b.in(1, done)
	b.in(0, wire.Cmd{Cmd: 9, Len: -5}.Append(nil))
	if !b.closed[0] || b.closed[1] || b.over {
		t.Error(b.closed, b.over)
	}
	b.in(1, fini)
	b.wantEnd(false)
}

func TestTimeToJoinRunsOut(t *testing.T) {
	b := newBench(t, rules{Clients: 1})
	b.open(1)
	b.in(1, authKey)
	b.take(b.m.Expired(1))
	if !b.closed[1] || !b.logged("never sent its key") {
		t.Errorf("%v %q", b.closed, b.logs)
	}
	b.open(2)
	b.in(2, authKey, rightKey, impi(0))
	b.take(b.m.Expired(2))
	b.take(b.m.Expired(99))
	if b.closed[2] {
		t.Error("a client that has joined was closed")
	}
}

func TestWhoIsMissingWhenTimeIsUp(t *testing.T) {
	why := errors.New("gave up")
	b := newBench(t, rules{Clients: 3})
	b.open(1)
	b.in(1, authKey, rightKey, impi(1))
	b.take(b.m.Stop(why))
	b.wantEnd(false)
	if got := b.m.Err().Error(); got != "gave up while waiting for clients: client 0, 2 missing" || !b.hung ||
		!errors.Is(b.m.Err(), why) {
		t.Error(got, b.hung)
	}
	b = newBench(t, rules{Clients: 2})
	b.join(2)
	b.in(0, coll(wire.CNHosts, 1))
	b.take(b.m.Stop(why))
	if got := b.m.Err().Error(); got != "gave up while exchanging start-up values: client 1 (before its first label) "+
		"missing" {
		t.Error(got)
	}
	b = newBench(t, rules{Clients: 2})
	b.join(2)
	b.in(0, done)
	b.in(1, done, fini)
	b.take(b.m.Stop(why))
	if got := b.m.Err().Error(); got != "gave up while running: client 0 missing" {
		t.Error(got)
	}
	b.take(b.m.Stop(why)) // nothing more comes
}

func TestAClientThatWithdrawsEndsTheJobAsSoonAsAnotherWaitsForIt(t *testing.T) {
	joins := func(b *bench) { b.in(1, authKey, rightKey, impi(1)) }
	leaves := func(b *bench) { b.in(2, authKey, rightKey, wire.AppendLost(nil, 2, "it has ended")) }
	for name, order := range map[string][]func(*bench){"before": {leaves, joins}, "after": {joins, leaves}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, rules{Clients: 3})
			b.open(1)
			b.open(2)
			order[0](b)
			if b.over {
				t.Error("over before anybody waits")
			}
			order[1](b)
			b.wantEnd(false)
			var withdrawn *WithdrawnError
			if !errors.As(b.m.Err(), &withdrawn) || withdrawn.Rank != 2 || withdrawn.Why != "it has ended" || !b.hung ||
				!b.logged("error: client 2 (") {
				t.Errorf("%v, hung %v, log %q", b.m.Err(), b.hung, b.logs)
			}
		})
	}
}

func TestAJobThatAllClientsWithdrawFromIsOverAndNothingIsWrong(t *testing.T) {
	b := newBench(t, rules{Clients: 2})
	b.open(5) // a stranger is no client
	for i := range 2 {
		b.open(i)
		b.in(i, authKey, rightKey, wire.AppendLost(nil, 0, "once"))
		if b.over {
			t.Error("over while one may come")
		}
	}
	b.open(2)
	b.in(2, authKey, rightKey, wire.AppendLost(nil, 1, "and for all"))
	b.wantEnd(true)
}

func TestAClientThatWithdrewMayBeStartedAgain(t *testing.T) {
	b := newBench(t, rules{Clients: 2})
	b.open(5)
	b.in(5, authKey, rightKey, wire.AppendLost(nil, 1, "a wrong program"))
	b.open(0)
	b.open(1)
	b.in(1, authKey, rightKey, impi(1))
	b.in(0, authKey, rightKey, impi(0))
	for i := range 2 {
		b.in(i, done, fini)
	}
	b.wantEnd(true)
}

func TestAClientWithdrawsOnlyItself(t *testing.T) {
	b := newBench(t, rules{Clients: 2})
	b.open(1)
	b.in(1, authKey, rightKey, impi(1))
	for conn, rank := range map[int]int32{2: 1, 3: 2, 4: -1} {
		b.open(conn)
		b.in(conn, authKey, rightKey, wire.AppendLost(nil, rank, "another"))
		if b.over || !b.closed[conn] {
			t.Errorf("rank %d: over %v, closed %v", rank, b.over, b.closed[conn])
		}
	}
}

func TestClientsThatComeLateAreRefused(t *testing.T) {
	b := newBench(t, rules{Clients: 1})
	b.join(1)
	b.open(4)
	b.in(4, authKey)
	b.want(4, "late, of another implementation")
	if !b.closed[4] {
		t.Error("open")
	}
	b.open(5)
	b.in(5, wire.AppendAuth(nil, wire.AuthKeyMask|wire.AuthSameImplMask), rightKey, impi(0))
	b.want(5, "late", useKey)
	if !b.closed[5] || !b.logged("10.0.0.5:99 wants client rank 0, which 10.0.0.0:99 has") {
		t.Errorf("closed %v, log %q", b.closed[5], b.logs)
	}
}
