package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
)

// through becomes another launcher, whose ranks join the server as the client of the plan: they find in their
// environment what they need for that (startup/manager). Launchers hand the environment on.
func through(plan *options.Plan) error {
	words := plan.Programs[0].Argv
	file, err := exec.LookPath(words[0])
	if err != nil {
		return fmt.Errorf("-through: %w", err)
	}
	set := map[string]string{startup.EnvJoin: fmt.Sprintf("%d@%s", plan.Rank, plan.Address)}
	if plan.Port != 0 {
		set[startup.EnvPort] = fmt.Sprintf("%d-%d", plan.Port, plan.PortTo)
	}
	if plan.Via != client.ViaAuto {
		set["IMPI_VIA"] = plan.Via.String()
	}
	for _, v := range client.AllValues {
		if text, given := v.Get(&plan.Values); given {
			set[v.Env] = text
		}
	}
	if plan.Verbose {
		set[startup.EnvVerbose] = "1"
	}
	env := slices.DeleteFunc(os.Environ(), func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		_, again := set[name]
		return again
	})
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	if plan.Verbose {
		outcome.Complain("client %d of %s, through %s", plan.Rank, plan.Address, strings.Join(words, " "))
	}
	return fmt.Errorf("-through: %s: %w", file, syscall.Exec(file, words, env))
}
