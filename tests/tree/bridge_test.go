package tree

import (
	"strings"
	"testing"
)

// mostC bounds the hand-written lines of C in gobridge, comments and empty lines included. A call from C into Go costs
// 45 to 130 ns and a short message takes 50, so C may execute what Go has decided. What it decides itself is a second
// implementation of a rule of MPI, which has to be kept equal to the first. The number may only fall: it rose
// twice, by the 48 lines that find the handles of Fortran's integers, which every Fortran call needs, and by those that
// observe and record calls for a user who has asked for that, in less time than a call into Go takes.
const mostC = 3302

// mostVendorC is the same for gobridge/vendor, whose C calls another MPI library in each of three ABIs: what is written
// once and compiled three times cannot be Go. Of these lines 28 are for receives that are posted ahead, which make a
// short message over TCP faster by 4 to 10 % than probes (docs/vendor.md).
const mostVendorC = 407

// mostFortranC is the same for abi/fortran/library: strings, arrays and statuses, descriptors, calls of the program's
// functions, processes that are started, and what datatypes were made with where INTEGERs have 8 bytes. What is regular
// is written from tables (abi/fortran).
const mostFortranC = 991

const madeOf = `They are meant to hold executors (loops over memory that Go has laid out: rings, plans of
datatypes, posted receives, boards, windows), kernels (loops that copy and combine, each with an oracle in Go), and
calls of the program's functions. Rules of MPI that Go knows, too, are not among them.`

func TestHandWrittenCOfTheBridgeOnlyBecomesLess(t *testing.T) {
	count, vendor, fortran := 0, 0, 0
	for _, name := range sources(t, ".c", ".h") {
		switch {
		case strings.HasPrefix(name, "abi/fortran/library/"):
			fortran += len(lines(t, name))
		case generated(name) || !strings.HasPrefix(name, "gobridge/"):
		case strings.HasPrefix(name, "gobridge/vendor/"):
			vendor += len(lines(t, name))
		default:
			count += len(lines(t, name))
		}
	}
	checkC(t, "gobridge", count, "mostC", mostC)
	checkC(t, "gobridge/vendor", vendor, "mostVendorC", mostVendorC)
	checkC(t, "abi/fortran/library", fortran, "mostFortranC", mostFortranC)
}

func checkC(t *testing.T, folder string, count int, name string, most int) {
	t.Helper()
	const slack = 100 // so that not every change has to touch the limit
	switch {
	case count > most:
		t.Errorf("%s has %d hand-written lines of C; the limit is %d (%s in tests/tree/bridge_test.go), and may only "+
			"fall.\n"+madeOf, folder, count, most, name)
	case count < most-slack:
		t.Errorf("%s has %d hand-written lines of C: lower the limit (%s in tests/tree/bridge_test.go, %d) to that.\n"+
			madeOf, folder, count, name, most)
	default:
		t.Logf("%d hand-written lines of C in %s; the limit is %d", count, folder, most)
	}
}
