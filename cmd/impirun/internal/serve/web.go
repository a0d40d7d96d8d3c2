package serve

import (
	"errors"
	"fmt"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/watch"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/webguard"
	"github.com/libimpi/libimpi/startup/server"
)

// withPage serves a page about the job of s, if the plan wants one, and says on stderr where: stdout has its one line.
// end shows on the page how the job has ended.
func withPage(plan *options.Plan, s *server.Server) (end func(), err error) {
	if !plan.Web {
		return func() {}, nil
	}
	token := ""
	if plan.WebToken != "" {
		if token, err = webguard.ReadToken(plan.WebToken); err != nil {
			return nil, fmt.Errorf("-web-token: %w", err)
		}
	}
	w, err := watch.Open(s, plan.WebAddress, token, func(line string) { outcome.Complain("-web: %s", line) })
	switch {
	case errors.Is(err, webguard.ErrToken):
		return nil, fmt.Errorf("-web=%s: %w: -web-token FILE", plan.WebAddress, webguard.ErrToken)
	case err != nil:
		return nil, fmt.Errorf("-web: %w", err)
	}
	outcome.Complain("the job is shown at %s", w.URL())
	return w.End, nil
}
