package launcher

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Names that ranks publish (MPI 5.0, 11.10.4).

// ownNames gives the jobs of a test a name server of their own, and ends it.
func ownNames(t *testing.T) option {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		for _, pid := range serversIn(dir) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return environ("XDG_RUNTIME_DIR=" + dir)
}

// serversIn lists the name servers of a folder.
func serversIn(dir string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte("--names-here\x00"+dir)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestNamesOfOneJob(t *testing.T) {
	for _, how := range []string{"-n 1", machines(t), "-clients 2 -n 2"} {
		r := startWith(t, []option{ownNames(t)}, words(how, does("init", "only 0", "lookup s", "publish s port",
			"publish s other", "lookup s", "unpublish s elsewhere", "unpublish s port", "lookup s", "unpublish s",
			"publish s again", "abort 3"))...).wait()
		r.expect(t, 3, "rank 0")
		want := `lookup: service "s" is not published (no such name is published)
publish: service "s" is published already, at port port
s is at port
unpublish: service "s" is published at port port, and not at elsewhere
lookup: service "s" is not published (no such name is published)
unpublish: service "s" is not published by this job
`
		if r.stdout != want {
			t.Errorf("%s: %q", how, r.stdout)
		}
	}
}

// The server that a job has started outlives it, and must not keep open what a script has left open for the job.
func TestTheNameServerKeepsNothingOfTheUsersOpen(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	leftOpen := func(c *exec.Cmd) { c.ExtraFiles = []*os.File{w} }
	startWith(t, []option{ownNames(t), leftOpen}, words("-n 1", does("init", "publish s port", "fini"))...).wait().
		expect(t, 0, "")
	w.Close()
	if err := r.SetReadDeadline(time.Now().Add(patience / 2)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the pipe is still open: %v", err)
	}
}

func TestNamesAreFoundByOtherJobsUntilTheirOwnEnds(t *testing.T) {
	own := ownNames(t)
	secret := environ("IMPI_AUTH_SECRET=open sesame")
	server := startWith(t, []option{secret}, "-names")
	server.stdout.await("\n", 1)
	_, port, _ := strings.Cut(strings.TrimSpace(server.stdout.String()), ":")
	for name, options := range map[string][]option{"of the machine": {own},
		"of the network": {secret, environ("IMPI_NAMES=localhost:" + port)}} {
		file := filepath.Join(t.TempDir(), "go")
		j := startWith(t, options, words("-n 1", does("init", "publish s port", "publish mine hidden impi_scope=job",
			"publish yours hidden ompi_global_scope=false", "lookup mine", "say ready", "await "+file, "fini"))...)
		j.stdout.await("ready", 1)
		other := func(want ...string) {
			t.Helper()
			r := startWith(t, options, words("-n 1", does("init", "lookup s", "publish s port2", "unpublish s port",
				"lookup mine", "lookup yours", "lookup s impi_scope=job", "fini"))...).wait()
			r.expect(t, 0, "")
			if got := strings.Split(strings.TrimSpace(r.stdout), "\n"); !equal(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		none := func(s string) string {
			return `lookup: service "` + s + `" is not published (no such name is published)`
		}
		other("s is at port", `publish: service "s" is published already, by another job`,
			`unpublish: service "s" is not published by this job`, none("mine"), none("yours"), none("s"))
		os.WriteFile(file, nil, 0o600)
		r := j.wait()
		r.expect(t, 0, "")
		r.says(t, "mine is at hidden", "ready")
		other(none("s"), `unpublish: service "s" is published at port port2, and not at port`, none("mine"), none("yours"),
			"s is at port2")
	}
	server.signal(syscall.SIGTERM)
	server.wait().expect(t, 143, "")
}

func equal(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

func TestNamesOfASpawnedJobEndWithIt(t *testing.T) {
	r := startWith(t, []option{ownNames(t)}, words("-n 1", does("init", spawn(command(1, nil, "init", "publish s port",
		"fini")), "until-gone s", "say gone", "fini"))...).wait()
	r.expect(t, 0, "")
	r.says(t, "spawned 1 [0]", "gone")
}

func TestASingletonPublishes(t *testing.T) {
	own := ownNames(t)
	file := filepath.Join(t.TempDir(), "go")
	line := does("summon "+filepath.Join(stage(t), "bin", "impirun"), "publish s port", "say ready", "await "+file, "fini")
	j := startProgram(t, []option{own}, line[0], line[1:]...)
	j.stdout.await("ready", 1)
	r := startWith(t, []option{own}, words("-n 1", does("init", "lookup s", "fini"))...).wait()
	r.expect(t, 0, "")
	r.says(t, "s is at port")
	os.WriteFile(file, nil, 0o600)
	j.wait().expect(t, 0, "")
}

func TestANameServerThatWasKilledIsReplaced(t *testing.T) {
	dir := t.TempDir()
	t.Cleanup(func() {
		for _, pid := range serversIn(dir) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	own := environ("XDG_RUNTIME_DIR=" + dir)
	file := filepath.Join(t.TempDir(), "go")
	j := startWith(t, []option{own}, words("-n 1", does("init", "publish s port", "say ready", "await "+file,
		"publish t port", "say again", "await "+file+"2", "fini"))...)
	j.stdout.await("ready", 1)
	pids := serversIn(dir)
	if len(pids) != 1 {
		t.Fatalf("name servers: %v", pids)
	}
	syscall.Kill(pids[0], syscall.SIGKILL)
	os.WriteFile(file, nil, 0o600)
	j.stdout.await("again", 1)
	r := startWith(t, []option{own}, words("-n 1", does("init", "lookup s", "lookup t", "fini"))...).wait()
	r.expect(t, 0, "")
	r.says(t, "s is at port", "t is at port")
	os.WriteFile(file+"2", nil, 0o600)
	r = j.wait()
	r.expect(t, 0, "")
	r.says(t, "ready", "again")
}

func TestANameServerThatIsNotThereIsAClearError(t *testing.T) {
	secret := environ("IMPI_AUTH_SECRET=one")
	server := startWith(t, []option{secret}, "-names")
	server.stdout.await("\n", 1)
	_, port, _ := strings.Cut(strings.TrimSpace(server.stdout.String()), ":")
	steps := does("init", "publish s port", "lookup s", "lookup t", "fini")
	for _, tt := range []struct {
		option option
		want   string
	}{
		{environ("IMPI_NAMES=localhost:1"), "connection refused"},
		{environ("IMPI_NAMES=localhost:" + port), "asks for the secret"},
		{environ("IMPI_NAMES=localhost:"+port, "IMPI_AUTH_SECRET=two"), "does not take the secret"},
		{environ("XDG_RUNTIME_DIR=/proc"), "the name server of this machine cannot be asked"},
	} {
		begin := time.Now()
		r := startWith(t, []option{tt.option}, words("-n 1", steps)...).wait()
		r.expect(t, 0, "")
		if strings.Count(r.stdout, tt.want) != 3 || strings.Count(r.stdout, "(the name server does not answer)") != 2 {
			t.Errorf("%q, want %q", r.stdout, tt.want)
		}
		if d := time.Since(begin); d > 10*time.Second {
			t.Errorf("it takes %v", d)
		}
	}
	// One that vanishes while it is in use: what this job has published it still finds itself.
	file := filepath.Join(t.TempDir(), "go")
	j := startWith(t, []option{secret, environ("IMPI_NAMES=localhost:" + port)}, words("-n 1", does("init",
		"publish s port", "say ready", "await "+file, "lookup s", "lookup t", "fini"))...)
	j.stdout.await("ready", 1)
	server.signal(syscall.SIGKILL)
	server.wait()
	os.WriteFile(file, nil, 0o600)
	r := j.wait()
	r.expect(t, 0, "")
	if !strings.Contains(r.stdout, "s is at port\nlookup: service \"t\": the name server localhost:") {
		t.Errorf("output %q", r.stdout)
	}
	run(t, "-names", "hostname").expect(t, 2, "-names runs no program")
	run(t, "-names-port", "7", "hostname").expect(t, 2, "-names-port goes with -names")
	run(t, "-nameserver", "here", "hostname").expect(t, 2, "HOST:PORT")
}
