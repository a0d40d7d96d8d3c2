package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// watched notes the headers that leave for a peer.
type watched struct {
	transport.Transport
	stream transport.Streamer
	seen   *[]transport.Header
}

func (w watched) note(h *transport.Header, ok bool) bool {
	if ok && h.Kind <= transport.DataSync {
		*w.seen = append(*w.seen, *h)
	}
	return ok
}

func (w watched) Send(h *transport.Header, payload []byte) bool {
	return w.note(h, w.Transport.Send(h, payload))
}

func (w watched) SendFrom(h *transport.Header, p transport.Packer) bool {
	return w.note(h, w.Transport.SendFrom(h, p))
}

func (w watched) SendLong(h *transport.Header, payload []byte) (int, bool) {
	taken, ok := w.stream.SendLong(h, payload)
	return taken, w.note(h, ok)
}

func (w watched) Stream(dst int32) int { return w.stream.Stream(dst) }

func (w watched) SendRest(dst int32, payload []byte) int { return w.stream.SendRest(dst, payload) }

// Every packet of a message says which message it is, and of how many elements of which type.
func TestMessagesAreNumberedAndSayTheirCountAndType(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}, tune: func(j *transport.Job) {
		j.AckMark, j.HiWater, j.MaxDataLen = 1, 1, 100
	}})
	var seen []transport.Header
	e, other := es[0], es[1]
	e.mu.Lock()
	p := &e.peers[1]
	w := watched{p.tr, p.stream, &seen}
	p.tr, p.stream = w, w
	e.mu.Unlock()
	lengths := []int{3, 450, 0, 100, 101} // the window is one packet: some have to wait
	var out, in []uint64
	for _, n := range lengths {
		out = append(out, e.World().Isend(at(pattern(n, n)), int64(n), byteT, 1, 0, Standard))
		in = append(in, other.World().Irecv(at(make([]byte, n)), int64(n), byteT, 0, 0))
	}
	together(t, es, func(me *Engine) {
		if me == e {
			must(t, me.WaitAll(out, nil))
			must(t, me.World().Send(at(pattern(5, 5)), 5, byteT, 1, 1, Standard))
		} else {
			must(t, me.WaitAll(in, nil))
			must(t, me.World().Recv(at(make([]byte, 5)), 5, byteT, 0, 1, nil))
		}
	})
	packets := map[uint64]int{}
	first := seen[0].Seq
	for _, h := range seen {
		i := int(h.Seq - first)
		packets[h.Seq]++
		want := 5
		if i < len(lengths) {
			want = lengths[i]
		}
		if i > len(lengths) || h.Count != int64(want) || h.MsgLen != uint64(want) || h.Dtype != byteT.ID() {
			t.Errorf("message %d of %d: %+v", i, len(lengths), h)
		}
	}
	if len(packets) != len(lengths)+1 || packets[first+1] != 5 || packets[first+4] != 2 {
		t.Errorf("packets of each message: %v", packets)
	}
}

// A buffered send is a copy, and yet of the type that the program gave.
func TestABufferedMessageSaysItsOwnType(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}})
	var seen []transport.Header
	p := &es[0].peers[1]
	w := watched{p.tr, p.stream, &seen}
	p.tr, p.stream = w, w
	pair, err := datatype.Contiguous(2, intT)
	must(t, err)
	pair.Commit()
	must(t, es[0].AttachBuffer(1<<16))
	must(t, es[0].World().Bsend(at(pattern(24, 1)), 3, pair, 1, 0))
	in := es[1].World().Irecv(at(make([]byte, 24)), 3, pair, 0, 0)
	finishAll(t, es, es[1], &in)
	if len(seen) != 1 || seen[0].Count != 3 || seen[0].Dtype != pair.ID() || pair.ID() == byteT.ID() {
		t.Errorf("sent %+v, want 3 elements of type %#x", seen, pair.ID())
	}
}
