package tree

import (
	"strings"
	"testing"
)

// mostC bounds the hand-written lines of C in gobridge, comments and empty lines included. A call from C into Go costs
// 45 to 130 ns and a short message takes 50, so C may execute what Go has decided. What it decides itself is a second
// implementation of a rule of MPI, which has to be kept equal to the first. The number may only fall.
const mostC = 2869

const madeOf = `They are meant to hold executors (loops over memory that Go has laid out: rings, plans of
datatypes, posted receives, boards, windows), kernels (loops that copy and combine, each with an oracle in Go), and
calls of the program's functions. Rules of MPI that Go knows, too, are not among them.`

func TestHandWrittenCOfTheBridgeOnlyBecomesLess(t *testing.T) {
	count := 0
	for _, name := range sources(t, ".c", ".h") {
		if strings.HasPrefix(name, "gobridge/") && !generated(name) {
			count += len(lines(t, name))
		}
	}
	const slack = 100 // so that not every change has to touch the limit
	switch {
	case count > mostC:
		t.Errorf("gobridge has %d hand-written lines of C; the limit is %d (mostC in tests/tree/bridge_test.go), and may "+
			"only fall.\n"+madeOf, count, mostC)
	case count < mostC-slack:
		t.Errorf("gobridge has %d hand-written lines of C: lower the limit (mostC in tests/tree/bridge_test.go, %d) to "+
			"that.\n"+madeOf, count, mostC)
	default:
		t.Logf("%d hand-written lines of C in gobridge; the limit is %d", count, mostC)
	}
}
