package launcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Clients whose ranks talk to each other by another MPI library (IMPI_LOCAL): MPICH 5, where tools/peers has put it.
// Where there is none these tests are skipped.

// otherMPI is the library and its launcher.
func otherMPI(t *testing.T) (library, launcher string) {
	t.Helper()
	home := filepath.Join(filepath.Dir(stage(t)), "peers", "mpich")
	library, launcher = filepath.Join(home, "lib", "libmpi_abi.so.1"), filepath.Join(home, "bin", "mpiexec")
	for _, file := range []string{library, launcher} {
		if _, err := os.Stat(file); err != nil {
			t.Skipf("there is no MPICH 5 in %s: tools/peers %s", home, filepath.Dir(home))
		}
	}
	return library, launcher
}

func byVendor(library string, more ...string) []option {
	return with(append(more, "IMPI_LOCAL=vendor-only:"+library)...)
}

// What rank 0 reports shows that it is so.
func TestRanksTalkByAnotherMPIWhoeverStartsThem(t *testing.T) {
	library, launcher := otherMPI(t)
	said := regexp.MustCompile(`^libimpi: 3 ranks on [^ ]* talk by MPICH [^\n]*\n$`)
	for _, file := range []string{"../pt2pt/sizes", "../coll/reduce", "../rma/put_get"} {
		for _, by := range []string{launcher, filepath.Join(stage(t), "bin", "impirun")} {
			r := startProgram(t, byVendor(library, "IMPI_REPORT=1"), by, words("-n 3", program(t, file))...).wait()
			if r.code != 0 || !said.MatchString(r.stderr) || r.stdout != "" {
				t.Errorf("%s by %s: code %d, %q", file, by, r.code, r.stderr)
			}
		}
	}
}

func TestARankAloneNeedsNoLauncherForAnotherMPI(t *testing.T) {
	library, _ := otherMPI(t)
	startProgram(t, byVendor(library), program(t, "../pt2pt/self")).wait().expect(t, 0, "")
}

// The first client talks by MPICH, which carries out the local phases of its collective operations, the second as ever,
// and both by IMPI with each other. The answer is the same.
func TestOneClientTalksByAnotherMPIAndOneAsEver(t *testing.T) {
	library, _ := otherMPI(t)
	solver := filepath.Join(filepath.Dir(stage(t)), "examples_c", "solver")
	answer := regexp.MustCompile(`(?m)^answer:.*$`)
	do := []string{solver, "../../examples_c/data/network600.mtx"}
	want := run(t, words("-clients 2 -n 4", do)...)
	want.expect(t, 0, "")
	s, address := server(t, with(key), "2")
	const forced = "IMPI_ALGORITHM=bcast:vendor,reduce:vendor"
	a := startWith(t, byVendor(library, key, forced, "IMPI_REPORT=1"), words("-v -client 0", address, "-n 2", do)...)
	b := startWith(t, with(key, forced), words("-client 1", address, "-n 2", do)...)
	r := a.wait()
	b.wait().expect(t, 0, "")
	s.wait().expect(t, 0, "")
	local := regexp.MustCompile(`(?m)^libimpi: bcast: .*vendor \d+`) // the phases within client 0
	if r.code != 0 || !strings.Contains(r.stderr, "client 0: MPICH") || !local.MatchString(r.stderr) {
		t.Errorf("client 0: code %d, %q", r.code, r.stderr)
	}
	if got := answer.FindString(r.stdout); got == "" || got != answer.FindString(want.stdout) {
		t.Errorf("%q, want %q", r.stdout, want.stdout)
	}
}

// The library of each client finds the processes of its client, though all are on one machine.
func TestClientsOfOneMachineDoNotShareAnotherMPI(t *testing.T) {
	library, _ := otherMPI(t)
	r := startProgram(t, byVendor(library), filepath.Join(stage(t), "bin", "impirun"),
		words("-clients 2 -n 4", program(t, "../coll/reduce"))...).wait()
	r.expect(t, 0, "")
}

// Our launcher serves PMI on each machine by itself.
func TestAnotherMPIUnderOurLauncherOnSeveralMachinesIsAnError(t *testing.T) {
	library, launcher := otherMPI(t)
	isolated(t, "-m")
	ours := filepath.Join(stage(t), "bin", "impirun")
	for _, setting := range []string{"vendor:", "vendor-only:"} {
		script := `mount -t tmpfs none /dev/shm && exec "$@"` // where libraries leave files
		r := startProgram(t, with("IMPI_LOCAL="+setting+library), "unshare", words("-m", sh(script), "sh", ours,
			"-launcher fork -host m0:2,m1:2 -n 4", program(t, "../pt2pt/order"))...).wait()
		for _, words := range []string{"found 2 of the 4 processes that libimpi's launcher has started", "`" + launcher +
			" -n 4 PROGRAM`"} {
			if r.code == 0 || !strings.Contains(r.stderr, words) {
				t.Errorf("%s: code %d, %q, without %q", setting, r.code, r.stderr, words)
			}
		}
	}
}

// That the library carries operations out as a whole is said by a verbose job. The program compares all results.
func TestCollectiveOperationsOfAClientGoByItsMPI(t *testing.T) {
	library, _ := otherMPI(t)
	forced := "IMPI_ALGORITHM=barrier:vendor,bcast:vendor,reduce:vendor,allreduce:vendor"
	left := func(operation string) string { return `(?m)^libimpi: ` + operation + `: .*vendor [1-9]` }
	for _, test := range []struct {
		file, np string
		settings []string
		said     []string
		unsaid   string
	}{
		{"../coll/forms", "3", nil, []string{left("barrier"), left("bcast")}, left("(all)?reduce")},
		{"../coll/forms", "2", []string{forced}, []string{left("barrier"), left("bcast"), left("reduce"),
			left("allreduce")}, ""},
		{"../coll/typed", "3", []string{forced}, []string{left("bcast")}, ""},
		{"../coll/threads", "2", []string{forced}, []string{left("bcast"), left("reduce"), left("allreduce")}, ""},
		{"../coll/subgroups", "4", []string{forced}, nil, ""},
		{"../coll/inter", "3", []string{forced}, nil, ""},
		{"../coll/verify", "3", []string{forced, "IMPI_CHECK=1"}, nil, ""},
		{"../coll/reproducible", "3", []string{forced, "IMPI_REPRODUCIBLE=1"}, nil, left("reduce")},
	} {
		r := startProgram(t, byVendor(library, test.settings...), filepath.Join(stage(t), "bin", "impirun"),
			words("-v -n", test.np, program(t, test.file))...).wait()
		if r.code != 0 || test.unsaid != "" && regexp.MustCompile(test.unsaid).MatchString(r.stderr) {
			t.Errorf("%s on %s: code %d, %q", test.file, test.np, r.code, r.stderr)
		}
		for _, said := range test.said {
			if !regexp.MustCompile(said).MatchString(r.stderr) {
				t.Errorf("%s on %s: %q, without %q", test.file, test.np, r.stderr, said)
			}
		}
	}
}

// startDoomed starts a job of three ranks that does not come to a good end. Then MPICH leaves files in /dev/shm, so the
// job has one of its own.
func startDoomed(t *testing.T, library, launcher, how string) *job {
	t.Helper()
	isolated(t, "-m")
	script := `mount -t tmpfs none /dev/shm && exec "$@"`
	return startProgram(t, byVendor(library), "unshare",
		words("-m", sh(script), "sh", launcher, "-n 3", program(t, "misbehave"), how)...)
}

func TestAnAbortOfARankThatTalksByAnotherMPIEndsTheJobWithItsCode(t *testing.T) {
	library, launcher := otherMPI(t)
	for _, by := range []string{launcher, filepath.Join(stage(t), "bin", "impirun")} {
		r := startDoomed(t, library, by, "abort 1 42").wait()
		if r.code != 42 || !strings.Contains(r.stderr, "MPI_Abort(42)") {
			t.Errorf("%s: code %d, %q", by, r.code, r.stderr)
		}
	}
}

func TestADeadRankThatTalkedByAnotherMPIEndsTheJob(t *testing.T) {
	library, launcher := otherMPI(t)
	for _, by := range []string{launcher, filepath.Join(stage(t), "bin", "impirun")} {
		for _, how := range []string{"raise 2 9", "raise-later 2 9"} { // later, the others are in operations of the library
			if r := startDoomed(t, library, by, how).wait(); r.code == 0 {
				t.Errorf("%s by %s: %q", how, by, r.stderr)
			}
		}
	}
}

// A launcher that the library does not know starts N processes, each of which the library takes for the only one.
func TestALauncherOfAnotherKindIsAnErrorWithTheRightCommand(t *testing.T) {
	library, launcher := otherMPI(t)
	isolated(t, "-m")
	script := `mount -t tmpfs none /dev/shm && "$@"; code=$?; ls /dev/shm; exit $code`
	r := startProgram(t, byVendor(library, "OMPI_COMM_WORLD_SIZE=4"), "unshare",
		words("-m", sh(script), "sh", program(t, "../pt2pt/self"))...).wait()
	if r.stdout != "" {
		t.Errorf("left in /dev/shm: %q", r.stdout)
	}
	for _, words := range []string{"found 1 of the 4 processes that Open MPI's mpirun has started", library,
		"`" + launcher + " -n 4 PROGRAM`", "`impirun -n 4 PROGRAM`"} {
		if r.code == 0 || !strings.Contains(r.stderr, words) {
			t.Errorf("code %d, %q, without %q", r.code, r.stderr, words)
		}
	}
}

func TestAFileThatIsNoOtherMPIIsNamed(t *testing.T) {
	kind := func(symbol string) []string { return []string{"#include", "char " + symbol + ";\n#include"} }
	mpich, openmpi := kind("MPIR_Dup_fn"), kind("ompi_mpi_comm_world")
	for setting, why := range map[string]string{
		"mpich":                              "it is vendor:PATH",
		"vendor:":                            "it is vendor:PATH",
		"vendor:/nowhere/libmpi_abi.so":      "/nowhere/libmpi_abi.so: cannot open shared object file",
		"vendor:libm.so.6":                   "its ABI is unknown: there is no PMPI_Abi_get_version that returns 1",
		"vendor:" + lib(t):                   "this is libimpi itself",
		"vendor:" + front(t, "mpich", 12):    "this is libimpi itself",
		"vendor:" + front(t, "openmpi", 40):  "this is libimpi itself",
		"vendor:" + compiled(t, 0, 13, 0):    "no MPIR_Dup_fn of MPICH's ABI, and no ompi_mpi_comm_world of Open MPI's",
		"vendor:" + compiled(t, 1, 13, 4096): "MPI_Init_thread: no fabric here (13)",
		"vendor:" + compiled(t, 1, 0, 1024): "it provides thread level 1024, and libimpi needs " +
			"MPI_THREAD_SERIALIZED (2048)",
		"vendor:" + compiled(t, -1, 0, 1, mpich...): "it provides thread level 1, and libimpi needs " +
			"MPI_THREAD_SERIALIZED (2)",
		"vendor:" + compiled(t, -1, 0, 2, append(mpich, "WORKS(Improbe)", "")...): "it has MPICH's ABI, but no PMPI_Improbe",
		"vendor:" + compiled(t, -1, 0, 2, openmpi...): "it has Open MPI's ABI, but no " +
			"ompi_mpi_errors_return",
	} {
		r := startProgram(t, with("IMPI_LOCAL="+setting), program(t, "../pt2pt/self")).wait()
		if r.code == 0 || !strings.Contains(r.stderr, why) || !strings.Contains(r.stderr, "IMPI_LOCAL="+setting) {
			t.Errorf("%s: code %d, %q, want %q", setting, r.code, r.stderr, why)
		}
	}
}

// front is libimpi's library for programs of another ABI.
func front(t *testing.T, abi string, version int) string {
	return filepath.Join(stage(t), "lib", abi, "libmpi.so."+strconv.Itoa(version))
}

// lib is libimpi.
func lib(t *testing.T) string { return filepath.Join(stage(t), "lib", "libmpi_abi.so.1") }

// compiled is a library with all entry points that are asked for: the major version of its ABI, and what its
// MPI_Init_thread returns. In its text parts are replaced by others.
func compiled(t *testing.T, abi, code, provided int, replaced ...string) string {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	source, file := filepath.Join(t.TempDir(), "mpi.c"), filepath.Join(t.TempDir(), "libother.so")
	text := `#include <string.h>
int PMPI_Abi_get_version(int *major, int *minor) { *major = ABI; *minor = 0; return 0; }
int PMPI_Get_library_version(char *text, int *n) { strcpy(text, "Other 1"); *n = 7; return 0; }
int PMPI_Initialized(int *flag) { *flag = 0; return 0; }
int PMPI_Finalized(int *flag) { *flag = 0; return 0; }
int PMPI_Init_thread(void *c, void *v, int level, int *provided) { *provided = PROVIDED; return CODE; }
int PMPI_Error_string(int code, char *text, int *n) { strcpy(text, "no fabric here"); *n = 14; return 0; }
#define WORKS(name) int PMPI_##name(void) { return 0; }
WORKS(Finalize) WORKS(Abort) WORKS(Comm_set_errhandler) WORKS(Comm_dup) WORKS(Comm_free) WORKS(Comm_rank)
WORKS(Comm_size) WORKS(Comm_get_attr) WORKS(Isend) WORKS(Irecv) WORKS(Testany) WORKS(Cancel)
WORKS(Improbe) WORKS(Imrecv) WORKS(Get_count) WORKS(Test) WORKS(Ibarrier) WORKS(Ibcast) WORKS(Ireduce)
WORKS(Iallreduce) WORKS(Allgather)
`
	text = strings.NewReplacer(append(replaced, "ABI", strconv.Itoa(abi), "PROVIDED", strconv.Itoa(provided), "CODE",
		strconv.Itoa(code))...).Replace(text)
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-o", file, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}
