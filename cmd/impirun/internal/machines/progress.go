package machines

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// The line that counts machines and ranks while a job starts, for somebody who sits at a terminal: at once with -v, or
// else if the start takes long. It stays until all ranks have joined, or until one of them writes something. All
// methods but begin may be called on nil, which shows nothing. The lock of what prints is held for all of them but due.
type progress struct {
	to     io.Writer
	after  <-chan time.Time // ticks when the line is to be shown; nil: it is
	shown  string           // what stands there
	active bool
	over   bool
}

// longStart is how long a start may take before a line says how far it is.
const longStart = 2 * time.Second

// tally is what the line says.
type tally struct{ machines, reached, ranks, started, joined int }

func (c tally) String() string {
	return fmt.Sprintf("impirun: %d of %d machines reached, %d of %d ranks started, %d joined", c.reached, c.machines,
		c.started, c.ranks, c.joined)
}

// newProgress is the line of a job, nil if nobody would see it.
func newProgress(plan *options.Plan) *progress {
	if _, err := unix.IoctlGetTermios(2, unix.TCGETS); err != nil || plan.Quiet || supervise.InBackground(2) {
		return nil
	}
	p := &progress{to: os.Stderr, active: plan.Verbose}
	if !p.active {
		p.after = time.After(longStart)
	}
	return p
}

// due ticks when the line is to be shown.
func (p *progress) due() <-chan time.Time {
	if p == nil {
		return nil
	}
	return p.after
}

// begin shows the line from now on.
func (p *progress) begin() { p.active = !p.over }

// clear takes the line away.
func (p *progress) clear() {
	if p != nil && p.shown != "" {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.shown = ""
	}
}

func (p *progress) update(c tally) {
	if p == nil || !p.active || c.String() == p.shown {
		return
	}
	p.clear()
	if c.joined < c.ranks {
		p.shown = c.String()
		fmt.Fprint(p.to, p.shown)
	} else {
		p.end()
	}
}

// end takes the line away for good.
func (p *progress) end() {
	p.clear()
	if p != nil {
		p.active, p.over = false, true
	}
}

// show brings the line up to date.
func (h *head) show() {
	if h.progress == nil {
		return
	}
	c := tally{machines: len(h.nodes)}
	for _, r := range h.nodes {
		c.ranks += len(r.Ranks)
		if r.reached {
			c.reached++
		}
		if r.started {
			c.started += len(r.Ranks)
		}
		if r.hosts != nil {
			c.joined += len(r.Ranks)
		}
	}
	h.printing.Lock()
	defer h.printing.Unlock()
	if h.cause == nil {
		h.progress.update(c)
	} else {
		h.progress.end()
	}
}
