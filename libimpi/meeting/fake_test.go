package meeting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// A world of two sides in memory: a goroutine for each process.

// hub is what the members of a side share: each collective call is one exchange of what all say.
type hub struct {
	mu    sync.Mutex
	calls []*call
}

// call is a collective call. It is over when all members have said something.
type call struct {
	said [][]byte
	come int
	over chan struct{}
}

// share says something in the call that comes next for a member, and returns what all have said.
func (h *hub) share(nth, rank, size int, b []byte) [][]byte {
	h.mu.Lock()
	for len(h.calls) <= nth {
		h.calls = append(h.calls, &call{said: make([][]byte, size), over: make(chan struct{})})
	}
	c := h.calls[nth]
	c.said[rank] = b
	if c.come++; c.come == size {
		close(c.over)
	}
	h.mu.Unlock()
	<-c.over
	return c.said
}

// process is one of a side: its Members, Guests and Links.
type process struct {
	side, rank, size int
	hub              *hub
	nth              int
	me               Introduction
	knows            map[Identity]int32
	next             int32 // number
	admitted         []Introduction
	reached          []int32
	released         int
	card             []byte
	fails            string // where
	meetings         []*fakeMeeting
	trace            func(format string, args ...any) // a leader's
}

func (p *process) String() string { return fmt.Sprintf("side %d", p.side) }
func (p *process) Rank() int      { return p.rank }
func (p *process) Size() int      { return p.size }

func (p *process) Gather(mine []byte, root int) ([][]byte, error) {
	p.nth++
	if all := p.hub.share(p.nth-1, p.rank, p.size, mine); p.rank == root {
		return slices.Clone(all), nil
	}
	return nil, nil
}

func (p *process) Bcast(b []byte, root int) ([]byte, error) {
	p.nth++
	return p.hub.share(p.nth-1, p.rank, p.size, b)[root], nil
}

func (p *process) Introduce() (Introduction, map[Identity]int32) {
	for who := range p.knows {
		p.me.Guests = append(p.me.Guests, who)
	}
	slices.SortFunc(p.me.Guests, Identity.Compare)
	return p.me, p.knows
}

func (p *process) Own(who Identity) (bool, int32) { return who.Job == p.me.Job, 10 }

func (p *process) Admit(who []Introduction) (numbers []int32) {
	p.admitted = who
	for range who {
		numbers = append(numbers, p.next)
		p.next++
	}
	return numbers
}

func (p *process) Reach(links []transport.Guest) error {
	for _, l := range links {
		p.reached = append(p.reached, l.Number)
	}
	return nil
}

func (p *process) Release() { p.released++ }

var errFake = errors.New("it is made to fail")

func (p *process) failure(at string) error {
	if p.fails == at {
		return errFake
	}
	return nil
}

func (p *process) Begin() (transport.Meeting, error) {
	m := &fakeMeeting{p: p}
	p.meetings = append(p.meetings, m)
	return m, p.failure("begin")
}

func (p *process) Exchange(ctx context.Context, line transport.Line, mine []byte) (theirs []byte, failed, lost error) {
	theirs, failed = line.Exchange(ctx, mine)
	if p.trace != nil {
		p.trace("%s\n%s", describe("ours", mine), describe("theirs", theirs))
	}
	return theirs, failed, nil
}

func (p *process) Join(ctx context.Context, _ transport.Line, root int,
	join func(context.Context, transport.Receiver, func()), failed func() bool) error {
	join(ctx, nil, func() {})
	word := []byte{0}
	if failed() {
		word[0] = 1
	}
	p.nth++
	for _, w := range p.hub.share(p.nth-1, p.rank, p.size, word) {
		if w[0] != 0 {
			return ErrGone
		}
	}
	return nil
}

// fakeMeeting makes links at once to all who have a number.
type fakeMeeting struct {
	p      *process
	ended  int
	joined transport.Participants
}

func (m *fakeMeeting) Card() ([]byte, error) { return m.p.card, m.p.failure("card") }

func (m *fakeMeeting) Join(_ context.Context, all transport.Participants, _ transport.Receiver, _ func()) (
	links []transport.Guest, err error) {
	m.joined = all
	for _, number := range all.Number {
		if number >= 0 {
			links = append(links, transport.Guest{Number: number, By: struct{ transport.Transport }{}})
		}
	}
	return links, m.p.failure("join")
}

func (m *fakeMeeting) Close() { m.ended++ }

// wire is one end of a line between the leaders.
type wire struct {
	in, out chan []byte
	first   bool
}

func newLine() (a, b *wire) {
	x, y := make(chan []byte, 10), make(chan []byte, 10)
	return &wire{x, y, true}, &wire{y, x, false}
}

func (w *wire) Exchange(ctx context.Context, mine []byte) ([]byte, error) {
	w.out <- mine
	select {
	case theirs := <-w.in:
		return theirs, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *wire) Secret() (s [transport.SecretSize]byte) { return s }
func (w *wire) First() bool                            { return w.first }
func (w *wire) Ended() bool                            { return false }
func (w *wire) Close() error                           { return nil }

// world is two sides of so many processes each, of job 1 and job 2.
func newWorld(sizes [2]int) (sides [2][]*process) {
	for side, size := range sizes {
		h := new(hub)
		for rank := range size {
			p := &process{side: side, rank: rank, size: size, hub: h, next: 100, knows: map[Identity]int32{},
				card: []byte(fmt.Sprintf("card %d of %d", rank, side)),
				me:   Introduction{Identity: who(side, rank), TagUB: 1 << 20}}
			sides[side] = append(sides[side], p)
		}
	}
	return sides
}

func who(side, rank int) Identity { return Identity{[16]byte{byte(side + 1)}, int32(rank)} }

// acquaint makes two processes know each other.
func acquaint(a, b *process) {
	a.knows[b.me.Identity], b.knows[a.me.Identity] = a.next, b.next
	a.next, b.next = a.next+1, b.next+1
}

// outcome is what Meet has returned to a process.
type outcome struct {
	remote []int32
	err    error
}

// meet lets all processes meet. The last of the second side is its leader.
func meet(t *testing.T, sides [2][]*process, lines [2]transport.Line, failed error) (all [2][]outcome) {
	t.Helper()
	var wg sync.WaitGroup
	for side, members := range sides {
		all[side] = make([]outcome, len(members))
		root := side * (len(members) - 1)
		for rank, p := range members {
			m := &Side{Members: p, Guests: p, Links: p, Root: root, Ctx: t.Context()}
			var why error
			if rank == root {
				m.Line = lines[side]
				if side == 0 {
					why = failed
				}
			}
			wg.Go(func() {
				o := &all[side][rank]
				o.remote, o.err = m.Meet(why)
			})
		}
	}
	wg.Wait()
	return all
}
