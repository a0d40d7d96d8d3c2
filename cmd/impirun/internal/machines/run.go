package machines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/inquire"
	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup/client"
)

// Run runs a plan on several machines, and returns when all of its ranks, and those that they have spawned, have ended.
func Run(plan *options.Plan, list []hosts.Machine) error {
	if plan.Clients > 0 {
		return fmt.Errorf("-clients starts all clients on this machine, and %s is another", list[len(list)-1].Name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	joins, _, err := join.Plans(ctx, plan, netip.Addr{}) // each machine says where its ranks listen
	if err != nil {
		return err
	}
	if err := oneHostEach(plan, joins[0], list); err != nil {
		return err
	}
	h := &head{plan: plan, joinPlan: joins[0], turns: make(chan func()), joined: make(chan joinResult, 1),
		lost: make(chan error, 1), work: make(chan func()), served: make(chan struct{}),
		wake: make(chan struct{}, 1), dooms: make(chan supervise.Cause, 1)}
	if plan.Exits {
		h.exits = job.Exits{}
	}
	h.main, h.spawner = h, spawn.New(plan, os.Environ(), "", hosts.Universe(plan), h)
	defer h.spawner.Close()
	signals := make(chan syscall.Signal, 1)
	defer outcome.OnSignal(func(s syscall.Signal) { signals <- s })()
	h.progress = newProgress(plan)
	if err := h.startAll(list); err != nil {
		return err
	}
	h.asks = inquire.Open(h.inquiry())
	h.serve(signals)
	h.printing.Lock()
	h.progress.end()
	h.printing.Unlock()
	close(h.served)
	h.asks.Close()
	h.cause = h.spawner.Finish(cmp.Or(h.cause, h.mild, h.noSurvivor()))
	if h.cause == nil && h.unwritten != nil {
		h.cause = &supervise.Cause{Code: 1, Text: fmt.Sprintf("output of ranks is lost: %v", h.unwritten)}
	}
	if m := h.joinPlan; m != nil && h.joining {
		if h.cause != nil {
			m.Abandon(errors.New(h.cause.Text))
		}
		h.session = (<-h.joined).session // the server has heard why
	} else if m != nil && h.hosted < len(h.nodes) {
		if h.cause != nil {
			m.GiveUp(h.cause, nil)
		} else {
			m.Withdraw()
		}
	}
	cancel()
	if h.session != nil {
		if h.cause != nil {
			h.session.Fail(h.cause.Text, h.cause.Blamed)
		} else {
			h.session.Fini()
		}
	}
	if plan.Exits {
		h.exits.Say(h.first, plan.Size(), outcome.Complain)
	}
	if h.cause != nil {
		return &outcome.Error{Cause: h.cause, Quiet: plan.Quiet, Objects: plan.JSON, MachineOf: h.machineOf,
			Hint: programs.HowToSurvive(plan, h.cause)}
	}
	return nil
}

// oneHostEach makes sure that each rank is an IMPI host of its own where ranks of several machines alternate: IMPI
// numbers the ranks of a client host by host (IMPI 0.0, 2.3.5).
func oneHostEach(plan *options.Plan, m *join.Plan, list []hosts.Machine) error {
	i := slices.IndexFunc(list, func(m hosts.Machine) bool { return apart(m.Ranks) })
	if m == nil || !m.Agent || i < 0 {
		return nil
	}
	if plan.Via == client.ViaAgent {
		return fmt.Errorf("ranks %v of machine %s do not follow one another, and behind its agent they have to: IMPI "+
			"numbers ranks agent by agent. Use -via direct, or -rank-by slot and each machine once", list[i].Ranks,
			list[i].Name)
	}
	m.Agent = false
	return nil
}

// apart reports whether the ranks of a machine do not follow one another.
func apart(ranks []int) bool { return len(ranks) > 0 && ranks[len(ranks)-1]-ranks[0] != len(ranks)-1 }
