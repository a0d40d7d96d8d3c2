package tcp

import (
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

func TestPacketsOfABatchLeaveTogether(t *testing.T) {
	e, f := against(t, nil, Options{})
	e.mu.Lock()
	defer e.mu.Unlock()
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2, Len: 3, MsgLen: 3}
	e.host.Cork()
	e.host.Cork()
	for range 4 {
		if !e.host.Send(&h, []byte("abc")) {
			t.Fatal("no room")
		}
	}
	from := plain("abc")
	if !e.host.SendFrom(&h, &from) {
		t.Fatal("no room")
	}
	e.host.Uncork()
	f.silent("before the batch is over")
	e.host.Uncork()
	for range 5 {
		f.want(wire.PkData)
	}
	if l := e.host.links[1]; l.off < len(l.out) {
		t.Errorf("%d bytes are left", len(l.out)-l.off)
	}
}

func TestABatchDoesNotOvertakeALongPacket(t *testing.T) {
	e, f := against(t, nil, Options{})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.host.Cork()
	for tag, n := range []int{1, gatherMax + 1, 2, 40000, 0} {
		h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2, Tag: int32(tag), Len: n, MsgLen: uint64(n)}
		if !e.host.Send(&h, make([]byte, n)) {
			t.Fatal("no room")
		}
	}
	e.host.Uncork()
	for tag := range int32(5) {
		if p := f.want(wire.PkData); p.Tag() != tag {
			t.Errorf("packet %d came as number %d", p.Tag(), tag)
		}
	}
}

// arriveAll takes packets in by single polls, so that no poll comes after the one that brings the last.
func arriveAll(t *testing.T, e *engine, f *fake, n int) {
	t.Helper()
	for range n {
		f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "x")
	}
	e.until(t, "packets", func() bool { return len(e.got) >= n })
}

func TestAnAcknowledgementLeavesWithTheNextPacket(t *testing.T) {
	e, f := against(t, marked(10, 20), Options{})
	slow(e)
	arriveAll(t, e, f, 10)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.host.links[1].acks != 1 {
		t.Skip("it took more polls than an acknowledgement waits for")
	}
	f.silent("while there may be company")
	if !e.host.Send(&transport.Header{Kind: transport.Data, Src: 0, Dst: 2}, nil) {
		t.Fatal("no room")
	}
	f.want(wire.PkProtoAck)
	f.want(wire.PkData)
}

func TestAnAcknowledgementDoesNotWaitForCompanyThatDoesNotCome(t *testing.T) {
	for _, how := range []string{"polls that bring nothing", "the next packet", "sleep", "the watcher"} {
		t.Run(how, func(t *testing.T) {
			e, f := against(t, marked(10, 20), Options{})
			if how != "the watcher" {
				slow(e)
			}
			arriveAll(t, e, f, 10)
			e.mu.Lock()
			switch how {
			case "polls that bring nothing":
				for range patient {
					e.host.Poll()
				}
			case "the next packet":
				e.mu.Unlock()
				arriveAll(t, e, f, 11)
				e.mu.Lock()
			case "sleep":
				e.host.Arm()
				e.host.Poll()
			}
			e.mu.Unlock()
			f.want(wire.PkProtoAck)
		})
	}
}

// The watcher's own wake is the last poll for a while if the program computes.
func TestAnAcknowledgementOfTheWatchersDoesNotWait(t *testing.T) {
	e, f := against(t, marked(10, 20), Options{})
	for range 3 {
		e.mu.Lock()
		e.host.Arm()
		e.mu.Unlock()
		for range 10 {
			f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "x")
		}
		f.want(wire.PkProtoAck)
	}
}

func TestAnAcknowledgementDoesNotWaitIfThePeerMust(t *testing.T) {
	for _, m := range []struct{ a, h uint32 }{{1, 1}, {5, 5}} {
		e, f := against(t, marked(m.a, m.h), Options{})
		slow(e)
		arriveAll(t, e, f, int(m.a))
		f.want(wire.PkProtoAck)
	}
}
