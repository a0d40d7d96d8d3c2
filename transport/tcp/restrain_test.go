package tcp

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

func TestAShutWindowIsAcknowledgedWhenItOpens(t *testing.T) {
	e, f := against(t, marked(3, 10), Options{})
	e.host.Shut(1, 3, true)
	for i := range 10 {
		f.send(transport.Header{Kind: transport.Data, Src: 3, Dst: 1}, "")
		e.await(t, i+1)
	}
	f.silent("shut")
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 1}, "") // another pair
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 1}, "")
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 1}, "")
	e.await(t, 13)
	if p := f.want(wire.PkProtoAck); p.Dst() != idOf(f.job, 2) {
		t.Errorf("acknowledged %v, which is shut out", p.Dst())
	}
	e.mu.Lock()
	e.host.Shut(1, 3, false)
	e.mu.Unlock()
	for range 3 {
		if p := f.want(wire.PkProtoAck); p.Src() != idOf(f.job, 1) || p.Dst() != idOf(f.job, 3) {
			t.Errorf("acknowledgement from %v to %v", p.Src(), p.Dst())
		}
	}
	for i := range 2 { // one was left
		f.send(transport.Header{Kind: transport.Data, Src: 3, Dst: 1}, "")
		e.await(t, 14+i)
	}
	f.want(wire.PkProtoAck)
	f.silent("all is acknowledged")
}

func TestWhoSendsBeyondTheHighWaterMarkIsLost(t *testing.T) {
	e, f := against(t, marked(3, 10), Options{})
	e.host.Shut(1, 3, true)
	for i := range 10 {
		f.send(transport.Header{Kind: transport.Data, Src: 3, Dst: 1}, "")
		e.await(t, i+1)
	}
	if len(e.lost) != 0 {
		t.Fatalf("lost at the high-water mark: %v", e.lost)
	}
	f.send(transport.Header{Kind: transport.Data, Src: 3, Dst: 1}, "")
	e.until(t, "the breach", func() bool { return len(e.lost) > 0 })
	if err := e.lost[3]; err == nil || !strings.Contains(err.Error(), errOverrun.Error()) {
		t.Errorf("lost by %v", err)
	}
}

func TestAnAcknowledgementTellsWhetherTooMuchIsKept(t *testing.T) {
	e, f := against(t, marked(1, 2), Options{})
	for i, tell := range []bool{false, true, true, false} {
		e.mu.Lock()
		e.host.Hold(1, 3, tell)
		e.mu.Unlock()
		f.send(transport.Header{Kind: transport.Data, Src: 3, Dst: 1}, "")
		e.await(t, i+1)
		if p := f.want(wire.PkProtoAck); (p.Reserved() == wire.AckHold) != tell {
			t.Errorf("pk_reserved is %d, told: %t", p.Reserved(), tell)
		}
	}
	for _, held := range []bool{true, false} {
		if !e.try(transport.Header{Kind: transport.Data, Src: 1, Dst: 3}, "") {
			t.Fatal("no room")
		}
		f.want(wire.PkData)
		ack := wire.Packet(packet(f.job, transport.Header{Kind: transport.ProtoAck, Src: 3, Dst: 1}, ""))
		if held {
			ack.SetReserved(wire.AckHold)
		}
		f.say(ack)
		e.until(t, "the acknowledgement", func() bool { return e.host.flow.pair(1, 3).sent == 0 })
		if e.host.Held(1, 3) != held {
			t.Errorf("told: %t, want %t", !held, held)
		}
	}
}
