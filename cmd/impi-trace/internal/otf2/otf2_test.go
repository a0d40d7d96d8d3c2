package otf2

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
)

// reader counts what OTF2's own reader finds in an archive.
const reader = `
import collections, json, sys
import otf2
from otf2.events import *
found = collections.Counter()
sums = collections.Counter()
with otf2.reader.open(sys.argv[1]) as trace:
    last, depth = {}, collections.Counter()
    for location, event in trace.events:
        assert event.time >= last.get(location, 0), "times are in no order"
        last[location] = event.time
        found[type(event).__name__] += 1
        if isinstance(event, Enter):
            depth[location] += 1
            sums[event.region.name] += 1
        elif isinstance(event, Leave):
            depth[location] -= 1
            assert depth[location] >= 0
        elif isinstance(event, (MpiSend, MpiIsend)):
            to = event.communicator.group.members[event.receiver] if hasattr(event.communicator, "group") else None
            sums["to " + to.group.name] += 1
            sums["bytes sent"] += event.msg_length
        elif isinstance(event, (MpiRecv, MpiIrecv)):
            sums["bytes received"] += event.msg_length
        elif isinstance(event, MpiCollectiveEnd):
            sums[str(event.collective_op).rpartition(".")[2] + " on " + event.communicator.name] += 1
    assert not any(depth.values())
print(json.dumps([found, sums]))
`

// read counts the events of an archive by kind, and sums by names.
func read(t *testing.T, dir string) (events, sums map[string]int64) {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command(Python(), "-c", reader, filepath.Join(dir, "traces.otf2"))
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	var both [2]map[string]int64
	if err := json.Unmarshal(out, &both); err != nil {
		t.Fatal(err)
	}
	return both[0], both[1]
}

func TestOTF2ReadsTheArchive(t *testing.T) {
	if exec.Command(Python(), "-c", "import otf2").Run() != nil {
		t.Skip("python3 has no package otf2")
	}
	s := jobtest.Random(rand.New(rand.NewSource(4)), 5, 150)
	j := s.Job
	dir := filepath.Join(t.TempDir(), "archive")
	if err := Write(dir, analysis.Analyze(j)); err != nil {
		t.Fatal(err)
	}
	events, sums := read(t, dir)
	var bytes, parts int64
	want := map[string]int64{}
	for r := range j.Ranks {
		for i := range j.Ranks[r].Calls {
			want[j.Name(&j.Ranks[r].Calls[i])]++
		}
		for i := range j.Ranks[r].Parts {
			p := &j.Ranks[r].Parts[i]
			want[operation(j.Name(&j.Ranks[r].Calls[p.Call]))+" on "+j.Comms[p.Comm].Name]++
			parts++
		}
		for i := range j.Ranks[r].Sends {
			bytes += j.Ranks[r].Sends[i].Bytes
			want["to MPI Rank "+string(rune('0'+j.Ranks[r].Sends[i].Peer))]++
		}
	}
	want["bytes sent"], want["bytes received"] = bytes, bytes
	if !reflect.DeepEqual(sums, want) {
		t.Errorf("%v, want %v", sums, want)
	}
	n := int64(j.Count())
	if events["Enter"] != n || events["Leave"] != n || events["MpiCollectiveBegin"] != parts ||
		events["MpiSend"]+events["MpiIsend"] != int64(len(s.Pairs)) || events["MpiIsendComplete"] != events["MpiIsend"] ||
		events["MpiRecv"]+events["MpiIrecv"] != int64(len(s.Pairs)) || events["MpiIrecvRequest"] != events["MpiIrecv"] {
		t.Errorf("%v of %d calls and %d messages", events, n, len(s.Pairs))
	}
}

func TestAFolderThatIsThereIsLeftAlone(t *testing.T) {
	err := Write(t.TempDir(), analysis.Analyze(&job.Job{}))
	if err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("%v", err)
	}
}

func TestWithoutTheLibraryTheErrorSaysWhatToInstall(t *testing.T) {
	dir := t.TempDir()
	fake := "#!/bin/sh\necho 'Traceback' >&2\necho 'python3 has no package otf2: pip install otf2' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	err := write(filepath.Join(dir, "x"), "python3", analysis.Analyze(jobtest.Uneven(2, 2000, 1)))
	if err == nil || !strings.HasSuffix(err.Error(), "no package otf2: pip install otf2") {
		t.Errorf("%v", err)
	}
	if err := write(filepath.Join(dir, "x"), "no-such-python", analysis.Analyze(&job.Job{})); err == nil ||
		!strings.Contains(err.Error(), "needs python3") {
		t.Errorf("%v", err)
	}
}
