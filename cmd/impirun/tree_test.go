package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/startup/client"
)

func membersFor(n int) []member {
	list := make([]member, n)
	for i := range list {
		list[i] = member{Number: i, Name: fmt.Sprint("m", i), Ranks: []int{i}}
	}
	return list
}

// simulate starts machines on a virtual clock: a process starts its groups one after the other, each of which takes it
// time to start a shell, and the shell time until the other end runs. It answers when the last machine runs, how many
// rounds of shells that were, and the most machines that one process has started.
func simulate(list []member, most int, start, shell time.Duration) (last time.Duration, rounds, width, reached int) {
	var run func(others []member, at time.Duration, round int)
	run = func(others []member, at time.Duration, round int) {
		all := groups(others, most)
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
			var got []member
			for _, g := range groups(membersFor(n), most) {
				got = append(got, g...)
			}
			if !slices.EqualFunc(got, membersFor(n), func(a, b member) bool { return a.Number == b.Number }) {
				t.Errorf("%d by %d: %v", n, most, got)
			}
		}
	}
}

func TestAllThatAreMissingAreNamed(t *testing.T) {
	list := []missedNode{{0, "a", "gone"}, {2, "c", "other"}, {3, "d", "gone"}}
	for _, tt := range []struct {
		late []string
		want string
	}{
		{nil, "machines a, d: gone; machine c: other"},
		{[]string{"e", "f"}, "machines a, d: gone; machine c: other; machines e, f: no answer yet"},
	} {
		if d := cmp.Diff(tt.want, missingText(slices.Clone(list), tt.late)); d != "" {
			t.Error(d)
		}
	}
}

func TestTheTimeForStarting(t *testing.T) {
	none := func(string) string { return "" }
	pod := func(name string) string { return map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1"}[name] }
	for _, tt := range []struct {
		said, want time.Duration
		getenv     func(string) string
	}{
		{0, usualLimit, none}, {time.Second, time.Second, none},
		{0, kubernetesLimit, pod},
	} {
		plan := &options.Plan{Limits: options.Limits{Start: tt.said}}
		if got := startLimit(plan, tt.getenv); got != tt.want {
			t.Errorf("%v: %v", tt.said, got)
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
		"echo": "not what impirun says"} {
		s, err := shells.New(&options.Plan{Rsh: rsh})
		if err != nil {
			t.Fatal(err)
		}
		missed := make(chan error, 1)
		l := &launching{shell: s, time: context.Background(), run: startHere, err: null,
			missed: func(_ *branch, why error) { missed <- why }}
		l.newBranch(membersFor(1)).follow()
		if why := <-missed; !strings.Contains(why.Error(), want) {
			t.Errorf("%s: %v", rsh, why)
		}
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
		b := (&launching{shell: s, time: context.Background(), run: startHere}).newBranch(membersFor(1))
		if err := b.launch(); err == nil {
			t.Error("it runs")
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("it was waited for, for %v", waited)
		}
	})
}

// A rank that has finalized may end as it likes; so may any with -enable-recovery. The job goes on, and says so at its
// end. A job that is being spawned needs all.
func TestAMildEndOfANodeEndsNobody(t *testing.T) {
	for _, tt := range []struct {
		end        endFrame
		job        int
		mild, ends bool
	}{{endFrame{}, 0, false, false}, {endFrame{Code: 4, Mild: true}, 0, true, false}, {endFrame{Code: 4}, 0, false, true},
		{endFrame{Code: 4, Mild: true}, 1, false, true}} {
		h := &head{plan: &options.Plan{}, job: tt.job, settled: make(chan struct{})}
		h.spawner = newSpawner(h.plan, nil, "", 0)
		h.judge(&tt.end)
		if (h.mild != nil) != tt.mild || (h.cause != nil) != tt.ends {
			t.Errorf("%+v: mild %v, cause %v", tt, h.mild, h.cause)
		}
	}
}

// A machine that was not reached has its own reason, which is told when no other is on its way.
func TestAMachineThatIsMissingIsNotTakenForOneThatHasEnded(t *testing.T) {
	h := &head{plan: &options.Plan{}, nodes: []*nodeLink{
		{member: member{Name: "a", Ranks: []int{0}}, hosts: []client.Host{{}}},
		{member: member{Name: "b", Number: 1, Ranks: []int{1}}, ended: true}}}
	h.spawner = newSpawner(h.plan, nil, "", 0)
	if h.lack(); h.cause != nil {
		t.Errorf("%+v", h.cause)
	}
	h.nodes[1].told = true
	if h.lack(); h.cause == nil || h.cause.Text != "rank 1 on b ended without calling MPI_Init, which rank 0 has called" {
		t.Errorf("%+v", h.cause)
	}
}

// What is put into a mailbox comes out in order, and its end ends the stream.
func TestAMailboxKeepsTheOrder(t *testing.T) {
	r, w := io.Pipe()
	m := newMailbox()
	for i := range 10 {
		m.put(letter{i, []byte("{}\n")})
	}
	m.begin(&frames{out: w}, w, startFrame{})
	in := &frames{in: r}
	if first, err := in.receive(); err != nil || first.Start == nil {
		t.Fatal(first, err)
	}
	m.put(letter{10, []byte("{}\n")})
	m.finish()
	m.put(letter{11, []byte("{}\n")})
	for i := range 11 {
		if x, err := in.letter(); err != nil || x.machine != i {
			t.Fatal(i, x, err)
		}
	}
	if _, err := in.letter(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestTheProgressLineGivesWay(t *testing.T) {
	var out strings.Builder
	p := &progress{to: &out, active: true}
	p.update(tally{machines: 3, reached: 1, ranks: 6})
	p.update(tally{machines: 3, reached: 1, ranks: 6})
	p.clear()
	p.update(tally{3, 3, 6, 6, 5})
	p.update(tally{3, 3, 6, 6, 6})
	p.update(tally{3, 3, 6, 6, 5})
	p.begin()
	p.update(tally{3, 3, 6, 6, 5})
	want := "impirun: 1 of 3 machines reached, 0 of 6 ranks started, 0 joined\r\x1b[K" +
		"impirun: 3 of 3 machines reached, 6 of 6 ranks started, 5 joined\r\x1b[K"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	var none *progress
	none.clear()
	none.update(tally{})
	none.end()
	if none.due() != nil {
		t.Error("nobody to tell")
	}
}

func startHere(cmd *exec.Cmd) (command, error) { return child{cmd}, cmd.Start() }
