package options

import (
	"fmt"
	"slices"
	"strings"
)

// Whether a job goes on without ranks that are lost, as other launchers' options ask for it: -with-ft of Open MPI,
// -enable-recovery and -continuous of its launchers, and -disable-auto-cleanup of MPICH. The last that is said counts.

var (
	toleranceOn  = []string{"ulfm", "mpi"} // two words for the same
	toleranceOff = []string{"none", "no", "false", "0"}
)

func failureOptions() []option {
	return []option{
		{names: []string{"with-ft"}, values: []string{"KIND"}, choices: []string{"ulfm", "none"},
			help: "what the loss of a rank is: ulfm, the others are told of it and go on, and the job ends well if they do; " +
				"none (default), the end of all",
			apply: func(p *parser, v []string) error {
				p.plan.Recovery = slices.Contains(toleranceOn, v[0])
				if !p.plan.Recovery && !slices.Contains(toleranceOff, v[0]) {
					return fmt.Errorf("the kinds are %s", strings.Join(append(toleranceOn[:2:2], toleranceOff...), ", "))
				}
				return nil
			}},
		{names: []string{"disable-auto-cleanup", "enable-recovery"}, help: "the same as -with-ft ulfm",
			apply: func(p *parser, _ []string) error { p.plan.Recovery = true; return nil }},
		{names: []string{"continuous"}, apply: func(p *parser, _ []string) error { p.plan.Recovery = true; return nil }},
		{names: []string{"disable-recovery"},
			apply: func(p *parser, _ []string) error { p.plan.Recovery = false; return nil }},
	}
}
