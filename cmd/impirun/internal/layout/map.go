package layout

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/placement"
	"github.com/libimpi/libimpi/topology/hardware"
)

// ShowMap prints which ranks run where, if the user wants to know. done: he wants nothing else.
func ShowMap(plan *options.Plan, list []hosts.Machine) (done bool, err error) {
	show := plan.Show
	if len(list) == 0 {
		list = onlyHere(plan)
	}
	text := ""
	if show.RankMap {
		for _, m := range list {
			text += fmt.Sprintf("(%s:%s)\n", m.Name, strings.ReplaceAll(strings.Trim(fmt.Sprint(m.Ranks), "[]"), " ", ","))
		}
	}
	if show.Map || show.Only && show.Bindings {
		mapped, err := jobMap(plan, list)
		if err != nil {
			return true, err
		}
		text += mapped
	}
	to := os.Stderr
	if show.Only {
		to = os.Stdout
	}
	_, err = fmt.Fprint(to, text)
	return show.Only, err
}

// Explain prints what would be started, and where.
func Explain(plan *options.Plan) error {
	list, err := hosts.Of(plan)
	if err != nil {
		return err
	}
	text := plan.String()
	if plan.Place.Asked() || len(list) > 0 {
		if len(list) == 0 {
			list = onlyHere(plan)
		}
		mapped, err := jobMap(plan, list)
		if err != nil {
			return err
		}
		text += mapped
	}
	_, err = fmt.Print(text)
	return err
}

// onlyHere is the list of machines of a user who lists none.
func onlyHere(plan *options.Plan) []hosts.Machine {
	return []hosts.Machine{{Name: hosts.Hostname(), Local: true, Ranks: UpTo(plan.Size())}}
}

// clientOf is the client of a rank, if all are started here.
func clientOf(plan *options.Plan, rank int) int {
	return slices.IndexFunc(Split(plan.Size(), plan.Clients), func(s Share) bool { return rank < s.First+s.N })
}

// jobMap is the map in the form that people know from Open MPI. What ranks of other machines are bound to is known
// there only.
func jobMap(plan *options.Plan, list []hosts.Machine) (string, error) {
	var b strings.Builder
	b.WriteString("\n ========================   JOB MAP   ========================\n")
	for _, m := range list {
		fmt.Fprintf(&b, "\n Data for node: %s\tNum slots: %d\tNum procs: %d\n", m.Name, m.Slots, len(m.Ranks))
		layout := placement.Layout{Sets: make([]hardware.Set, len(m.Ranks))}
		machine, mask := hosts.Hardware()
		if m.Local {
			var err error
			if layout, err = plan.Place.Place(machine, mask, len(m.Ranks)); err != nil {
				return "", err
			}
		}
		for i, rank := range m.Ranks {
			bound := "no"
			switch {
			case plan.Place.Binds() && !m.Local:
				bound = "by that machine"
			case layout.Sets[i] != nil:
				bound = placement.Say(machine, mask, layout.Sets[i])
			}
			client := ""
			if plan.Clients > 0 {
				client = fmt.Sprintf("Client: %d ", clientOf(plan, rank))
			}
			fmt.Fprintf(&b, " \t%sApp: %d Process rank: %d Bound: %s\n", client, ProgramOf(plan, rank).Number, rank, bound)
		}
	}
	b.WriteString("\n =============================================================\n")
	return b.String(), nil
}
