// Package csv writes a job as tables for those who plot themselves: calls.csv, messages.csv and waits.csv. Times are
// nanoseconds since the job began, ranks those of MPI_COMM_WORLD. What is not known is empty.
package csv

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/load"
)

// Write writes the tables into a folder, which it makes if it is not there.
func Write(dir string, r *analysis.Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tables := map[string]func(*table, *analysis.Result){"calls": calls, "messages": messages, "waits": waits}
	for name, write := range tables {
		f, err := os.Create(filepath.Join(dir, name+".csv"))
		if err != nil {
			return err
		}
		t := &table{out: bufio.NewWriterSize(f, 1<<20), j: r.Job}
		write(t, r)
		if err := t.out.Flush(); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// table is a file in the making, a row at a time.
type table struct {
	out   *bufio.Writer
	j     *job.Job
	row   []byte
	sites []string
}

func (t *table) number(v int64) { t.row = append(strconv.AppendInt(t.row, v, 10), ',') }

// known is a number, or nothing if it is negative.
func (t *table) known(v int64) {
	if v >= 0 {
		t.row = strconv.AppendInt(t.row, v, 10)
	}
	t.row = append(t.row, ',')
}

// text quotes what has to be. A program that calculates tables must not take a name for a formula.
func (t *table) text(s string) {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		s = "'" + s
	}
	if strings.ContainsAny(s, "\",\n\r") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	t.row = append(append(t.row, s...), ',')
}

func (t *table) site(s int32) {
	if t.sites == nil {
		t.sites = make([]string, len(t.j.Sites))
		for i := range t.sites {
			t.sites[i] = load.Text(t.j.Sites[i])
		}
	}
	if s < 0 {
		t.text("")
		return
	}
	t.text(t.sites[s])
}

func (t *table) comm(c int32) {
	if c < 0 {
		t.text("")
		return
	}
	t.text(t.j.Comms[c].Name)
}

func (t *table) end() {
	t.row[len(t.row)-1] = '\n'
	t.out.Write(t.row)
	t.row = t.row[:0]
}

func (t *table) head(names string) { t.out.WriteString(names + "\n") }

func calls(t *table, r *analysis.Result) {
	t.head("rank,thread,start_ns,end_ns,call,site,communicator,peer,tag,bytes,waited_ns,cause")
	for rank := range r.Job.Ranks {
		waits := r.Waits[rank]
		for i := range r.Job.Ranks[rank].Calls {
			c := &r.Job.Ranks[rank].Calls[i]
			t.number(int64(rank))
			t.number(int64(c.Thread))
			t.number(c.Start)
			t.number(c.End)
			t.text(r.Job.Name(c))
			t.site(c.Site)
			t.comm(c.Comm)
			t.known(int64(c.Peer))
			t.known(int64(c.Tag))
			t.number(c.Bytes)
			waited, cause := int64(0), analysis.None
			if len(waits) > 0 && waits[0].Call == int32(i) {
				waited, cause, waits = waits[0].Length(), waits[0].Cause, waits[1:]
			}
			t.number(waited)
			t.text(cause.String())
			t.end()
		}
	}
}

func messages(t *table, r *analysis.Result) {
	t.head("from,to,sent_ns,posted_ns,received_ns,bytes,tag,communicator,send_site,receive_site")
	for i := range r.Messages {
		m := &r.Messages[i]
		from, to := &r.Job.Ranks[m.From], &r.Job.Ranks[m.To]
		s, g := &from.Sends[m.Send], &to.Receives[m.Receive]
		received := int64(-1)
		if g.Done >= 0 {
			received = to.Calls[g.Done].End
		}
		t.number(int64(m.From))
		t.number(int64(m.To))
		t.number(from.Calls[s.Call].Start)
		t.number(to.Calls[g.Call].Start)
		t.known(received)
		t.number(s.Bytes)
		t.number(int64(s.Tag))
		t.comm(s.Comm)
		t.site(from.Calls[s.Call].Site)
		t.site(to.Calls[g.Call].Site)
		t.end()
	}
}

func waits(t *table, r *analysis.Result) {
	t.head("rank,start_ns,end_ns,cause,call,site,by_rank,by_call,by_site")
	for rank := range r.Waits {
		for i := range r.Waits[rank] {
			w := &r.Waits[rank][i]
			mine, theirs := &r.Job.Ranks[rank].Calls[w.Call], &r.Job.Ranks[w.By].Calls[w.ByCall]
			t.number(int64(rank))
			t.number(w.Start)
			t.number(w.End)
			t.text(w.Cause.String())
			t.text(r.Job.Name(mine))
			t.site(mine.Site)
			t.number(int64(w.By))
			t.text(r.Job.Name(theirs))
			t.site(theirs.Site)
			t.end()
		}
	}
}
