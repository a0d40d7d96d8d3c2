package session

import "github.com/libimpi/libimpi/cmd/impi-conform/internal/record"

// steps are what is done to the traces of a session that has too many events, one step after the other, from the oldest
// case to the newest, until it has few enough.
var steps = []struct {
	passed bool // of which cases: those that have passed, or all others
	left   int  // events of each
}{{true, 200}, {false, 2000}, {true, 0}, {false, 200}, {false, 0}}

// forget shortens traces until the session keeps no more events than it may.
func (x *Session) forget() {
	runs := x.Runs()
	n := 0
	for _, r := range runs {
		n += r.events()
	}
	for _, step := range steps {
		for i := len(runs) - 1; i >= 0 && n > x.set.limits.Events; i-- {
			n -= runs[i].shorten(n-x.set.limits.Events, step.left, func(s State) bool {
				return (s == State(record.Pass)) == step.passed
			})
		}
	}
}

// events are how many the run keeps of cases that are over.
func (r *Run) events() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.cases {
		n += p.kept()
	}
	return n
}

func (p *play) kept() int {
	if p.result == nil || p.result.Trace == nil {
		return 0
	}
	return len(p.result.Trace.Events)
}

// shorten shortens traces of some cases to a number of events, until enough are gone; it returns how many.
func (r *Run) shorten(enough, left int, which func(State) bool) (gone int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.cases {
		before := p.kept()
		if gone >= enough || before <= left || !which(p.state) {
			continue
		}
		x := *p.result // others may read the old one
		x.Trace = x.Trace.Shorten(left)
		p.result = &x
		gone += before - left
	}
	return gone
}
