// Package placement says on which machine each rank runs, and on which CPUs of it. It is arithmetic: descriptions of
// machines, masks and what the user wants go in, numbers come out.
//
// Flow: Policy (of the command line) -> Deal gives the ranks to machines, which is the first launcher's part -> Place
// gives the ranks of one machine to its CPUs, which is the part of whoever starts them there, within the CPUs that it
// may use itself -> Say shows it to people.
//
// Ranks are mapped to units in turn, bound to units, and ranked:
//
//	map    the units of a machine that take ranks in turn. By default those that ranks are bound to
//	bind   the units whose CPUs a rank may run on: those around its place, or within it the next ones
//	rank   the order in which the places get their ranks. By default the order in which they were mapped
package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/topology/hardware"
)

// Unit is a kind of part of a machine, or of the list of machines.
type Unit string

// The units of a machine, from the smallest; "" is none. Slot is a core, and Node all that a machine has.
const (
	HWThread Unit = "hwthread"
	Core     Unit = "core"
	L1Cache  Unit = "l1cache"
	L2Cache  Unit = "l2cache"
	L3Cache  Unit = "l3cache"
	NUMA     Unit = "numa"
	Package  Unit = "package"
	Machine  Unit = "machine"

	Slot Unit = "slot"
	Node Unit = "node"
	Span Unit = "span" // of ranks only: the units of all machines, in turn
)

// types are the names of package hardware.
var types = map[Unit]string{HWThread: "PU", Core: "Core", L1Cache: "L1Cache", L2Cache: "L2Cache", L3Cache: "L3Cache",
	NUMA: "NUMANode", Package: "Package", Machine: "Machine"}

// Sharing says what becomes of ranks that are more than the cores that they are bound to.
type Sharing int

// The ways of Sharing.
const (
	ShareNoted  Sharing = iota // they share them, and Layout.Note says so
	ShareWanted                // they share them
	ShareNever                 // it is an error
)

// Policy is what the user wants. The zero value binds nothing, and gives each machine ranks that follow one another.
type Policy struct {
	Bind        Unit
	Count       int // how many of the units are one rank's; 0: one
	IfSupported bool
	Sharing     Sharing
	Threads     bool // a hardware thread is as much as a rank needs, else a core

	Map     Unit
	Group   int  // how many of the units take ranks together; 0: one
	PerUnit int  // each takes that many ranks, which follow one another, and no more; 0: not said
	Span    bool // the units of all machines take ranks in turn

	Rank Unit

	CPUs    string   // the CPUs that ranks may use, as the kernel writes lists of them; "": all
	Lists   []string // the CPUs of the first rank of a machine, of the second and so on, and again from the first
	EachCPU bool     // such lists, of one CPU each: those of CPUs, or all
}

// Asked reports whether the user has said anything.
func (p *Policy) Asked() bool { return p.Map != "" || p.Rank != "" || p.Binds() }

// Binds reports whether ranks are bound.
func (p *Policy) Binds() bool { return p.Bind != "" || p.CPUs != "" || p.Lists != nil || p.EachCPU }

// Local reports whether the machines that run ranks have to look at their parts.
func (p *Policy) Local() bool { return p.Binds() || p.inside() || p.ranksInside() }

// inside reports whether ranks are mapped to parts of machines.
func (p *Policy) inside() bool { return p.Map != "" && p.Map != Slot && p.Map != Node }

// ranksInside reports whether the ranks of a machine are numbered otherwise than they are mapped.
func (p *Policy) ranksInside() bool {
	return p.Rank != "" && p.Rank != Node && p.Rank != Span && (p.Rank != Slot || p.inside())
}

// Layout is where the ranks of a machine run.
type Layout struct {
	Sets []hardware.Set // by local rank; nil: it is not bound
	Note string         // what the user should know; "": nothing
}

// Place gives n ranks to the CPUs of machine m that are in mask.
func (p *Policy) Place(m hardware.Machine, mask hardware.Set, n int) (Layout, error) {
	return p.place(m, mask, nil, n, false)
}

// PlaceBeside is Place for n ranks more on a machine where others run by the same policy, who have taken some of its
// places. The places are counted from 0 in the order in which ranks get them, and the new ranks get those that Free
// answers. Beyond the places of ppr the units get as many again.
func (p *Policy) PlaceBeside(m hardware.Machine, mask hardware.Set, taken []int, n int) (Layout, error) {
	return p.place(m, mask, taken, n, true)
}

// place is PlaceBeside. more: there may be more ranks than ppr has places.
func (p *Policy) place(m hardware.Machine, mask hardware.Set, taken []int, n int, more bool) (Layout, error) {
	places := Free(taken, n)
	l := Layout{Sets: make([]hardware.Set, n)}
	mask, err := p.usable(m, mask)
	if err != nil || !p.Local() {
		return l, err
	}
	if lists, err := p.lists(mask); err != nil || lists != nil {
		for i := range n {
			if err == nil {
				l.Sets[i] = lists[places[i]%len(lists)]
			}
		}
		return l, err
	}
	b := boardOf(m, mask)
	all, err := p.mapped(b, slices.Concat(taken, places), more)
	if err != nil {
		return p.orUnbound(l, err)
	}
	for i := range all {
		if all[i].set, err = p.bound(b, all[i]); err != nil {
			return p.orUnbound(l, err)
		}
	}
	spots, err := p.ranked(b, all[len(taken):])
	if err != nil {
		return p.orUnbound(l, err)
	}
	if p.Bind == "" && p.CPUs == "" {
		return l, nil
	}
	for i := range spots {
		l.Sets[i] = spots[i].set
	}
	return p.shared(b, l, all)
}

// Free are the first n places that are not taken, in ascending order.
func Free(taken []int, n int) []int {
	used := map[int]bool{}
	for _, place := range taken {
		used[place] = true
	}
	list := make([]int, 0, n)
	for place := 0; len(list) < n; place++ {
		if !used[place] {
			list = append(list, place)
		}
	}
	return list
}

// missing is an error about what the machine does not have.
type missing struct{ error }

// orUnbound returns err, unless the user wants to be bound where that can be done only.
func (p *Policy) orUnbound(l Layout, err error) (Layout, error) {
	if _, ok := err.(missing); ok && p.IfSupported {
		return l, nil
	}
	return l, err
}

// usable are the CPUs of mask that are there, and that the user has not excluded.
func (p *Policy) usable(m hardware.Machine, mask hardware.Set) (hardware.Set, error) {
	if all := m.Parts("Machine"); len(all) > 0 {
		mask = mask.And(all[0])
	}
	if len(mask) == 0 && p.Local() {
		return nil, fmt.Errorf("the system does not say which CPUs this process may use: ranks cannot be bound")
	}
	if p.CPUs == "" {
		return mask, nil
	}
	return within(p.CPUs, mask)
}

// within reads a list of CPUs that must be in mask.
func within(list string, mask hardware.Set) (hardware.Set, error) {
	s, err := hardware.ParseList(list)
	if err != nil {
		return nil, err
	}
	for _, cpu := range s.List() {
		if !mask[cpu] {
			return nil, fmt.Errorf("CPU %d is none that this process may use, which are %v", cpu, mask)
		}
	}
	return s, nil
}

// lists are the sets of a user who has said them one by one.
func (p *Policy) lists(mask hardware.Set) (sets []hardware.Set, err error) {
	if p.EachCPU {
		for _, cpu := range mask.List() {
			sets = append(sets, hardware.Set{cpu: true})
		}
	}
	for _, list := range p.Lists {
		s, err := within(list, mask)
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// spot is the place of one rank: the k-th in a unit, counted from 0.
type spot struct {
	unit, k int
	at      hardware.Set // the unit
	set     hardware.Set // what the rank is bound to
}

// mapped are the places of ranks, by their numbers.
func (p *Policy) mapped(b *board, places []int, more bool) ([]spot, error) {
	units, err := p.mapUnits(b)
	if err != nil {
		return nil, err
	}
	counted := p.PerUnit > 0 && p.Map != Node // ranks beyond those of a machine have been dealt to it all the same
	n, room := len(places), p.PerUnit*len(units)
	if counted && n > room && !more {
		return nil, fmt.Errorf("-map-by ppr:%d:%s: there is room for %d ranks, since this machine has %s %d times within "+
			"CPUs %v, and %d are wanted here", p.PerUnit, p.Map, room, p.Map, len(units), b.mask, n)
	}
	list := make([]spot, n)
	for i, place := range places {
		list[i] = spot{unit: place % len(units), k: place / len(units)}
		if counted {
			list[i] = spot{unit: place % room / p.PerUnit, k: place/room*p.PerUnit + place%p.PerUnit}
		}
		list[i].at = units[list[i].unit]
	}
	return list, nil
}

// mapUnits are the units that take ranks in turn.
func (p *Policy) mapUnits(b *board) ([]hardware.Set, error) {
	unit, group := p.Map, max(1, p.Group)
	switch {
	case unit == Node && p.PerUnit > 0:
		return []hardware.Set{b.mask}, nil
	case unit == "" || unit == Node:
		unit = p.Bind
	case unit == Slot:
		unit = p.granule()
		if p.Bind == Core || p.Bind == HWThread {
			unit = p.Bind
		}
	}
	if unit == "" {
		return []hardware.Set{b.mask}, nil
	}
	if unit == p.Bind {
		group = max(group, p.Count)
	}
	return b.groups(unit, b.mask, group)
}

// granule is what a rank needs.
func (p *Policy) granule() Unit {
	if p.Threads || p.Bind == HWThread || p.Map == HWThread {
		return HWThread
	}
	return Core
}

// bound are the CPUs of a rank at a place.
func (p *Policy) bound(b *board, s spot) (hardware.Set, error) {
	if p.Bind == "" {
		return b.mask, nil
	}
	count := max(1, p.Count)
	around, err := b.groups(p.Bind, b.mask, count)
	if err != nil {
		return nil, err
	}
	first := b.first(s.at)
	for _, u := range around {
		if u[first] && s.at.Within(u) {
			return u, nil
		}
	}
	inside, err := b.groups(p.Bind, s.at, count)
	if err != nil {
		return nil, err
	}
	return inside[s.k%len(inside)], nil
}

// ranked are the places in the order of their ranks.
func (p *Policy) ranked(b *board, spots []spot) ([]spot, error) {
	if !p.ranksInside() {
		return spots, nil
	}
	spots = slices.Clone(spots)
	slices.SortStableFunc(spots, func(x, y spot) int {
		if x.unit != y.unit {
			return x.unit - y.unit
		}
		return x.k - y.k
	})
	if p.Rank == Slot {
		return spots, nil
	}
	units, err := b.groups(p.Rank, b.mask, 1)
	if err != nil {
		return nil, err
	}
	in := make([][]spot, len(units))
	for _, s := range spots {
		where := s.set
		if p.Bind == "" {
			where = s.at
		}
		first := b.first(where)
		u := slices.IndexFunc(units, func(u hardware.Set) bool { return u[first] })
		if u < 0 {
			return nil, missing{fmt.Errorf("CPU %d is in no %s", first, p.Rank)}
		}
		in[u] = append(in[u], s)
	}
	return inTurn(in, 1), nil
}

// inTurn takes some of each list, and again, until nothing is left.
func inTurn[T any](lists [][]T, some int) (all []T) {
	lists = slices.Clone(lists)
	for more := true; more; {
		more = false
		for i, l := range lists {
			k := min(some, len(l))
			all, lists[i] = append(all, l[:k]...), l[k:]
			more = more || len(lists[i]) > 0
		}
	}
	return all
}

// shared notes, or refuses, that there are more ranks than what they are bound to. all are those of the machine.
func (p *Policy) shared(b *board, l Layout, all []spot) (Layout, error) {
	if p.Sharing == ShareWanted || p.Bind == "" || p.Bind == Machine && p.Sharing != ShareNever {
		return l, nil
	}
	need := 1
	if p.Bind == Core || p.Bind == HWThread {
		need = max(1, p.Count)
	}
	ranks := map[string]int{}
	for i := range all {
		ranks[all[i].set.String()]++
	}
	for _, s := range l.Sets {
		of := p.granule()
		units, err := b.groups(of, s, 1)
		if err != nil {
			return l, err
		}
		k := ranks[s.String()]
		if k*need <= len(units) {
			continue
		}
		what := times(len(units), "core", "cores")
		if of == HWThread {
			what = times(len(units), "hardware thread", "hardware threads")
		}
		text := fmt.Sprintf("%s bound to %s, CPUs %v", times(k, "rank is", "ranks are"), what, s)
		if p.Sharing == ShareNever {
			return l, fmt.Errorf("%s, and -bind-to %s:no-overload forbids that", text, p.Bind)
		}
		l.Note = fmt.Sprintf("%s: they take turns (-bind-to %s:overload-allowed if that is wanted)", text, p.Bind)
		return l, nil
	}
	return l, nil
}

func times(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// String is the policy in words, as -explain shows it.
func (p *Policy) String() string {
	var words []string
	say := func(cond bool, format string, args ...any) {
		if cond {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(p.PerUnit > 0, "map %d to each %s", p.PerUnit, p.Map)
	say(p.PerUnit == 0 && p.Map != "", "map by %s", p.Map)
	say(p.Group > 1, "%d together", p.Group)
	say(p.Span, "across machines")
	say(p.Rank != "", "rank by %s", p.Rank)
	say(p.Bind != "", "bind to %s", p.Bind)
	say(p.Count > 1, "%d each", p.Count)
	say(p.Bind != "" && p.Threads, "counting hardware threads")
	say(p.IfSupported, "if supported")
	say(p.Sharing == ShareWanted, "cores may be shared")
	say(p.Sharing == ShareNever, "cores must not be shared")
	say(p.CPUs != "", "CPUs %s", p.CPUs)
	say(p.EachCPU, "one CPU each")
	say(p.Lists != nil, "CPUs by rank %s", strings.Join(p.Lists, " | "))
	return strings.Join(words, ", ")
}

// SetCPUs returns which CPUs ranks may use.
func (p *Policy) SetCPUs(list string) error {
	s, err := hardware.ParseList(list)
	if err == nil && len(s) == 0 {
		err = fmt.Errorf("%q names no CPU", list)
	}
	p.CPUs = s.String()
	return err
}

// SetLists returns which CPUs the ranks of a machine are bound to in turn: ranges of CPUs, joined by +, a comma between
// ranks.
func (p *Policy) SetLists(lists string) error {
	p.Bind, p.Lists = "", nil
	for word := range strings.SplitSeq(lists, ",") {
		s, err := hardware.ParseList(strings.ReplaceAll(word, "+", ","))
		if err == nil && len(s) == 0 {
			err = fmt.Errorf("%q names no CPU", word)
		}
		if err != nil {
			return err
		}
		p.Lists = append(p.Lists, s.String())
	}
	return nil
}
