package fake

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/libimpi/libimpi/transport"
)

// Lines and meetings of processes of several jobs. Who waits in one gives the turn to others.

// The steps at which Fail lets a process fail.
const (
	AtLine  = "line"  // Line.Exchange
	AtBegin = "begin" // Links.Meet
	AtCard  = "card"
	AtJoin  = "join"
)

type fault struct {
	rank int
	step string
}

// Fail makes a step fail for a process, with err, each time until it is called with nil.
func (w *World) Fail(rank int, step string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults[fault{rank, step}] = err
}

func (w *World) failure(p *proc, step string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults[fault{int(p.index), step}]
}

// line is one end of a line.
type line struct {
	w      *World
	p      *proc
	other  *line
	first  bool
	said   [][]byte // by this end, and not heard yet
	closed bool
}

// Line connects two processes. Both ends are to be used within Run.
func (w *World) Line(a, b int) (transport.Line, transport.Line) {
	x, y := &line{w: w, p: w.procs[a], first: true}, &line{w: w, p: w.procs[b]}
	x.other, y.other = y, x
	return x, y
}

// patience is how many turns of others a process waits in a line or in a meeting.
const patience = 100_000

var errPatience = errors.New("fake: the other side does not come")

// await gives the turn to others until cond, which is called under the lock, says so.
func (p *proc) await(ctx context.Context, cond func() (bool, error)) error {
	for range patience {
		p.w.mu.Lock()
		done, err := cond()
		if err == nil && p.dead {
			err = fmt.Errorf("fake: this process, %d, has been killed", p.index)
		}
		p.w.mu.Unlock()
		if done || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.w.Yield(int(p.index))
	}
	return errPatience
}

// Exchange implements transport.Line.
func (l *line) Exchange(ctx context.Context, mine []byte) (theirs []byte, err error) {
	if err := l.w.failure(l.p, AtLine); err != nil {
		l.Close()
		return nil, err
	}
	if len(mine) > transport.MaxExchange {
		return nil, fmt.Errorf("fake: %d bytes are too many for a line", len(mine))
	}
	l.w.mu.Lock()
	l.said = append(l.said, append([]byte{}, mine...))
	l.w.mu.Unlock()
	err = l.p.await(ctx, func() (bool, error) {
		o := l.other
		if len(o.said) > 0 {
			theirs, o.said = o.said[0], o.said[1:]
			return true, nil
		}
		if o.closed || o.p.dead || l.closed {
			return false, errors.New("fake: the line is closed")
		}
		return false, nil
	})
	return theirs, err
}

// Secret implements transport.Line.
func (l *line) Secret() [transport.SecretSize]byte {
	a, b := l.p.index, l.other.p.index
	return sha256.Sum256([]byte{byte(min(a, b)), byte(max(a, b))})
}

// First implements transport.Line.
func (l *line) First() bool { return l.first }

// Ended implements transport.Line.
func (l *line) Ended() bool {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.other.closed || l.other.p.dead
}

// Close implements transport.Line.
func (l *line) Close() error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.closed = true
	return nil
}

// meeting is what a process takes part in.
type meeting struct {
	p *proc
}

// joint is a process that another has made a link to in Join.
type joint struct{ from, to int32 }

// begin is transport.Links.Meet.
func (p *proc) begin() (transport.Meeting, error) {
	if err := p.w.failure(p, AtBegin); err != nil {
		return nil, err
	}
	return &meeting{p}, nil
}

// Card implements transport.Meeting.
func (m *meeting) Card() ([]byte, error) {
	if err := m.p.w.failure(m.p, AtCard); err != nil {
		return nil, err
	}
	return fmt.Append(nil, m.p.index), nil
}

// Join implements transport.Meeting.
func (m *meeting) Join(ctx context.Context, who transport.Participants, _ transport.Receiver,
	_ func()) (guests []transport.Guest, err error) {
	p, w := m.p, m.p.w
	if err := w.failure(p, AtJoin); err != nil {
		return nil, err
	}
	var others []*proc
	w.mu.Lock()
	for i, number := range who.Number {
		if number == unknown {
			continue
		}
		var index int
		if _, err := fmt.Sscan(string(who.Cards[i]), &index); err != nil || index < 0 || index >= len(w.procs) {
			w.mu.Unlock()
			return nil, fmt.Errorf("fake: a card says %q", who.Cards[i])
		}
		q := w.procs[index]
		others = append(others, q)
		p.names[index], p.lost[index], p.told[index] = number, nil, false
		*w.flow(q.index, p.index) = flow{}
		w.joined[joint{p.index, q.index}] = true
		g := transport.Guest{Number: number, By: p.guests}
		if w.o.Near {
			g.By, g.Near = p.near, true
		}
		guests = append(guests, g)
	}
	w.mu.Unlock()
	for _, q := range others {
		err = p.await(ctx, func() (bool, error) {
			if q.dead || w.faults[fault{int(q.index), AtJoin}] != nil {
				return false, fmt.Errorf("fake: process %d does not join", q.index)
			}
			return w.joined[joint{q.index, p.index}], nil
		})
		if err != nil {
			break
		}
	}
	if err != nil {
		w.mu.Lock()
		for _, q := range others {
			p.names[q.index] = unknown
		}
		w.mu.Unlock()
		return nil, err
	}
	return guests, nil
}

// Close implements transport.Meeting.
func (m *meeting) Close() {}

// Part implements transport.Parter.
func (n *Local) Part(number int32) { n.p.part(number) }

// Parted implements transport.Parter.
func (n *Local) Parted(number int32) bool { return n.p.parted(number) }

// Part implements transport.Parter.
func (g *Guests) Part(number int32) { g.p.part(number) }

// Parted implements transport.Parter.
func (g *Guests) Parted(number int32) bool { return g.p.parted(number) }

func (p *proc) part(number int32) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	q := p.named(number)
	if q == nil || q.job == p.job {
		return
	}
	p.names[q.index] = unknown
	p.left[number] = q
	w.joined[joint{p.index, q.index}] = false
	*w.flow(q.index, p.index) = flow{}
	if q.names[p.index] != unknown {
		w.put(w.flow(p.index, q.index), &transport.Header{}, nil, 0)
		f := w.flow(p.index, q.index)
		f.queue[len(f.queue)-1].last = true
	}
	q.bell++ // it may wait for room
}

func (p *proc) parted(number int32) bool {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if q := p.named(number); q != nil {
		return p.lost[q.index] == errParted
	}
	q := p.left[number]
	return q == nil || q.dead || q.names[p.index] == unknown
}

var errParted = errors.New("fake: the other has ended the link")

// cut takes the end of a link. Lock held.
func (p *proc) cut(src int32) {
	p.lost[src], p.told[src] = errParted, true
	p.w.flow(p.index, src).queue = nil
}
