package agent

import (
	"bytes"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

func TestAnAgentTellsWhatHasPassed(t *testing.T) {
	h := roomy(t)
	short, long := h.packet(transport.Data, 1, 0, strings.Repeat("x", 300)), h.long(1, 0, 50_000)
	back, ack := h.long(0, 2, 40_000), h.packet(transport.ProtoAck, 0, 1, "")
	h.procs[0][0].Write(bytes.Join([][]byte{short, short, long}, nil))
	expect(t, h.hosts[0], bytes.Join([][]byte{short, short, long}, nil), "host 0")
	h.hosts[0].Write(bytes.Join([][]byte{back, ack}, nil))
	expect(t, h.procs[1][0], back, "process 2")
	expect(t, h.procs[0][0], ack, "process 1")
	rows := h.agent.Traffic()
	if len(rows) != 2 {
		t.Fatalf("%+v", rows)
	}
	r := rows[0]
	if r.Ours != 1 || r.Theirs != 0 || r.PacketsOut != 3 || r.BytesOut != 50_600 || r.PacketsIn != 1 ||
		r.BytesIn != 40_000 || r.AcksIn != 1 || r.AcksOut != 0 || r.HighWater != 4 ||
		r.Outstanding != transport.OutstandingUnknown || r.Silence == transport.SilenceUnknown || r.State != 0 {
		t.Errorf("%+v", r)
	}
	if r = rows[1]; r.Ours != 1 || r.Theirs != 2 || r.PacketsOut+r.PacketsIn+r.BytesOut+r.BytesIn != 0 {
		t.Errorf("%+v", r)
	}
}

// A stalled link reads its packets again when there is room: they count once.
func TestPacketsThatWaitForRoomCountOnce(t *testing.T) {
	h := newHouse(t, 60_000, 1)
	p := h.packet(transport.Data, 1, 0, strings.Repeat("y", 10_000))
	const n = 2000
	go func() {
		for range n {
			h.procs[0][0].Write(p)
		}
	}()
	h.until("it has stalled", func() bool { return h.agent.byProc[0][0].stalled })
	for range n {
		expect(t, h.hosts[0], p, "a packet")
	}
	if r := h.agent.Traffic()[0]; r.PacketsOut != n || r.BytesOut != n*10_000 {
		t.Errorf("%+v", r)
	}
}
