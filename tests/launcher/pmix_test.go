package launcher

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Jobs of launchers that speak PMIx (gobridge/pmix): the system's Open MPI, and the newest one, which make bench
// installs.

// pmixSettings let Open MPI's launchers run as root, and more processes than there are cores.
var pmixSettings = environ("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1",
	"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1")

// pmixLauncher starts a job by a launcher.
type pmixLauncher func(options []option, words ...string) *job

// pmixLaunchers runs a test for each launcher of this machine, and skips it if there is none.
func pmixLaunchers(t *testing.T, test func(*testing.T, pmixLauncher)) {
	t.Helper()
	peers := "../../build/peers/openmpi/bin/"
	found := 0
	for _, l := range []struct{ name, file string }{{"system", "mpirun.openmpi"}, {"newest", peers + "prterun"}} {
		file, err := exec.LookPath(l.file)
		if err != nil {
			continue
		}
		if file, err = filepath.Abs(file); err != nil {
			t.Fatal(err)
		}
		found++
		t.Run(l.name, func(t *testing.T) {
			test(t, func(options []option, words ...string) *job {
				t.Helper()
				options = append(slices.Clone(options), pmixSettings)
				return startProgram(t, options, file, append([]string{"--map-by", ":OVERSUBSCRIBE"}, words...)...)
			})
		})
	}
	if found == 0 {
		t.Skip("no launcher that speaks PMIx is here: mpirun.openmpi, or build/peers/openmpi (tools/peers)")
	}
}

func TestRanksOfAPMIxLauncherAreOneJobThatSharesMemory(t *testing.T) {
	pmixLaunchers(t, func(t *testing.T, start pmixLauncher) {
		file := program(t, "places")
		r := start(nil, words("-n 2", file, ": -n 1", file)...).wait()
		r.expect(t, 0, "")
		r.says(t, "rank 0 of 3, program 0, 3 share memory", "rank 1 of 3, program 0, 3 share memory",
			"rank 2 of 3, program 1, 3 share memory")
	})
}

// A wrapper of the system's must not lead to the system's library.
func TestAShellMayStandBetweenAPMIxLauncherAndARank(t *testing.T) {
	pmixLaunchers(t, func(t *testing.T, start pmixLauncher) {
		r := start(nil, words("-n 2", sh(program(t, "places")+"; exit $?"))...).wait()
		r.expect(t, 0, "")
		r.says(t, "rank 0 of 2, program 0, 2 share memory", "rank 1 of 2, program 0, 2 share memory")
	})
}

func TestProgramsRunUnderPMIxLaunchers(t *testing.T) {
	pmixLaunchers(t, func(t *testing.T, start pmixLauncher) {
		for ranks, names := range map[string][]string{
			"-n 2": {"pt2pt/order", "coll/reduce", "env/fork", "session/after"},
			"-n 4": {"pt2pt/traffic", "coll/reduce"},
		} {
			for _, name := range names {
				r := start(nil, words(ranks, program(t, "../"+name))...).wait()
				r.expect(t, 0, "")
				if r.stdout != "" {
					t.Errorf("%s %s: %q", ranks, name, r.stdout)
				}
			}
		}
	})
}

func TestAPMIxLauncherEndsTheJobWithTheCodeOfMPIAbort(t *testing.T) {
	pmixLaunchers(t, func(t *testing.T, start pmixLauncher) {
		r := start(nil, words("-n 3", program(t, "misbehave"), "abort 1 17")...).wait()
		if r.code != 17 || strings.Count(r.stderr, "MPI_Abort(17) on MPI_COMM_WORLD") < 1 {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
	})
}

func TestAPMIxLauncherEndsTheJobOfARankThatIsKilled(t *testing.T) {
	pmixLaunchers(t, func(t *testing.T, start pmixLauncher) {
		r := start(nil, words("-n 3", program(t, "misbehave"), "raise 1 9")...).wait()
		if r.code != 128+9 {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
	})
}

// The library notices the end of its server. Nothing is left.
func TestRanksEndWithTheirPMIxLauncher(t *testing.T) {
	pmixLaunchers(t, func(t *testing.T, start pmixLauncher) {
		j := start(nil, words("-n 2", program(t, "misbehave"), "wait-for-signal 0")...)
		j.stdout.await("ready", 2)
		j.signal(syscall.SIGKILL)
		for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			left := marked(j.mark)
			if len(left) == 0 {
				break
			}
			if time.Since(begun) > patience/2 {
				t.Fatalf("processes %v are left", left)
			}
		}
		j.wait()
	})
}

func TestAPMIxLibraryThatCannotBeLoadedIsNamed(t *testing.T) {
	pmixLaunchers(t, func(t *testing.T, start pmixLauncher) {
		const file = "/nowhere/libpmix.so.2"
		r := start([]option{environ("IMPI_PMIX=" + file)}, words("-n 1", program(t, "places"))...).wait()
		for _, want := range []string{"MPI_Init", file, "cannot open shared object file", "Set IMPI_PMIX to the file"} {
			if r.code == 0 || !strings.Contains(r.stderr, want) {
				t.Errorf("code %d; %q is missing in %s", r.code, want, r.stderr)
			}
		}
	})
}
