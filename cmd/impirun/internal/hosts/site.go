package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/allocation"
	"github.com/libimpi/libimpi/cmd/internal/options"
)

// Where a job runs if a resource manager has given machines to it: on these, with the slots that they have there.
// Options choose among them, and name no others.

// Settle takes the allocation of this process's job into a plan, if there is one: its machines, how impirun is started
// on them, and, if the user says no number, as many ranks as there are slots.
func Settle(plan *options.Plan, from allocation.Environment) error {
	if len(plan.Programs) == 0 {
		return nil
	}
	a, err := allocated(plan, from)
	if err != nil {
		return err
	}
	if a != nil {
		plan.Site = a.String()
		for _, m := range a.Machines {
			plan.Allocated = append(plan.Allocated, options.Host{Name: m.Name, Slots: m.Slots})
		}
		if plan.Launcher == "" {
			plan.Launcher = launcherOf(a.Manager, exec.LookPath)
		}
	}
	if plan.Clients > 0 || a == nil && from.Get("HYDRA_HOST_FILE") == "" {
		return nil
	}
	list, err := listed(plan)
	if err == nil && plan.AllSlots {
		plan.Programs[0].N = slotsOf(list, plan.PerHost)
	}
	return err
}

// allocated is the allocation that the plan asks for; nil: there is none.
func allocated(plan *options.Plan, from allocation.Environment) (*allocation.Allocation, error) {
	switch {
	case plan.Manager == "none" || plan.Manager == "user":
		return nil, nil
	case plan.Clients > 0: // all on this machine
		return nil, nil
	}
	a, err := allocation.Read(from, allocation.Manager(plan.Manager))
	if err != nil {
		return nil, fmt.Errorf("%w (-rmk none runs without it)", err)
	}
	if a == nil && plan.Manager != "" {
		return nil, fmt.Errorf("-rmk %s: this process belongs to no job of it", plan.Manager)
	}
	return a, nil
}

// launcherOf is how machines of an allocation are reached, if the command for that is there; otherwise by ssh.
func launcherOf(m allocation.Manager, look func(string) (string, error)) string {
	for launcher, of := range map[string]allocation.Manager{"slurm": allocation.Slurm, "lsf": allocation.LSF,
		"sge": allocation.GridEngine} {
		if m != of {
			continue
		}
		if _, err := look(strings.Fields(options.DefaultRsh(launcher))[0]); err == nil {
			return launcher
		}
	}
	return "ssh"
}

// slotsOf is the number of ranks that machines have room for.
func slotsOf(list []Machine, perHost int) (n int) {
	for _, m := range list {
		if perHost > 0 {
			n += perHost
		} else {
			n += max(1, m.Slots)
		}
	}
	return max(1, n)
}

// within checks that the machines that a user has listed are in the allocation, and gives those of which he has not
// said the slots as many as they have there. If he has listed none, they are all of it.
func within(list []Machine, plan *options.Plan) ([]Machine, error) {
	if plan.Site == "" {
		return list, nil
	}
	if len(list) == 0 {
		for _, h := range plan.Allocated {
			list = append(list, Machine{Name: h.Name, Slots: h.Slots, Local: isHere(h.Name)})
		}
		return list, nil
	}
	a := allocation.Allocation{}
	for _, h := range plan.Allocated {
		a.Machines = append(a.Machines, allocation.Machine{Name: h.Name, Slots: h.Slots})
	}
	named := map[int]int{} // how often; one that is named again gets a slot each time
	places := make([]int, len(list))
	for i := range list {
		m := &list[i]
		at := a.Find(m.Name)
		for k := 0; at < 0 && m.Local && k < len(a.Machines); k++ {
			if isHere(a.Machines[k].Name) {
				at = k
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("machine %s is not in the allocation of %s, which has %s (-rmk none runs without it)",
				m.Name, plan.Site, someOf(a.Machines))
		}
		places[i] = at
		named[at]++
	}
	for i, at := range places {
		if m := &list[i]; m.Slots == 0 && named[at] == 1 {
			m.Slots = a.Machines[at].Slots
		}
	}
	return list, nil
}

// isHere reports whether a name of an allocation is this machine's: managers may leave the domain out, or add it.
func isHere(name string) bool { return IsLocal(name) || allocation.SameName(name, Hostname()) }

// someOf names machines, and not too many of them.
func someOf(list []allocation.Machine) string {
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	if more := len(names) - 8; more > 0 {
		names = append(names[:8], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// Surroundings are where this process finds its allocation.
var Surroundings = allocation.Environment{Get: os.Getenv, File: os.ReadFile}
