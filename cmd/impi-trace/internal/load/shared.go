package load

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/libimpi/trace"
)

// shared gives names, communicators and sites of all files common numbers.
type shared struct {
	size   int32      // how many ranks there are
	mu     sync.Mutex // guards what follows
	names  map[string]uint16
	comms  map[string]int32
	sites  map[place]int32
	list   job.Job // its Names and Comms
	places []place
}

// place is where a call lies: in a file, or, if that is not known, at an address.
type place struct {
	file   string
	offset uint64
}

func newShared(size int32) *shared {
	return &shared{size: size, names: map[string]uint16{}, comms: map[string]int32{}, sites: map[place]int32{}}
}

func (s *shared) job() *job.Job {
	j := &job.Job{Names: s.list.Names, Comms: s.list.Comms}
	for _, name := range j.Names {
		j.Classes = append(j.Classes, job.ClassOf(name))
	}
	return j
}

// mostNames bounds the names of functions: a damaged file may have any.
const mostNames = 1 << 15

func (s *shared) name(name string) uint16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.names[name]
	if !ok {
		if len(s.list.Names) == mostNames {
			return mostNames - 1
		}
		at = uint16(len(s.list.Names))
		s.names[name] = at
		s.list.Names = append(s.list.Names, name)
	}
	return at
}

func (s *shared) site(p place) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.sites[p]
	if !ok {
		at = int32(len(s.places))
		s.sites[p] = at
		s.places = append(s.places, p)
	}
	return at
}

// comm finds a communicator by its context and its members, which are the same in the traces of all members.
func (s *shared) comm(c *trace.Comm) int32 {
	one, two := runs(c.Local), runs(c.Remote)
	if one > two { // both groups of an intercommunicator have the same key
		one, two = two, one
	}
	key := fmt.Sprint(c.Context, one, "|", two)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.comms[key]
	if !ok {
		at = int32(len(s.list.Comms))
		s.comms[key] = at
		name := c.Name
		if name == "" {
			name = fmt.Sprintf("communicator %d", at)
		}
		s.list.Comms = append(s.list.Comms, job.Comm{Name: name, Members: s.members(c)})
	}
	return at
}

// members are those of a communicator whose members are all of this job.
func (s *shared) members(c *trace.Comm) []int32 {
	if len(c.Remote) > 0 || c.Local.Size() > int(s.size) {
		return nil
	}
	list := c.Local.List()
	if slices.ContainsFunc(list, func(rank int32) bool { return rank < 0 || rank >= s.size }) {
		return nil
	}
	return list
}

func runs(list trace.Runs) string {
	var b []byte
	for _, r := range list {
		for _, v := range []int32{r.First, r.Count, r.Step} {
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		}
	}
	return string(b)
}

// Lines finds the line of a call; false: it is not known.
type Lines func(file string, offset uint64) (source string, line int, ok bool)

// mostLines bounds the sites whose lines are looked up.
const mostLines = 4096

// resolve makes lines of sites. Calls of one line become one site.
func resolve(j *job.Job, places []place, line Lines) {
	to := make([]int32, len(places))
	index := map[job.Site]int32{}
	for i, p := range places {
		site := job.Site{File: p.file, Line: 0, Function: fmt.Sprintf("%#x", p.offset)}
		if i < mostLines && p.file != "" {
			if source, n, ok := line(p.file, p.offset); ok {
				site = job.Site{File: source, Line: n}
			}
		}
		at, ok := index[site]
		if !ok {
			at = int32(len(j.Sites))
			index[site] = at
			j.Sites = append(j.Sites, site)
		}
		to[i] = at
	}
	for i := range j.Ranks {
		calls := j.Ranks[i].Calls
		for k := range calls {
			if s := calls[k].Site; s >= 0 {
				calls[k].Site = to[s]
			}
		}
	}
}

// Text is a site as people write it: solver.c:118.
func Text(s job.Site) string {
	if s.Line > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line)
	}
	if s.File == "" {
		return s.Function
	}
	return filepath.Base(s.File) + "+" + s.Function
}
