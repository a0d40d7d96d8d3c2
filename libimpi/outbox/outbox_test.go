package outbox

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// message is one of so many pieces behind its first packet.
type message struct {
	number int
	pieces int
	cut    bool
	ended  bool
	place  Link[message]
}

// sender is a transport with room for so many packets, that writes into memory or not, and cuts continuations in two.
type sender struct {
	t        *testing.T
	rng      *rand.Rand
	box      *Box[message]
	room     int
	writes   bool
	controls []uint64
	firsts   []int
	pieces   []int
	cut      *message // what has begun to leave
}

// take takes a packet, if there is room for it. Nothing comes between the parts of a continuation.
func (s *sender) take(r *message) bool {
	if s.cut != nil && s.cut != r {
		s.t.Fatal("a packet comes between the parts of a continuation")
	}
	if s.room == 0 {
		return false
	}
	s.room--
	return true
}

func (s *sender) Control(h *transport.Header) bool {
	if !s.take(nil) {
		return false
	}
	s.controls = append(s.controls, h.SrqID)
	return true
}

func (s *sender) First(r *message) bool {
	if s.box.Controls() > 0 {
		s.t.Fatal("a first packet overtakes a control packet")
	}
	if !s.take(nil) {
		return false
	}
	s.firsts = append(s.firsts, r.number)
	if r.pieces > 0 {
		s.box.PutStream(&r.place, r)
	} else {
		s.End(r)
	}
	return true
}

func (s *sender) More(r *message) bool { return r.pieces > 0 }

func (s *sender) Write(r *message) bool {
	if !s.box.Passable() {
		s.t.Fatal("a long message goes on before a first packet or a control packet that waits")
	}
	if !s.writes || s.rng.IntN(2) == 0 {
		return false
	}
	s.piece(r)
	return true
}

func (s *sender) Piece(r *message) (sent, cut bool) {
	if !s.take(nil) {
		return false, false
	}
	if s.rng.IntN(3) == 0 {
		s.cut, r.cut = r, true
		return true, true
	}
	s.piece(r)
	return true, false
}

func (s *sender) Rest(r *message) (left, cut bool) {
	if !r.cut || s.cut != r {
		s.t.Fatal("the rest of a continuation that has not begun")
	}
	if !s.take(r) {
		return false, true
	}
	if s.rng.IntN(2) == 0 {
		return true, true
	}
	s.cut, r.cut = nil, false
	s.piece(r)
	return true, false
}

func (s *sender) piece(r *message) {
	r.pieces--
	s.pieces = append(s.pieces, r.number)
}

func (s *sender) End(r *message) {
	if r.ended || r.pieces > 0 {
		s.t.Fatalf("message %d ends twice, or before its last piece", r.number)
	}
	r.ended = true
}

// TestEverythingLeavesInOrder puts packets and messages into a box in any order, with any room, and takes some out.
func TestEverythingLeavesInOrder(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var box Box[message]
		s := &sender{t: t, rng: rng, box: &box, writes: seed%2 == 0}
		var all []*message
		var firsts []int
		var controls []uint64
		for range 300 {
			switch rng.IntN(4) {
			case 0:
				h := transport.Header{SrqID: uint64(len(controls))}
				controls = append(controls, h.SrqID)
				box.PutControl(&h)
			case 1:
				m := &message{number: len(all), pieces: rng.IntN(4)}
				all = append(all, m)
				box.PutFirst(&m.place, m)
				if rng.IntN(10) == 0 {
					if !box.RemoveFirst(&m.place) || box.RemoveFirst(&m.place) {
						t.Fatal("a message cannot be taken out, or twice")
					}
					m.ended, m.pieces = true, 0
				} else {
					firsts = append(firsts, m.number)
				}
			default:
				s.room = rng.IntN(5)
				before := s.room
				if left := box.Flush(s); left != (s.room < before) && !s.writes {
					t.Fatalf("seed %d: something left: %t, with room for %d of %d packets", seed, left, s.room, before)
				}
			}
		}
		for rounds := 0; !box.Empty(); rounds++ {
			if rounds > 10000 {
				t.Fatalf("seed %d: with room for all something stays", seed)
			}
			s.room = 100
			box.Flush(s)
		}
		if !slices.Equal(s.controls, controls) || !slices.Equal(s.firsts, firsts) {
			t.Fatalf("seed %d: control packets or first packets left in another order", seed)
		}
		for _, m := range all {
			if !m.ended || m.pieces != 0 {
				t.Fatalf("seed %d: message %d has not ended", seed, m.number)
			}
		}
	}
}

// TestLongMessagesTakeTurns holds a box to one piece of each message, and then of each again.
func TestLongMessagesTakeTurns(t *testing.T) {
	var box Box[message]
	s := &sender{t: t, rng: rand.New(rand.NewPCG(1, 2)), box: &box, room: 1000}
	pieces := []int{3, 1, 2}
	for i, n := range pieces {
		m := &message{number: i, pieces: n}
		box.PutFirst(&m.place, m)
	}
	for !box.Empty() {
		box.Flush(s)
	}
	if want := []int{0, 1, 2, 0, 2, 0}; !slices.Equal(s.pieces, want) {
		t.Errorf("pieces left of messages %v, want %v", s.pieces, want)
	}
}

// TestAStreamIsTakenOut gives one up in the middle of a continuation: the next one begins with a packet of its own.
func TestAStreamIsTakenOut(t *testing.T) {
	var box Box[message]
	one, two := &message{number: 1, pieces: 1}, &message{number: 2, pieces: 1}
	box.PutStream(&one.place, one)
	box.PutStream(&two.place, two)
	s := &sender{t: t, rng: rand.New(rand.NewPCG(1, 2)), box: &box}
	for s.cut == nil { // one is cut in two
		s.room = 1
		one.pieces++
		box.Flush(s)
		if box.Stream() != one && s.cut == nil {
			box.RemoveStream(&two.place)
			box.PutStream(&two.place, two)
		}
	}
	taken := s.cut
	if !box.RemoveStream(&taken.place) || box.RemoveStream(&taken.place) {
		t.Fatal("a message cannot be taken out, or twice")
	}
	s.cut = nil
	for s.room = 1000; !box.Empty(); {
		box.Flush(s) // Rest of the next one would fail
	}
}

// TestControlPacketsLeaveInTheirOrder also holds that what has left takes no more room than what waits.
func TestControlPacketsLeaveInTheirOrder(t *testing.T) {
	var q control
	r := rand.New(rand.NewPCG(3, 4))
	put, got, most := uint64(0), uint64(0), 0
	for range 10000 {
		for range r.IntN(20) {
			q.packets = append(q.packets, transport.Header{SrqID: put})
			put++
		}
		waiting := q.waiting()
		if uint64(len(waiting)) != put-got || len(waiting) > 0 && waiting[0].SrqID != got {
			t.Fatalf("%d wait, want %d, from %d on", len(waiting), put-got, got)
		}
		n := min(r.IntN(30), len(waiting))
		q.sent(n)
		got += uint64(n)
		if most = max(most, q.left); q.left > len(q.waiting()) {
			t.Fatalf("%d have left and are kept, %d wait", q.left, len(q.waiting()))
		}
	}
	if most == 0 {
		t.Error("nothing has been kept that has left")
	}
}
