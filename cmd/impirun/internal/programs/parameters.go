package programs

import (
	"os"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/tuned"
)

// Parameters returns the parameters by which all ranks choose collective algorithms, for startup.EnvParameters: nothing
// if no file says any. Clients would have to agree on them, and use those that are built in. A file that cannot be used
// is worth a warning, and no more.
func Parameters(plan *options.Plan) string {
	env := os.Environ()
	if len(plan.Programs) > 0 {
		env = append(env, plan.Programs[0].Set...)
	}
	prefix, err := install.Prefix()
	if err != nil {
		return ""
	}
	p, from, err := tuned.Find(func(name string) string { return ValueIn(env, name) }, prefix)
	if err != nil {
		outcome.Complain("warning: %v; the parameters that are built in are used", err)
	}
	if from == "" {
		return ""
	}
	return p.Told(from)
}
