package launcher

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What containers and laptops take from a job: memory of other processes, /dev/shm, names, networks, process ids.

// isolated skips a test where namespaces cannot be made.
func isolated(t *testing.T, flags string) {
	t.Helper()
	if out, err := exec.Command("unshare", flags, "true").CombinedOutput(); err != nil {
		t.Skipf("there are no namespaces here: unshare %s: %v: %s", flags, err, out)
	}
}

// behind runs impirun behind a command.
func behind(t *testing.T, settings []option, line ...string) result {
	t.Helper()
	return startProgram(t, settings, line[0], line[1:]...).wait()
}

func sizes(t *testing.T) string { return program(t, "../pt2pt/sizes") }

func TestContainersThatForbidTheMemoryOfOtherProcessesAreNotNoticed(t *testing.T) {
	deny := program(t, "deny")
	r := run(t, words("-n 1", deny, "memory true")...)
	if r.code == 77 {
		t.Skip("this kernel has no filters of system calls")
	}
	for _, way := range []string{"", "1"} {
		for _, file := range []string{sizes(t), program(t, "../rma/put_get")} {
			startWith(t, []option{environ("IMPI_SINGLE_COPY=" + way)}, words("-n 2", deny, "memory", file)...).wait().
				expect(t, 0, "")
		}
	}
	behind(t, nil, words(deny, "memfd", filepath.Join(stage(t), "bin", "impirun"), "-n 2", sizes(t))...).
		expect(t, 1, "seccomp profile must allow it")
}

func TestJobsNeedNoDevShm(t *testing.T) {
	isolated(t, "-m")
	launcher := filepath.Join(stage(t), "bin", "impirun")
	for _, shm := range []string{"size=64m", "size=4k,ro,mode=000"} {
		script := "mount -t tmpfs -o " + shm + ` none /dev/shm && exec "$@"`
		behind(t, nil, words("unshare -m", sh(script), "sh", launcher, "-n 4", sizes(t))...).expect(t, 0, "")
	}
}

func TestRanksInContainersOfTheirOwnAreOneJob(t *testing.T) {
	isolated(t, "-inpm")
	for how, flags := range map[string]string{"-n 3": "-inpfm", "-clients 2 -n 4": "-ipfm",
		"-clients 2 -via agent -n 4": "-inpfm"} {
		run(t, words(how, "unshare", flags, sizes(t))...).expect(t, 0, "")
	}
	run(t, words("-n 3 unshare -inm", program(t, "../rma/put_get"))...).expect(t, 0, "") // with common process ids
}

// Under the pids of the others there is nobody, or another process, which may even be the rank itself (--mount-proc).
func TestWindowsOfRanksInContainersOfTheirOwn(t *testing.T) {
	isolated(t, "-inpm")
	for _, in := range []string{"-inpfm", "-ipfm --mount-proc", "-inpfm -U --map-root-user"} {
		if out, err := exec.Command("unshare", append(strings.Fields(in), "true")...).CombinedOutput(); err != nil {
			t.Logf("without unshare %s: %v: %s", in, err, out)
			continue
		}
		for _, file := range []string{"put_get", "shared_memory", "atomics"} {
			run(t, words("-n 3 unshare", in, program(t, "../rma/"+file))...).expect(t, 0, "")
		}
	}
}

// A machine without a network and names: whoever reads a file of names waits for ever.
func TestJobsOfOneMachineLookUpNoNames(t *testing.T) {
	isolated(t, "-mun")
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	hide := "hostname nobody.invalid\n"
	for _, name := range []string{"hosts", "resolv.conf", "nsswitch.conf"} {
		if _, err := os.Stat("/etc/" + name); err == nil {
			hide += fmt.Sprintf("mount --bind %s/fifo /etc/%s || exit 99\n", dir, name)
		}
	}
	launcher := filepath.Join(stage(t), "bin", "impirun")
	rsh := strings.Join(strings.Fields(machines(t))[:2], " ")
	loopback := "ip link set lo up\n"
	tunnel := loopback + "ip addr add 10.99.0.1/32 dev lo\nip route add default dev lo\n"
	file := traffic(t)
	for _, tt := range []struct {
		network string
		line    []string
	}{
		{"", words(launcher, "-n 2", file, few)},
		{"", words(program(t, "../pt2pt/self"))},
		{loopback, words(launcher, "-clients 2 -n 2", file, few)},
		{tunnel, words(launcher, rsh, "-host alpha:1,beta:1 -n 2", file, few)},
	} {
		script := tt.network + hide + `exec "$@"`
		behind(t, nil, words("unshare -mun", sh(script), "sh", tt.line)...).expect(t, 0, "")
	}
}
