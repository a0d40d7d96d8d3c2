package libimpi

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

var update = flag.Bool("update", false, "write the golden texts anew")

// The names and texts of all error classes, as programs and their users see them.
func TestErrorTextsAreTheGoldenOnes(t *testing.T) {
	var b strings.Builder
	for class := range abi.MPI_ERR_ABI + 1 {
		if ClassText(class) == "" {
			t.Errorf("class %d has no text", class)
		}
		fmt.Fprintf(&b, "%d %v\n", class, &Error{Class: class})
	}
	for class := abi.MPIX_ERR_PROC_FAILED; class <= abi.MPIX_ERR_REVOKED; class++ {
		fmt.Fprintf(&b, "%d %v\n", class, &Error{Class: class})
	}
	fmt.Fprintf(&b, "particulars: %v\n", errorf(abi.MPI_ERR_RANK, "argument %s is %d", "dest", 7))
	fmt.Fprintf(&b, "of the system: %v\n", AsError(os.ErrNotExist))
	const file = "testdata/errors.txt"
	if *update {
		must(t, os.WriteFile(file, []byte(b.String()), 0o666))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if b.String() != string(want) {
		t.Errorf("the texts are not those of %s (-update writes it anew):\n%s", file, b.String())
	}
	if ClassText(-1) != "" || ClassText(abi.MPI_ERR_ABI+1) != "" || ClassText(abi.MPI_ERR_LASTCODE) != "" ||
		ClassText(abi.MPIX_ERR_PROC_FAILED-1) != "" || ClassName(abi.MPIX_ERR_PROC_FAILED-1) == "" {
		t.Error("texts of no class")
	}
}
