package vendor

import (
	"bytes"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// send1 sends a packet with a byte.
func send1(t *testing.T, from *Transport, to int32, x byte) {
	t.Helper()
	h := transport.Header{Kind: transport.Data, Src: from.me, Dst: to, Len: 1, MsgLen: 1}
	if !from.Send(&h, []byte{x}) {
		t.Fatal("there is no room")
	}
}

// recorder is a receiver that keeps what comes.
type recorder struct{ got []byte }

func (r *recorder) Deliver(_ *transport.Header, payload []byte) { r.got = append(r.got, payload...) }
func (r *recorder) Lost(int32, error)                           {}

// drain polls until so many bytes have come.
func (r *recorder) drain(t *testing.T, tr *Transport, n int) {
	t.Helper()
	for polls := 0; len(r.got) < n; polls++ {
		if tr.Poll(); polls > 10000 {
			t.Fatalf("%d packets came, not %d", len(r.got), n)
		}
	}
}

func TestWhoHasSentIsNotProbedForAgain(t *testing.T) {
	w := newWorld(3, 1<<30, 0)
	var rx recorder
	a := make1(t, w, 0, &sink{}, nil)
	b, err := New(Config{MPI: w.procs[1], World: []int32{0, 1, 2}, Rank: 1, Near: []int32{1, 2}, Receiver: &rx})
	if err != nil {
		t.Fatal(err)
	}
	send1(t, a, 1, 'x')
	rx.drain(t, b, 1)
	probed := w.procs[1].looks
	send1(t, a, 1, 'y')
	rx.drain(t, b, 2)
	for range 10 * probeEvery {
		b.Poll()
	}
	if n := w.procs[1].looks - probed; n > 0 || string(rx.got) != "xy" {
		t.Errorf("%d probes, and %q", n, rx.got)
	}
}

func TestMoreProcessesThanReceivesArePostedForAreProbedFor(t *testing.T) {
	const n = Posts + 3
	w := newWorld(n, 1<<30, 0)
	var rx recorder
	b := make1(t, w, 0, &rx, nil)
	var others []*Transport
	for r := 1; r < n; r++ {
		others = append(others, make1(t, w, r, &sink{}, nil))
	}
	for round := range 3 {
		for i, o := range others {
			send1(t, o, 0, byte(i))
		}
		rx.drain(t, b, (round+1)*len(others))
	}
	if len(b.posts) != Posts {
		t.Errorf("%d receives are posted", len(b.posts))
	}
	for i := range others {
		if got := bytes.Count(rx.got, []byte{byte(i)}); got != 3 {
			t.Errorf("%d packets came from process %d", got, i+1)
		}
	}
}

// While a posted receive that has met a packet is not done, a probe may find the next one.
func TestAPacketThatIsProbedForWaitsForThePostedReceiveBeforeIt(t *testing.T) {
	w := newWorld(3, 1<<30, 0)
	var rx recorder
	a, b := make1(t, w, 0, &sink{}, nil), make1(t, w, 1, &rx, nil)
	send1(t, a, 1, '1')
	rx.drain(t, b, 1)
	b.Poll() // which posts the receive
	w.procs[1].posts[0].delay = 3 * probeEvery
	for _, x := range "2345" {
		send1(t, a, 1, byte(x))
	}
	rx.drain(t, b, 5)
	if string(rx.got) != "12345" {
		t.Errorf("packets came as %q", rx.got)
	}
}
