package tcp

import (
	"bytes"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// Of two processes of a host one is lost in the middle of a message to it: the other is reached as before, and when it
// is lost, too, the connection ends. The transport says nothing of either.
func TestAProcessIsForgottenInTheMiddleOfItsMessage(t *testing.T) {
	es := connect(t, layout{{1}, {2}}, streams(1<<20), Options{SendBuffer: 20000, ReceiveBuffer: 20000})
	data := pattern(1 << 20)
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, DrqID: 5, Len: len(data) - 1, MsgLen: uint64(len(data))}
	es[0].mu.Lock()
	if taken, ok := es[0].host.SendLong(&h, data[:h.Len]); !ok || taken == h.Len {
		t.Fatalf("%v, %d bytes taken", ok, taken)
	}
	es[0].host.Forget(1)
	es[0].mu.Unlock()
	var last received
	es[1].mu.Lock()
	es[1].on = func(h *transport.Header, payload []byte) { last = received{*h, string(payload)} }
	es[1].mu.Unlock()
	sent := false
	es[0].until(t, "room behind what was owed", func() bool {
		hd := transport.Header{Kind: transport.Data, Src: 0, Dst: 2, Len: 5, MsgLen: 5}
		sent = sent || es[0].host.Send(&hd, []byte("after"))
		es[1].mu.Lock()
		defer es[1].mu.Unlock()
		es[1].host.Poll()
		return last.h.Dst == 2
	})
	if last.payload != "after" {
		t.Errorf("%q", last.payload)
	}
	es[0].mu.Lock()
	es[0].host.Forget(2)
	es[0].mu.Unlock()
	es[1].until(t, "the end", func() bool { return len(es[1].lost) == 1 })
}

// A message from a process that is lost goes on to come, and not to the memory that its receiver had given.
func TestAProcessIsForgottenInTheMiddleOfOneFromIt(t *testing.T) {
	es := connect(t, layout{{2}, {1}}, streams(1<<20), Options{SendBuffer: 20000, ReceiveBuffer: 20000})
	data := pattern(1 << 20)
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2, DrqID: 5, Len: len(data) - 1, MsgLen: uint64(len(data))}
	memory := make([]byte, len(data))
	p := take(es[1], memory)
	es[0].mu.Lock()
	moved, ok := es[0].host.SendLong(&h, data[:h.Len])
	es[0].mu.Unlock()
	es[1].until(t, "its beginning", func() bool { return memory[9] != 0 })
	es[1].mu.Lock()
	es[1].host.Forget(0)
	p.memory = nil
	clear(memory)
	es[1].mu.Unlock()
	es[0].until(t, "the rest", func() bool {
		moved += es[0].host.SendRest(2, data[moved:h.Len])
		es[1].mu.Lock()
		defer es[1].mu.Unlock()
		es[1].host.Poll()
		return p.pieces == 1
	})
	if !ok || !bytes.Equal(memory, make([]byte, len(memory))) {
		t.Errorf("%v: the rest has come to the memory that is the program's again", ok)
	}
}
