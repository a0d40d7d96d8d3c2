package machines

import "testing"

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

// The error names what to install or to be, not the call that failed.
func TestWithoutToolsAnErrorNamesThem(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if m, err := New(2, Link{Rate: 1000, MTU: 1500}, t.TempDir()); err == nil {
		m.Close()
		t.Error("machines without tools")
	}
}
