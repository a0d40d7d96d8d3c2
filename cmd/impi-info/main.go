// Command impi-info says which libimpi this is, where it stands, and which settings are in force.
package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/version"
	"github.com/libimpi/libimpi/coll/choose"
)

// overview prints all that there is, for people, and returns the exit code.
func overview(prefix string, all []parameter) int {
	row := func(name, value string) { fmt.Printf("%-16s %s\n", name, value) }
	row("version", version.Text())
	row("standard", "MPI "+version.MPIStandard)
	row("abi", version.ABI+" ("+version.Soname+")")
	row("wire protocol", "IMPI 0.0")
	row("platform", runtime.GOOS+"/"+runtime.GOARCH)
	row("prefix", prefix)
	there := files(prefix)
	for _, name := range []string{"header", "library", "launcher"} {
		path := there[name].Path
		if !there[name].There {
			path += " (missing)"
		}
		row(name, path)
	}
	fmt.Println()
	for _, p := range all {
		fmt.Printf("%-16s %-12s %-12s %s\n", p.Name, p.Value, p.Source, p.Help)
	}
	parameters, from, err := choices(prefix)
	if err != nil {
		complain(err)
		return codeFailed
	}
	fmt.Println()
	fmt.Printf("%-16s %-12s %v (%s)\n", "collectives", "parameters", parameters, from)
	fmt.Print(algorithms(choose.Operations))
	return 0
}

// algorithms lists the algorithms of each collective operation, and which of them is taken when.
func algorithms(all []*choose.Operation) string {
	var text strings.Builder
	for _, o := range all {
		var names []string
		for _, a := range o.Algorithms {
			name := a.Name
			if needs := a.Needs(); needs != "" {
				name += " (" + needs + ")"
			}
			names = append(names, name)
		}
		row := func(title, value string) { fmt.Fprintf(&text, "%-16s %-12s %s\n", o.Name, title, value) }
		row("algorithms", strings.Join(names, ", "))
		if chosen := o.Chosen(); chosen != "" {
			row("chosen", chosen)
		}
		if o.Bytes != "" {
			row("bytes", "of "+o.Bytes)
		}
		for _, rule := range o.Table() {
			row("default", rule)
		}
	}
	return text.String()
}
