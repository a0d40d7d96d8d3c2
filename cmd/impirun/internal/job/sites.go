package job

import (
	"os"
	"strings"
	"sync"

	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/libimpi/report"
)

// sites are lines of programs that have been looked up. All ranks of a job mostly run the same program, whose debug
// information is read here, by the launcher of their machine, and not by each of them.
type sites struct {
	mu    sync.Mutex                       // guards what follows
	lines map[report.Address]callsite.Site // without a line where it is not known
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
	if site := s.find(at); site.Line != 0 {
		return site.String()
	}
	return ""
}

// find looks up the line of an address.
func (s *sites) find(at report.Address) callsite.Site {
	site, ok := s.lines[at]
	if ok {
		return site
	}
	if info, err := os.Stat(at.File); err == nil && info.Mode().IsRegular() {
		site, _ = callsite.Call(at).Line()
	}
	if len(s.lines) >= mostSites || s.lines == nil {
		s.lines = map[report.Address]callsite.Site{}
	}
	s.lines[at] = site
	return site
}

// place gives an error the line of the program, if the rank has left that to us, and returns its text with it.
func (s *sites) place(e *report.Error, text string) string {
	if e == nil || e.Place == nil || e.File != "" {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	site := s.find(*e.Place)
	if site.Line == 0 {
		return text
	}
	e.File, e.Line = site.File, site.Line
	if rest, begins := strings.CutPrefix(text, strings.TrimSuffix(e.Call, "_c")+": "); begins {
		return strings.TrimSuffix(e.Call, "_c") + e.Where() + ": " + rest
	}
	return text
}
