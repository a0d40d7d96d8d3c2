package programs

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/libimpi/libimpi/cmd/internal/linked"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// survivorCall are functions by which a program goes on after the loss of ranks, in C and in Fortran.
var survivorCall = regexp.MustCompile(`^(?i:P?MPIX_Comm_i?(shrink|agree|revoke|failure_ack|get_failed|ack_failed)_?)$`)

// HowToSurvive is the hint for a job that the end of a rank has ended, and that was not asked to go on without it,
// although its program can; "" for others.
func HowToSurvive(plan *options.Plan, cause *supervise.Cause) string {
	if plan.Recovery || plan.Quiet || !cause.Died {
		return ""
	}
	for _, p := range plan.Programs {
		if file, err := exec.LookPath(p.Argv[0]); err == nil && linked.Imports(file, survivorCall) {
			return fmt.Sprintf("hint: %s is a program that can go on without ranks that are lost: impirun -with-ft ulfm",
				filepath.Base(file))
		}
	}
	return ""
}
