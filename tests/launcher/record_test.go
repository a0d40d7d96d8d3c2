package launcher

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/libimpi/trace"
)

// traced opens the one trace of a folder.
func traced(t *testing.T, dir string, ranks int) []*trace.File {
	t.Helper()
	jobs, problems := trace.OpenFolder(dir)
	if len(jobs) != 1 || len(problems) > 0 || len(jobs[0].Files) != ranks {
		t.Fatalf("%d jobs, problems %v; %v", len(jobs), problems, jobs)
	}
	t.Cleanup(func() {
		for _, f := range jobs[0].Files {
			f.Close()
		}
	})
	return jobs[0].Files
}

// channel is where messages go in order.
type channel struct {
	context  uint64
	from, to int32
	tag      int32
}

// posted is a receive that waits, and where its message goes.
type posted struct {
	context uint64
	sources trace.Runs
	got     *transfer
}

// transfer is one end of a message.
type transfer struct {
	channel
	bytes      int64
	begin, end int64
}

// ends are the messages that a process has sent and received, in order.
func ends(t *testing.T, f *trace.File) (sent, received []*transfer) {
	begun, descriptions, matched := map[uint64]*posted{}, map[uint64]trace.Item{}, map[uint64]*posted{}
	receive := func(e *trace.Event, i trace.Item) *posted {
		c := f.Comms[i.ID]
		p := &posted{c.Context, c.Peers(), &transfer{begin: e.Begin}}
		received = append(received, p.got)
		return p
	}
	got := func(e *trace.Event, p *posted, i trace.Item) {
		p.got.channel = channel{p.context, p.sources.At(int(i.Peer)), f.Rank, i.Tag}
		p.got.bytes, p.got.end = i.Bytes, e.End
	}
	for e := range f.Events() {
		var here *posted
		for _, i := range e.Items {
			switch {
			case i.Kind == trace.Send:
				c := f.Comms[i.ID]
				if c.Peers().At(int(i.Peer)) >= 0 {
					sent = append(sent, &transfer{channel: channel{c.Context, f.Rank, c.Peers().At(int(i.Peer)), i.Tag},
						bytes: i.Bytes, begin: e.Begin, end: e.End})
				}
			case i.Kind == trace.Recv && i.Flags&trace.FlagPersistent != 0:
				descriptions[i.Request] = i
			case i.Kind == trace.Recv && i.Flags&trace.FlagMatched != 0:
				matched[i.Request] = receive(e, i)
				got(e, matched[i.Request], i)
			case i.Kind == trace.Recv && i.Request == 0:
				here = receive(e, i)
			case i.Kind == trace.Recv:
				begun[i.Request] = receive(e, i)
			case i.Kind == trace.Start:
				if d, ok := descriptions[i.Request]; ok {
					begun[i.Request] = receive(e, d)
				}
			case i.Kind == trace.Rename && matched[i.From] == nil:
				t.Errorf("rank %d receives message %#x, which nobody has found", f.Rank, i.From)
			case i.Kind == trace.Got && i.Request == 0 && here != nil:
				got(e, here, i)
			case i.Kind == trace.Got && begun[i.Request] != nil:
				got(e, begun[i.Request], i)
			}
		}
	}
	return sent, received
}

// TestRanksNoteTheirCalls finds all messages of a program at both ends.
func TestRanksNoteTheirCalls(t *testing.T) {
	t.Parallel()
	file := program(t, "recorded")
	for where, ranks := range map[string]int{"-n 4": 4, machines(t): 5, "-clients 2 -n 4": 4} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "of", "traces")
			run(t, words(where, "-trace", dir, "-trace-size 4M", file)...).expect(t, 0, "")
			left := map[channel][]*transfer{}
			wrong := int64(0) // by which a time may be
			files := traced(t, dir, ranks)
			for _, f := range files {
				if len(f.Problems) > 0 || !f.Whole || int(f.Size) != ranks {
					t.Errorf("rank %d: %+v", f.Rank, f.Problems)
				}
				by, known := f.Aligned()
				if known != (f.Client == 0) {
					t.Errorf("rank %d, client %d: the clock is aligned: %v", f.Rank, f.Client, known)
				}
				wrong = max(wrong, by)
				sent, _ := ends(t, f)
				for _, m := range sent {
					left[m.channel] = append(left[m.channel], m)
				}
			}
			n := 0
			for _, f := range files {
				_, received := ends(t, f)
				for _, m := range received {
					sent := left[m.channel]
					if len(sent) == 0 || sent[0].bytes != m.bytes || m.end+2*wrong < sent[0].begin {
						t.Fatalf("rank %d received %+v; left of what was sent there: %d, %+v", f.Rank, m, len(sent), sent)
					}
					left[m.channel] = sent[1:]
					n++
				}
			}
			if want := 50 + ranks*(50+1+3+1); n != want {
				t.Errorf("%d messages, want %d", n, want)
			}
			for c, sent := range left {
				if len(sent) > 0 {
					t.Errorf("%d messages of %+v are not received", len(sent), c)
				}
			}
			calls(t, files[0], ranks)
		})
	}
}

// calls looks at what rank 0 has noted besides messages.
func calls(t *testing.T, f *trace.File, ranks int) {
	t.Helper()
	found := map[string]int{}
	for e := range f.Events() {
		for _, i := range e.Items {
			say := ""
			switch i.Kind {
			case trace.Collective:
				say = fmt.Sprintf("%s %s of %d and %d bytes", f.Call(e.Call), f.Ops[uint32(i.Tag)], i.Bytes, i.In)
			case trace.OneSided:
				say = fmt.Sprintf("%s of %d bytes to %d", f.Call(e.Call), i.Bytes, i.Peer)
			case trace.Error, trace.Repeat:
				say = fmt.Sprintf("%s %d", f.Call(e.Call), i.ID)
			case trace.Object:
				say = f.Call(e.Call)
			}
			found[say]++
		}
		name, at, _ := f.Place(e.Site)
		site, _ := callsite.Call{File: name, Offset: at}.Line()
		if site.Line > 0 && !strings.HasPrefix(site.String(), "recorded.c:") || filepath.Base(name) != "recorded" {
			t.Errorf("%s was called at %v in %s", f.Call(e.Call), site, name)
		}
	}
	for _, want := range []string{"MPI_Bcast  of 0 and 80 bytes", "MPI_Allreduce MPI_SUM of 80 and 80 bytes",
		"MPI_Put of 4 bytes to 0", "MPI_Iprobe 20", "MPI_Send 6", "MPI_Barrier  of 0 and 0 bytes", "MPI_Comm_split"} {
		if found[want] != 1 {
			t.Errorf("%q is noted %d times, of %v", want, found[want], found)
		}
	}
	half := false
	for _, c := range f.Comms {
		half = half || c.Name == "half" && c.Local.Size() == (ranks+1)/2 && c.Local.At(1) == 2
	}
	if !half {
		t.Errorf("communicators %+v", f.Comms)
	}
}

// TestAKilledRankLeavesItsTrace: what a rank has noted is there, and the others', who are ended.
func TestAKilledRankLeavesItsTrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if r := run(t, words("-n 2 -trace", dir, "-trace-keep newest", program(t, "recorded"), "dies")...); r.code == 0 {
		t.Errorf("code %d", r.code)
	}
	f := traced(t, dir, 2)[1]
	last := ""
	for e := range f.Events() {
		last = f.Call(e.Call)
	}
	if f.Whole || len(f.Problems) != 1 || last != "MPI_Barrier" {
		t.Errorf("the last call is %s, problems %q", last, f.Problems)
	}
}

// TestAPageAtTheEndSaysWhereTheTimeWent, in each form, of one machine, several machines, and two clients, which have a
// page each.
func TestAPageAtTheEndSaysWhereTheTimeWent(t *testing.T) {
	t.Parallel()
	file, dir := program(t, "recorded"), t.TempDir()
	r := run(t, words("-n 4 -summary", file)...)
	says(t, r.stderr, "libimpi: where the time went: recorded, 4 ranks on 1 machine, ", "  - MPI took ",
		"  MPI_Waitall  ", "  same machine  ", "Messages by length\n", "Bytes from row to column\n",
		"Time in receives, by the sender of the message\n", "  MPI_Put  ")
	if r.code != 0 || strings.Count(r.stderr, "where the time went") != 1 {
		t.Errorf("code %d; %s", r.code, r.stderr)
	}
	for name, how := range map[string]string{"machines": machines(t), "clients": "-clients 2 -n 4"} {
		page := filepath.Join(dir, name+".json")
		run(t, words(how, "-summary", page, file)...).expect(t, 0, "")
		var s struct {
			Ranks []struct{ Rank, MPI_ns int }
			Calls []struct {
				Name  string
				Count int
			}
		}
		text, err := os.ReadFile(page)
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		waits := 0
		for _, c := range s.Calls {
			if c.Name == "MPI_Waitall" {
				waits = c.Count
			}
		}
		if err != nil || waits != 50*len(s.Ranks) || len(s.Ranks) != map[string]int{"machines": 5, "clients": 2}[name] {
			t.Errorf("%s: %v, %d waits, ranks %+v", name, err, waits, s.Ranks)
		}
	}
	page := filepath.Join(dir, "page.html")
	run(t, words("-n 2 -summary", page, file)...).expect(t, 0, "")
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<h2>Calls</h2>") {
		t.Errorf("%v; %.200s", err, text)
	}
}

// TestAPageUnderAnotherLauncher: the ranks make it themselves.
func TestAPageUnderAnotherLauncher(t *testing.T) {
	t.Parallel()
	r := under(t, hydra(t), "-n 2 -genv IMPI_SUMMARY 1", program(t, "recorded"))
	says(t, r.stderr, "libimpi: where the time went: recorded, 2 ranks on 1 machine, ", "  MPI_Waitall  ")
}

func TestATraceThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	r := run(t, words("-n 1 -trace /proc/none", program(t, "recorded"))...)
	if r.code == 0 || !strings.Contains(r.stderr, "cannot record calls: IMPI_TRACE: mkdir /proc/none: ") {
		t.Errorf("code %d; %s", r.code, r.stderr)
	}
}
