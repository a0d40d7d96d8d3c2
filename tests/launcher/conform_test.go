package launcher

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tester is on one machine, and libimpi on another. The test is the person there: it types what the tester shows,
// and tells it the address that a server prints.
func TestAnImplementationOnAnotherMachineIsTestedByHand(t *testing.T) {
	n := newNetwork(t, ipv4, 2)
	bin, dir := filepath.Join(stage(t), "bin"), t.TempDir()
	tester := filepath.Join(bin, "impi-conform")
	for _, c := range [][]string{{tester, "-player", "player.c"},
		{filepath.Join(bin, "mpicc"), "-o", "player", "player.c"}} {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", c, err, out)
		}
	}
	shown, screen, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	in, keyboard := io.Pipe()
	record := filepath.Join(dir, "record.json")
	var conform *job
	n.machines[1].inside(t, func() {
		conform = startProgram(t, []option{stdin(in), func(c *exec.Cmd) { c.Stdout = screen }}, tester, "-listen",
			n.machines[1].addr.String(), "-ports", "7000-7099", "-template", "libimpi", "-json", record, "-run", "^(server/"+
				"(key-right|labels-2|no-method)|client/(smallest-job|wrong-key)|mesh/highest|packet/(short|long)|flow/"+
				"acks-while-computing|collective/(bcast-3|allreduce-5)|comm/dup|finish/abort|several/finish|joint/three-clients)$")
	})
	screen.Close()
	var typed []*job
	said := ""
	for lines := bufio.NewScanner(shown); lines.Scan(); {
		said += lines.Text() + "\n"
		command, ok := strings.CutPrefix(lines.Text(), "    ")
		if !ok || strings.HasPrefix(command, " ") {
			continue
		}
		var j *job
		n.machines[0].inside(t, func() {
			j = startProgram(t, []option{environ("PATH=" + bin + ":" + os.Getenv("PATH")),
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
	r := conform.wait()
	if r.code != 0 || r.stderr != "" || !strings.HasSuffix(said, "14 passed, 0 failed, 0 indeterminate, 1 skipped\n") {
		t.Errorf("code %d, %q\n%s", r.code, r.stderr, said)
	}
	for _, j := range typed {
		j.wait()
	}
	if text, err := os.ReadFile(record); err != nil || !strings.Contains(string(text), "typed by hand") {
		t.Errorf("the record does not say that exit codes were not seen: %v\n%s", err, text)
	}
}
