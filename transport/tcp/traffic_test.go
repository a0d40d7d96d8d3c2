package tcp

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

func TestAHostTellsWhatItHasExchangedWithEachOther(t *testing.T) {
	e, f := against(t, marked(2, 3), Options{})
	rows := func() transport.Traffic {
		e.mu.Lock()
		defer e.mu.Unlock()
		list := e.host.Traffic()
		if len(list) != 1 || list[0].Ours != 0 || list[0].Theirs != 1 {
			t.Fatalf("%+v", list)
		}
		return list[0]
	}
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2}
	for range 3 {
		if !e.try(h, "12345") {
			t.Fatal("the window is open")
		}
		f.want(wire.PkData)
	}
	if e.try(h, "") {
		t.Fatal("the window is full")
	}
	r := rows()
	if r.PacketsOut != 3 || r.BytesOut != 15 || r.Outstanding != 3 || r.HighWater != 3 ||
		r.State != transport.TrafficWaits || r.Silence == transport.SilenceUnknown {
		t.Errorf("%+v", r)
	}
	f.send(transport.Header{Kind: transport.ProtoAck, Src: 2, Dst: 0}, "")
	e.until(t, "the acknowledgement", func() bool { return e.host.links[1].tally.acksIn == 1 })
	for range 2 {
		f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "123")
	}
	e.await(t, 2)
	f.want(wire.PkProtoAck)
	if !e.try(h, "") {
		t.Fatal("the window is open again")
	}
	r = rows()
	if r.PacketsOut != 4 || r.PacketsIn != 2 || r.BytesIn != 6 || r.AcksIn != 1 || r.AcksOut != 1 || r.Outstanding != 2 ||
		r.State != 0 {
		t.Errorf("%+v", r)
	}
	b := packet(f.job, transport.Header{Kind: transport.Data, Src: 2, MsgLen: 1 << 20}, strings.Repeat("x", 60000))
	f.say(b[:30000])
	e.until(t, "half of a packet", func() bool { return e.host.links[1].left > 0 })
	if r = rows(); r.PacketsIn != 2 {
		t.Errorf("half a packet counts: %+v", r)
	}
	f.say(b[30000:])
	e.until(t, "the rest", func() bool { return e.host.links[1].left == 0 })
	if r = rows(); r.PacketsIn != 3 {
		t.Errorf("a packet does not count: %+v", r)
	}
	f.c.Close()
	e.until(t, "the end", func() bool { return e.host.links[1].ended })
	if r = rows(); r.State != transport.TrafficEnded || r.Silence != transport.SilenceUnknown || r.PacketsOut != 4 {
		t.Errorf("%+v", r)
	}
}
