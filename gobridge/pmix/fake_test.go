package pmix

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A library that behaves badly: it takes SIGUSR1 for itself, and fails as it is told. PMIx_Abort fails while it has the
// signal, and PMIx_Init unless its thread is kept from signals that are the program's.
const fakeLibrary = `
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static void taken(int s) { (void)s; }
static int status(const char *name) { const char *v = getenv(name); return v ? atoi(v) : 0; }
int PMIx_Init(char *proc, void *info, size_t n)
{
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (!sigismember(&mask, SIGUSR1) || !sigismember(&mask, SIGTERM) || sigismember(&mask, SIGSEGV)) return -1;
	signal(SIGUSR1, taken);
	strcpy(proc, "job");
	*(uint32_t *)(proc + 256) = 1;
	return status("FAKE_INIT");
}
int PMIx_Abort(int code, const char *text, void *procs, size_t n)
{
	struct sigaction now;
	sigset_t mask;
	sigaction(SIGUSR1, NULL, &now);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	return now.sa_handler == taken || sigismember(&mask, SIGTERM) || strcmp(text, "why") ? -1 : code;
}
int PMIx_Get(char *proc, const char *key, void *info, size_t n, char **value)
{
	*value = calloc(1, 64);
	**value = strcmp(key, "pmix.job.size") ? 9 : atoi(getenv("FAKE_TYPE"));
	(*value)[8] = 2;
	return status("FAKE_GET");
}
int PMIx_Put(uint8_t scope, const char *key, void *value) { return status("FAKE_PUT"); }
int PMIx_Commit(void) { return status("FAKE_COMMIT"); }
int PMIx_Fence(void *procs, size_t n, void *info, size_t m) { return status("FAKE_FENCE"); }
int PMIx_Finalize(void *info, size_t n) { return status("FAKE_FINALIZE"); }
int PMIx_Register_event_handler(void *c, size_t n, void *i, size_t m, void *h, void *r, void *d) { return -47; }
const char *PMIx_Error_string(int status) { return status == -25 ? "PMIX_ERR_UNREACH" : NULL; }
const char *PMIx_Get_version(void) { return "Fake 9.8"; }
`

// withFake runs the test again in a process of its own, where the library is loaded, and says if it is there.
func withFake(t *testing.T, settings ...string) bool {
	t.Helper()
	if os.Getenv("FAKE_TEST") == t.Name() {
		return true
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no cc")
	}
	library := filepath.Join(t.TempDir(), "libpmix.so.2")
	build := exec.Command(cc, "-shared", "-fPIC", "-x", "c", "-", "-o", library)
	build.Stdin = strings.NewReader(fakeLibrary)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), append(settings, "FAKE_TEST="+t.Name(), "PMIX_NAMESPACE=job", "PMIX_RANK=1",
		"IMPI_PMIX="+library)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return false
}

func TestSignalsAreTheProgramsAfterwards(t *testing.T) {
	if !withFake(t, "FAKE_TYPE=14") {
		return
	}
	m, err := Open(os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	if id := m.Identity(); id.Rank != 1 || id.Size != 2 || id.Job != "job" || id.AppNum != 2 || id.Universe != 2 ||
		m.Name() != "PMIx 9.8" {
		t.Errorf("%s: %+v", m.Name(), id)
	}
	if err := m.Abort(0, "why"); err != nil {
		t.Error(err)
	}
}

func TestAFailedStartNamesTheLibraryAndTheStatus(t *testing.T) {
	if !withFake(t, "FAKE_INIT=-25") {
		return
	}
	_, err := Open(os.LookupEnv)
	library := os.Getenv("IMPI_PMIX")
	for _, want := range []string{"PMIx 9.8 (" + library, "PMIx_Init: PMIX_ERR_UNREACH (-25)", "set IMPI_PMIX"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestASizeThatIsNoNumberIsAnError(t *testing.T) {
	if !withFake(t, "FAKE_TYPE=16") {
		return
	}
	if _, err := Open(os.LookupEnv); err == nil || !strings.Contains(err.Error(), "PMIx_Get of pmix.job.size of job job") {
		t.Errorf("%v", err)
	}
}

func TestEachCallThatFailsIsNamed(t *testing.T) {
	if !withFake(t, "FAKE_TYPE=14", "FAKE_COMMIT=-25", "FAKE_FENCE=-25", "FAKE_FINALIZE=-25") {
		return
	}
	m, err := Open(os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	ctx, file := context.Background(), os.Getenv("IMPI_PMIX")
	_, got := m.Get(ctx, 0, "card") // a number, and no text
	for want, err := range map[string]error{
		"PMIx_Put of impi.card: PMIX_ERR_UNREACH (-25) (" + file + ")":                  m.Put("card", "x"),
		"PMIx_Fence: PMIX_ERR_UNREACH (-25) (" + file + ")":                             m.Fence(ctx),
		"PMIx_Get of impi.card of rank 0: a status without a name (-18) (" + file + ")": got,
		"PMIx_Abort: a status without a name (-1) (" + file + ")":                       m.Abort(1, "other"),
		"PMIx_Finalize: PMIX_ERR_UNREACH (-25) (" + file + ")":                          m.Finalize(ctx),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	m.Watch(func(error) { t.Error("nobody can ring") })
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
