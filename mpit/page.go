package mpit

import (
	"fmt"
	"strings"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/settings"
)

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
