package hosts

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

func TestOnlyThisMachineIsLocal(t *testing.T) {
	for name, want := range map[string]bool{"localhost": true, Hostname(): true, "127.0.0.1": true, "127.5.5.5": true,
		"::1": true, "192.0.2.7": false, "no-such-host.invalid": false} {
		if got := IsLocal(name); got != want {
			t.Errorf("isLocal(%s) = %v", name, got)
		}
	}
}

func TestHostFilesOfOtherLaunchersAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	read := func(text string) ([]Machine, error) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return readHostFile(file)
	}
	list, err := read("# all\nalpha slots=4 max_slots=8\n\nbeta:2 # two\n" +
		"10.255.255.1 addr=10.255.255.2 sched=yes\nfe80::1\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Machine{{Name: "alpha", Slots: 4}, {Name: "beta", Slots: 2},
		{Name: "10.255.255.1", Addr: netip.MustParseAddr("10.255.255.2")}, {Name: "fe80::1"}}
	if d := cmp.Diff(want, list, cmp.AllowUnexported(Machine{}), cmpopts.EquateComparable(netip.Addr{})); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"a slots=x", "a slots=0", "a:b", "-oProxyCommand=x", "a addr=here", "a b c d", ":::",
		"x::", "a:0", "localhost:0", ":2"} {
		if _, err := read("good\n" + bad + "\n"); err == nil || !strings.Contains(err.Error(), "line 2, column ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := readHostFile(file + ".not"); err == nil {
		t.Error("a file that is not there")
	}
}

func TestAHostFileWithALineWithoutAnEndIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(file, []byte("# one\n"+strings.Repeat("x", 1<<17)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readHostFile(file)
	if want := "host file: " + file + ", line 2: it has more than "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestMachinesThatAreNamedTwiceAreOne(t *testing.T) {
	plan, err := options.Parse(strings.Fields("-host alpha,localhost:2,alpha:3,127.0.0.1 -n 6 p"), func(string) string {
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := Of(plan)
	if err != nil {
		t.Fatal(err)
	}
	want := []Machine{{Name: "alpha", Slots: 4, Ranks: []int{0, 3, 4, 5}},
		{Name: "localhost", Slots: 3, Local: true, Ranks: []int{1, 2}}}
	if d := cmp.Diff(want, list, cmp.AllowUnexported(Machine{}), cmpopts.EquateComparable(netip.Addr{})); d != "" {
		t.Error(d)
	}
}

func FuzzHostLines(f *testing.F) {
	for _, line := range []string{"alpha slots=4 max_slots=8", "beta:2", "ssh://me@host:22 slots=2", "fe80::1 addr=::1",
		"ssh://", "ssh://[::1]:22", "a slots=x", "  b  c"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Fields(line)
		if len(words) == 0 {
			return
		}
		m, at, err := Parse(words)
		switch {
		case err != nil:
			if column := columnOf(line, at); !strings.HasPrefix(line[column-1:], words[at]) {
				t.Errorf("%q: column %d", line, column)
			}
		case m.Name == "" || m.Name[0] == '-' || strings.HasPrefix(m.User, "-") || m.Slots < 0 || m.Port < 0 ||
			m.Port > 65535:
			t.Errorf("%q: %+v", line, m)
		}
	})
}
