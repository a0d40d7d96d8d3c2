package machines

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// Which machines are reached, and which are not. The first that cannot be reached ends the job, but not at once: others
// may be on their way to the same end, and a user wants to hear of all of them.
//
// These functions run on the goroutine of head.serve, except for those that a branch calls, which go there.

// missing are machines that were not reached.
type missing struct {
	list []missedNode
	over <-chan time.Time // ticks when it has been quiet for a while; nil: there are none
}

type missedNode struct {
	number    int
	name, why string
}

// quietTime is how long no news may come of machines that are still being reached, when one cannot be.
const quietTime = 2 * time.Second

// The time for starting, if the user says none. Containers of Kubernetes may be fetched from afar at that time.
const (
	usualLimit      = time.Minute
	kubernetesLimit = 5 * time.Minute
)

// startLimit is how long other machines may take to answer.
func startLimit(plan *options.Plan, getenv func(string) string) time.Duration {
	switch {
	case plan.Limits.Start != 0:
		return plan.Limits.Start
	case getenv("KUBERNETES_SERVICE_HOST") != "":
		return kubernetesLimit
	}
	return usualLimit
}

func (h *head) Hello(b *tree.Branch) {
	h.turns <- func() {
		b.Reached = true
		h.arrive(h.nodes[b.Members[0].Number])
	}
}

// arrive notes that a machine was reached.
func (h *head) arrive(r *nodeLink) {
	r.reached = true
	h.wait()
	h.show()
}

// Missed says that the first machine of a branch was not reached. The others are started without it.
func (h *head) Missed(b *tree.Branch, why error) {
	h.turns <- func() {
		b.Over = true
		h.left--
		others := b.Members[1:]
		if h.l.Over() {
			others = nil
		}
		lost := b.Members[:len(b.Members)-len(others)]
		h.lose(b, &tree.LostFrame{Machines: tree.Numbers(lost), Text: why.Error(), Missed: true})
		if len(others) > 0 && h.cause == nil {
			h.grow(others)
		}
	}
}

// Ended says that a branch says no more.
func (h *head) Ended(b *tree.Branch, why error) {
	h.turns <- func() {
		b.Over = true
		h.left--
		h.lose(b, &tree.LostFrame{Machines: tree.Numbers(b.Members), Text: why.Error()})
	}
}

// lose notes that machines of a branch say no more. Those that have ended in order are not lost.
func (h *head) lose(b *tree.Branch, m *tree.LostFrame) {
	var gone []*nodeLink
	for _, n := range m.Machines {
		if b.Has(n) && !h.nodes[n].ended {
			gone = append(gone, h.nodes[n])
			h.nodes[n].end()
		}
	}
	defer h.pour()
	switch {
	case len(gone) == 0 || h.cause != nil && m.Missed:
	case m.Missed:
		for _, r := range gone {
			h.missing.list = append(h.missing.list, missedNode{r.Number, r.Name, m.Text})
		}
		h.wait()
	default:
		text := fmt.Sprintf("machine %s: %s", gone[0].Name, m.Text)
		if others := len(gone) - 1; others > 0 {
			text += fmt.Sprintf("; it had started %s", gone[1].Name)
			if others > 1 {
				text += fmt.Sprintf(" and %d more", others-1)
			}
		}
		if !h.loseMachines(gone, text) {
			h.fail(&supervise.Cause{Code: 1, Text: text})
		}
	}
}

// wait ends the job when machines are missing and no other is on its way, or puts that off for a while.
func (h *head) wait() {
	if len(h.missing.list) == 0 || h.cause != nil {
		return
	}
	if slices.ContainsFunc(h.nodes, onItsWay) {
		h.missing.over = time.After(quietTime)
		return
	}
	h.miss()
}

func onItsWay(r *nodeLink) bool { return !r.reached && !r.ended }

// miss ends the job for the machines that are missing.
func (h *head) miss() {
	var late []string
	for _, r := range h.nodes {
		if onItsWay(r) {
			late = append(late, r.Name)
		}
	}
	slices.SortFunc(h.missing.list, func(a, b missedNode) int { return a.number - b.number })
	h.fail(&supervise.Cause{Code: 1, Text: missingText(h.missing.list, late)})
}

// missingText names all machines that were not reached, those with the same reason together, and those of which nothing
// is known yet.
func missingText(list []missedNode, late []string) string {
	var parts []string
	for len(list) > 0 {
		why := list[0].why
		var names []string
		list = slices.DeleteFunc(list, func(m missedNode) bool {
			if m.why == why {
				names = append(names, m.name)
			}
			return m.why == why
		})
		parts = append(parts, fmt.Sprintf("%s %s: %s", machineWord(len(names)), strings.Join(names, ", "), why))
	}
	if len(late) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s: no answer yet", machineWord(len(late)), strings.Join(late, ", ")))
	}
	return strings.Join(parts, "; ")
}

func machineWord(n int) string {
	if n == 1 {
		return "machine"
	}
	return "machines"
}
