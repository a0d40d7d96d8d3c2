package conform

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// flooding, as the first word of this program, makes it a server that says 20,000 lines, and ends.
const flooding = "flooding"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == flooding {
		flood()
	}
	os.Exit(m.Run())
}

func flood() {
	w := bufio.NewWriter(os.Stdout)
	for i := range 20_000 {
		fmt.Fprintf(w, "line %d of the flood\n", i+1)
	}
	w.Flush()
	fmt.Fprintln(os.Stderr, "that was all")
	os.Exit(1)
}

// broken are the commands of an implementation that breaks the protocol: its server floods, and of its client's packets
// the first with data has another pk_lsrank (tiny).
func broken(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tiny := filepath.Join(filepath.Dir(self), "tiny.test")
	if _, err := os.Stat(tiny); err != nil {
		t.Fatal(err)
	}
	return []string{"-server-cmd", self + " " + flooding + " {clients}",
		"-client-cmd", tiny + " -fault wrong-lsrank -client {rank} {server} -n {n} {prog}"}
}
