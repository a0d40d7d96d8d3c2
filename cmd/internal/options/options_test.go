package options

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/libimpi/libimpi/startup/client"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew from what Parse answers")

func noEnv(string) string { return "" }

// TestCommandLinesMeanWhatTheGoldenFileSays reads testdata/plans.txt: a line "$ words", then the plan or the
// error, then an empty line. go test -rewrite writes it anew: read the difference before you commit it.
func TestCommandLinesMeanWhatTheGoldenFileSays(t *testing.T) {
	const name = "testdata/plans.txt"
	golden, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	cases := 0
	for s := bufio.NewScanner(strings.NewReader(string(golden))); s.Scan(); {
		line, ok := strings.CutPrefix(s.Text(), "$ ")
		if !ok {
			continue
		}
		cases++
		got.WriteString("$ " + line + "\n")
		plan, err := Parse(strings.Fields(line), noEnv)
		if err != nil {
			got.WriteString("error: " + err.Error() + "\n\n")
		} else {
			got.WriteString(plan.String() + "\n")
		}
	}
	if cases < 80 {
		t.Fatalf("%s holds %d cases only", name, cases)
	}
	if *rewrite {
		if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(golden), got.String()); diff != "" {
		t.Errorf("plans differ (-golden +got):\n%s", diff)
	}
}

func TestEveryOptionWorksWithOneDashAndTwoAndWithEqualsOrSpace(t *testing.T) {
	samples := map[string]string{
		"SIGNAL": "USR1", "ACTION": "abort", "KIND": "ulfm",
		"NAME[=VALUE]": "A=1", "NAME": "A", "VALUE": "b", "HOST:PORT": "h:1", "RANK": "0",
		"WHO": "0", "SECONDS": "3", "N": "1", "K": "1", "PORT[-PORT]": "5", "HOW": "agent", "COMMAND": "rsh", "LIST": "1",
		"UNIT[:MODIFIERS]": "core", "UNIT": "core", "CPUS": "0-1", "WHAT": "map", "MANAGER": "none",
		"FILE": "f", "DIR": "d", "V": "40000", "PHASE=SECONDS": "run=5", "NAMES": "A,B",
		"TEXT": "%r", "PAGE": "p.html", "ADDRESS": "8080", "RANKS": "0", "WHERE": "tmux", "NETWORK": "eth0", "DIRS": "/bin",
	}
	for name, o := range byName {
		var want string
		for i, dash := range []string{"-", "--"} {
			words := []string{dash + name}
			for _, v := range o.values {
				words = append(words, samples[v])
			}
			forms := [][]string{words}
			if len(o.values) == 1 {
				forms = append(forms, []string{dash + name + "=" + samples[o.values[0]]})
			}
			for j, form := range forms {
				if name != "server" {
					form = append(form, "prog")
				}
				plan, err := Parse(form, noEnv)
				got := fmt.Sprint(plan, err)
				if strings.Contains(got, "unknown") {
					t.Errorf("%q: %v", form, err)
				}
				got = strings.ReplaceAll(got, "--", "-") // both quote the option as it was written
				if i == 0 && j == 0 {
					want = got
				} else if got != want {
					t.Errorf("%q: %q, but with one dash and a space %q", form, got, want)
				}
			}
		}
	}
}

func TestTheTimeoutOfTheEnvironmentHoldsUnlessAnOptionSaysOtherwise(t *testing.T) {
	env := func(name string) string {
		if name == "MPIEXEC_TIMEOUT" {
			return "30"
		}
		return ""
	}
	for words, want := range map[string]string{"prog": "30s", "-timeout 5 prog": "5s"} {
		plan, err := Parse(strings.Fields(words), env)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Timeout.String(); got != want {
			t.Errorf("%s: timeout %s, want %s", words, got, want)
		}
	}
	bad := func(name string) string {
		if name == "MPIEXEC_TIMEOUT" {
			return "soon"
		}
		return ""
	}
	if _, err := Parse([]string{"prog"}, bad); err == nil || !strings.Contains(err.Error(), "MPIEXEC_TIMEOUT") {
		t.Errorf("a bad MPIEXEC_TIMEOUT: %v", err)
	}
}

func TestValuesOfTheEnvironmentHoldUnlessAnOptionSaysOtherwise(t *testing.T) {
	env := func(set string) func(string) string {
		return func(name string) string {
			if n, v, _ := strings.Cut(set, "="); n == name {
				return v
			}
			return ""
		}
	}
	for i := range client.AllValues {
		v := &client.AllValues[i]
		one, other := fmt.Sprint(min(40000, v.High)), fmt.Sprint(min(50000, v.High-1))
		for words, want := range map[string]string{"-clients 1 prog": " " + v.Name + " " + one, "-clients 1 -" + v.Name +
			" " + other + " prog": " " + v.Name + " " + other} {
			plan, err := Parse(strings.Fields(words), env(v.Env+"="+one))
			if err != nil {
				t.Fatal(err)
			}
			if got := plan.Values.String(); got != want {
				t.Errorf("%s, %s=40000: %q, want %q", words, v.Env, got, want)
			}
		}
		if _, err := Parse([]string{"prog"}, env(v.Env+"=many")); err == nil || !strings.HasPrefix(err.Error(), v.Env+": ") {
			t.Errorf("%s=many: %v", v.Env, err)
		}
	}
	if _, err := Parse([]string{"prog"}, env("IMPI_DATALEN=7")); err != nil {
		t.Errorf("a variable that a job of one client does not need: %v", err)
	}
}

func TestHelpNamesEveryOptionThatHasHelp(t *testing.T) {
	text := HelpText()
	for i := range table {
		if table[i].help != "" && !strings.Contains(text, "-"+table[i].names[0]) {
			t.Errorf("--help is silent about -%s", table[i].names[0])
		}
	}
}

func FuzzParseNeverPanicsAndNeverAnswersAnEmptyJob(f *testing.F) {
	f.Add("-n 2 a : -n 3 b")
	f.Add("-server 2 -port=9")
	f.Add("-client 0 h:1 -np 2 a")
	f.Fuzz(func(t *testing.T, line string) {
		plan, err := Parse(strings.Fields(line), noEnv)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of more than one line: %q", err)
			}
			return
		}
		if (plan.Mode == Run || plan.Mode == Client) && plan.Size() < 1 {
			t.Errorf("%q: a job of %d ranks", line, plan.Size())
		}
		for i := range plan.Programs {
			if len(plan.Programs[i].Argv) == 0 {
				t.Errorf("%q: a program without a name", line)
			}
		}
	})
}

func TestVariablesOfOtherLaunchersAreRead(t *testing.T) {
	env := map[string]string{"HYDRA_HOST_FILE": "/hosts", "HYDRA_LAUNCH_EXTRA_ARGS": "-o ConnectionAttempts=10",
		"HYDRA_LAUNCHER": "rsh", "HYDRA_LAUNCHER_EXEC": "/bin/rsh"}
	get := func(name string) string { return env[name] }
	p, err := Parse(strings.Fields("-n 2 a.out"), get)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.HostFiles) != 1 || p.HostFiles[0] != "/hosts" || len(p.RshExtra) != 2 || p.Launcher != "rsh" ||
		p.Rsh != "/bin/rsh" || p.AllSlots {
		t.Errorf("%+v", p)
	}
	p, err = Parse(strings.Fields("-host a -launcher ssh -rsh /bin/ssh a.out"), get)
	if err != nil || len(p.HostFiles) != 0 || p.Launcher != "ssh" || p.Rsh != "/bin/ssh" || !p.AllSlots {
		t.Errorf("%+v, %v", p, err)
	}
	env["HYDRA_LAUNCHER"] = "manual"
	_, err = Parse(strings.Fields("a.out"), get)
	if err == nil || !strings.Contains(err.Error(), "HYDRA_LAUNCHER=manual") {
		t.Error(err)
	}
}
