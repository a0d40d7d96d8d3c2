package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Parameters by which collective algorithms are chosen (docs/settings.md).

const measured = "latency 100\noverhead 40\ngap 60\nbyte-short 0.2\nbyte-long 0.08\ncombine 0.1\ncopy 0.06\n"

func parametersFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tune")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAllRanksGetTheParametersOfTheFileAndRankZeroShowsThem(t *testing.T) {
	path := parametersFile(t, measured)
	shell := run(t, "-genv", "IMPI_TUNE", path, "-n", "3", "sh", "-c", "echo $IMPI_PARAMETERS")
	lines := strings.Split(strings.TrimSpace(shell.stdout), "\n")
	if shell.code != 0 || len(lines) != 3 || lines[0] != lines[1] || lines[1] != lines[2] ||
		!strings.HasPrefix(lines[0], "latency 100,overhead 40,") || !strings.HasSuffix(lines[0], path) {
		t.Errorf("%+v", shell)
	}
	job := run(t, "-v", "-genv", "IMPI_TUNE", path, "-n", "3", program(t, "negotiate"))
	want := "libimpi: parameters of collectives (" + path + "): latency 100, overhead 40, "
	if job.code != 0 || strings.Count(job.stderr, want) != 1 {
		t.Errorf("%+v", job)
	}
}

func TestSeveralClientsUseTheBuiltInParameters(t *testing.T) {
	path := parametersFile(t, measured)
	r := run(t, "-v", "-genv", "IMPI_TUNE", path, "-clients", "2", "-n", "4", program(t, "negotiate"))
	if r.code != 0 || strings.Count(r.stderr, "libimpi: parameters of collectives (built in): latency 500, ") != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAFileOfParametersThatIsWrongIsWorthAWarning(t *testing.T) {
	path := parametersFile(t, "# ours\nlatency fast\n")
	r := run(t, "-v", "-genv", "IMPI_TUNE", path, "-n", "2", program(t, "negotiate"))
	if r.code != 0 || !strings.Contains(r.stderr, "(built in)") ||
		strings.Count(r.stderr, "impirun: warning: "+path+`:2: latency is "fast", and not a number from `) != 1 {
		t.Errorf("%+v", r)
	}
}
