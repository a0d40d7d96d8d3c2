package observe

// #include "record.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/libimpi/summary"
	"github.com/libimpi/libimpi/libimpi/trace"
)

// C counts by the buckets and distances of the page.
const (
	_ = uint(C.IMPI_BUCKETS-summary.Buckets) + uint(summary.Buckets-C.IMPI_BUCKETS)
	_ = uint(C.IMPI_DISTANCES-C.int(summary.Distances)) + uint(C.int(summary.Distances)-C.IMPI_DISTANCES)
)

// Summary is what this process has counted. asleep is how long its threads slept in waits.
func (r *Recorder) Summary(asleep time.Duration) *summary.Summary {
	c := &r.config
	now := read()
	ns := func(ticks C.uint64_t) int64 { return int64(float64(ticks) / r.second * 1e9) }
	if span := float64(now.Ticks - r.start.Ticks); span > 0 {
		r.second = span / float64(now.Monotonic-r.start.Monotonic) * 1e9
	}
	me := summary.Rank{Rank: c.Rank, Machine: c.Machine, PID: os.Getpid(), Time: now.Monotonic - r.start.Monotonic,
		Asleep: int64(asleep), Memory: mostMemory(), Threads: len(r.threads)}
	s := &summary.Summary{Program: c.Program, Begin: time.Unix(0, r.start.Monotonic+r.offset).UTC(), Size: int(c.Ranks),
		Client: int(c.Client), Width: summary.WidthFor(int(c.Ranks))}
	places := places{of: map[uint64]string{}}
	width := int32(s.Width)
	for _, t := range r.threads {
		for i := range t.sites {
			n := &t.sites[i]
			if n.key == 0 {
				continue
			}
			key := uint64(n.key) - 1
			call := summary.Call{Name: c.Calls[key&0xffff], Place: places.find(key >> 16), Ranks: 1, Count: uint64(n.count),
				Time: ns(n.ticks), Longest: ns(n.longest), Sent: int64(n.sent), Received: int64(n.received)}
			call.Least = summary.Extreme{Rank: c.Rank, Time: call.Time}
			call.Most = call.Least
			me.MPI, me.Calls = me.MPI+call.Time, me.Calls+call.Count
			me.Sent, me.Received = me.Sent+call.Sent, me.Received+call.Received
			s.Sites = append(s.Sites, call)
		}
		for d := range t.sizes {
			for b, n := range t.sizes[d] {
				s.Sizes[d][b].Messages += uint64(n.messages)
				s.Sizes[d][b].Bytes += uint64(n.bytes)
			}
		}
		to, waited := unsafe.Slice(t.to, c.Ranks), unsafe.Slice(t.waited, c.Ranks)
		for rank := range c.Ranks {
			if n := to[rank]; n.messages > 0 {
				s.Pairs = append(s.Pairs, summary.Pair{From: c.Rank / width, To: rank / width,
					Traffic: summary.Traffic{Messages: uint64(n.messages), Bytes: uint64(n.bytes)}})
			}
			if n := waited[rank]; n > 0 {
				s.Waited = append(s.Waited, summary.Waited{For: rank / width, Time: ns(n)})
			}
		}
	}
	s.Ranks = []summary.Rank{me}
	s.Complete()
	return s
}

// EndAlone ends the trace of a process that has no others to compare clocks with, and says why.
func (r *Recorder) EndAlone(why string) {
	r.off()
	if r.writer != nil {
		r.writer.Remark("the clocks of different machines are not compared: " + why)
		r.close(trace.Align{})
	}
}

// mostMemory is the most bytes that this process had in memory; 0 if the system does not say.
func mostMemory() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return n << 10
}

// places names the places in files that calls return to, which are the same in all processes of a program.
type places struct {
	of   map[uint64]string
	code []callsite.Mapping
}

// find returns FILE+OFFSET; "" if the address is in no file.
func (p *places) find(site uint64) string {
	if name, ok := p.of[site]; ok || site == 0 {
		return name
	}
	if p.code == nil {
		if maps, err := os.Open("/proc/self/maps"); err == nil {
			p.code = callsite.Code(maps)
			maps.Close()
		}
	}
	name := ""
	for _, m := range p.code {
		if m.Start < site && site <= m.End {
			name = fmt.Sprintf("%s+%#x", m.File, site-1-m.Start+m.Offset)
		}
	}
	p.of[site] = name
	return name
}

// lineOf finds the line of a place; with no debug information, the name of the file without its folder.
func lineOf(place string) (string, bool) {
	i := strings.LastIndexByte(place, '+')
	if i < 0 {
		return "", false
	}
	offset, err := strconv.ParseUint(place[i+1:], 0, 64)
	if err != nil {
		return "", false
	}
	if at, ok := (callsite.Call{File: place[:i], Offset: offset}).Line(); ok {
		return at.String(), true
	}
	return filepath.Base(place[:i]) + place[i:], true
}

// Gather brings the summaries of all processes to the first, along a binomial tree: whoever has one of several merges
// them before it sends them on.
func Gather(p Peers, s *summary.Summary) error {
	head := make([]byte, 8)
	for step := 1; step < p.Size(); step *= 2 {
		if p.Rank()&step != 0 {
			text, err := s.Encode()
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(head, uint64(len(text)))
			if err := p.Send(p.Rank()-step, head); err != nil {
				return err
			}
			return p.Send(p.Rank()-step, text)
		}
		if from := p.Rank() + step; from < p.Size() {
			if err := p.Recv(from, head); err != nil {
				return err
			}
			n := binary.LittleEndian.Uint64(head)
			if n > mostText {
				return fmt.Errorf("rank %d has a summary of %d bytes", from, n)
			}
			text := make([]byte, n)
			if err := p.Recv(from, text); err != nil {
				return err
			}
			other, err := summary.Parse(text)
			if err != nil {
				return err
			}
			s.Merge(other)
		}
	}
	return nil
}

// mostText bounds the summary of some processes, in bytes.
const mostText = 1 << 30

// WritePage writes the page to a file, in the form that the end of its name says, or as text to out if the name is 1.
// Each client has a page: "-client1" and so on comes before the end of the names of those after the first.
func WritePage(s *summary.Summary, name string, out io.Writer) error {
	s.Resolve(lineOf)
	if name == "1" {
		_, err := io.WriteString(out, s.Text())
		return err
	}
	page, end := s.Text(), filepath.Ext(name)
	if s.Client > 0 {
		name = fmt.Sprintf("%s-client%d%s", strings.TrimSuffix(name, end), s.Client, end)
	}
	switch end {
	case ".html", ".htm":
		page = s.HTML()
	case ".json":
		page = s.JSON()
	}
	return os.WriteFile(name, []byte(page), 0o666)
}
