package options

import (
	"fmt"

	"github.com/libimpi/libimpi/startup/client"
)

// valueOptions are the rows of the table for values that clients agree on.
func valueOptions() []option {
	list := make([]option, len(client.AllValues))
	for i := range client.AllValues {
		v := &client.AllValues[i]
		list[i] = option{names: []string{v.Name}, values: []string{"V"}, help: v.Help + " (" + v.Env + ")",
			apply: func(p *parser, words []string) error { return v.Set(&p.plan.Values, words[0]) }}
	}
	return list
}

// settleValues refuses values that nobody would hear of, and marks that contradict each other.
func (p *parser) settleValues() error {
	plan := &p.plan
	for _, v := range client.AllValues {
		if p.seen[v.Name] && plan.Mode != Client && !plan.Explain && plan.Clients == 0 {
			return fmt.Errorf("-%s goes with -client or -clients: a job of one client negotiates nothing", v.Name)
		}
	}
	return plan.Values.Check()
}
