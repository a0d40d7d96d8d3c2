package onesided

import (
	"cmp"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/coll"
)

func (e *FakeEngine) Allgather(own, all []uint64) error {
	recv := countBuf(all)
	recv.Count = int64(len(own))
	return coll.Allgather(e.comm, countBuf(own), recv)
}

// Barrier makes progress: others may need this process before they come.
func (e *FakeEngine) Barrier() error {
	e.step()
	mine := e.barriers.Add(1)
	for _, other := range e.f.engines {
		for other.barriers.Load() < mine {
			if err := cmp.Or(e.anyLoss(), e.Relax()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Agree is Barrier for those that live.
func (e *FakeEngine) Agree() error {
	e.step()
	mine := e.barriers.Add(1)
	for r, other := range e.f.engines {
		for other.barriers.Load() < mine && !e.f.deaths.of[r].Load() {
			if err := e.Relax(); err != nil {
				return err
			}
		}
	}
	return e.anyLoss()
}

// ReduceScatter makes progress, too.
func (e *FakeEngine) ReduceScatter(own []uint64) (sum uint64, err error) {
	n, s := len(e.f.engines), &e.f.sums
	s.Lock()
	if s.rounds == nil {
		s.rounds = map[int][][]uint64{}
	}
	round := e.summed
	e.summed++
	s.rounds[round] = append(s.rounds[round], slices.Clone(own))
	s.Unlock()
	for {
		s.Lock()
		if all := s.rounds[round]; len(all) == n {
			for _, given := range all {
				sum += given[e.Me]
			}
			s.Unlock()
			return sum, nil
		}
		s.Unlock()
		if err := cmp.Or(e.anyLoss(), e.Relax()); err != nil {
			return 0, err
		}
	}
}

// late are requests from one process to another that are under way until they are let go.
type late struct {
	sync.Mutex
	on       bool
	from, to int
	packets  []packet
}

// Delay keeps what one process asks another for.
func (f *Fake) Delay(from, to int) { f.late.on, f.late.from, f.late.to = true, from, to }

func (l *late) keeps(to *FakeEngine, p packet) bool {
	l.Lock()
	defer l.Unlock()
	if !l.on || p.on != Asks || p.from != l.from || to.Me != l.to {
		return false
	}
	l.packets = append(l.packets, p)
	return true
}

// Arrive lets what was kept arrive.
func (f *Fake) Arrive() {
	l := &f.late
	l.Lock()
	l.on = false
	packets := l.packets
	l.packets = nil
	l.Unlock()
	for _, p := range packets {
		f.engines[l.to].deliver(p)
	}
}
