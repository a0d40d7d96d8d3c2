package mpit

import (
	"fmt"
	"strings"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/settings"
)

// Rows of the tables of docs/tools.md.

var classNames = map[int]string{
	abi.MPI_T_PVAR_CLASS_STATE: "state", abi.MPI_T_PVAR_CLASS_LEVEL: "level", abi.MPI_T_PVAR_CLASS_SIZE: "size",
	abi.MPI_T_PVAR_CLASS_HIGHWATERMARK: "highwatermark", abi.MPI_T_PVAR_CLASS_COUNTER: "counter",
	abi.MPI_T_PVAR_CLASS_AGGREGATE: "aggregate", abi.MPI_T_PVAR_CLASS_TIMER: "timer",
	abi.MPI_T_PVAR_CLASS_GENERIC: "generic",
}

// ClassName is the name of a class of performance variables.
func ClassName(class int) string { return classNames[class] }

// When says when a variable has its value: always, or from its start on.
func (v *Variable) When() string {
	if v.Continuous {
		return "always"
	}
	return "start"
}

// VariableRows are the table of performance variables. Those of algorithms are one row.
func VariableRows() []string {
	rows := []string{"| variable | class | counts | bound to | is |", "|---|---|---|---|---|"}
	algorithms := false
	for i := range Variables {
		v := &Variables[i]
		name, about := v.Name, v.About
		if v.Quantity == Taken {
			if algorithms {
				continue
			}
			algorithms = true
			name, about = "algorithm_OPERATION_NAME", "calls that were carried out by an algorithm; "+
				"`impi-info` lists operations and algorithms"
		}
		object := ""
		if v.OfComm {
			object = "communicator"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", name, ClassName(v.Class), v.When(), object, about))
	}
	return rows
}

// EventRows are the table of event types.
func EventRows() []string {
	rows := []string{"| event | elements | bound to | is |", "|---|---|---|---|"}
	for _, e := range Events {
		var names []string
		for _, element := range e.Elements {
			names = append(names, "`"+element.Name+"`")
		}
		object := ""
		if e.OfComm {
			object = "communicator"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", e.Name, strings.Join(names, ", "), object, e.About))
	}
	return rows
}

// CategoryRows are the table of categories.
func CategoryRows() []string {
	rows := []string{"| category | has | is |", "|---|---|---|"}
	for _, c := range Categories {
		var has []string
		for _, n := range []struct {
			of   int
			what string
		}{{len(c.Categories), "categories"}, {len(c.Controls), "control variables"},
			{len(c.Variables), "performance variables"}, {len(c.Events), "events"}} {
			if n.of > 0 {
				has = append(has, fmt.Sprintf("%d %s", n.of, n.what))
			}
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", c.Name, strings.Join(has, ", "), c.About))
	}
	return rows
}

// List is all that there is, for impi-info.
func List() string {
	var b strings.Builder
	row := func(kind, name, more, about string) {
		fmt.Fprintf(&b, "%-12s %-34s %-26s %s\n", kind, name, more, about)
	}
	for i := range settings.All {
		s := &settings.All[i]
		row("control", s.Name, settings.Writable(s.Written), s.Plain())
	}
	for i := range Variables {
		v := &Variables[i]
		more := ClassName(v.Class) + ", " + v.When()
		if v.OfComm {
			more += ", comm"
		}
		row("performance", v.Name, more, v.About)
	}
	for i := range Events {
		row("event", Events[i].Name, fmt.Sprint("elements: ", len(Events[i].Elements)), Events[i].About)
	}
	return b.String()
}
