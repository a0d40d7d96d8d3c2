package tcp

import (
	"io"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// reap is Reap under the lock.
func (e *engine) reap() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.host.Reap()
}

func (e *engine) part(host int32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.host.Part(host)
}

func TestAHostPartsBehindWhatItHasSentAndAnswersUntilTheOtherDoes(t *testing.T) {
	var told []int32
	e, f := against(t, marked(2, 2), Options{Finished: func(host int32) { told = append(told, host) }})
	e.mu.Lock()
	e.host.Cork()
	e.mu.Unlock()
	e.put(t, transport.Header{Kind: transport.Data, Src: 0, Dst: 2, Tag: 5}, "last words")
	e.part(1)
	e.part(1) // once
	e.mu.Lock()
	e.host.Uncork()
	e.mu.Unlock()
	f.want(wire.PkData)
	f.want(wire.PkFini)
	f.silent("parting twice")
	f.send(transport.Header{Kind: transport.DataSync, Src: 2, Dst: 0, SrqID: 7, MsgLen: 9}, "x")
	f.send(transport.Header{Kind: transport.Cancel, Src: 2, Dst: 0, SrqID: 8}, "")
	e.until(t, "FINI in vain", func() bool { return e.host.Reap() == 1 && e.host.flow.pair(0, 2).sent > 1 })
	if len(told) > 0 || e.host.Parted(1) {
		t.Errorf("the other has parted: %v", told)
	}
	answers := map[uint64]uint32{}
	for len(answers) < 2 {
		p, _ := f.hear()
		switch p.Type() {
		case wire.PkSyncAck, wire.PkCancelNo:
			answers[p.SrqID()] = p.Type()
		case wire.PkProtoAck:
		default:
			t.Fatalf("type %d", p.Type())
		}
		if len(answers) == 1 && p.Type() == wire.PkSyncAck { // the window is full: this opens it
			f.send(transport.Header{Kind: transport.ProtoAck, Src: 2, Dst: 0}, "")
			e.until(t, "the rest", func() bool { e.host.Reap(); return len(e.host.links[1].replies) == 0 })
		}
	}
	if answers[7] != wire.PkSyncAck || answers[8] != wire.PkCancelNo {
		t.Errorf("%v", answers)
	}
	f.say(finiPacket())
	e.until(t, "FINI", func() bool { return e.host.Parted(1) && e.host.Reap() == 1 })
	if len(told) != 1 || told[0] != 1 {
		t.Errorf("told %v", told)
	}
	if b, err := io.ReadAll(f.c); err != nil || len(b)%wire.PacketSize != 0 { // acknowledgements at most
		t.Errorf("%d bytes, %v", len(b), err)
	}
	f.c.Close()
	e.until(t, "the close", func() bool { return e.host.Reap() == 0 && e.host.links[1].fd < 0 })
	if len(e.got) > 0 || len(e.lost) > 0 || len(told) != 1 {
		t.Errorf("%v, %v, %v", e.got, e.lost, told)
	}
}

func TestWhoHasPartedMayDie(t *testing.T) {
	e, f := against(t, nil, Options{})
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0, Tag: 5}, "last words")
	f.say(finiPacket())
	f.c.SetLinger(0)
	e.until(t, "FINI", func() bool { return e.host.Parted(1) })
	f.c.Close() // a reset
	e.until(t, "the end", func() bool { return e.host.Reap() == 0 })
	e.part(1)
	if len(e.got) != 1 || len(e.lost) > 0 || e.reap() != 0 {
		t.Errorf("%v, %v", e.got, e.lost)
	}
}

func TestWhoDiesBeforeItHasPartedIsLost(t *testing.T) {
	e, f := against(t, nil, Options{})
	e.part(1)
	f.want(wire.PkFini)
	f.c.Close()
	e.until(t, "the loss", func() bool { return len(e.lost) == 2 && e.host.Reap() == 0 })
	if !e.host.Parted(1) {
		t.Error("something is still to be awaited")
	}
}

func TestALongMessageThatIsNotCompletedBreaksTheConnection(t *testing.T) {
	e, f := against(t, func(j *transport.Job) { j.Hosts[1].Stream = 64 << 20 }, Options{SendBuffer: 8 << 10})
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2, SrqID: 1, DrqID: 1, MsgLen: 1 << 40, Len: 64 << 20}
	e.mu.Lock()
	taken, ok := e.host.SendLong(&h, make([]byte, h.Len))
	e.host.Part(1)
	lost := len(e.lost)
	e.mu.Unlock()
	if !ok || taken == h.Len || lost != 2 {
		t.Fatalf("%d bytes taken, %v, %v", taken, ok, e.lost)
	}
	for _, err := range e.lost {
		if !strings.Contains(err.Error(), "not completed") {
			t.Error(err)
		}
	}
	f.c.Close()
}
