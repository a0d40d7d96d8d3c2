package launcher

import (
	"strings"
	"testing"
)

// The choice of algorithms for collective operations (docs/settings.md).

func TestAChosenAlgorithmIsTakenAndShown(t *testing.T) {
	file := program(t, "negotiate")
	for _, how := range []string{"-n 3", "-clients 2 -n 6"} {
		r := run(t, words(how, "-v -x IMPI_ALGORITHM=allreduce:ring,bcast:scatter-ring", file)...)
		if r.code != 0 || !strings.Contains(r.stderr, "libimpi: bcast: scatter-ring ") {
			t.Errorf("%s: %+v", how, r)
		}
		if n := strings.Count(r.stderr, "libimpi: bcast: "); n != 1 {
			t.Errorf("%s: said %d times", how, n)
		}
	}
}

func TestShortCollectivesGoBySlotsUnlessAnotherAlgorithmIsChosen(t *testing.T) {
	file := program(t, "negotiate")
	for choice, slots := range map[string]bool{"": true, "allreduce:doubling": true, "bcast:binomial": false} {
		r := run(t, words("-n 2 -v -x IMPI_ALGORITHM="+choice, file)...)
		_, used, told := strings.Cut(r.stderr, "libimpi: bcast: ")
		used, _, _ = strings.Cut(used, "\n")
		if r.code != 0 || !told || strings.Contains(used, "slots ") != slots {
			t.Errorf("%q: %+v", choice, r)
		}
	}
}

func TestAnAlgorithmThatDoesNotExistIsAnErrorOfMPIInit(t *testing.T) {
	r := run(t, words("-n 1 -x IMPI_ALGORITHM=bcast:fastest", program(t, "negotiate"))...)
	if r.code == 0 || !strings.Contains(r.stderr, "MPI_Init") ||
		!strings.Contains(r.stderr, `"bcast:fastest" is not operation:algorithm; algorithms: bcast:binomial`) {
		t.Errorf("%+v", r)
	}
}
