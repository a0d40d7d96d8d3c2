package programs

import (
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

func TestARankGetsTheEnvironmentThatWasAskedFor(t *testing.T) {
	base := []string{"A=1", "B=2", "PATH=/bin", "IMPI_RANK=77", "PMI_RANK=88", "IMPI_BOOT_FD=9"}
	at := Place{Rank: 3, Size: 5, LocalRank: 1, LocalSize: 2}
	for _, c := range []struct {
		line       string
		want, gone []string
	}{
		{"p", []string{"A=1", "B=2", "IMPI_RANK=3", "IMPI_SIZE=5", "PMI_RANK=3", "PMI_SIZE=5", "IMPI_LOCAL_RANK=1",
			"MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2", "IMPI_BOOT_FD=3"}, []string{"HOME"}},
		{"-x A=5 -x A=6 p", []string{"A=6", "B=2"}, nil},
		{"-genv A 5 -env A 6 p", []string{"A=6"}, nil},
		{"-envnone -x B p", []string{"B=2"}, []string{"A", "PATH"}},
		{"-genvlist A,PATH p", []string{"A=1", "PATH=/bin"}, []string{"B"}},
	} {
		plan, err := options.Parse(strings.Fields(c.line), func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		env := Environment(base, &plan.Programs[0], "j", at)
		for _, w := range c.want {
			if !slices.Contains(env, w) {
				t.Errorf("%s: %s is missing in %q", c.line, w, env)
			}
		}
		names := map[string]bool{}
		for _, e := range env {
			name, _, _ := strings.Cut(e, "=")
			if names[name] || slices.Contains(c.gone, name) {
				t.Errorf("%s: %s stands twice or should not be there: %q", c.line, name, env)
			}
			names[name] = true
		}
	}
}
