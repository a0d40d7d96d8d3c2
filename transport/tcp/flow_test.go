package tcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

var marks = []struct{ a, h uint32 }{{1, 1}, {1, 2}, {5, 5}, {7, 9}, {10, 20}}

func marked(a, h uint32) func(*transport.Job) {
	return func(j *transport.Job) { j.AckMark, j.HiWater = a, h }
}

func TestASenderStopsAtTheHighWaterMarkAndResumesOnAnAcknowledgement(t *testing.T) {
	for _, m := range marks {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			e, f := against(t, marked(m.a, m.h), Options{})
			kinds := []transport.Kind{transport.Data, transport.DataSync, transport.SyncAck, transport.Cancel,
				transport.CancelYes, transport.CancelNo}
			k := 0
			burst := func() (n uint32) {
				for e.try(transport.Header{Kind: kinds[k%len(kinds)], Src: 0, Dst: 2}, "") {
					if k++; n > m.h {
						break
					}
					n++
				}
				for range n {
					f.hear()
				}
				return n
			}
			if n := burst(); n != m.h {
				t.Fatalf("sent %d packets, want %d", n, m.h)
			}
			for range 3 {
				for range m.a {
					if !e.try(transport.Header{Kind: transport.Data, Src: 0, Dst: 3}, "") {
						t.Error("another pair is throttled, too")
					}
					f.want(wire.PkData)
				}
				f.send(transport.Header{Kind: transport.ProtoAck, Src: 3, Dst: 0}, "")
				f.send(transport.Header{Kind: transport.ProtoAck, Src: 2, Dst: 0}, "")
				e.until(t, "acknowledgement", func() bool { return e.host.flow.pair(0, 2).sent == m.h-m.a })
				if n := burst(); n != m.a {
					t.Errorf("resumed with %d packets, want %d", n, m.a)
				}
			}
			f.silent("at the high-water mark")
		})
	}
}

func TestAReceiverAcknowledgesEveryAckMarkPacketsOnArrival(t *testing.T) {
	for _, m := range marks {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			e, f := against(t, marked(m.a, m.h), Options{})
			kinds := []transport.Kind{transport.Data, transport.SyncAck, transport.DataSync, transport.CancelNo,
				transport.Cancel, transport.CancelYes}
			total := 0
			for round := range 4 {
				for i := range m.a {
					f.send(transport.Header{Kind: kinds[total%len(kinds)], Src: 3, Dst: 1}, "")
					total++
					e.await(t, total)
					if round == 0 && i+2 == m.a {
						f.silent("before the ack mark")
					}
				}
				ack := f.want(wire.PkProtoAck)
				if ack.Src() != idOf(f.job, 1) || ack.Dst() != idOf(f.job, 3) || ack.Len() != 0 {
					t.Errorf("acknowledgement from %v to %v, pk_len %d", ack.Src(), ack.Dst(), ack.Len())
				}
			}
		})
	}
}

func TestAcknowledgementsLeaveWhileThePairIsThrottled(t *testing.T) {
	e, f := against(t, marked(1, 1), Options{})
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2}
	if !e.try(h, "") || e.try(h, "") {
		t.Fatal("want a window of 1")
	}
	f.want(wire.PkData)
	for i := range 50 {
		f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "")
		e.await(t, i+1)
		f.want(wire.PkProtoAck)
	}
}

// Both sides start long streams before either reads, through buffers that hold no packet. (With the smallest
// ones, TCP itself waits 200 ms for each window of a kilobyte.)
func TestTwoHostsThatBlastEachOtherDoNotDeadlock(t *testing.T) {
	const n = 300
	es := connect(t, layout{{1}, {1}}, marked(150, 200), Options{SendBuffer: 20000, ReceiveBuffer: 20000})
	body := strings.Repeat("0123456789abcdef", 4096)
	sent := [2]int{}
	for _, e := range es {
		e.on = func(h *transport.Header, payload []byte) {
			if int(h.Tag) != len(e.got) || string(payload) != body[:len(payload)] {
				t.Errorf("packet %d: tag %d, %d bytes", len(e.got), h.Tag, len(payload))
			}
			e.got = append(e.got, received{h: *h})
		}
	}
	pump := func(i int) bool {
		e := es[i]
		for sent[i] < n {
			size := len(body) - 37*sent[i]
			h := &transport.Header{Kind: transport.Data, Src: int32(i), Dst: int32(1 - i), Tag: int32(sent[i]), Len: size,
				MsgLen: uint64(size)}
			from := plain(body[:size])
			if sent[i]%2 == 0 && !e.host.Send(h, []byte(body[:size])) || sent[i]%2 == 1 && !e.host.SendFrom(h, &from) {
				break
			}
			sent[i]++
		}
		if l := e.host.links[1-i]; len(l.out)-l.off > l.maxOut || cap(l.out) > 2*l.maxOut {
			t.Fatalf("%d bytes wait, room for %d, want at most %d", len(l.out)-l.off, cap(l.out), l.maxOut)
		}
		return sent[i] == n && len(e.got) == n
	}
	for i, e := range es { // before either reads
		e.mu.Lock()
		pump(i)
		e.mu.Unlock()
	}
	es[0].until(t, "both", func() bool {
		a := pump(0)
		es[1].mu.Lock()
		defer es[1].mu.Unlock()
		es[1].host.Poll()
		return pump(1) && a
	})
}

func TestAPeerThatFloodsAndDoesNotReadIsCutOff(t *testing.T) {
	e, f := against(t, marked(1, 2), Options{SendBuffer: 1})
	f.c.SetReadBuffer(1)
	go func() {
		b := []byte(strings.Repeat(string(packet(f.job, transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "")), 1000))
		for {
			if _, err := f.c.Write(b); err != nil {
				return
			}
		}
	}()
	e.on = func(*transport.Header, []byte) {}
	e.until(t, "loss", func() bool { return len(e.lost) == 2 })
	if err := e.lost[2]; !strings.Contains(err.Error(), errOverrun.Error()) {
		t.Error(err)
	}
}

func TestPacketsAndWaitsForAcknowledgementsAreCounted(t *testing.T) {
	e, f := against(t, marked(2, 4), Options{})
	data := transport.Header{Kind: transport.Data, Src: 0, Dst: 2}
	for range 4 {
		e.try(data, "")
		f.hear()
	}
	for range 3 {
		if e.try(data, "") {
			t.Error("beyond the high-water mark")
		}
	}
	if c := e.host.Counts(); c.Sent != 4 || c.Waits != 1 || c.Received != 0 {
		t.Errorf("%+v, want 4 packets and one wait", c)
	}
	f.send(transport.Header{Kind: transport.ProtoAck, Src: 2, Dst: 0}, "")
	e.until(t, "acknowledgement", func() bool { return e.host.flow.pair(0, 2).sent == 2 })
	e.try(data, "")
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "")
	e.until(t, "a packet", func() bool { return e.host.Counts().Received == 1 })
	if c := e.host.Counts(); c.Sent != 5 || c.Waits != 1 {
		t.Errorf("%+v, want 5 packets and one wait", c)
	}
}
