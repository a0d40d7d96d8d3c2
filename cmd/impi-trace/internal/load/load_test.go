package load

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
	"github.com/libimpi/libimpi/libimpi/trace"
)

// numbered says that a call at an offset stands in the line of that number.
func numbered(file string, offset uint64) (string, int, bool) {
	return "solver.c", int(offset) + 10, true
}

// unknown knows no line.
func unknown(string, uint64) (string, int, bool) { return "", 0, false }

func open(t *testing.T, dir string, window Window) *job.Job {
	t.Helper()
	j, err := Folder(dir, 1, window, numbered)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func write(t *testing.T, j *job.Job) string {
	t.Helper()
	dir := t.TempDir()
	if err := jobtest.Write(dir, j, 7, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWhatProcessesDidIsLoaded(t *testing.T) {
	for seed := range int64(40) {
		source := rand.New(rand.NewSource(seed))
		want := jobtest.Random(source, 1+source.Intn(6), source.Intn(80)).Job
		got := open(t, write(t, want), Window{})
		if len(got.Faults) > 0 || got.Program != want.Program || len(got.Ranks) != len(want.Ranks) {
			t.Fatalf("job %d: %q, %s of %d ranks", seed, got.Faults, got.Program, len(got.Ranks))
		}
		for r := range want.Ranks {
			same(t, fmt.Sprintf("job %d, rank %d", seed, r), got, &got.Ranks[r], want, &want.Ranks[r])
		}
	}
}

// same compares ranks; functions, communicators and sites may have other numbers.
func same(t *testing.T, what string, j *job.Job, got *job.Rank, wantJob *job.Job, want *job.Rank) {
	t.Helper()
	if len(got.Calls) != len(want.Calls) || got.Begin != want.Begin || got.End != want.End || got.Machine != want.Machine {
		t.Fatalf("%s: %d calls from %d to %d, want %d from %d to %d", what, len(got.Calls), got.Begin, got.End,
			len(want.Calls), want.Begin, want.End)
	}
	comm := func(j *job.Job, n int32) string {
		if n < 0 {
			return ""
		}
		return j.Comms[n].Name
	}
	for i := range want.Calls {
		a, b := got.Calls[i], want.Calls[i]
		if a.Start != b.Start || a.End != b.End || j.Name(&a) != wantJob.Name(&b) || j.Sites[a.Site].Line != 10+int(b.Site) {
			t.Fatalf("%s, call %d: %+v, want %+v", what, i, a, b)
		}
	}
	halves := func(side string, a, b []job.Half) {
		if len(a) != len(b) {
			t.Fatalf("%s: %d %s, want %d", what, len(a), side, len(b))
		}
		for i := range a {
			x, y := a[i], b[i]
			if comm(j, x.Comm) != comm(wantJob, y.Comm) {
				t.Fatalf("%s: communicator %d", what, x.Comm)
			}
			x.Comm, x.Way, y.Comm, y.Way = 0, 0, 0, 0
			if x != y {
				t.Fatalf("%s, %s %d: %+v, want %+v", what, side, i, x, y)
			}
		}
	}
	halves("sends", got.Sends, want.Sends)
	halves("receives", got.Receives, want.Receives)
	if len(got.Parts) != len(want.Parts) {
		t.Fatalf("%s: %d parts", what, len(got.Parts))
	}
	for i := range got.Parts {
		x, y := got.Parts[i], want.Parts[i]
		if comm(j, x.Comm) != comm(wantJob, y.Comm) || x.Call != y.Call || x.Root != y.Root {
			t.Fatalf("%s, part %d: %+v, want %+v", what, i, x, y)
		}
	}
}

func TestAPartOfTheTimeIsLoaded(t *testing.T) {
	whole := jobtest.Uneven(3, 30, 1)
	dir := write(t, whole)
	span := whole.Span()
	j := open(t, dir, Window{span / 3, span / 2})
	for r := range j.Ranks {
		got := &j.Ranks[r]
		if len(got.Calls) == 0 || len(got.Calls) >= len(whole.Ranks[r].Calls) || !got.HeadLost || !got.TailLost {
			t.Fatalf("rank %d has %d of %d calls", r, len(got.Calls), len(whole.Ranks[r].Calls))
		}
		for i := range got.Sends {
			if h := &got.Sends[i]; h.Call < 0 || int(h.Call) >= len(got.Calls) || int(h.Done) >= len(got.Calls) {
				t.Errorf("rank %d, send %d: %+v", r, i, h)
			}
		}
	}
}

func TestFoldersWithoutATraceSayWhy(t *testing.T) {
	empty, file, other := t.TempDir(), filepath.Join(t.TempDir(), "f"), t.TempDir()
	newer := t.TempDir()
	os.WriteFile(file, nil, 0o644)
	os.WriteFile(filepath.Join(other, "rank-000000"+trace.Suffix), []byte("something else"), 0o644)
	b := jobtest.File(jobtest.New(1).Finish(), 0, 1, "")
	b[12] = 99
	os.WriteFile(filepath.Join(newer, "rank-000000"+trace.Suffix), b, 0o644)
	for dir, want := range map[string]string{empty: "no traces", file: "is not a folder", other: "not a trace of libimpi",
		filepath.Join(empty, "x"): "no such file", newer: "version 99"} {
		if _, err := Folder(dir, 1, Window{}, unknown); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
	if _, err := Folder(write(t, jobtest.New(1).Finish()), 2, Window{}, unknown); err == nil ||
		!strings.Contains(err.Error(), "no job 2") {
		t.Errorf("%v", err)
	}
}

func TestMissingRanksAndOtherJobsAreTold(t *testing.T) {
	s := jobtest.Uneven(6, 3, 1)
	dir := write(t, s)
	for _, r := range []int32{1, 2, 4} {
		os.Remove(filepath.Join(dir, trace.FileName(r, "")))
	}
	old := jobtest.File(s, 0, 8, "")
	os.WriteFile(filepath.Join(dir, "old"+trace.Suffix), old, 0o644)
	os.WriteFile(filepath.Join(dir, "damaged"+trace.Suffix), []byte("x"), 0o644)
	j, err := Folder(dir, 1, Window{}, unknown)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(j.Faults, "\n")
	if !j.Ranks[1].Missing || j.Ranks[3].Missing && j.Ranks[0].Missing {
		t.Errorf("missing ranks are %v, %v", j.Ranks[1].Missing, j.Ranks[3].Missing)
	}
	for _, want := range []string{"ranks have no trace: ", "traces of 2 jobs", "damaged" + trace.Suffix} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
}

func TestWhatIsWholeOfATruncatedTraceIsLoaded(t *testing.T) {
	whole := jobtest.Uneven(2, 3000, 1)
	b := jobtest.File(whole, 0, 1, "")
	before := 0
	for _, size := range []int{len(b) / 2, len(b) * 3 / 4, len(b)} {
		f, err := trace.Read(bytes.NewReader(b[:size]), int64(size))
		if err != nil {
			t.Fatal(err)
		}
		j := files([]*trace.File{f}, Window{}, unknown)
		n := len(j.Ranks[0].Calls)
		if n <= before || (size == len(b)) != (n == len(whole.Ranks[0].Calls)) {
			t.Errorf("%d of %d bytes: %d calls of %d, after %d", size, len(b), n, len(whole.Ranks[0].Calls), before)
		}
		if r := &j.Ranks[0]; r.HeadLost || r.TailLost == (size == len(b)) {
			t.Errorf("%d bytes: head lost %v, tail lost %v", size, r.HeadLost, r.TailLost)
		}
		if all := strings.Join(j.Faults, "\n"); strings.Contains(all, "cut off") == (size == len(b)) {
			t.Errorf("%d bytes: %s", size, all)
		}
		before = n
	}
}

func TestATraceThatIsDamagedInTheMiddleHasNoEnds(t *testing.T) {
	b := jobtest.File(jobtest.Uneven(2, 3000, 1), 0, 1, "")
	first := trace.HeaderBytes + int(binary.NativeEndian.Uint64(b[24:]))
	second := first + trace.BlockBytes
	for what, at := range map[string]int{"a block": second + 16, "an event": second + 80} {
		damaged := bytes.Clone(b)
		binary.NativeEndian.PutUint64(damaged[at:], 1<<50)
		f, err := trace.Read(bytes.NewReader(damaged), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if r := files([]*trace.File{f}, Window{}, unknown).Ranks[0]; !r.HeadLost || !r.TailLost || len(r.Calls) == 0 {
			t.Errorf("%s: head lost %v, tail lost %v, %d calls", what, r.HeadLost, r.TailLost, len(r.Calls))
		}
	}
}

func TestCallsOfThreadsAreInTheOrderOfTheirBegin(t *testing.T) {
	size, _ := trace.Size(trace.Least)
	b := make([]byte, size)
	w := trace.NewWriter(b, trace.Header{Size: 2, Clock: trace.Clock{PerSecond: 1e9}})
	w.Calls([]string{"MPI_Isend", "MPI_Wait", "MPI_Comm_dup"})
	w.Comm(&trace.Comm{ID: 1, Local: trace.RunsOf([]int32{0, 1})})
	one, two := w.Thread(0), w.Thread(1)
	// A request that thread 1 began is completed by thread 0, whose block comes first; its handle is used again.
	for i := range uint64(3) {
		one.Event(1, 0, 1000*i+500, 1000*i+600, trace.Item{Kind: trace.Got, Request: 5, Peer: -1})
		two.Event(0, 0, 1000*i+100, 1000*i+200, trace.Item{Kind: trace.Send, ID: 1, Peer: 1, Bytes: int64(i), Request: 5})
	}
	two.Event(2, 0, 2500, 9000)
	two.Event(2, 0, 2400, 9100) // an inner call returns first
	w.End(trace.Reading{Ticks: 10000, Monotonic: 10000}, trace.Align{})
	f, err := trace.Read(bytes.NewReader(b), size)
	if err != nil {
		t.Fatal(err)
	}
	r := files([]*trace.File{f}, Window{}, unknown).Ranks[0]
	var starts []int64
	for _, c := range r.Calls {
		starts = append(starts, c.Start)
	}
	if want := []int64{100, 500, 1100, 1500, 2100, 2400, 2500, 2500}; !slices.Equal(starts, want) {
		t.Errorf("%v", starts)
	}
	for i, h := range r.Sends {
		if h.Bytes != int64(i) || r.Calls[h.Call].Start != int64(1000*i+100) || r.Calls[h.Done].Start != int64(1000*i+500) {
			t.Errorf("send %d: %+v", i, h)
		}
	}
}

func TestRanksOfTheSameProblemAreOneNote(t *testing.T) {
	j := jobtest.Uneven(6, 3, 1)
	var list []*trace.File
	for rank := range j.Ranks {
		b := jobtest.File(j, rank, 1, "")
		if rank != 2 {
			b[96] = 0 // it has not ended MPI
		}
		f, err := trace.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	got := files(list, Window{}, unknown).Faults
	if len(got) != 1 || !strings.HasPrefix(got[0], "ranks 0-1,3-5: the process did") {
		t.Errorf("%q", got)
	}
}

// Files of one job that say different sizes are damaged; nothing is taken for a rank that is not there.
func TestTheLeastSizeCounts(t *testing.T) {
	j := jobtest.Uneven(4, 3, 1)
	b := jobtest.File(j, 0, 1, "")
	other := bytes.Clone(b)
	binary.NativeEndian.PutUint32(b[72:], 2)
	one, err := trace.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	two, err := trace.Read(bytes.NewReader(other), int64(len(other)))
	if err != nil {
		t.Fatal(err)
	}
	got := files([]*trace.File{two, one}, Window{}, unknown)
	if len(got.Ranks) != 2 || !strings.Contains(strings.Join(got.Faults, "\n"), "another trace of rank 0 of 2") {
		t.Errorf("%d ranks, %q", len(got.Ranks), got.Faults)
	}
	for _, h := range got.Ranks[0].Receives {
		if h.Peer >= 2 {
			t.Errorf("%+v", h)
		}
	}
}

func TestBothSidesOfAnIntercommunicatorAreOne(t *testing.T) {
	s := newShared(4)
	a, b := trace.RunsOf([]int32{0, 1}), trace.RunsOf([]int32{2, 3})
	if s.comm(&trace.Comm{Local: a, Remote: b}) != s.comm(&trace.Comm{Local: b, Remote: a}) {
		t.Error("they are not")
	}
	if s.comm(&trace.Comm{Local: a}) == s.comm(&trace.Comm{Local: b}) {
		t.Error("communicators of other members are one")
	}
}

func TestMoreKindsOfItems(t *testing.T) {
	size, _ := trace.Size(trace.Least)
	b := make([]byte, size)
	w := trace.NewWriter(b, trace.Header{Size: 2, Rank: 1, Clock: trace.Clock{PerSecond: 1e9}})
	w.Calls([]string{"MPI_Send_init", "MPI_Start", "MPI_Wait", "MPI_Mprobe", "MPI_Imrecv", "MPI_Win_fence", "MPI_Put",
		"MPI_File_write_all"})
	w.Comm(&trace.Comm{ID: 1, Local: trace.RunsOf([]int32{0, 1})})
	w.Window(&trace.Named{ID: 2, Comm: 1, Name: "w"})
	w.File(&trace.Named{ID: 3, Comm: 1, Name: "f"})
	at, th := uint64(0), w.Thread(0)
	event := func(call uint16, items ...trace.Item) { at += 100; th.Event(call, 0, at, at+50, items...) }
	event(0, trace.Item{Kind: trace.Send, Flags: trace.FlagPersistent, ID: 1, Peer: 0, Tag: 3, Bytes: 8, Request: 9})
	for range 2 {
		event(1, trace.Item{Kind: trace.Start, Request: 9})
		event(2, trace.Item{Kind: trace.Got, Request: 9, Peer: -1, Tag: -1})
	}
	event(3, trace.Item{Kind: trace.Recv, Flags: trace.FlagMatched, ID: 1, Peer: 0, Tag: 4, Request: 11})
	event(4, trace.Item{Kind: trace.Rename, From: 11, Request: 12})
	event(2, trace.Item{Kind: trace.Got, Request: 12, Peer: 0, Tag: 4, Bytes: 16})
	event(5, trace.Item{Kind: trace.Object, Flags: trace.ObjectWindow, ID: 2})
	event(6, trace.Item{Kind: trace.OneSided, Flags: trace.FlagPut, ID: 2, Peer: 0, Bytes: 32})
	event(7, trace.Item{Kind: trace.FileAccess, ID: 3, Bytes: 64})
	event(0, trace.Item{Kind: trace.Recv, Flags: trace.FlagPersistent, ID: 1, Peer: 0, Tag: 5, Request: 20})
	event(1, trace.Item{Kind: trace.Start, Request: 20})
	event(2, trace.Item{Kind: trace.Got, Request: 20, Peer: 0, Tag: 5, Bytes: 24})
	event(2, trace.Item{Kind: trace.Got, Request: 20, Peer: -1, Tag: -2}) // it is inactive
	event(0, trace.Item{Kind: trace.Send, Flags: trace.FlagNonblocking, ID: 1, Peer: 0, Tag: 6, Request: 30})
	event(2, trace.Item{Kind: trace.Got, Flags: trace.FlagCancelled, Request: 30, Peer: -1, Tag: -2})
	w.End(trace.Reading{Ticks: 10000, Monotonic: 10000}, trace.Align{})
	f, _ := trace.Read(bytes.NewReader(b), size)
	r := files([]*trace.File{f}, Window{}, unknown).Ranks[1]
	want := []job.Half{{Bytes: 8, Call: 1, Done: 2, Peer: 0, Tag: 3}, {Bytes: 8, Call: 3, Done: 4, Peer: 0, Tag: 3}}
	if !reflect.DeepEqual(r.Sends, want) {
		t.Errorf("sends %+v", r.Sends)
	}
	want = []job.Half{{Bytes: 16, Call: 5, Done: 7, Peer: 0, Tag: 4}, {Bytes: 24, Call: 12, Done: 13, Peer: 0, Tag: 5}}
	if !reflect.DeepEqual(r.Receives, want) {
		t.Errorf("receives %+v", r.Receives)
	}
	if len(r.Parts) != 2 || r.Parts[0].Call != 8 || r.Parts[1].Call != 10 || r.Calls[9].Peer != 0 ||
		r.Calls[9].Bytes != 32 || r.Calls[10].Bytes != 64 {
		t.Errorf("parts %+v, calls %+v", r.Parts, r.Calls[8:])
	}
}

// FuzzFile: whatever a file has, what is made of it is sound.
func FuzzFile(f *testing.F) {
	for seed := range int64(100) {
		f.Add(seed, uint8(1+seed%9))
	}
	whole := jobtest.File(jobtest.Random(rand.New(rand.NewSource(3)), 2, 40).Job, 0, 1, "")
	first := trace.HeaderBytes + int(binary.NativeEndian.Uint64(whole[24:]))
	f.Fuzz(func(t *testing.T, seed int64, changes uint8) {
		random, b := rand.New(rand.NewSource(seed)), bytes.Clone(whole)
		for range changes {
			at := []int{0, trace.HeaderBytes, first, first}[random.Intn(4)] + 8*random.Intn(400)/(1+random.Intn(16))/8*8
			value := random.Uint64() >> random.Intn(64)
			if random.Intn(2) == 0 {
				value = binary.NativeEndian.Uint64(b[at:]) ^ 1<<random.Intn(64)
			}
			binary.NativeEndian.PutUint64(b[at:], value)
		}
		file, err := trace.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil || file.Size > 1000 {
			return
		}
		for _, r := range files([]*trace.File{file}, Window{}, unknown).Ranks {
			for _, c := range r.Calls {
				if c.Start < r.Begin || c.End < c.Start || c.End > r.End || r.Begin < 0 {
					t.Fatalf("%+v from %d to %d", c, r.Begin, r.End)
				}
			}
			n := int32(len(r.Calls))
			for _, h := range append(r.Sends, r.Receives...) {
				if h.Call < 0 || h.Call >= n || h.Done >= n || h.Peer < 0 || h.Peer >= file.Size || h.Bytes < 0 {
					t.Fatalf("%+v of %d calls", h, n)
				}
			}
			for _, p := range r.Parts {
				if p.Call < 0 || p.Call >= n || p.Done >= n {
					t.Fatalf("%+v of %d calls", p, n)
				}
			}
		}
	})
}
