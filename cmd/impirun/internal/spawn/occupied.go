package spawn

import (
	"slices"
	"sync"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/internal/placement"
)

// occupied knows which places of machines, as package placement counts them, processes have: those of the first job
// from its beginning to its end, those of a spawned one until its last process has ended. Machines go by their names,
// the spawner's own by "".
type occupied struct {
	mu    sync.Mutex
	taken map[string][]int
}

// take gives n processes the first places that are free, and returns those that had been taken before.
func (o *occupied) take(machine string, n int) (before, own []int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.taken == nil {
		o.taken = map[string][]int{}
	}
	before = o.taken[machine]
	own = placement.Free(before, n)
	o.taken[machine] = slices.Concat(before, own)
	return before, own
}

// giveBack makes places free.
func (o *occupied) giveBack(machine string, own []int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var left []int // others still read the list that was
	for _, place := range o.taken[machine] {
		if !slices.Contains(own, place) {
			left = append(left, place)
		}
	}
	o.taken[machine] = left
}

// Occupy takes the places of the processes on a machine. It returns the places that others have, and what gives its own
// back.
func (s *Spawner) Occupy(m *hosts.Machine) (before []int, leave func()) {
	at := placesAt(m)
	before, own := s.places.take(at, len(m.Ranks))
	return before, func() { s.places.giveBack(at, own) }
}

// placesAt is the key of a machine.
func placesAt(m *hosts.Machine) string {
	if m.Local {
		return ""
	}
	return m.Name
}
