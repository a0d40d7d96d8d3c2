package machines

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestMachinesShareCoresOnlyIfThereAreTooFew(t *testing.T) {
	for _, tt := range []struct {
		i, n, all int
		want      string
	}{{0, 2, 2, "0"}, {1, 2, 2, "1"}, {3, 4, 2, "1"}, {2, 4, 1, "0"}, {1, 2, 8, "1,3,5,7"}, {2, 3, 8, "2,5"}} {
		if got := cores(tt.i, tt.n, tt.all); got != tt.want {
			t.Errorf("machine %d of %d on %d cores has %s, want %s", tt.i, tt.n, tt.all, got, tt.want)
		}
	}
}

func TestBytesSentAreThoseOfTheInterface(t *testing.T) {
	text := `Inter-|   Receive                                       |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
    lo:      10    1    0    0    0     0          0         0       11    1    0    0    0     0       0          0
  eth0: 7712345  456    0    0    0     0          0         0 98765432 4567    0    0    0     0       0          0
`
	if n, err := sentIn(text); err != nil || n != 98765432 {
		t.Errorf("%d, %v", n, err)
	}
	for _, bad := range []string{"", "  eth0: 1 2 3\n", "eth1: 1 2 3 4 5 6 7 8 9 10\n"} {
		if n, err := sentIn(bad); err == nil {
			t.Errorf("%q: %d", bad, n)
		}
	}
}

func TestHeadersTakeAShareOfTheLink(t *testing.T) {
	if got := (Link{Rate: 1000, MTU: 1500}).Speed(); got < 119.5 || got > 119.6 {
		t.Errorf("%.1f MB/s", got)
	}
}

// The error names what to install or to be, not the call that failed.
func TestWithoutToolsAnErrorNamesThem(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if m, err := New(2, Link{Rate: 1000, MTU: 1500}, t.TempDir()); err == nil {
		m.Close()
		t.Error("machines without tools")
	}
}

// A launcher on one machine starts programs on the other, which has another name and another boot number.
func TestMachinesReachEachOther(t *testing.T) {
	m, err := New(2, Link{Rate: 1000, MTU: 1500, Control: "reno"}, t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	defer m.Close()
	ask := "cat /proc/sys/kernel/hostname /proc/sys/kernel/random/boot_id; ls /dev/shm"
	here := output(t, append(m.Words(0), "sh", "-c", ask)...)
	there := output(t, append(m.Words(0), m.Shell(), "-x", Name(1), ask)...)
	if here != "m0\n00000000-0000-4000-8000-000000000001\n" || there != "m1\n00000000-0000-4000-8000-000000000002\n" {
		t.Errorf("%q and %q", here, there)
	}
	if ip := output(t, append(m.Words(0), "getent", "hosts", Name(1))...); !strings.HasPrefix(ip, "10.79.0.2 ") {
		t.Errorf("%s is %q", Name(1), ip)
	}
	if _, err := m.Sent(); err != nil {
		t.Error(err)
	}
}

// What a run leaves behind on a machine does not outlive it.
func TestCloseEndsWhatStillRunsOnAMachine(t *testing.T) {
	m, err := New(1, Link{Rate: 1000, MTU: 1500}, t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	words := append(m.Words(0), "sleep", "1000")
	left := exec.Command(words[0], words[1:]...)
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	for networkOf(left.Process.Pid) != networkOf(m.nodes[0].pid()) { // nsenter is not there at once
		time.Sleep(time.Millisecond)
	}
	m.Close()
	if err := left.Wait(); err == nil {
		t.Error("it ended by itself")
	}
}

func output(t *testing.T, words ...string) string {
	t.Helper()
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", words, err, out)
	}
	return string(out)
}
