package launcher

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// byHand lets the tester, on one machine, try an implementation on another. The test is the person there: it types what
// the tester shows, in a folder and with the programs of a path, and tells it the address that a server prints. It
// returns how the tester has ended, and what it has said.
func byHand(t *testing.T, n *network, dir, path string, words ...string) (r result, said string) {
	t.Helper()
	shown, screen, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	in, keyboard := io.Pipe()
	var conform *job
	n.machines[1].inside(t, func() {
		conform = startProgram(t, []option{stdin(in), func(c *exec.Cmd) { c.Stdout = screen }},
			filepath.Join(stage(t), "bin", "impi-conform"), append([]string{"-listen", n.machines[1].addr.String(), "-ports",
				"7000-7099"}, words...)...)
	})
	screen.Close()
	var typed []*job
	for lines := bufio.NewScanner(shown); lines.Scan(); {
		said += lines.Text() + "\n"
		command, ok := strings.CutPrefix(lines.Text(), "    ")
		if !ok || strings.HasPrefix(command, " ") {
			continue
		}
		var j *job
		n.machines[0].inside(t, func() {
			j = startProgram(t, []option{environ("PATH=" + path + ":" + os.Getenv("PATH")),
				func(c *exec.Cmd) { c.Dir = dir }}, "sh", "-c", command)
		})
		typed = append(typed, j)
		if strings.Contains(command, "-server") {
			j.stdout.await("\n", 1)
			fmt.Fprint(keyboard, j.stdout.String())
		} else if !strings.Contains(command, " "+n.machines[1].addr.String()+":70") {
			t.Errorf("the tester does not listen at its ports: %s", command)
		}
	}
	keyboard.Close()
	r = conform.wait()
	for _, j := range typed {
		j.wait()
	}
	return r, said
}

func TestAnImplementationOnAnotherMachineIsTestedByHand(t *testing.T) {
	n := newNetwork(t, ipv4, 2)
	bin, dir := filepath.Join(stage(t), "bin"), t.TempDir()
	for _, c := range [][]string{{filepath.Join(bin, "impi-conform"), "-player", "player.c"},
		{filepath.Join(bin, "mpicc"), "-o", "player", "player.c"}} {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", c, err, out)
		}
	}
	record := filepath.Join(dir, "record.json")
	r, said := byHand(t, n, dir, bin, "-template", "libimpi", "-json", record, "-run", "^(server/(key-right|labels-2|"+
		"no-method)|client/(smallest-job|wrong-key)|mesh/highest|packet/(short|long)|flow/acks-while-computing|collective/"+
		"(bcast-3|allreduce-5)|comm/dup|finish/abort|several/finish|joint/three-clients)$")
	if r.code != 0 || r.stderr != "" || !strings.HasSuffix(said, "14 passed, 0 failed, 0 indeterminate, 1 skipped\n") {
		t.Errorf("code %d, %q\n%s", r.code, r.stderr, said)
	}
	if text, err := os.ReadFile(record); err != nil || !strings.Contains(string(text), "typed by hand") {
		t.Errorf("the record does not say that exit codes were not seen: %v\n%s", err, text)
	}
}

// An implementation of its own, of whose packets the first with data has another pk_lsrank, and which ends without a
// word before its DONE (tests/conform/tiny).
func TestABrokenImplementationOnAnotherMachineFailsByHand(t *testing.T) {
	n := newNetwork(t, ipv4, 2)
	for fault, want := range map[string]string{
		"wrong-lsrank": "DATA(pk_len 0, pk_msglen 0, srqid 1, drqid 0, lsrank 5, tag 110, cid 1) from 0 to 1 must have " +
			"pk_lsrank 0",
		"die=18": "the client should have sent DONE to the server: the connection has ended",
	} {
		dir := t.TempDir()
		record := filepath.Join(dir, "record.json")
		r, said := byHand(t, n, dir, filepath.Join(filepath.Dir(stage(t)), "tests", "conform"), "-template",
			"tiny.test -fault "+fault+" -client {rank} {server} -n {n} {prog}", "-json", record, "-run", "^client/smallest-job$")
		if r.code != 1 || r.stderr != "" || !strings.Contains(said, want) {
			t.Errorf("%s: code %d, %q\n%s", fault, r.code, r.stderr, said)
		}
		var has struct {
			Cases []struct {
				Verdict  string
				Problems []struct {
					Text  string
					Event int
				}
				Trace struct {
					Events []struct {
						N    int
						Name string
					}
				}
			}
		}
		text, err := os.ReadFile(record)
		if err == nil {
			err = json.Unmarshal(text, &has)
		}
		if err != nil || len(has.Cases) != 1 || len(has.Cases[0].Problems) == 0 {
			t.Fatalf("%s: %v\n%s", fault, err, text)
		}
		c := has.Cases[0]
		if p := c.Problems[0]; c.Verdict != "fail" || p.Text != want ||
			fault == "wrong-lsrank" && c.Trace.Events[p.Event-1].Name != "DATA" {
			t.Errorf("%s: the record says %s, %+v", fault, c.Verdict, p)
		}
	}
}
