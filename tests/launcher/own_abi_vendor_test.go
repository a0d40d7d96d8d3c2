package launcher

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Clients whose ranks talk to each other by an MPI library with the ABI of MPICH or Open MPI (IMPI_LOCAL): the
// system's, and the newest ones of tools/peers.

// ownABI is such a library, and its launcher with what it has to be told.
type ownABI struct {
	library  string
	launcher []string
	openmpi  bool
}

// start starts a job of the library's launcher.
func (l ownABI) start(t *testing.T, settings []string, line ...string) *job {
	t.Helper()
	options := append(byVendor(l.library, settings...), pmixSettings)
	return startProgram(t, options, l.launcher[0], append(l.launcher[1:len(l.launcher):len(l.launcher)], line...)...)
}

// doomed is the library for jobs that end badly: they have a /dev/shm of their own, where libraries leave files then.
func (l ownABI) doomed(t *testing.T) ownABI {
	t.Helper()
	isolated(t, "-m")
	l.launcher = append(ownShm(), l.launcher...)
	return l
}

// ownShm begins a command whose /dev/shm is its own.
func ownShm() []string {
	return append(words("unshare -m"), append(sh(`mount -t tmpfs none /dev/shm && exec "$@"`), "sh")...)
}

// ownABIs runs a test for each library of this machine, and skips it if there is none.
func ownABIs(t *testing.T, test func(*testing.T, ownABI)) {
	t.Helper()
	peers := filepath.Join(filepath.Dir(stage(t)), "peers")
	found := 0
	for _, l := range []struct{ name, libraries, launcher string }{
		{"mpich", "/usr/lib/*/libmpich.so.12", "mpiexec.mpich"},
		{"openmpi", "/usr/lib/*/libmpi.so.40", "mpiexec.openmpi"},
		{"newest-mpich", peers + "/mpich/lib/libmpi.so.12", peers + "/mpich/bin/mpiexec"},
		{"newest-openmpi", peers + "/openmpi/lib/libmpi.so.40", peers + "/openmpi/bin/mpiexec"},
	} {
		libraries, err := filepath.Glob(l.libraries)
		if err != nil {
			t.Fatal(err)
		}
		launcher, err := exec.LookPath(l.launcher)
		if err != nil || len(libraries) == 0 {
			continue
		}
		found++
		own := ownABI{libraries[0], []string{launcher}, strings.HasSuffix(l.name, "openmpi")}
		if own.openmpi {
			own.launcher = append(own.launcher, "--map-by", ":OVERSUBSCRIBE")
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel() // launchers wait much of the time
			test(t, own)
		})
	}
	if found == 0 {
		t.Skip("no library with an ABI of its own is here: of the system's MPICH or Open MPI, or of tools/peers")
	}
}

// What the library combines itself is among it: all types and operations that are left to it.
func TestRanksTalkByALibraryWithAnABIOfItsOwn(t *testing.T) {
	ownABIs(t, func(t *testing.T, l ownABI) {
		said := regexp.MustCompile(`^libimpi: 3 ranks on [^ ]* talk by (MPICH|Open MPI) [^\n,]*\n$`)
		settings := []string{"IMPI_REPORT=1",
			"IMPI_ALGORITHM=barrier:vendor,bcast:vendor,reduce:vendor,allreduce:vendor"}
		for _, file := range []string{"../pt2pt/sizes", "../coll/reduce", "../rma/put_get", "environment"} {
			line := words("-n 3", program(t, file))
			jobs := []*job{l.start(t, settings, line...)}
			if !l.openmpi { // our launcher speaks PMI-1
				ours := filepath.Join(stage(t), "bin", "impirun")
				jobs = append(jobs, startProgram(t, byVendor(l.library, settings...), ours, line...))
			}
			for _, j := range jobs {
				if r := j.wait(); r.code != 0 || !said.MatchString(r.stderr) || r.stdout != "" {
					t.Errorf("%s by %s: code %d, %q, %q", file, j.cmd.Path, r.code, r.stderr, r.stdout)
				}
			}
		}
	})
}

func TestAJobByALibraryWithAnABIOfItsOwnEndsWithItsRanks(t *testing.T) {
	ownABIs(t, func(t *testing.T, l ownABI) {
		for _, how := range []string{"abort 1 42", "raise 2 9"} {
			r := l.doomed(t).start(t, nil, words("-n 3", program(t, "misbehave"), how)...).wait()
			right := how != "abort 1 42" || r.code == 42 && strings.Contains(r.stderr, "MPI_Abort(42)")
			if r.code == 0 || !right {
				t.Errorf("%s: code %d, %q", how, r.code, r.stderr)
			}
		}
	})
}

// Open MPI does not speak the PMI-1 of impirun: each process is alone.
func TestOpenMPIUnderOurLauncherIsAnErrorWithTheRightCommand(t *testing.T) {
	ownABIs(t, func(t *testing.T, l ownABI) {
		if !l.openmpi {
			return
		}
		options := append(byVendor(l.library), pmixSettings)
		isolated(t, "-m")
		line := append(ownShm(), words(filepath.Join(stage(t), "bin", "impirun"), "-n 2", program(t, "../pt2pt/self"))...)
		r := startProgram(t, options, line[0], line[1:]...).wait()
		for _, words := range []string{"found 1 of the 2 processes that libimpi's launcher has started", l.library,
			"`" + l.launcher[0] + " -n 2 PROGRAM`; Open MPI does not understand libimpi's impirun"} {
			if r.code == 0 || !strings.Contains(r.stderr, words) {
				t.Errorf("code %d, %q, without %q", r.code, r.stderr, words)
			}
		}
	})
}

// A program that was compiled with Open MPI runs on libimpi's library of the same name. Where Open MPI has plugins
// these would find that one.
func TestAProgramOfOpenMPICannotUseAnOpenMPIWithPlugins(t *testing.T) {
	compiler, err := exec.LookPath("mpicc.openmpi")
	if err != nil {
		t.Skip("no mpicc.openmpi is here")
	}
	file := filepath.Join(t.TempDir(), "environment")
	if out, err := exec.Command(compiler, "-o", file, "testdata/environment.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	here := "LD_LIBRARY_PATH=" + filepath.Dir(front(t, "openmpi", 40))
	ownABIs(t, func(t *testing.T, l ownABI) {
		r := l.doomed(t).start(t, []string{here}, "-n", "2", file).wait()
		plugins, err := filepath.Glob(filepath.Join(filepath.Dir(l.library), "openmpi/lib/openmpi*/mca_pml_ob1.so"))
		if err != nil {
			t.Fatal(err)
		}
		const why = "this program has loaded another libmpi.so.40"
		if refused := r.code != 0 && strings.Contains(r.stderr, why); refused != (l.openmpi && len(plugins) > 0) {
			t.Errorf("code %d, %q; plugins %q", r.code, r.stderr, plugins)
		}
	})
}

// A client that is to be started by the library's launcher is told how.
func TestALibraryOfAnotherLauncherIsAnErrorWithTheRightCommandForAClient(t *testing.T) {
	ownABIs(t, func(t *testing.T, l ownABI) {
		isolated(t, "-m")
		line := append(ownShm(), program(t, "../pt2pt/self"))
		r := startProgram(t, byVendor(l.library, "OMPI_COMM_WORLD_SIZE=4", "IMPI_JOIN=1@head:7000"), line[0],
			line[1:]...).wait()
		for _, words := range []string{l.library, "`IMPI_JOIN=1@head:7000 " + l.launcher[0] + " -n 4 PROGRAM`"} {
			if r.code == 0 || !strings.Contains(r.stderr, words) || strings.Contains(r.stderr, "`impirun") {
				t.Errorf("code %d, %q, without %q", r.code, r.stderr, words)
			}
		}
	})
}
