package main

import (
	"bufio"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/version"
)

func TestTheLeastLimitOfAGroupAndThoseAboveItHolds(t *testing.T) {
	system := fstest.MapFS{}
	file := func(name, text string) { system[name] = &fstest.MapFile{Data: []byte(text)} }
	file("proc/self/cgroup", "0::/a/b\n")
	file("sys/fs/cgroup/a/cpu.max", "150000 100000\n")
	file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
	file("sys/fs/cgroup/a/memory.max", "1073741824\n")
	file("sys/fs/cgroup/a/b/memory.max", "536870912\n")
	file("sys/fs/cgroup/a/b/pids.max", "max\n")
	if got, want := readGroup(system), (group{1.5, 512 << 20, 0}); got != want {
		t.Errorf("version 2: %+v, want %+v", got, want)
	}
	file("proc/self/cgroup", "4:cpu,cpuacct:/docker/x\n3:memory:/docker/x\n2:pids:/docker/x\n1:name=systemd:/\n")
	file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n") // a container sees the root alone
	file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
	file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
	file("sys/fs/cgroup/pids/pids.max", "77\n")
	if got, want := readGroup(system), (group{2, 0, 77}); got != want {
		t.Errorf("version 1: %+v, want %+v", got, want)
	}
	if got := readGroup(fstest.MapFS{}); got != (group{}) {
		t.Errorf("without cgroups: %+v", got)
	}
	file("proc/self/cgroup", "0::/../../x\nnonsense\n:::\n")
	readGroup(system) // whatever stands there
}

func TestWhatIsScarceComesWithAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		f    finding
		want state
	}{
		"a quota below the cores":    {cpus(group{cpus: 1.5}, 4), note},
		"a quota above the cores":    {cpus(group{cpus: 8}, 4), fine},
		"no quota":                   {cpus(group{}, 4), fine},
		"little memory":              {memory(group{memory: 1 << 20}), note},
		"much memory":                {memory(group{memory: 1 << 40}), fine},
		"few threads":                {pids(group{pids: 10}), note},
		"many threads":               {pids(group{pids: 1 << 20}), fine},
		"few descriptors":            {limit("descriptors", 256, 4096, 1024, "-n", "why"), note},
		"few descriptors for good":   {limit("descriptors", 256, 256, 1024, "-n", "why"), note},
		"enough descriptors":         {limit("descriptors", 1024, 4096, 1024, "-n", "why"), fine},
		"addresses without a limit":  {limit("x", unix.RLIM_INFINITY, math.MaxUint64, math.MaxUint64, "-v", ""), fine},
		"a slow clock":               {clockFinding("hpet", time.Microsecond), note},
		"a fast clock":               {clockFinding("tsc", 30*time.Nanosecond), fine},
		"no reading, Yama forbids":   {reading(errors.New("not permitted"), "3"), note},
		"no reading, in a container": {reading(errors.New("not permitted"), ""), note},
		"reading":                    {reading(nil, "1"), fine},
		"no installation":            {installation("/nowhere"), failed},
	} {
		if c.f.State != c.want || (c.f.Do == "") != (c.want == fine) {
			t.Errorf("%s: %+v", name, c.f)
		}
	}
	if f := limit("descriptors", 256, 4096, 1024, "-n", ""); !strings.HasPrefix(f.Do, "ulimit -n 1024 ") {
		t.Error(f.Do)
	}
}

// What this machine allows is its own business; that a test of it runs to its end is ours.
func TestTheMachineIsTestedByDoing(t *testing.T) {
	for _, f := range []finding{sharedMemory(), loopback()} {
		if f.State != fine {
			t.Errorf("tests of jobs run here, but: %+v", f)
		}
	}
	if err := tryReading(); err != nil && !strings.HasPrefix(err.Error(), "process_vm_readv: ") {
		t.Errorf("reading from another process: %v", err)
	}
}

// shellTo is a remote shell that runs commands on this machine.
func shellTo(t *testing.T, script string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rsh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return []string{"sh", file}
}

func states(list []finding) string {
	var words []string
	for _, f := range list {
		words = append(words, f.Name+" "+string(f.State))
	}
	return strings.Join(words, ", ")
}

func TestBothWaysAreTestedByConnections(t *testing.T) {
	shell := shellTo(t, `shift; exec sh -c "$*"`)
	list := bothWays("me@127.0.0.1", shell, []string{"127.0.0.1"})
	if got := states(list); got != "me@127.0.0.1 shell ok, me@127.0.0.1 there ok, me@127.0.0.1 back ok" {
		t.Errorf("%s: %+v", got, list)
	}
	list = bothWays("127.0.0.1", shell, []string{"127.0.0.1x"}) // no address that the other side could reach
	if got := states(list); got != "127.0.0.1 shell ok, 127.0.0.1 there ok, 127.0.0.1 back fail" {
		t.Errorf("%s: %+v", got, list)
	}
}

func TestARemoteShellThatDoesNotWorkIsToldWithWhatItSaid(t *testing.T) {
	list := bothWays("node7", shellTo(t, "echo no key >&2; exit 255"), []string{"127.0.0.1"})
	if states(list) != "node7 shell fail" || !strings.Contains(list[0].Is, "no key") || list[0].Do == "" {
		t.Errorf("%+v", list)
	}
	if list = bothWays("node7", []string{"/no/such/shell"}, []string{"127.0.0.1"}); states(list) != "node7 shell fail" {
		t.Errorf("%+v", list)
	}
}

func TestTheOtherSidesWordsAreHeardForWhatTheyAre(t *testing.T) {
	hearing := func(text string) string {
		list, heard := hear("h", "token", bufio.NewScanner(strings.NewReader(text)))
		if !heard {
			return "nothing"
		}
		return states(list)
	}
	for text, want := range map[string]string{
		"":                     "nothing",
		"Welcome to node7\n":   "nothing",
		"motd\nversion 0.0.1x": "h shell note",
		"version " + version.Number + "\nmissed a\nreached b\nmissed c":            "h shell ok, h back ok",
		"version " + version.Number + "\nmissed a\nmissed c\n":                     "h shell ok, h back fail",
		"version " + version.Number + "\nlistening \x00\n":                         "h shell ok, h there fail",
		"version " + version.Number + "\n" + strings.Repeat("x", 1<<17) + "\nmiss": "h shell ok",
	} {
		if got := hearing(text); got != want {
			t.Errorf("%.40q: %s, want %s", text, got, want)
		}
	}
}

func TestSomebodyElseAtThePortIsNotTakenForTheOtherSide(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "220 mail.example.org ESMTP\r\n")
			conn.Close()
		}
	}()
	if err := greet(listener.Addr().String(), "secret"); err == nil {
		t.Error("a mail server was taken for impi-info")
	}
}

func TestWhatAnErrorComesFromIsSaid(t *testing.T) {
	if f := port("127.0.0.1:1"); f.State != failed || !strings.Contains(f.Do, "nobody listens") {
		t.Errorf("%+v", f)
	}
	for err, want := range map[error]string{
		&net.DNSError{}: "name", syscall.EHOSTUNREACH: "way", os.ErrDeadlineExceeded: "drops", io.EOF: "firewalls",
	} {
		if got := advice(err); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}
