package options

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/placement"
)

// Where ranks run, in the words that people know from Open MPI (4 and 5) and from MPICH's and Intel's hydra.

// Show is what of the placement is reported before the ranks run.
type Show struct {
	Bindings bool // what each rank is bound to
	Map      bool // the ranks of each machine
	RankMap  bool // the same, in hydra's form
	Only     bool // and nothing is run
}

// placementOptions are the rows of the table for it.
func placementOptions() []option {
	set := func(name string, apply func(*parser) error) option {
		return option{names: []string{name}, apply: func(p *parser, _ []string) error { return apply(p) }}
	}
	policy := func(p *parser) *placement.Policy { return &p.plan.Place }
	list := []option{
		{names: []string{"bind-to"}, values: []string{"UNIT[:MODIFIERS]"}, choices: bindChoices,
			help: "bind each rank to a hwthread, core, l1cache, l2cache, l3cache, numa, package (socket) or all " +
				"(machine), N of them with :N; rr: to one CPU; user:0-1,4+6: to these in turn; none (default). Modifiers: " +
				"overload-allowed (no warning if ranks share cores), no-overload (an error if they do), if-supported",
			apply: func(p *parser, v []string) error { return applyBind(p, v[0]) }},
		{names: []string{"map-by"}, values: []string{"UNIT[:MODIFIERS]"}, choices: mapChoices,
			help: "the units that get ranks in turn: slot, node (machines), or those of -bind-to; ppr:N:UNIT: N ranks " +
				"for each unit; pe-list=LIST: only these CPUs. Modifiers: pe=N (N cores a rank), span, N (N units together)",
			apply: func(p *parser, v []string) error { return applyMap(p, v[0]) }},
		{names: []string{"rank-by"}, values: []string{"UNIT"}, choices: rankChoices,
			help: "the order of ranks: slot (machine by machine), node (machines in turn), span, or the units of " +
				"-map-by, in turn (default: the order of -map-by)",
			apply: func(p *parser, v []string) error { return applyRank(p, v[0]) }},
		{names: []string{"cpu-set", "cpu-list"}, values: []string{"CPUS"},
			help:  "the CPUs that ranks may use on each machine, as in 0-3,8: the kernel's numbers, as for taskset",
			apply: func(p *parser, v []string) error { return applyCPUs(p, v[0]) }},
		{names: []string{"cpus-per-rank", "cpus-per-proc"}, values: []string{"N"},
			help:  "bind each rank to N cores; the same as -bind-to core:N",
			apply: func(p *parser, v []string) error { return number(&p.pe, v[0], 1, maxRanks, "cores") }},
		{names: []string{"use-hwthread-cpus"}, help: "count hardware threads instead of cores",
			apply: func(p *parser, _ []string) error { p.plan.Place.Threads = true; return nil }},
		{names: []string{"report-bindings"}, help: "print on stderr what each rank is bound to",
			apply: func(p *parser, _ []string) error { p.plan.Show.Bindings = true; return nil }},
		{names: []string{"display-map"}, help: "print on stderr which ranks run where",
			apply: func(p *parser, _ []string) error { p.plan.Show.Map = true; return nil }},
		{names: []string{"display"}, values: []string{"WHAT"}, choices: displayChoices,
			help: "print on stderr: map, as -display-map; bind, as -report-bindings; or both, map,bind", apply: applyDisplay},
		{names: []string{"print-rank-map"}, help: "print on stderr which ranks run where, a line (NAME:RANKS) for " +
			"each machine",
			apply: func(p *parser, _ []string) error { p.plan.Show.RankMap = true; return nil }},
		{names: []string{"do-not-launch", "donotlaunch"}, help: "run nothing, and print on stdout which ranks would " +
			"run where",
			apply: func(p *parser, _ []string) error { p.plan.Show.Only = true; return nil }},
		{names: []string{"npersocket"}, values: []string{"N"},
			apply: func(p *parser, v []string) error {
				if !p.unbound && !p.plan.Place.Binds() { // Open MPI's option means that, too
					p.plan.Place.Bind = placement.Package
				}
				return applyMap(p, "ppr:"+v[0]+":package")
			}},
		set("pernode", func(p *parser) error { return applyMap(p, "ppr:1:node") }),
		set("bind-to-core", func(p *parser) error { return applyBind(p, "core") }),
		set("bind-to-socket", func(p *parser) error { return applyBind(p, "package") }),
		set("bind-to-none", func(p *parser) error { return applyBind(p, "none") }),
		set("overload-allowed", func(p *parser) error { policy(p).Sharing = placement.ShareWanted; return nil }),
	}
	for _, unit := range []string{"slot", "node", "core", "socket", "numa"} {
		list = append(list, set("by"+unit, func(p *parser) error { return applyMap(p, unit) }))
	}
	return list
}

// units are the names of the units of a machine.
var units = map[string]placement.Unit{
	"hwthread": placement.HWThread, "core": placement.Core, "numa": placement.NUMA,
	"socket": placement.Package, "package": placement.Package,
	"machine": placement.Machine, "board": placement.Machine,
	"l1cache": placement.L1Cache, "l1": placement.L1Cache, "l1dcache": placement.L1Cache, "l1ucache": placement.L1Cache,
	"l2cache": placement.L2Cache, "l2": placement.L2Cache, "l2dcache": placement.L2Cache, "l2ucache": placement.L2Cache,
	"l3cache": placement.L3Cache, "l3": placement.L3Cache, "l3dcache": placement.L3Cache, "l3ucache": placement.L3Cache,
}

var (
	mapUnits  = with(map[string]placement.Unit{"slot": placement.Slot, "node": placement.Node})
	rankUnits = with(map[string]placement.Unit{"slot": placement.Slot, "fill": placement.Slot, "node": placement.Node,
		"span": placement.Span})

	shortUnits = []string{"hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "socket", "machine"}

	bindChoices    = append(append([]string{"none"}, shortUnits...), "rr", "user:", "cpu-list:ordered")
	mapChoices     = append(append([]string{"slot", "node"}, shortUnits...), "ppr:", "pe-list=")
	rankChoices    = append([]string{"slot", "fill", "node", "span"}, shortUnits...)
	displayChoices = []string{"map", "bind"}

	bindModifiers = []string{"overload-allowed", "no-overload", "if-supported"}
	mapModifiers  = []string{"pe=", "span", "oversubscribe", "nooversubscribe", "hwtcpus", "corecpus", "inherit",
		"noinherit", "donotlaunch"}
)

// with adds the units of a machine to more.
func with(more map[string]placement.Unit) map[string]placement.Unit {
	maps.Copy(more, units)
	return more
}

// noSuch is the error for a value that is none of those that are possible, with the nearest.
func noSuch(word string, possible []string) error {
	hint := ""
	if best := nearest(word, possible); best != "" {
		hint = fmt.Sprintf(", did you mean %s?", strings.TrimRight(best, ":="))
	}
	return fmt.Errorf("there is no %q%s (there are %s)", word, hint, strings.Join(possible, ", "))
}

// Bind makes a policy bind ranks as -bind-to VALUE says.
func Bind(place *placement.Policy, value string) error {
	p := parser{plan: Plan{Place: *place}}
	err := applyBind(&p, value)
	*place = p.plan.Place
	return err
}

func applyBind(p *parser, value string) error {
	place := &p.plan.Place
	if list, ok := strings.CutPrefix(strings.ToLower(value), "user:"); ok {
		return place.SetLists(list)
	}
	words := strings.Split(strings.ToLower(value), ":")
	name := words[0]
	place.Bind, place.Count, place.Lists, place.EachCPU, p.unbound = "", 0, nil, false, name == "none"
	switch unit, known := units[name]; {
	case known:
		place.Bind = unit
	case name == "none", name == "" && len(words) > 1:
	case name == "rr":
		place.EachCPU = true
	case name == "cpu-list" || name == "cpuset" || name == "cpu-set":
		if place.Bind = placement.Machine; slices.Contains(words[1:], "ordered") {
			place.Bind, place.EachCPU = "", true
		}
		words = slices.DeleteFunc(words, func(w string) bool { return w == "ordered" })
	default:
		return noSuch(name, bindChoices)
	}
	for _, w := range words[1:] {
		n, err := strconv.Atoi(w)
		switch {
		case err == nil && place.Bind != "" && place.Bind != placement.Machine:
			if err := number(&place.Count, w, 1, maxRanks, name+" units"); err != nil {
				return err
			}
		case err == nil:
			return fmt.Errorf("there are no %d of %s", n, name)
		case w == "overload-allowed":
			place.Sharing = placement.ShareWanted
		case w == "no-overload":
			place.Sharing = placement.ShareNever
		case w == "if-supported":
			place.IfSupported = true
		default:
			return fmt.Errorf("modifiers of it: %v", noSuch(w, bindModifiers))
		}
	}
	return nil
}

func applyMap(p *parser, value string) error {
	place := &p.plan.Place
	words := strings.Split(strings.ToLower(value), ":")
	name := words[0]
	place.Map, place.Group, place.PerUnit, place.Span = "", 0, 0, false
	rest := words[1:]
	unit, known := mapUnits[name]
	switch list, isList := strings.CutPrefix(name, "pe-list="); {
	case known:
		place.Map = unit
	case name == "" && len(rest) > 0:
	case isList:
		if slices.Contains(rest, "ordered") {
			place.EachCPU = true
		}
		rest = slices.DeleteFunc(rest, func(w string) bool { return w == "ordered" })
		if err := applyCPUs(p, list); err != nil {
			return err
		}
	case name == "ppr":
		if len(rest) < 2 {
			return fmt.Errorf("it is ppr:N:UNIT, N ranks for each unit")
		}
		if err := number(&place.PerUnit, rest[0], 1, maxRanks, "ranks"); err != nil {
			return err
		}
		if place.Map, known = mapUnits[rest[1]]; !known || rest[1] == "slot" {
			return noSuch(rest[1], append([]string{"node"}, shortUnits...))
		}
		rest = rest[2:]
	default:
		return noSuch(name, mapChoices)
	}
	return p.mapModifiers(rest)
}

func (p *parser) mapModifiers(words []string) error {
	place := &p.plan.Place
	for _, w := range words {
		pe, isPE := strings.CutPrefix(w, "pe=")
		_, err := strconv.Atoi(w)
		switch {
		case isPE:
			if err := number(&p.pe, pe, 1, maxRanks, "cores"); err != nil {
				return err
			}
		case err == nil:
			if err := number(&place.Group, w, 1, maxRanks, "units"); err != nil {
				return err
			}
		case w == "span":
			place.Span = true
		case w == "hwtcpus":
			place.Threads = true
		case w == "corecpus":
			place.Threads = false
		case w == "donotlaunch":
			p.plan.Show.Only = true
		case w == "oversubscribe" || w == "nooversubscribe" || w == "inherit" || w == "noinherit":
			p.plan.Notes = append(p.plan.Notes, "-map-by :"+w+" has no effect")
		default:
			return fmt.Errorf("modifiers of it: %v", noSuch(w, mapModifiers))
		}
	}
	return nil
}

func applyRank(p *parser, value string) error {
	name, _, _ := strings.Cut(strings.ToLower(value), ":")
	unit, known := rankUnits[name]
	if !known || name != strings.ToLower(value) {
		return noSuch(value, rankChoices)
	}
	p.plan.Place.Rank = unit
	return nil
}

func applyCPUs(p *parser, list string) error { return p.plan.Place.SetCPUs(list) }

func applyDisplay(p *parser, v []string) error {
	words, _, _ := strings.Cut(strings.ToLower(v[0]), ":") // modifiers are about the form
	for _, w := range list(words) {
		switch w {
		case "map", "map-devel", "map-diffable":
			p.plan.Show.Map = true
		case "bind", "bindings":
			p.plan.Show.Bindings = true
		default:
			return noSuch(w, displayChoices)
		}
	}
	return nil
}

// settlePlacement refuses contradictions, and fills in what follows from what was said.
func (p *parser) settlePlacement() error {
	place := &p.plan.Place
	if p.pe > 0 {
		switch {
		case p.unbound || place.Lists != nil || place.EachCPU:
			return fmt.Errorf("%d cores for each rank (pe=%d, -cpus-per-rank): ranks would have to be bound to cores, and "+
				"-bind-to says otherwise", p.pe, p.pe)
		case place.Bind == "":
			place.Bind = placement.Core
			if place.Threads {
				place.Bind = placement.HWThread
			}
		case place.Bind != placement.Core && place.Bind != placement.HWThread:
			return fmt.Errorf("%d cores for each rank (pe=%d, -cpus-per-rank) are bound to by -bind-to core, not %s", p.pe, p.pe,
				place.Bind)
		}
		place.Count = p.pe
	}
	if inside := place.Map != "" && place.Map != placement.Slot && place.Map != placement.Node; inside &&
		(place.Lists != nil || place.EachCPU) {
		return fmt.Errorf("-map-by %s: -bind-to says which CPUs each rank gets, and nothing is left to map", place.Map)
	}
	if place.Span && (place.Map == "" || place.PerUnit > 0) {
		return fmt.Errorf("-map-by: span goes with a unit of machines, such as package:span")
	}
	if place.Map == placement.Node && place.PerUnit > 0 {
		p.plan.PerHost = place.PerUnit
	}
	if place.PerUnit > 0 && !p.seen["n"] && !p.seen["ppn"] {
		if place.Map != placement.Node {
			return fmt.Errorf("-map-by ppr:%d:%s needs -n, the number of ranks", place.PerUnit, place.Map)
		}
		p.plan.Programs[0].N = place.PerUnit
	}
	if p.plan.Show.Only && !p.plan.Show.Map && !p.plan.Show.RankMap && !p.plan.Show.Bindings {
		p.plan.Show.Map = true
	}
	return nil
}
