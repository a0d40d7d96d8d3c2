package record

import (
	"fmt"
	"io"
	"slices"
)

// Change is a case whose verdicts in two records differ. "": the case is not in that record.
type Change struct {
	Case     string
	From, To Verdict
}

// Worse reports whether the case's verdict got worse. A case that only one record has got neither.
func (c Change) Worse() bool {
	return c.From != "" && c.To != "" && slices.Index(Verdicts, c.To) > slices.Index(Verdicts, c.From)
}

// Compare lists what changed from a to b: in the order of b, then what vanished.
func Compare(a, b *Record) (list []Change) {
	before, after := a.verdicts(), b.verdicts()
	for _, c := range b.Cases {
		if from := before[c.Name]; from != c.Verdict {
			list = append(list, Change{c.Name, from, c.Verdict})
		}
	}
	for _, c := range a.Cases {
		if after[c.Name] == "" {
			list = append(list, Change{c.Name, c.Verdict, ""})
		}
	}
	return list
}

func (r *Record) verdicts() map[string]Verdict {
	m := map[string]Verdict{}
	for _, c := range r.Cases {
		m[c.Name] = c.Verdict
	}
	return m
}

// Print writes changes as lines, and how many cases got worse, which it returns.
func Print(w io.Writer, list []Change) (worse int) {
	for _, c := range list {
		switch {
		case c.From == "":
			fmt.Fprintf(w, "appeared  %-40s %s\n", c.Case, c.To)
		case c.To == "":
			fmt.Fprintf(w, "vanished  %-40s %s\n", c.Case, c.From)
		case c.Worse():
			worse++
			fmt.Fprintf(w, "worse     %-40s %s -> %s\n", c.Case, c.From, c.To)
		default:
			fmt.Fprintf(w, "better    %-40s %s -> %s\n", c.Case, c.From, c.To)
		}
	}
	fmt.Fprintf(w, "%d differ, %d got worse\n", len(list), worse)
	return worse
}
