package ports

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// apart makes jobs of one process each, on different machines, that have met.
func apart(t testing.TB, n int) []*process {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = 1
	}
	all := jobs(t, func(job, _ int) byte { return byte(1 + job) }, nil, sizes...)
	assemble(t, all)
	t.Cleanup(func() {
		for _, p := range all {
			g := p.guests[0].By.(*guests)
			p.lock.Lock()
			g.Abort()
			p.lock.Unlock()
			<-g.done
		}
	})
	return all
}

// by is the transport of a process.
func (p *process) by() *guests { return p.guests[0].By.(*guests) }

// letGo parts from a number.
func (p *process) letGo(n int32) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.by().Part(n)
}

// has reports whether a number has parted.
func (p *process) has(n int32) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.by().Parted(n)
}

// say sends a text, and reports whether there was room.
func (p *process) say(to int32, text string) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	h := transport.Header{Kind: transport.Data, Src: p.rank, Dst: to, Len: len(text), MsgLen: uint64(len(text))}
	return p.by().Send(&h, []byte(text))
}

func TestOnePartsWhileOthersGoOn(t *testing.T) {
	all := apart(t, 3)
	a, b, c := all[0], all[1], all[2]
	if !a.say(numberOf(1), "last words") {
		t.Fatal("no room")
	}
	a.letGo(numberOf(1))
	if a.has(numberOf(1)) {
		t.Error("the other has parted as soon as this one")
	}
	until(t, all, "the parting", func() bool { return b.has(numberOf(0)) })
	if got := b.got[numberOf(0)]; len(got) != 1 || got[0] != "last words" {
		t.Errorf("%q", got)
	}
	// What the other sends now is for nobody, and is taken.
	for range 200 {
		until(t, all, "room", func() bool { return b.say(numberOf(0), "too late") })
	}
	if !a.say(numberOf(1), "to nobody") {
		t.Error("a packet to one that has been parted from waits")
	}
	b.letGo(numberOf(0))
	until(t, all, "both", func() bool { return a.has(numberOf(1)) && b.has(numberOf(0)) })
	if len(a.got) > 0 || len(b.got[numberOf(0)]) != 1 {
		t.Errorf("%v, %v", a.got, b.got)
	}
	// The socket between them is closed, those to the third are not.
	until(t, all, "the close", func() bool { return a.left() == 1 && b.left() == 1 && c.left() == 2 })
	for _, pair := range [][2]int{{0, 2}, {2, 0}, {1, 2}, {2, 1}} {
		to, from := all[pair[1]], numberOf(pair[0])
		clear(to.got)
		if !all[pair[0]].say(numberOf(pair[1]), "still here") {
			t.Fatal("no room")
		}
		until(t, all, "words", func() bool { return len(to.got[from]) == 1 })
	}
	for _, p := range all {
		if len(p.lost) > 0 {
			t.Errorf("%v", p.lost)
		}
	}
}

// left is how many connections there are.
func (p *process) left() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.by().host.Reap()
}

func TestALossIsNoNewsAfterParting(t *testing.T) {
	for name, parting := range map[string]func(a, b *process){
		"of the one that dies": func(a, b *process) { b.letGo(numberOf(0)) },
		"of the one that is left": func(a, b *process) {
			a.letGo(numberOf(1))
		},
		"of both": func(a, b *process) { a.letGo(numberOf(1)); b.letGo(numberOf(0)) },
	} {
		all := apart(t, 3)
		a, b := all[0], all[1]
		parting(a, b)
		if name != "of the one that is left" {
			until(t, all, "the parting", func() bool { return a.has(numberOf(1)) })
		}
		b.lock.Lock()
		b.by().host.Abort()
		b.by().handed = true
		close(b.by().done)
		b.lock.Unlock()
		rest := []*process{a, all[2]}
		until(t, rest, "the end", func() bool { return a.has(numberOf(1)) && all[2].lost[numberOf(1)] != nil })
		if len(a.lost) > 0 {
			t.Errorf("%s: %v", name, a.lost)
		}
		a.letGo(numberOf(1)) // again, or not: it makes no difference
		if !a.has(numberOf(1)) || !a.has(4711) || !a.say(numberOf(1), "anybody?") {
			t.Errorf("%s: what is over begins anew", name)
		}
	}
}

func TestALossNamesWhereItWas(t *testing.T) {
	all := apart(t, 2)
	all[1].lock.Lock()
	all[1].by().Abort()
	all[1].lock.Unlock()
	until(t, all[:1], "the loss", func() bool { return all[0].lost[numberOf(1)] != nil })
	text := all[0].lost[numberOf(1)].Error()
	if !strings.Contains(text, all[0].by().addrs[1].String()) || strings.Contains(text, "host 1") {
		t.Error(text)
	}
	<-all[0].by().done // nobody is left: the descriptors are given back without a word of the engine
}

// leaver parts from whoever a packet or a loss is from.
type leaver struct {
	*process
	from *guests
}

func (l *leaver) Deliver(h *transport.Header, b []byte) {
	l.from.Part(h.Src)
	l.from.Part(h.Src)
}

func TestAPartingMayComeWithinADelivery(t *testing.T) {
	all := apart(t, 2)
	a, b := all[0], all[1]
	a.by().receive = &leaver{a, a.by()}
	if !b.say(numberOf(0), "go") {
		t.Fatal("no room")
	}
	until(t, all, "the parting", func() bool { return b.has(numberOf(0)) })
	b.letGo(numberOf(0))
	for _, p := range all {
		<-p.by().done
		if p.by().failed != nil {
			t.Error(p.by().failed)
		}
	}
}

func TestTheEndOfAllIsBoundedAndNamesWhoIsLate(t *testing.T) {
	all := apart(t, 2)
	a, b := all[0], all[1]
	a.lock.Lock()
	err := a.by().Finish(time.Now().Add(50 * time.Millisecond))
	a.lock.Unlock()
	if err == nil || !strings.Contains(err.Error(), a.by().addrs[1].String()+" has not finished in time") {
		t.Error(err)
	}
	b.lock.Lock()
	err = b.by().Finish(time.Now().Add(patience))
	b.lock.Unlock()
	<-a.by().done
	if err := errors.Join(err, a.by().failed); err != nil {
		t.Error(err)
	}
}

func TestACorkedTransportPartsWithAllThatWasSent(t *testing.T) {
	all := apart(t, 2)
	a, b := all[0], all[1]
	a.lock.Lock()
	a.by().Cork()
	a.lock.Unlock()
	for range 10 {
		a.say(numberOf(1), "gathered")
	}
	a.letGo(numberOf(1))
	a.lock.Lock()
	a.by().Uncork()
	a.lock.Unlock()
	until(t, all, "all of it", func() bool { return b.has(numberOf(0)) })
	if got := b.got[numberOf(0)]; len(got) != 10 {
		t.Errorf("%d packets of 10", len(got))
	}
	b.letGo(numberOf(0))
	<-a.by().done
	<-b.by().done
}

// bell counts how often it is rung.
type bell struct{ rung atomic.Int32 }

func (b *bell) Wake() { b.rung.Add(1) }

func TestAPartingThatNobodyPollsForRings(t *testing.T) {
	all := apart(t, 2)
	a, b := all[0], all[1]
	var rings bell
	a.by().bell = &rings
	a.letGo(numberOf(1))
	b.letGo(numberOf(0))
	<-a.by().done
	if n := rings.rung.Load(); n != 1 || !a.has(numberOf(1)) {
		t.Errorf("rung %d times", n)
	}
}
