package page

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/text"
)

// classes are the states in which a rank is, by the names of their colours; computing is what is in none.
var classes = []string{"message", "collective", "window", "file", "other", "late-sender", "late-receiver",
	"late-member", "handshake", "pressure"}

const firstCause = 5

// stateOf is the state of a call.
func stateOf(c job.Class) int {
	switch {
	case c == job.Message || c == job.Wait || c == job.Test:
		return 0
	case c.Collective():
		return 1
	case c == job.Window:
		return 2
	case c == job.File:
		return 3
	}
	return 4
}

// data is what the script draws.
type data struct {
	r        *analysis.Result
	left     int   // calls that are not there one by one
	shortest int64 // those that are, are at least as long
	buckets  int
	keys     map[key]int
	list     []key
}

// key is a line of the table of calls.
type key struct {
	function uint16
	site     int32
}

func newData(r *analysis.Result, events int) *data {
	d := &data{r: r, keys: map[key]int{}}
	for i := range r.Table {
		k := key{r.Table[i].Function, r.Table[i].Site}
		d.keys[k] = len(d.list)
		d.list = append(d.list, k)
	}
	lengths := func(yield func(int64)) {
		for i := range r.Job.Ranks {
			for k := range r.Job.Ranks[i].Calls {
				c := &r.Job.Ranks[i].Calls[k]
				yield(c.End - c.Start)
			}
		}
	}
	d.shortest, d.left = threshold(lengths, events)
	d.buckets = 4096
	if d.left > 0 {
		d.buckets = 1 << 16
	}
	for d.buckets > 64 && d.buckets*len(r.Job.Ranks) > 1<<20 {
		d.buckets /= 2
	}
	return d
}

// threshold is a length of which at most so many are longer or equal, and how many are shorter.
func threshold(lengths func(yield func(int64)), most int) (shortest int64, left int) {
	count := make([]int, 64*fine)
	total := 0
	bin := func(v int64) int {
		n := bits.Len64(uint64(v))
		if n <= fineBits {
			return int(v)
		}
		return n*fine + int(v>>(n-fineBits-1))%fine
	}
	lengths(func(v int64) { count[bin(max(0, v))]++; total++ })
	if total <= most {
		return 0, 0
	}
	kept := 0
	for b := len(count) - 1; b >= 0; b-- {
		if kept += count[b]; kept > most {
			kept -= count[b]
			if n := b / fine; n > fineBits {
				return int64(fine+b%fine+1) << (n - fineBits - 1), total - kept
			}
			return int64(b) + 1, total - kept
		}
	}
	return 0, 0
}

// fine is how many bins the histogram of threshold has between a power of two and the next.
const (
	fineBits = 8
	fine     = 1 << fineBits
)

// write writes the data as elements of the page.
func (d *data) write(w io.Writer) error {
	j := d.r.Job
	meta := map[string]any{"begin": j.Begin(), "span": j.Span(), "ranks": len(j.Ranks), "buckets": d.buckets,
		"classes": classes, "shortest": d.shortest, "left": d.left}
	var names, places, states, comms, machines []any
	for _, k := range d.list {
		c := &job.Call{Function: k.function}
		names, places = append(names, text.Clean(j.Names[k.function])), append(places, text.Site(j, k.site))
		states = append(states, stateOf(j.Class(c)))
	}
	for i := range j.Comms {
		comms = append(comms, text.Clean(j.Comms[i].Name))
	}
	for i := range j.Ranks {
		machines = append(machines, text.Clean(j.Ranks[i].Machine))
	}
	meta["names"], meta["places"], meta["states"], meta["comms"], meta["machines"] = names, places, states, comms, machines
	b, err := json.Marshal(meta) // it escapes what could end the element
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "<script type=\"application/json\" id=\"meta\">%s</script>\n", b)
	for _, part := range []struct {
		name  string
		write func(*stream)
	}{{"levels", d.levels}, {"calls", d.calls}, {"messages", d.messages}, {"path", d.path}, {"pairs", d.pairs}} {
		if err := pack(w, part.name, part.write); err != nil {
			return err
		}
	}
	return nil
}

// pack writes an element of compressed numbers.
func pack(w io.Writer, name string, write func(*stream)) error {
	fmt.Fprintf(w, "<script type=\"application/octet-stream\" id=\"packed-%s\">", name)
	text := base64.NewEncoder(base64.StdEncoding, w)
	packed, err := flate.NewWriter(text, flate.BestSpeed)
	if err != nil {
		return err
	}
	s := &stream{w: packed}
	write(s)
	s.flush()
	if err := packed.Close(); err != nil {
		return err
	}
	if err := text.Close(); err != nil {
		return err
	}
	_, err = io.WriteString(w, "</script>\n")
	return err
}

// stream writes numbers, each in as many bytes as it needs: seven bits in each, the lowest first.
type stream struct {
	w io.Writer
	b []byte
}

func (s *stream) number(v int64) {
	s.b = binary.AppendUvarint(s.b, uint64(max(0, v)))
	if len(s.b) > 1<<16 {
		s.flush()
	}
}

func (s *stream) flush() {
	s.w.Write(s.b)
	s.b = s.b[:0]
}

// levels writes for each rank and bucket of time the share of each state, 0 to 255.
func (d *data) levels(s *stream) {
	begin, span := d.r.Job.Begin(), max(1, d.r.Job.Span())
	sums := make([]int64, d.buckets*len(classes))
	out := make([]byte, len(sums))
	for rank := range d.r.Job.Ranks {
		clear(sums)
		waits := d.r.Waits[rank]
		covered := begin // calls within others do not count twice
		for i := range d.r.Job.Ranks[rank].Calls {
			c := &d.r.Job.Ranks[rank].Calls[i]
			from, state := max(c.Start, covered), stateOf(d.r.Job.Class(c))
			if len(waits) > 0 && waits[0].Call == int32(i) {
				if waits[0].End > from {
					d.share(sums, from-begin, waits[0].End-begin, span, firstCause+int(waits[0].Cause)-1)
					from = waits[0].End
				}
				waits = waits[1:]
			}
			if c.End > from {
				d.share(sums, from-begin, c.End-begin, span, state)
			}
			covered = max(covered, c.End)
		}
		for i, sum := range sums {
			bucket := i / len(classes)
			width := max(1, d.edge(bucket+1, span)-d.edge(bucket, span))
			out[i] = byte(min(255, (sum*255+width/2)/width))
			if sum > 0 && out[i] == 0 {
				out[i] = 1
			}
		}
		s.flush()
		s.w.Write(out)
	}
}

// edge is the time at which a bucket begins.
func (d *data) edge(bucket int, span int64) int64 {
	hi, lo := bits.Mul64(uint64(bucket), uint64(span))
	at, _ := bits.Div64(hi, lo, uint64(d.buckets))
	return int64(at)
}

// share adds a time to the buckets that it lies in.
func (d *data) share(sums []int64, from, to, span int64, state int) {
	hi, lo := bits.Mul64(uint64(from), uint64(d.buckets))
	at, _ := bits.Div64(hi, lo, uint64(span))
	for bucket := int(at); bucket < d.buckets && from < to; bucket++ {
		end := min(to, max(from, d.edge(bucket+1, span)))
		sums[bucket*len(classes)+state] += end - from
		from = end
	}
}

// calls writes the calls that are there one by one, rank by rank.
func (d *data) calls(s *stream) {
	for rank := range d.r.Job.Ranks {
		calls, waits := d.r.Job.Ranks[rank].Calls, d.r.Waits[rank]
		n := 0
		for i := range calls {
			if calls[i].End-calls[i].Start >= d.shortest {
				n++
			}
		}
		s.number(int64(n))
		before := int64(0)
		for i := range calls {
			c := &calls[i]
			var wait *analysis.Wait
			if len(waits) > 0 && waits[0].Call == int32(i) {
				wait, waits = &waits[0], waits[1:]
			}
			if c.End-c.Start < d.shortest {
				continue
			}
			s.number(c.Start - before)
			before = c.Start
			s.number(c.End - c.Start)
			s.number(int64(d.keys[key{c.Function, c.Site}]))
			s.number(int64(c.Comm) + 1)
			s.number(int64(c.Peer) + 1)
			s.number(int64(c.Tag) + 1)
			s.number(min(c.Bytes, 1<<52))
			if wait == nil {
				s.number(0)
				continue
			}
			s.number(int64(wait.Cause))
			s.number(wait.Length())
			s.number(int64(wait.By))
		}
	}
}

// messages writes the messages that were longest on their way.
func (d *data) messages(s *stream) {
	way := func(m *analysis.Message) (sent, received, bytes int64) {
		from, to := &d.r.Job.Ranks[m.From], &d.r.Job.Ranks[m.To]
		h := &from.Sends[m.Send]
		sent = from.Calls[h.Call].Start
		if done := to.Receives[m.Receive].Done; done >= 0 {
			return sent, max(sent, to.Calls[done].End), h.Bytes
		}
		return sent, -1, h.Bytes
	}
	const most = 200000
	shortest, _ := threshold(func(yield func(int64)) {
		for i := range d.r.Messages {
			if sent, received, _ := way(&d.r.Messages[i]); received >= 0 {
				yield(received - sent)
			}
		}
	}, most)
	var kept []*analysis.Message
	for i := range d.r.Messages {
		if sent, received, _ := way(&d.r.Messages[i]); received >= 0 && received-sent >= shortest {
			kept = append(kept, &d.r.Messages[i])
		}
	}
	s.number(int64(len(kept)))
	for _, m := range kept {
		sent, received, bytes := way(m)
		for _, v := range []int64{int64(m.From), int64(m.To), sent, received - sent, min(bytes, 1<<52)} {
			s.number(v)
		}
	}
}

// path writes the longest segments of the critical path.
func (d *data) path(s *stream) {
	shortest, _ := threshold(func(yield func(int64)) {
		for i := range d.r.Path {
			yield(d.r.Path[i].To - d.r.Path[i].From)
		}
	}, 50000)
	var b bytes.Buffer
	kept := &stream{w: &b}
	n := int64(0)
	for i := range d.r.Path {
		if p := &d.r.Path[i]; p.To-p.From >= shortest {
			n++
			kept.number(int64(p.Rank))
			kept.number(p.From)
			kept.number(p.To - p.From)
		}
	}
	kept.flush()
	s.number(n)
	s.b = append(s.b, b.Bytes()...)
}

// cells is how many rows and columns the matrix has at most; of more ranks, some are one.
const cells = 256

// pairs writes who sends whom how much, by cells of the matrix.
func (d *data) pairs(s *stream) {
	each := (len(d.r.Job.Ranks) + cells - 1) / cells
	type cell struct{ from, to int }
	sums := map[cell][2]int64{}
	var order []cell
	for _, p := range d.r.Pairs {
		c := cell{int(p.From) / each, int(p.To) / each}
		sum, known := sums[c]
		if !known {
			order = append(order, c)
		}
		sums[c] = [2]int64{sum[0] + p.Messages, sum[1] + p.Bytes}
	}
	s.number(int64(max(1, each)))
	s.number(int64(len(order)))
	for _, c := range order {
		for _, v := range []int64{int64(c.from), int64(c.to), sums[c][0], min(sums[c][1], 1<<52)} {
			s.number(v)
		}
	}
}
