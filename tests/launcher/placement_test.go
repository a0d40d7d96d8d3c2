package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Where ranks run: on which machine, and on which CPUs. Machines are names, as in machines_test.go.

// remote is the option for the remote shell that stands for the network.
func remote(t *testing.T) string {
	t.Helper()
	return strings.Join(strings.Fields(machines(t))[:2], " ")
}

// dealt is what interleaved.c says of ranks on machines: want has the machine of each rank.
func dealt(want string) (lines []string) {
	for rank := range want {
		line := fmt.Sprintf("rank %d of program 0 is with", rank)
		for other := range want {
			if want[other] == want[rank] {
				line += fmt.Sprint(" ", other)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestRanksOfMachinesThatTakeTurnsAreOneJob(t *testing.T) {
	file, shell := program(t, "interleaved"), remote(t)
	for how, want := range map[string]string{
		"-map-by node -host localhost:3,alpha:2 -n 5":                                          "lalal",
		"-bynode -host alpha,beta -n 5":                                                        "ababa",
		"-rank-by node -host alpha:1,beta:3 -n 4":                                              "abbb",
		"-map-by node -rank-by slot -host alpha:3,localhost:3 -n 5":                            "aaall",
		"-host alpha,localhost,alpha,localhost:2,beta -n 6":                                    "alallb",
		"-map-by ppr:2:node -host alpha,beta -n 4 -bind-to core:if-supported:overload-allowed": "aabb",
	} {
		r := run(t, words(shell, how, file)...)
		r.expect(t, 0, "")
		if got := sortedLines(r.stdout); !slices.Equal(got, dealt(want)) {
			t.Errorf("%s: %q, want %q", how, got, dealt(want))
		}
	}
}

func TestAHostFileThatNamesAMachineAgainGivesTheOrderOfRanks(t *testing.T) {
	file, shell, hosts := program(t, "interleaved"), remote(t), filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("beta\nlocalhost slots=2\nbeta slots=1\nlocalhost\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := run(t, words(shell, "-hostfile", hosts, "-n 5", file)...)
	r.expect(t, 0, "")
	if got := sortedLines(r.stdout); !slices.Equal(got, dealt("bllbl")) {
		t.Errorf("%q", got)
	}
}

// Programs, prefixes, environment, standard input, and the words about a rank that dies are those of its world rank.
func TestRanksThatTakeTurnsAreNamedByTheirWorldRanks(t *testing.T) {
	how := remote(t) + " -map-by node -host localhost:3,alpha:3"
	r := startWith(t, []option{stdin(strings.NewReader("to rank 3\n"))}, words(how, "-l -s 3 -n 3",
		sh("echo $IMPI_RANK $PMI_RANK $IMPI_LOCAL_RANK $IMPI_APPNUM a; cat"), ": -n 3",
		sh("echo $IMPI_RANK $PMI_RANK $IMPI_LOCAL_RANK $IMPI_APPNUM b; cat"))...).wait()
	r.expect(t, 0, "")
	var want []string
	for rank := range 6 {
		want = append(want, fmt.Sprintf("[%d] %d %d %d %d %c", rank, rank, rank, rank/2, rank/3, 'a'+rank/3))
	}
	want = slices.Insert(want, 4, "[3] to rank 3")
	if got := sortedLines(r.stdout); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	r = run(t, words(how, "-n 5", program(t, "misbehave"), "no-finalize 3 5")...)
	if r.code != 5 || !strings.Contains(r.stderr, "rank 3 on") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

func TestAClientWhoseMachinesTakeTurnsMeetsOthers(t *testing.T) {
	file, how := program(t, "negotiate"), remote(t)+" -map-by node -host localhost:2,alpha:2 -n 4"
	s, address := server(t, with(key), "2")
	a := startWith(t, with(key), words("-client 0", address, how, file)...)
	b := startWith(t, with(key), words("-client 1", address, "-via agent -n 2", file)...)
	for _, j := range []*job{a, b, s} {
		j.wait().expect(t, 0, "")
	}
	// Two such clients, and the order of each in the world.
	s, address = server(t, with(key), "2")
	a = startWith(t, with(key), words("-client 0", address, how, program(t, "interleaved"), "4")...)
	b = startWith(t, with(key), words("-client 1", address, how, program(t, "interleaved"), "4")...)
	s.wait().expect(t, 0, "")
	var got []string
	for _, j := range []*job{a, b} {
		r := j.wait()
		r.expect(t, 0, "")
		got = append(got, sortedLines(r.stdout)...)
	}
	if want := dealt("lalaLALA"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	r := startWith(t, with(key), words("-client 0 127.0.0.1:1 -via agent", how, file)...).wait()
	if r.code != 1 || !strings.Contains(r.stderr, "-via direct") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

// ownCPUs are the CPUs that these tests may use.
func ownCPUs(t *testing.T) (list []int) {
	t.Helper()
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		t.Fatal(err)
	}
	for cpu := range 1024 {
		if mask.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// cpusOf are the CPUs that each rank says it may use.
func cpusOf(r result) (list []string) {
	for _, line := range sortedLines(r.stdout) {
		list = append(list, strings.Fields(line)[2])
	}
	return list
}

const sayCPUs = `echo $IMPI_RANK $(grep Cpus_allowed_list /proc/self/status)`

// twoCPUs are two that this process may use, and the list of both as the kernel writes it.
func twoCPUs(t *testing.T) (one, other, both string) {
	t.Helper()
	own := ownCPUs(t)
	if len(own) < 2 {
		t.Skip("this process may use one CPU only")
	}
	one, other = fmt.Sprint(own[0]), fmt.Sprint(own[1])
	if own[1] == own[0]+1 {
		return one, other, one + "-" + other
	}
	return one, other, one + "," + other
}

func TestRanksRunOnTheCPUsThatTheyAreBoundTo(t *testing.T) {
	one, other, both := twoCPUs(t)
	for _, tt := range []struct {
		mask, how string
		want      []string
		note      string
	}{
		{both, "-n 2", []string{both, both}, ""},
		{both, "-bind-to hwthread -n 2", []string{one, other}, ""},
		{both, "-bind-to hwthread -n 3", []string{one, other, one}, "2 ranks are bound to 1 hardware thread, CPUs " + one},
		{both, "-bind-to hwthread:overload-allowed -n 3", []string{one, other, one}, ""},
		{both, "-bind-to rr -n 3", []string{one, other, one}, ""},
		{both, "-bind-to user:" + other + "," + one + " -n 2", []string{other, one}, ""},
		{both, "-cpu-set " + other + " -n 2", []string{other, other}, ""},
		{both, "-cpu-set " + other + " -bind-to none -n 1", []string{other}, ""},
		{other, "-bind-to hwthread -n 1", []string{other}, ""},
		{other, "-bind-to package:overload-allowed -n 2", []string{other, other}, ""},
		{both, "-bind-to hwthread -clients 2 -n 2", []string{one, other}, ""},
	} {
		r := startProgram(t, with(key), "taskset", words("-c", tt.mask, filepath.Join(stage(t), "bin", "impirun"), tt.how,
			sh(sayCPUs))...).wait()
		if r.code != 0 || !slices.Equal(cpusOf(r), tt.want) || (r.stderr == "") != (tt.note == "") ||
			!strings.Contains(r.stderr, tt.note) {
			t.Errorf("%s, mask %s: code %d, %q, want %q; %q", tt.how, tt.mask, r.code, cpusOf(r), tt.want, r.stderr)
		}
	}
	for how, want := range map[string]string{
		"-cpu-set " + other + " true":             "CPU " + other + " is none that this process may use",
		"-bind-to hwthread:no-overload -n 2 true": "no-overload forbids that",
		"-map-by ppr:1:package -n 3 true":         "there is room for",
		"-bind-to core:4096 true":                 "4096 of core are wanted",
		"-bind-to sokcet true":                    "did you mean socket?",
	} {
		r := startProgram(t, nil, "taskset", words("-c", one, filepath.Join(stage(t), "bin", "impirun"), how)...).wait()
		if r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: code %d, %q", how, r.code, r.stderr)
		}
	}
}

// MPI knows of the binding, and ranks that share a CPU take turns.
func TestMPIKnowsWhatRanksAreBoundTo(t *testing.T) {
	own, file := ownCPUs(t), program(t, "bound")
	if len(own) < 2 {
		t.Skip("this process may use one CPU only")
	}
	both, impirun := fmt.Sprintf("%d,%d", own[0], own[1]), filepath.Join(stage(t), "bin", "impirun")
	for how, want := range map[string][]string{
		"-bind-to hwthread -n 2":                  {"1 CPUs, 1 together", "1 CPUs, 1 together"},
		"-bind-to hwthread:overload-allowed -n 3": {"1 CPUs, 2 together", "1 CPUs, 1 together", "1 CPUs, 2 together"},
		"-bind-to package -n 2 -cpu-set " + both:  {"2 CPUs, 0 together", "2 CPUs, 0 together"},
		"-n 1":                                    {"2 CPUs, 0 together"},
	} {
		r := startProgram(t, nil, "taskset", words("-c", both, impirun, how, file)...).wait()
		r.expect(t, 0, "")
		for rank, line := range sortedLines(r.stdout) {
			if line != fmt.Sprintf("rank %d: %s", rank, want[rank]) {
				t.Errorf("%s: %q", how, r.stdout)
			}
		}
	}
}

// Processes that are spawned get the CPUs after those of the ranks, on machines that the request names, too, and where
// who asks is on another machine than the launcher.
func TestSpawnedProcessesAreBoundLikeRanks(t *testing.T) {
	one, other, both := twoCPUs(t)
	job := func(n int, info ...string) string { return spawn(command(n, info, "init", "cpus", "fini")) }
	start := func(how string, steps ...string) result {
		return startProgram(t, nil, "taskset", words("-c", both, filepath.Join(stage(t), "bin", "impirun"), how,
			does(append(steps, "fini")...))...).wait()
	}
	free := "-bind-to hwthread:overload-allowed -n 1"
	for _, tt := range []struct {
		how, step string
		want      []string
	}{
		{"-n 1", job(1), []string{both}},
		{"-bind-to hwthread -n 1", job(1), []string{other}},
		{free, job(3), []string{other, one, other}},
		{free, job(1, "host=localhost"), []string{other}},
		{"-bind-to user:" + other + "," + one + " -n 1", job(2), []string{one, other}},
		{"-cpu-set " + other + " -n 1", job(1), []string{other}},
		{"-n 1", job(2, "bind_to=user:"+other+","+one), []string{one, other}},
		{free, job(2, "bind_to=none"), []string{both, both}},
		{remote(t) + " -host alpha -n 1", job(1, "host=beta", "bind_to=user:"+other), []string{other}},
		{remote(t) + " -host alpha " + free, job(2), []string{other, one}},
		{remote(t) + " -host alpha " + free, job(1, "host=alpha"), []string{other}},
		{remote(t) + " -host alpha " + free, job(1, "host=beta"), []string{one}},
	} {
		r := start(tt.how, "init", tt.step)
		var want []string
		for rank, set := range tt.want {
			want = append(want, fmt.Sprintf("%d may use %s", rank, set))
		}
		if r.code != 0 || r.stderr != "" {
			t.Errorf("%s: code %d, %q", tt.how, r.code, r.stderr)
		}
		zeros := strings.Trim(strings.Repeat(" 0", len(tt.want)), " ")
		r.says(t, append(want, fmt.Sprintf("spawned %d [%s]", len(tt.want), zeros))...)
	}
	r := start("-report-bindings "+free, "init", job(1))
	if r.code != 0 || !strings.Contains(r.stderr, "MCW rank 0 bound to") ||
		!strings.Contains(r.stderr, "MCW rank 0 of spawned job 1 bound to") || strings.Count(r.stderr, "\n") != 2 {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	r = start("-bind-to hwthread:no-overload -n 1", "init", job(2))
	r.expect(t, 0, "")
	if !strings.Contains(r.stdout, "spawned 0 [53 53] ") || !strings.Contains(r.stdout, "no-overload forbids that") {
		t.Errorf("%q", r.stdout)
	}
}

// Each machine binds its own ranks; on the machines of this test these are the same CPUs.
func TestRanksOfOtherMachinesAreBoundThere(t *testing.T) {
	own := ownCPUs(t)
	if len(own) < 2 {
		t.Skip("this process may use one CPU only")
	}
	r := run(t, words(remote(t), "-map-by node -bind-to hwthread -host alpha:2,beta:2 -n 4", sh(sayCPUs))...)
	r.expect(t, 0, "")
	one, other := fmt.Sprint(own[0]), fmt.Sprint(own[1])
	if got := cpusOf(r); !slices.Equal(got, []string{one, one, other, other}) {
		t.Errorf("%q", got)
	}
	r = run(t, words(remote(t), "-bind-to core:4096 -host alpha,beta -n 2 true")...)
	if r.code != 1 || !strings.Contains(r.stderr, "machine ") || !strings.Contains(r.stderr, "4096 of core are wanted") ||
		strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

// Two ranks for each package that there is, on both machines, in turn by package; there is no room for one more.
func TestUnitsOfAllMachinesTakeRanks(t *testing.T) {
	packages := map[string]bool{}
	for _, cpu := range ownCPUs(t) {
		id, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu))
		if err != nil {
			id = nil // then all are one package
		}
		packages[string(id)] = true
	}
	n := 2 * len(packages)
	how := fmt.Sprintf("%s -map-by ppr:2:package -host alpha,beta -n", remote(t))
	r := run(t, words(how, fmt.Sprint(2*n), "-rank-by node", program(t, "interleaved"))...)
	r.expect(t, 0, "")
	if got, want := sortedLines(r.stdout), dealt(strings.Repeat("ab", n)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r = run(t, words(how, fmt.Sprint(2*n+1), "true")...)
	if r.code != 1 || !strings.Contains(r.stderr, fmt.Sprintf("there is room for %d ranks", n)) {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

func TestBindingsAndMapsAreReported(t *testing.T) {
	own := ownCPUs(t)
	r := run(t, words("-report-bindings -bind-to hwthread:overload-allowed -n 2 true")...)
	bound := regexp.MustCompile(`(?m)^\[[^\]]+:[0-9]+\] MCW rank ([0-9]+) bound to socket 0\[core 0\[hwt 0\]\].* \(CPUs ` +
		fmt.Sprint(own[0]) + `\): \[B`)
	m, lines := bound.FindStringSubmatch(r.stderr), strings.Count(r.stderr, "\n")
	if r.code != 0 || m == nil || m[1] != "0" || lines != 2 {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	r = run(t, words("-report-bindings -n 1 true")...)
	if r.code != 0 || !strings.Contains(r.stderr, "MCW rank 0 is not bound") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	hosts := remote(t) + " -map-by node -host alpha:2,beta:2 -n 3"
	r = run(t, words(hosts, "-print-rank-map", sh("echo ran"))...)
	if r.code != 0 || r.stderr != "(alpha:0,2)\n(beta:1)\n" || r.stdout != "ran\nran\nran\n" {
		t.Errorf("code %d, %q, %q", r.code, r.stderr, r.stdout)
	}
	r = run(t, words(hosts, "-display-map -do-not-launch", sh("echo ran"))...)
	r.expect(t, 0, "")
	for _, want := range []string{"Data for node: alpha\tNum slots: 2\tNum procs: 2", "Process rank: 2", "node: beta"} {
		if !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "ran\n") {
			t.Errorf("%q is missing in %q", want, r.stdout)
		}
	}
	r = run(t, words("-client 0 127.0.0.1:1 -explain", hosts, "true")...)
	r.expect(t, 0, "")
	if !strings.Contains(r.stdout, "client 0 of 127.0.0.1:1\n") || !strings.Contains(r.stdout, "Data for node: beta") {
		t.Errorf("%q", r.stdout)
	}
	r = run(t, words(hosts, "-report-bindings -bind-to hwthread:overload-allowed true")...)
	if r.code != 0 || strings.Count(r.stderr, "bound to socket") != 3 || !strings.Contains(r.stderr, "rank 2 bound") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}
