package mistakes

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Where programs run:
//
//	shm       on this machine
//	machines  on two machines, which are names: memory is shared inside each only
//	clients   as two clients of one launcher
//	agents    the same, behind agents
//	servers   as two clients, each with a launcher of its own, which an IMPI server joins
//	hydra     under another launcher, mpiexec.hydra, where there is one

// commands are the processes that make a job.
type commands struct {
	t      *testing.T
	mark   string // in the environment of all processes that belong to it
	said   *output
	list   []*exec.Cmd // which begin in this order; the job's exit code is that of the last
	served bool        // the first is a server, which says its address
}

// newCommands makes the commands of a job. nil: it cannot run there.
func newCommands(ctx context.Context, t *testing.T, stage string, p *program, where string) *commands {
	c := &commands{t: t, mark: fmt.Sprintf("IMPI_TEST_JOB=%d.%s.%s", os.Getpid(), p.name, where), said: &output{}}
	impirun := filepath.Join(stage, "bin", "impirun")
	add := func(file string, words ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, file, words...)
		own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "IMPI_") })
		cmd.Env = slices.Concat(own, []string{c.mark, key}, p.environment)
		cmd.Stdout, cmd.Stderr = c.said, c.said
		c.list = append(c.list, cmd)
		return cmd
	}
	job := func(n int, words ...string) {
		words = append(words, "-n", fmt.Sprint(n))
		add(impirun, append(append(words, p.options...), p.file)...)
	}
	half := (p.ranks + 1) / 2
	switch where {
	case "shm":
		job(p.ranks)
	case "machines":
		job(p.ranks, "-launcher", "fork", "-host", fmt.Sprintf("m0:%d,m1:%d", half, p.ranks-half))
	case "clients":
		job(p.ranks, "-clients", "2")
	case "agents":
		job(p.ranks, "-clients", "2", "-via", "agent")
	case "servers":
		c.served = true
		add(impirun, "-server", "2", "-host", "127.0.0.1")
		job(half, "-client", "0", "ADDRESS")
		job(p.ranks-half, "-client", "1", "ADDRESS")
	case "hydra":
		file := hydra(stage)
		if file == "" {
			return nil
		}
		add(file, "-n", fmt.Sprint(p.ranks), p.file)
	default:
		t.Errorf("%s: nobody knows where %s is", p.name, where)
		return nil
	}
	return c
}

// hydra finds mpiexec.hydra: in PATH, or where tools/peers has put it. "": there is none.
func hydra(stage string) string {
	for _, file := range []string{"mpiexec.hydra", filepath.Join(filepath.Dir(stage), "peers/mpich/bin/mpiexec.hydra")} {
		if path, err := exec.LookPath(file); err == nil {
			return path
		}
	}
	return ""
}

// run runs all commands, and returns what they have said, and the exit code of the last.
func (c *commands) run() (said string, code int) {
	if c.served && !c.serve() {
		return "", -1
	}
	for _, cmd := range c.list {
		if cmd.Process != nil {
			continue // the server
		}
		if err := cmd.Start(); err != nil {
			c.t.Error(err)
			return "", -1
		}
	}
	for _, cmd := range c.list {
		code = codeOf(c.t, cmd.Wait())
	}
	return c.said.String(), code
}

// serve starts the server, and tells the clients where it is.
func (c *commands) serve() bool {
	server := c.list[0]
	server.Stdout = nil
	out, err := server.StdoutPipe()
	if err != nil || server.Start() != nil {
		c.t.Errorf("no server: %v", err)
		return false
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	for _, cmd := range c.list[1:] {
		cmd.Args[slices.Index(cmd.Args, "ADDRESS")] = strings.TrimSpace(address)
	}
	return err == nil
}

// key lets clients in.
const key = "IMPI_AUTH_KEY=5"

// end makes sure that nothing is left of the job. What other launchers start ends when it notices that these have.
func (c *commands) end() {
	left := c.marked()
	for limit := time.Now().Add(patience / 10); len(left) > 0 && time.Now().Before(limit); left = c.marked() {
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range left {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	if len(left) > 0 {
		c.t.Errorf("%q left processes %v behind", c.list[0].Args, left)
	}
}

// marked are the living processes of the job.
func (c *commands) marked() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file) // empty for a zombie
		if err != nil || !bytes.Contains(append(env, 0), append([]byte(c.mark), 0)) {
			continue
		}
		var pid int
		fmt.Sscanf(file, "/proc/%d/", &pid)
		pids = append(pids, pid)
	}
	return pids
}

// changing is what is different each time, and what is written for it.
var changing = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`\bfor ([0-9.]+ to )?[0-9.]+ (ms|s|min|h)\b`), "for TIME"},
	{regexp.MustCompile(`\b[0-9.]+ (ns|us|ms|s) ago\b`), "TIME ago"},
	{regexp.MustCompile(`\b(process|pid|launcher) [0-9]+\b`), "$1 PID"},
	{regexp.MustCompile(`\b0x[0-9a-f]+\b`), "ADDRESS"},
	{regexp.MustCompile(`\b127\.0\.0\.[0-9]+:[0-9]+\b`), "HOST:PORT"},
	{regexp.MustCompile(`/tmp/[^ ]*/programs?/|/tmp/TestMistakes[0-9]*/[0-9]*/`), ""},
}

// plain replaces what is different each time.
func plain(text string, anyOrder bool) string {
	if name, err := os.Hostname(); err == nil && name != "" {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(text, "HOST")
	}
	for _, c := range changing {
		text = c.is.ReplaceAllString(text, c.as)
	}
	if anyOrder {
		lines := slices.Sorted(strings.Lines(text))
		text = strings.Join(lines, "")
	}
	return text
}
