package trace

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// written is a trace of a process that has called twice, and the memory of its file.
func written(h Header) ([]byte, *Writer) {
	size, _ := Size(Least)
	b := make([]byte, size)
	if h.Size == 0 {
		h.Size = 4
	}
	if h.Clock.PerSecond == 0 {
		h.Clock = Clock{PerSecond: 2e9, Start: Reading{1000, 5000}, AtStart: Align{Offset: 1e6, At: 5000, Known: true}}
	}
	return b, NewWriter(b, h)
}

func read(t *testing.T, b []byte) *File {
	t.Helper()
	f, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var everyItem = []Item{
	{Kind: Send, Flags: FlagNonblocking, ID: 1, Peer: 3, Tag: 7, Bytes: 1 << 40, Request: 1 << 60},
	{Kind: Recv, ID: 1 << 31, Peer: -1, Tag: -1, Bytes: 8},
	{Kind: Got, Flags: FlagCancelled, Peer: 2, Tag: 1<<31 - 1, Bytes: 4, Request: 9},
	{Kind: Collective, ID: 1, Peer: None, Tag: None, Bytes: 8, In: 64, Request: 5},
	{Kind: OneSided, Flags: FlagGet, ID: 2, Peer: 1, Bytes: 16, Request: 5},
	{Kind: FileAccess, Flags: FlagPut, ID: 3, In: -1, Bytes: 4096, Request: 6},
	{Kind: Error, ID: 15},
	{Kind: Object, Flags: ObjectWindow, ID: 2},
	{Kind: Start, Request: 77},
	{Kind: Rename, From: 78, Request: 79},
	{Kind: Repeat, ID: 1e6},
	{Kind: Probe, ID: 1, Peer: -1, Tag: 5},
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	b, w := written(Header{Rank: 2, Size: 4, Client: 1, PID: 99, Job: 1 << 63})
	comm := &Comm{ID: 1, Context: 1 << 50, Rank: 2, Local: RunsOf([]int32{0, 1, 2, 3}),
		Remote: RunsOf([]int32{9, 7, 5, 6}), Name: "a name"}
	for _, ok := range []bool{w.Machine("m"), w.Boot("b"), w.Program("/p q"), w.Calls([]string{"MPI_Send", "MPI_Recv"}),
		w.Comm(comm), w.Window(&Named{2, 1, "w"}), w.File(&Named{3, 1, "/f"}), w.Op(4, "MPI_SUM"),
		w.Mapping(Mapping{0x1000, 0x2000, 0x500, "/lib"}), w.ThreadName(0, "main"), w.Remark("r")} {
		if !ok {
			t.Fatal("there is no room")
		}
	}
	w.Thread(0).Event(1, 0x1234, 3000, 5000, everyItem...)
	w.Thread(1).Event(0, 0, 2000, 2000)
	size := w.End(Reading{1000 + 2e9, 5000 + 1e9}, Align{Offset: 1e6, At: 5000 + 1e9, Known: true})

	f := read(t, b[:size])

	if len(f.Problems) > 0 || !f.Whole || !f.First() || f.Rank != 2 || f.Client != 1 || f.PID != 99 || f.Job != 1<<63 {
		t.Errorf("header %+v, problems %q", f.Header, f.Problems)
	}
	if d := f.Definitions; d.Machine != "m" || d.Boot != "b" || d.Program != "/p q" || d.Call(1) != "MPI_Recv" ||
		d.Ops[4] != "MPI_SUM" || d.Windows[2].Name != "w" || d.Files[3].Name != "/f" || d.ThreadNames[0] != "main" ||
		!slices.Equal(d.Remarks, []string{"r"}) || !reflect.DeepEqual(d.Comms[1], comm) {
		t.Errorf("definitions %+v", d)
	}
	if got := f.Comms[1].Remote.List(); !slices.Equal(got, []int32{9, 7, 5, 6}) || f.Comms[1].Peers().At(3) != 6 {
		t.Errorf("the remote group is %v", got)
	}
	if file, at, ok := f.Place(0x1234); !ok || file != "/lib" || at != 0x733 {
		t.Errorf("the site is in %s at %#x", file, at)
	}
	var events []Event
	for e := range f.Events() {
		events = append(events, Event{e.Thread, e.Call, e.Site, e.Begin, e.End, slices.Clone(e.Items)})
	}
	want := []Event{{0, 1, 0x1234, 1e6 + 6000, 1e6 + 7000, everyItem}, {1, 0, 0, 1e6 + 5500, 1e6 + 5500, []Item{}}}
	if !reflect.DeepEqual(events, want) {
		t.Errorf("events %+v, want %+v", events, want)
	}
}

func TestMoreEventsThanFitAreLostAndCounted(t *testing.T) {
	for _, keep := range []Keep{KeepOldest, KeepNewest} {
		b, w := written(Header{Keep: keep})
		thread := w.Thread(0)
		const n = 5 * BlockBytes / EventHeader
		for i := range uint64(n) {
			thread.Event(0, i, 1000+i, 1000+i)
		}
		f := read(t, b)

		first, last, count := uint64(n), uint64(0), 0
		for e := range f.EventsOf(0) {
			first, last, count = min(first, e.Site), max(last, e.Site), count+1
		}

		if keep == KeepOldest && (first != 0 || last != uint64(count)-1 || uint64(count)+f.Lost != n || !f.First()) ||
			keep == KeepNewest && (last != n-1 || first == 0 || f.First()) {
			t.Errorf("%v: events %d to %d, %d in all, %d lost", keep, first, last, count, f.Lost)
		}
		if len(f.Problems) != 2 {
			t.Errorf("%v: problems %q", keep, f.Problems)
		}
	}
}

func TestATruncatedFileIsReadAsFarAsItGoes(t *testing.T) {
	b, w := written(Header{})
	w.Calls([]string{"MPI_Send"})
	for i := range uint64(3 * BlockBytes / EventHeader) {
		w.Thread(0).Event(0, 0, 1000+i, 1000+i) // a block each
		w.Thread(1).Event(0, 0, 1000+i, 1000+i)
	}
	start, _ := w.Blocks()
	for _, c := range []struct {
		size   uint64
		events int
		says   string
	}{
		{start + BlockBytes + 100, 2, "1 of"}, {start + BlockHeader + 8, 0, "within block"},
		{HeaderBytes + 4, 0, "within its definitions"},
	} {
		f := read(t, b[:c.size])
		n := 0
		for range f.Events() {
			n++
		}
		said := strings.Join(f.Problems, "; ")
		if n != c.events || !strings.Contains(said, c.says) && !strings.Contains(said, "cut off") {
			t.Errorf("of %d bytes there are %d events (%d wanted), problems: %s", c.size, n, c.events, said)
		}
	}
	if _, err := Read(bytes.NewReader(b[:100]), 100); err == nil {
		t.Error("half a header is read")
	}
}

func TestTracesOfMachinesWithTheOtherByteOrderAreRead(t *testing.T) {
	b := make([]byte, HeaderBytes)
	(&Header{Rank: 1, Size: 3, Clock: Clock{PerSecond: 1e9}}).put(b)
	other := binary.ByteOrder(binary.BigEndian)
	if native.Uint16([]byte{0, 1}) == 1 {
		other = binary.LittleEndian
	}
	swapped := bytes.Clone(b)
	for at := 8; at < 208; {
		n := 8
		if at < 24 || at >= atKeep && at < atPID {
			n = 4
			other.PutUint32(swapped[at:], native.Uint32(b[at:]))
		} else {
			other.PutUint64(swapped[at:], native.Uint64(b[at:]))
		}
		at += n
	}
	if f := read(t, swapped); f.Rank != 1 || f.Size != 3 || f.Clock.PerSecond != 1e9 {
		t.Errorf("read %+v", f.Header)
	}
}

func TestClocksThatDriftAreAligned(t *testing.T) {
	c := Clock{PerSecond: 1e9, Start: Reading{0, 0}, AtStart: Align{Offset: 1000, At: 0, Known: true},
		AtEnd: Align{Offset: 3000, At: 1e9, Known: true}}
	for ticks, want := range map[uint64]int64{0: 1000, 5e8: 5e8 + 2000, 1e9: 1e9 + 3000} {
		if got := c.settle(Reading{})(ticks); got != want {
			t.Errorf("%d ticks are %d ns, want %d", ticks, got, want)
		}
	}
	// The rate that was measured over the whole run counts, unless it is absurd.
	if got := c.settle(Reading{1e9, 1e9 + 1e5})(1e9); got != 1e9+1e5+3000 {
		t.Errorf("with a better rate: %d", got)
	}
	if got := c.settle(Reading{1e9, 5e9})(1e9); got != 1e9+3000 {
		t.Errorf("with an absurd rate: %d", got)
	}
}

func TestAFolderHasItsNewestJobFirst(t *testing.T) {
	dir := t.TempDir()
	save := func(name string, job uint64, rank int32, start int64) {
		b, w := written(Header{Job: job, Rank: rank, Size: 4, Clock: Clock{PerSecond: 1e9, Start: Reading{0, start}}})
		b = b[:w.End(Reading{}, Align{})]
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save(FileName(1, ""), 7, 1, 100)
	save(FileName(0, ""), 7, 0, 101)
	save(FileName(3, "old"), 6, 3, 50)
	os.WriteFile(filepath.Join(dir, "x"+Suffix), []byte("something else"), 0o600)

	jobs, problems := OpenFolder(dir)

	if len(jobs) != 2 || jobs[0].ID != 7 || len(jobs[0].Files) != 2 || jobs[0].Files[0].Rank != 0 || len(problems) != 1 {
		t.Fatalf("jobs %+v, problems %v", jobs, problems)
	}
	for _, j := range jobs {
		for _, f := range j.Files {
			f.Close()
		}
	}
	if _, problems := OpenFolder(filepath.Join(dir, "none")); len(problems) != 1 {
		t.Errorf("of no folder: %v", problems)
	}
}

var rewrite = flag.Bool("rewrite", false, "write z_trace.h anew")

// TestCHasTheNumbersOfTheFormat: z_trace.h is made of the constants.
func TestCHasTheNumbersOfTheFormat(t *testing.T) {
	var b strings.Builder
	b.WriteString("/* Code generated by go test ./libimpi/trace -rewrite; DO NOT EDIT. */\n" +
		"/* Items of a trace, and their flags. */\nenum {\n")
	for _, c := range []struct {
		name  string
		value int
	}{{"SEND", int(Send)}, {"RECV", int(Recv)}, {"GOT", int(Got)}, {"COLLECTIVE", int(Collective)},
		{"ONE_SIDED", int(OneSided)}, {"FILE", int(FileAccess)}, {"ERROR", int(Error)}, {"OBJECT", int(Object)},
		{"START", int(Start)}, {"RENAME", int(Rename)}, {"REPEAT", int(Repeat)}, {"PROBE", int(Probe)},
		{"PERSISTENT", FlagPersistent}, {"SYNCHRONOUS", FlagSynchronous}, {"BUFFERED", FlagBuffered}, {"READY", FlagReady},
		{"PARTITIONED", FlagPartitioned}, {"MATCHED", FlagMatched}, {"CANCELLED", FlagCancelled},
		{"NONBLOCKING", FlagNonblocking}, {"GET", FlagGet}, {"PUT", FlagPut}} {
		fmt.Fprintf(&b, "    IMPI_%s = %d,\n", c.name, c.value)
	}
	b.WriteString("};\n")
	if *rewrite {
		os.WriteFile("z_trace.h", []byte(b.String()), 0o644)
	}
	if got, err := os.ReadFile("z_trace.h"); err != nil || string(got) != b.String() {
		t.Errorf("%v; z_trace.h is not what the constants say: go test ./libimpi/trace -rewrite", err)
	}
}

func FuzzRead(f *testing.F) {
	b, w := written(Header{})
	w.Comm(&Comm{ID: 1, Local: RunsOf([]int32{0, 1})})
	w.Mapping(Mapping{1, 2, 3, "/f"})
	w.Thread(0).Event(0, 1, 1000, 2000, everyItem...)
	start, _ := w.Blocks()
	f.Add(b[:HeaderBytes], b[HeaderBytes:HeaderBytes+200], b[start:start+600])
	f.Fuzz(func(t *testing.T, head, definitions, block []byte) {
		// The parts stand where a sound header says, so that a fuzzer finds each.
		file := make([]byte, start+uint64(len(block)))
		copy(file, head)
		copy(file[HeaderBytes:start], definitions)
		copy(file[start:], block)
		r, err := Read(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		n := 0
		for e := range r.Events() {
			if n++; len(e.Items) > BlockBytes/8 || n > len(file)/EventHeader {
				t.Fatal("more events than there is room for")
			}
			r.Call(e.Call)
			r.Place(e.Site)
		}
		for _, c := range r.Comms {
			c.Peers().At(1 << 20)
		}
	})
}
