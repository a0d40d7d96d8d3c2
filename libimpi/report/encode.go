package report

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Encode returns the report as JSON of at most MostBytes. If it is longer, lists are cut until it fits; the numbers
// beside them stay.
func (p *Process) Encode() ([]byte, error) {
	short := *p
	for most := Most; ; most /= 2 {
		short.cut(most)
		b, err := json.Marshal(&short)
		if err != nil || len(b) <= MostBytes {
			return b, err
		}
		if most == 0 {
			return nil, fmt.Errorf("a report of %d bytes", len(b))
		}
	}
}

// cut shortens all lists. Lists are cut, never written to.
func (p *Process) cut(most int) {
	p.Threads = first(p.Threads, most)
	p.Sends, p.Receives, p.Unexpected = first(p.Sends, most), first(p.Receives, most), first(p.Unexpected, most)
	p.Windows, p.Files = first(p.Windows, most), first(p.Files, most)
	p.Collectives, p.Comms = first(p.Collectives, most), first(p.Comms, most)
	if most == 0 {
		p.Open, p.LastCall, p.Machine = "", "", ""
	}
}

func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// Parse reads a report. It trusts nothing: what does not keep to the bounds of this package is an error.
func Parse(b []byte) (*Process, error) {
	if len(b) > MostBytes {
		return nil, fmt.Errorf("a report of %d bytes", len(b))
	}
	p := new(Process)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("a report that is not one: %w", err)
	}
	return p, p.check()
}

var errLong = errors.New("a report with a list that is too long")

// check looks at what a reader would otherwise have to.
func (p *Process) check() error {
	long := max(len(p.Threads), len(p.Sends), len(p.Receives), len(p.Unexpected), len(p.Windows), len(p.Files),
		len(p.Collectives), len(p.Comms))
	for i := range p.Threads {
		t := &p.Threads[i]
		long = max(long, len(t.Args), len(t.Waits), len(t.Returns))
	}
	for i := range p.Windows {
		long = max(long, len(p.Windows[i].Targets))
	}
	if long > Most {
		return errLong
	}
	for i := range p.Comms {
		if err := p.Comms[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// check makes sure that members can be counted.
func (c *Comm) check() error {
	n := 0
	for _, r := range c.Members {
		if r.First < 0 || r.Count < 1 || r.First > mostRanks || r.Count > mostRanks || n > mostRanks {
			return errors.New("a report with a communicator whose members are no ranks")
		}
		n += r.Count
	}
	return nil
}

// mostRanks bounds ranks: 2^31-1.
const mostRanks = 1<<31 - 1
