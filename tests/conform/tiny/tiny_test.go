package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// As "-client ..." or "-fault NAME -client ..." this program is tiny itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "-client" || os.Args[1] == "-fault") {
		run(os.Args[1:])
	}
	os.Exit(m.Run())
}

// verdict is what a record says of a case.
type verdict struct {
	Name     string
	Verdict  string
	Problems []struct {
		Text  string
		Event int // that shows it, 0: none does
	}
}

func (v verdict) text() string {
	if len(v.Problems) == 0 {
		return ""
	}
	return v.Problems[0].Text
}

// tested lets the tester try tiny with a fault, "" for none, in some cases, and returns the verdicts.
func tested(t *testing.T, fault, cases string, options ...string) map[string]verdict {
	stage := os.Getenv("IMPI_STAGE")
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return nil
	}
	record := filepath.Join(t.TempDir(), "record.json")
	mark := "TINY_RUN=" + record
	client := " -client {rank} {server} -n {n} {prog}"
	if fault != "" {
		client = " -fault " + fault + client
	}
	cmd := exec.Command(stage+"/bin/impi-conform", append([]string{"-client-cmd", self + client, "-mpicc", "true", "-run",
		cases, "-json", record}, options...)...)
	cmd.Env = append(os.Environ(), mark)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if code := cmd.ProcessState.ExitCode(); err != nil && !errors.As(err, &exit) || code != 0 && code != 1 && code != 3 {
		t.Errorf("%s: %v, %s", fault, err, out)
	}
	if left := processes(mark); len(left) > 0 {
		t.Errorf("%s: these processes are left: %q", fault, left)
	}
	text, err := os.ReadFile(record)
	var all struct{ Cases []verdict }
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all.Cases) == 0 {
		t.Errorf("%s: no record: %v, %s", fault, err, out)
	}
	list := map[string]verdict{}
	for _, v := range all.Cases {
		list[v.Name] = v
	}
	return list
}

// processes are those that have a variable in their environment.
func processes(variable string) (found []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		env, err := os.ReadFile(path) // it may have ended
		if err == nil && bytes.Contains(env, []byte(variable+"\x00")) {
			found = append(found, path)
		}
	}
	return found
}

// passed are cases that tiny passes: whatever a client can do without requests, other types than bytes, other
// collectives than barriers, and other communicators than MPI_COMM_WORLD.
const passed = "^(client/.*|mesh/.*|finish/.*|several/(smallest-job|finish)|collective/barrier-.|flow/continuations|" +
	"cancel/(unexpected|unexpected-sync|unknown|newest)|packet/(short|ready-buffered|short-sync-drqid|lengths|" +
	"long-modes|syncack-unexpected|syncack-truncated|uneven-chunks|bytewise|junk-in-control|qos-ignored|same-srqid|" +
	"order|pairs)|hostile/(type|len|src|dest|cut)-.*|hostile/(continuation|syncack|cancelyes)-un.*|" +
	"hostile/(protoack-too-many|datalen-exceeded|data-after-fini))$"

func TestAnIndependentClientPasses(t *testing.T) {
	needStage(t)
	list := tested(t, "", passed, "-jobs", "8")
	for name, v := range list {
		if v.Verdict != "pass" && (name != "mesh/ipv6" || v.Verdict != "skip") {
			t.Errorf("%s: %s, %q", name, v.Verdict, v.text())
		}
	}
	if len(list) < 100 {
		t.Errorf("only %d cases were tried: %q", len(list), slices.Sorted(maps.Keys(list)))
	}
}

func needStage(t *testing.T) {
	t.Helper()
	if os.Getenv("IMPI_STAGE") == "" {
		t.Skip("IMPI_STAGE is not set: this test runs under make test")
	}
}

// The two jobs in which tiny is at fault at each of its messages: as client 0, which sends two messages, and as client
// 1, which connects to a host.
const (
	asFirst, asSecond = "packet/short", "mesh/source-address"
	both              = "^(packet/short|mesh/source-address)$"
)

// lacks are what the tester misses at each message, from the first on, that tiny sends in a job.
func lacks(name string) []string {
	list := []string{"the client has not spoken to the server", "should have sent its key", "should have sent IMPI"}
	for _, l := range []string{"C_VERSION", "C_NHOSTS", "C_NPROCS", "C_DATALEN", "C_TAGUB", "C_COLL_XSIZE",
		"C_COLL_MAXLINEAR", "H_IPV6", "H_PORT", "H_NPROCS", "H_ACKMARK", "H_HIWATER", "P_IPV6", "P_PID"} {
		list = append(list, "should have sent COLL with "+l)
	}
	list = append(list, "should have sent DONE to the server")
	if name == asFirst {
		const packet = "a packet should have come from process 0 to process 1"
		list = append(list, packet, packet, "missing: the message from process 0 to process 1 with tag 110, cid 1",
			"host 0 should have sent FINI to host 1")
	} else {
		list = append(list, "a connection to host 0 does not say which host it is",
			"missing: the message from process 1 to process 0 with tag 110, cid 1", "host 1 should have sent FINI to host 0")
	}
	return append(list, "should have sent FINI to the server")
}

// trial is a run of the tester with a fault.
type trial struct {
	fault, cases string
	options      []string
	want         map[string]string // by case, a regular expression for the first problem; "": it passes
	verdict      string            // if it does not
	shown        bool              // an event shows it
}

// dozens are the trials in which tiny ends, or writes random bytes, at each of its messages, and after the last.
func dozens() (list []trial) {
	first, second := lacks(asFirst), lacks(asSecond)
	at := func(lacks []string, i int) string {
		if i < len(lacks) {
			return lacks[i]
		}
		return ""
	}
	for i := range max(len(first), len(second)) + 1 {
		list = append(list, trial{fault: fmt.Sprintf("die=%d", i+1), cases: both, verdict: "fail",
			want: map[string]string{asFirst: at(first, i), asSecond: at(second, i)}})
		want := map[string]string{}
		for name, lacks := range map[string][]string{asFirst: first, asSecond: second} {
			if i < len(lacks) {
				want[name] = "announces .* bytes|key is .*, must be 5678|pk_type .* does not exist|says it is host"
			}
		}
		list = append(list, trial{fault: fmt.Sprintf("nonsense=%d", i+1), cases: both, verdict: "fail", want: want})
	}
	return list
}

// named are the other faults, each in a case that shows it.
func named() (list []trial) {
	for fault, x := range map[string]struct{ of, want string }{
		"no-mesh":           {asSecond, "host 0 waits in vain for a higher host of the client: it has left the server"},
		"no-acks":           {"packet/uneven-chunks", "process 0 has sent 0 PROTOACKs for 10 packets of process 1"},
		"no-fini":           {asFirst, "host 0 should have sent FINI to host 1: the connection has ended"},
		"wrong-label-order": {asFirst, "the client submitted C_NPROCS, must be C_NHOSTS"},
		"short-label":       {asFirst, "H_PORT has 3 bytes, must have 4"},
		"low-hiwater":       {asFirst, "H_HIWATER is 9, must be at least ackmark, 10"},
		"wrong-lsrank":      {"client/smallest-job", `DATA\(.*lsrank 5, tag 110, cid 1\) from 0 to 1 must have pk_lsrank 0`},
		"extra-packet":      {asFirst, `DATA\(.*tag 9, cid 0\) from 0 to 1 should not have been sent`},
	} {
		list = append(list, trial{fault: fault, cases: "^" + x.of + "$", want: map[string]string{x.of: x.want},
			verdict: "fail", shown: strings.Contains(x.want, "must")})
	}
	return list
}

// silent are those that the deadline ends: nothing is seen of who is absent; of others, what has not come.
func silent() []trial {
	silence := func(fault, want, verdict string) trial {
		return trial{fault, "^" + asFirst + "$", []string{"-timeout", "3s"}, map[string]string{asFirst: want}, verdict, false}
	}
	list := []trial{silence("absent", "nothing was seen", "indeterminate")}
	for _, k := range []int{1, 2, 12, 19, 22} {
		list = append(list, silence(fmt.Sprintf("mute=%d", k), "until the deadline", "fail"))
	}
	return list
}

// Every fault gets its verdict, which says what was wrong, and leaves nothing behind.
func TestEveryFaultIsFound(t *testing.T) {
	needStage(t)
	var all sync.WaitGroup
	room := make(chan struct{}, 6) // for those that do not mostly wait
	for _, x := range silent() {
		all.Go(func() { x.try(t) })
	}
	for _, x := range append(named(), dozens()...) {
		room <- struct{}{}
		all.Go(func() {
			x.try(t)
			<-room
		})
	}
	all.Wait()
}

func (x trial) try(t *testing.T) {
	for name, v := range tested(t, x.fault, x.cases, x.options...) {
		want, verdict := x.want[name], x.verdict
		if want == "" {
			verdict = "pass"
		}
		if v.Verdict != verdict || !regexp.MustCompile(want).MatchString(v.text()) ||
			x.shown && v.Problems[0].Event == 0 {
			t.Errorf("%s, %s: %s, %q; must be %s, %s", x.fault, name, v.Verdict, v.text(), verdict, want)
		}
	}
}
