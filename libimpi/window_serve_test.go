package libimpi

import (
	"runtime"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport"
)

// swallowing takes all packets, and notes how deep the stack is in which they are sent.
type swallowing struct {
	transport.Transport
	sent, deepest *int
}

func (s swallowing) Send(*transport.Header, []byte) bool {
	var at [1 << 10]uintptr
	*s.sent++
	*s.deepest = max(*s.deepest, runtime.Callers(0, at[:]))
	return true
}

func (s swallowing) SendFrom(h *transport.Header, _ transport.Packer) bool { return s.Send(h, nil) }

// Requests that wait behind a long one are served one after the other, and not each within the one before it: an origin
// says how many there are.
func TestRequestsBehindALongOneAreServedInALoop(t *testing.T) {
	const many = 1000
	es := makeWorld(t, options{clients: []int{2}, noRead: true})
	var w *Window
	together(t, es, func(e *Engine) {
		mem := make([]int64, 64)
		made, err := e.World().NewWindow(WindowConfig{Flavor: abi.MPI_WIN_FLAVOR_CREATE, Base: longBuf(mem, 1).Base,
			Size: 512, Unit: 8})
		if must(t, err); e.me == 0 {
			w = made
		}
	})
	settle(es...)
	e := es[0]
	sent, deepest := 0, 0
	e.mu.Lock()
	p := &e.peers[1]
	p.tr, p.direct = swallowing{p.tr, &sent, &deepest}, nil
	e.mu.Unlock()
	ask := func(id uint64, r onesided.Request, first int) uint64 {
		b := r.Append(nil)
		if first == 0 {
			first = len(b)
		}
		e.deliver(transport.Header{Kind: transport.DataSync, Src: 1, LSRank: 1, CID: w.comm.p2p.cid, MsgLen: uint64(len(b)),
			SrqID: id}, b[:first])
		return uint64(len(b))
	}
	put := onesided.Request{Kind: onesided.AskPut, Count: 512, Slot: abi.MPI_BYTE, Data: make([]byte, 512)}
	n := ask(1, put, 100)
	for i := range uint64(many) {
		ask(2+i, onesided.Request{Kind: onesided.AskFlush}, 0)
	}
	if kept := w.comm.p2p.space.Kept(); kept != many {
		t.Fatalf("%d requests wait, want %d", kept, many)
	}
	sent, deepest = 0, 0
	long := uint64(0)
	for _, r := range e.requests.slots {
		if r.kind == recvRequest && r.expects {
			long = r.id
		}
	}
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: n, DrqID: long}, put.Append(nil)[100:])
	must(t, e.failure())
	if sent != 2*many { // each is acknowledged, and answered
		t.Errorf("%d packets have left, want %d", sent, 2*many)
	}
	if deepest > 100 {
		t.Errorf("the stack was %d calls deep", deepest)
	}
	if o := &w.engine.Peers.(*windowEngine).origins[1]; o.busy || o.taken {
		t.Errorf("busy: %t, serving: %t", o.busy, o.taken)
	}
}
