package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/internal/options"
)

func membersFor(n int) []Member {
	list := make([]Member, n)
	for i := range list {
		list[i] = Member{Number: i, Name: fmt.Sprint("m", i), Ranks: []int{i}}
	}
	return list
}

// simulate starts machines on a virtual clock: a process starts its groups one after the other, each of which takes it
// time to start a shell, and the shell time until the other end runs. It returns when the last machine runs, how many
// rounds of shells that were, and the most machines that one process has started.
func simulate(list []Member, most int, start, shell time.Duration) (last time.Duration, rounds, width, reached int) {
	var run func(others []Member, at time.Duration, round int)
	run = func(others []Member, at time.Duration, round int) {
		all := Groups(others, most)
		width = max(width, len(all))
		for i, g := range all {
			there := at + time.Duration(i+1)*start + shell
			last, rounds, reached = max(last, there), max(rounds, round), reached+1
			run(g[1:], there, round+1)
		}
	}
	run(list, 0, 1)
	return last, rounds, width, reached
}

func TestTheRoundsOfAStartGrowAsTheLogarithmOfMachines(t *testing.T) {
	for _, tt := range []struct{ machines, branches, rounds, width int }{
		{1, 32, 1, 1}, {10, 32, 1, 10}, {32, 32, 1, 32}, {33, 32, 2, 32}, {100, 32, 2, 32}, {1000, 32, 2, 32},
		{1056, 32, 2, 32}, {1057, 32, 3, 32}, {30000, 32, 3, 32}, {1000, 2, 9, 2}, {1000, 10, 3, 10}, {1000, 0, 1, 1000},
	} {
		_, rounds, width, reached := simulate(membersFor(tt.machines), tt.branches, time.Millisecond, time.Second)
		if rounds != tt.rounds || width != tt.width || reached != tt.machines {
			t.Errorf("%d machines by %d: %d rounds of at most %d, %d reached; want %d rounds of %d", tt.machines, tt.branches,
				rounds, width, reached, tt.rounds, tt.width)
		}
	}
}

// With a shell that takes a third of a second, and 10 ms of its launcher, as ssh does, a tree beats one launcher.
func TestATreeStartsAThousandMachinesFasterThanOneProcess(t *testing.T) {
	tree, _, _, _ := simulate(membersFor(1000), 32, 10*time.Millisecond, 300*time.Millisecond)
	flat, _, _, _ := simulate(membersFor(1000), 0, 10*time.Millisecond, 300*time.Millisecond)
	if tree > flat/5 {
		t.Errorf("%v, and %v without a tree", tree, flat)
	}
}

func TestGroupsAreTheListInItsOrder(t *testing.T) {
	for n := range 40 {
		for most := range 7 {
			var got []Member
			for _, g := range Groups(membersFor(n), most) {
				got = append(got, g...)
			}
			if !slices.EqualFunc(got, membersFor(n), func(a, b Member) bool { return a.Number == b.Number }) {
				t.Errorf("%d by %d: %v", n, most, got)
			}
		}
	}
}

// A shell that cannot be started, and one that ends at once, are told as such, and not tried again.
func TestABranchThatCannotBeStartedSaysWhy(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for rsh, want := range map[string]string{"/no/such/shell": "no such file", "false": "exit status 1",
		"echo": "not an impirun message"} {
		s, err := shells.New(&options.Plan{Rsh: rsh})
		if err != nil {
			t.Fatal(err)
		}
		told := &told{}
		NewLaunching(told, StartFrame{Shell: s}, time.Minute, null).NewBranch(membersFor(1)).Follow()
		if len(told.said) != 1 || !strings.HasPrefix(told.said[0], "missed: ") || !strings.Contains(told.said[0], want) {
			t.Errorf("%s: %q", rsh, told.said)
		}
	}
}

// The other end says hello and one letter, and leaves.
func TestABranchTellsItsLauncherOneAfterTheOther(t *testing.T) {
	var says bytes.Buffer
	other := &Frames{out: &says}
	for _, m := range []Frame{{Hello: &helloFrame{nodeVersion}}, {Started: true}} {
		if err := other.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "says")
	if err := os.WriteFile(file, says.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := shells.New(&options.Plan{Rsh: "sh -c", RshExtra: []string{"exec cat " + file}})
	if err != nil {
		t.Fatal(err)
	}
	told := &told{}
	NewLaunching(told, StartFrame{Shell: s}, time.Minute, io.Discard).NewBranch(membersFor(1)).Follow()
	want := []string{"hello", `letter: {"Started":true}` + "\n", "ended: the connection has ended"}
	if d := cmp.Diff(want, told.said); d != "" {
		t.Error(d)
	}
}

// On the clock of a bubble time passes only when all wait for it.
func TestACommandThatDoesNotRunIsNotWaitedFor(t *testing.T) {
	s, err := shells.New(&options.Plan{Rsh: "/no/such/shell"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		b := NewLaunching(&told{}, StartFrame{Shell: s}, time.Minute, io.Discard).NewBranch(membersFor(1))
		if err := b.launch(); err == nil {
			t.Error("it runs")
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("it was waited for, for %v", waited)
		}
	})
}

// What is put into a mailbox comes out in order, and its end ends the stream.
func TestAMailboxKeepsTheOrder(t *testing.T) {
	r, w := io.Pipe()
	m := newMailbox()
	for i := range 10 {
		m.put(Letter{i, []byte("{}\n")})
	}
	m.begin(&Frames{out: w}, w, StartFrame{})
	in := &Frames{in: r}
	if first, err := in.Receive(); err != nil || first.Start == nil {
		t.Fatal(first, err)
	}
	m.put(Letter{10, []byte("{}\n")})
	m.finish()
	m.put(Letter{11, []byte("{}\n")})
	for i := range 11 {
		if x, err := in.letter(); err != nil || x.Machine != i {
			t.Fatal(i, x, err)
		}
	}
	if _, err := in.letter(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// told is a launcher that notes what it is told. Its commands are children of the test.
type told struct{ said []string }

func (*told) Run(cmd *exec.Cmd) (Command, error) { return Child{cmd}, cmd.Start() }
func (t *told) Hello(*Branch)                    { t.said = append(t.said, "hello") }
func (t *told) Ended(_ *Branch, why error)       { t.said = append(t.said, "ended: "+why.Error()) }
func (t *told) Missed(_ *Branch, why error)      { t.said = append(t.said, "missed: "+why.Error()) }

func (t *told) Letter(_ *Branch, x Letter) error {
	t.said = append(t.said, "letter: "+string(x.text))
	return nil
}
