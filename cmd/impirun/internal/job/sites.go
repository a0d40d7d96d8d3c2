package job

import (
	"os"
	"sync"

	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/libimpi/report"
)

// sites are lines of programs that have been looked up. All ranks of a job mostly run the same program, whose debug
// information is read here, by the launcher of their machine, and not by each of them.
type sites struct {
	mu    sync.Mutex // guards what follows
	lines map[report.Address]string
}

// mostSites bounds the lines that are kept.
const mostSites = 1 << 12

// fill gives the threads of a process the lines of the calls that they are in.
func (s *sites) fill(p *report.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range p.Threads {
		t := &p.Threads[i]
		if t.Site == "" && len(t.Returns) > 0 {
			t.Site = s.line(t.Returns[0])
		}
	}
}

// line is the line of an address; "" if it is not known.
func (s *sites) line(at report.Address) string {
	text, ok := s.lines[at]
	if ok {
		return text
	}
	if info, err := os.Stat(at.File); err == nil && info.Mode().IsRegular() {
		if site, ok := callsite.Call(at).Line(); ok {
			text = site.String()
		}
	}
	if len(s.lines) >= mostSites || s.lines == nil {
		s.lines = map[report.Address]string{}
	}
	s.lines[at] = text
	return text
}
