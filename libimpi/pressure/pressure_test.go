package pressure

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// fake notes what it is told to do. Time passes when the test says so.
type fake struct {
	t       *testing.T
	bounds  *Bounds
	peers   []*Peer
	held    map[int32]bool
	shut    map[int32]bool
	needed  map[int32]bool
	broken  map[int32]bool
	lapses  map[*Peer]time.Duration
	asked   int // how often Needs was
	started []time.Duration
}

func newFake(t *testing.T, peers ...Peer) (*Bounds, *fake) {
	f := &fake{t: t, held: map[int32]bool{}, shut: map[int32]bool{}, needed: map[int32]bool{}, broken: map[int32]bool{},
		lapses: map[*Peer]time.Duration{}}
	f.bounds = &Bounds{HeldAt: 1000, RestrainAt: 1000, Do: f}
	for i := range peers {
		peers[i].Rank = int32(i)
		f.peers = append(f.peers, &peers[i])
	}
	return f.bounds, f
}

func (f *fake) Hold(rank int32, on bool) {
	if f.held[rank] == on {
		f.t.Errorf("process %d is told twice: %t", rank, on)
	}
	if f.held[rank] = on; !f.peers[rank].Hears {
		f.t.Errorf("process %d is told, and does not hear", rank)
	}
}

func (f *fake) Shut(rank int32, on bool) {
	if f.shut[rank] == on {
		f.t.Errorf("process %d is shut twice: %t", rank, on)
	}
	f.shut[rank] = on
}

func (f *fake) Needs(rank int32) bool          { f.asked++; return f.needed[rank] }
func (f *fake) Breach(rank int32, what string) { f.broken[rank] = true }

func (f *fake) Later(p *Peer, after time.Duration) (stop func()) {
	f.lapses[p] = after
	f.started = append(f.started, after)
	return func() { delete(f.lapses, p) }
}

func TestASenderOfThisMachineIsHeldAndLetGo(t *testing.T) {
	b, f := newFake(t, Peer{Where: Here, Hears: true})
	p := f.peers[0]
	for range 10 {
		b.Keep(p, 100, false)
	}
	if f.held[0] {
		t.Error("it is held at its bound")
	}
	if b.Keep(p, 100, false); !f.held[0] || !p.Held() {
		t.Error("it is not held beyond its bound")
	}
	for p.Kept() > 500 {
		b.Drop(p, 100)
		if !f.held[0] {
			t.Fatalf("it is let go at %d", p.Kept())
		}
	}
	if b.Drop(p, 100); f.held[0] {
		t.Error("it is held with few messages left")
	}
}

// A held sender that goes on sends what it has in its ring, and no more. Envelopes do not count.
func TestASenderThatDoesNotCareIsLost(t *testing.T) {
	for _, envelope := range []bool{false, true} {
		b, f := newFake(t, Peer{Where: Here, Hears: true})
		sent := int64(0)
		for ; !f.broken[0] && sent < 3*Ignored; sent += 1 << 16 {
			b.Keep(f.peers[0], 1<<16, envelope)
		}
		if f.broken[0] == envelope || !envelope && sent > Ignored+1000+2<<16 {
			t.Errorf("envelopes %t: lost %t after %d bytes", envelope, f.broken[0], sent)
		}
	}
}

func TestASenderElsewhereIsToldThenShut(t *testing.T) {
	b, f := newFake(t, Peer{Where: Elsewhere, Hears: true, Shuts: true})
	p := f.peers[0]
	b.Keep(p, 1001, true)
	if !f.held[0] || f.shut[0] {
		t.Fatalf("told %t, shut %t, after once the bound", f.held[0], f.shut[0])
	}
	f.needed[0] = true
	if b.Keep(p, 1000, true); f.shut[0] {
		t.Fatal("it is shut, and needed")
	}
	f.needed[0] = false
	before := f.asked
	b.Keep(p, 1, true)
	if f.asked != before {
		t.Error("it is looked for anew at each message whether somebody needs it")
	}
	if b.Keep(p, 1000/8, true); !f.shut[0] || !b.AnyShut() {
		t.Fatal("it is not shut, and nobody needs it")
	}
	b.Invite(func(rank int32) bool { return false })
	if !f.shut[0] {
		t.Error("it is open, and nobody has asked for it")
	}
	if b.Invite(func(rank int32) bool { return rank == 0 }); f.shut[0] || b.AnyShut() || len(f.lapses) > 0 {
		t.Error("it is shut, and wanted")
	}
	b.Drop(p, p.Kept()-400)
	if f.held[0] {
		t.Error("it is held with few messages left")
	}
}

// What is shut opens again after a second, and after twice as long each time more comes.
func TestLapsesBecomeLonger(t *testing.T) {
	b, f := newFake(t, Peer{Where: Elsewhere, Shuts: true})
	p := f.peers[0]
	for len(f.started) < 4 {
		b.Keep(p, 1000, true)
		for p := range f.lapses {
			b.Reopen(p)
		}
	}
	if want := []time.Duration{1, 2, 4, 8}; !slices.Equal(f.started, scaled(want)) {
		t.Errorf("it is reopened after %v", f.started)
	}
	b.Drop(p, p.Kept())
	f.started = nil
	for len(f.started) == 0 {
		b.Keep(p, 1000, true)
	}
	if f.started[0] != time.Second {
		t.Errorf("all was well, and it is reopened after %v", f.started[0])
	}
}

func scaled(d []time.Duration) (s []time.Duration) {
	for _, x := range d {
		s = append(s, x*time.Second)
	}
	return s
}

func TestASenderOfMuchAsksNowAndThen(t *testing.T) {
	var p Peer
	asked := uint64(0)
	for sent, question := int64(0), uint64(1); sent < 10*Most; sent += 1000 + Record {
		if p.MustAsk() {
			if sent-int64(asked) < askEvery {
				t.Fatalf("after %d bytes it must ask, and has at %d", sent, asked)
			}
			p.Asks(question)
			p.Answered(question + 1000) // that is another one
			if p.Asking() != question {
				t.Fatal("the answer to another message is taken for this one's")
			}
			p.Answered(question)
			asked, question = uint64(sent), question+1
			continue
		}
		p.Sent(1000)
	}
	if asked == 0 {
		t.Error("it has never asked")
	}
	for !p.MustAsk() {
		p.Sent(1000)
	}
	p.Asks(1)
	free := int64(0)
	for ; !p.MustAsk(); free += 1000 + Record {
		p.Sent(1000)
	}
	if free < askMost-askEvery-2000 || free > askMost {
		t.Errorf("while the answer is due %d bytes are sent without asking", free)
	}
}

// TestWhateverComesTheRulesHold lets messages of all kinds come and go at random, and looks after each step whether
// what is kept is bounded, who is not needed and floods is shut, and who is needed is open.
func TestWhateverComesTheRulesHold(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		b, f := newFake(t, Peer{Where: Here, Hears: true}, Peer{Where: Elsewhere, Hears: true, Shuts: true},
			Peer{Where: Elsewhere, Shuts: true}, Peer{Where: Nowhere}, Peer{Where: Here})
		messages := make([][]int64, len(f.peers))
		for step := range 3000 {
			i := r.IntN(len(f.peers))
			p, name := f.peers[i], fmt.Sprintf("seed %d, step %d, process %d", seed, step, i)
			switch x := r.IntN(20); {
			case x < 10:
				if p.IsShut() || f.broken[p.Rank] {
					break // nothing comes
				}
				n := int64(r.IntN(300))
				b.Keep(p, n, r.IntN(3) > 0)
				messages[i] = append(messages[i], n)
			case x < 17 && len(messages[i]) > 0:
				k := r.IntN(len(messages[i]))
				b.Drop(p, messages[i][k])
				messages[i] = slices.Delete(messages[i], k, k+1)
			case x == 17:
				if f.needed[p.Rank] = !f.needed[p.Rank]; f.needed[p.Rank] {
					b.Invite(func(rank int32) bool { return f.needed[rank] })
				}
			case x == 18:
				b.Await(p)
			case x == 19 && p.Due() > 0:
				p.Came()
			}
			sum := int64(0)
			for _, n := range messages[i] {
				sum += n
			}
			if sum != p.Kept() {
				t.Fatalf("%s: %d bytes are kept and counted as %d", name, sum, p.Kept())
			}
			if p.IsShut() != f.shut[p.Rank] || p.Hears && p.Held() != f.held[p.Rank] {
				t.Fatalf("%s: shut %t and %t, held %t and %t", name, p.IsShut(), f.shut[p.Rank], p.Held(), f.held[p.Rank])
			}
			if p.IsShut() && (p.Due() > 0 || p.Where != Elsewhere || p.Kept() < b.RestrainAt/2) {
				t.Fatalf("%s: it is shut with %d bytes, and %d packets due", name, p.Kept(), p.Due())
			}
			if p.Held() && p.Kept() < 500 || p.Where == Here && !p.Held() && p.Kept() > 1300 {
				t.Fatalf("%s: held %t with %d bytes", name, p.Held(), p.Kept())
			}
			if (len(f.lapses) > 0) != b.AnyShut() {
				t.Fatalf("%s: %d lapses, and any shut: %t", name, len(f.lapses), b.AnyShut())
			}
		}
	}
}
