package launcher

import (
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// What a debugger shows of a rank that waits: the program's frames, with their lines, below that of the MPI call.

func TestADebuggerShowsWhereARankWaits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the way out of Go's stacks is described for amd64 alone")
	}
	gdb, err := exec.LookPath("gdb")
	if err != nil {
		t.Skip("no gdb")
	}
	waiting := []*regexp.Regexp{backtrace("MPI_Recv", "receive"), backtrace("MPI_Wait", "wait_for"),
		backtrace("MPI_Barrier", "meet"), backtrace("MPI_Bcast", "be_told")}
	j := start(t, "-n", fmt.Sprint(len(waiting)+1), program(t, "waits"))
	j.stdout.await("\n", len(waiting)+1)
	var all sync.WaitGroup
	for rank, wanted := range waiting {
		all.Go(func() {
			var pid int
			_, said, _ := strings.Cut(j.stdout.String(), fmt.Sprintf("rank %d is ", rank))
			fmt.Sscan(said, &pid)
			for { // until it has got there; ctest's limit ends a test where that never comes
				shown, err := exec.Command(gdb, "-nx", "-batch", "-p", fmt.Sprint(pid), "-ex", "bt").CombinedOutput()
				if wanted.Match(shown) {
					return
				}
				if err != nil || !inMain.Match(shown) {
					t.Errorf("rank %d: %v\n%s", rank, err, shown)
					return
				}
			}
		})
	}
	all.Wait()
	j.cancel()
	j.cmd.Wait()
}

var inMain = regexp.MustCompile(`(?m)^#\d.* main \(.* at .*waits\.c:\d+$`)

// backtrace is what gdb shows of a rank that waits in a call, which function has made.
func backtrace(call, function string) *regexp.Regexp {
	const line = ` \(.* at .*waits\.c:\d+\n`
	return regexp.MustCompile(`(?m)^#\d.* P?` + call + ` \(.*\n#\d.* ` + function + line + `#\d.* main` + line)
}
