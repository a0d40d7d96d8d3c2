// Package choose is the one place that picks the algorithm of a collective operation. It moves no data, and knows
// algorithms by their names: package coll binds a function to each of them, and to no other name.
//
//	case.go        what is known of a call; what an algorithm needs, and when a row of a table fits
//	tables.go      the operations: the algorithms of each, and the table that says which one is the default
//	slots.go       which operations go by slots of a board, before it comes to the other algorithms
//	bounds.go      how many bytes and ranks the tables mean, computed from what messages and work cost
//	parameters.go  what they cost
package choose

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// An operation is carried out by one of several algorithms. Which one is decided call by call:
//
//	the one that Choose has named for the operation, if it can be used in this case, else
//	the first row of the operation's table that fits the case and whose algorithm can be used
//
// All ranks of a call see the same Case, and so they choose alike.

// Algorithm is a way to carry out an operation.
type Algorithm struct {
	Name  string
	needs needs
	used  atomic.Int64
}

// Needs says when the algorithm can be used; empty: always.
func (a *Algorithm) Needs() string {
	var parts []string
	for i, text := range needsText {
		if a.needs&(1<<i) != 0 {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// Used is the number of calls that the algorithm was picked for, while they were counted.
func (a *Algorithm) Used() int64 { return a.used.Load() }

// Operation is a collective operation with all its algorithms.
type Operation struct {
	Name       string
	Bytes      string // what Case.Bytes counts; empty if the table does not ask
	Algorithms []*Algorithm

	table  func(b *bounds) []rule
	rules  []rule // of the table, with the bounds in force
	chosen int    // which algorithm Choose or Reproduce has named; -1: none
	fixed  bool   // by Reproduce

	longest int64  // contribution that goes by slots, in bytes; -1: none does
	above   []rule // the rows before that of slots
}

func newOperation(name, bytes string, algorithms []*Algorithm, table func(b *bounds) []rule) *Operation {
	o := &Operation{Name: name, Bytes: bytes, table: table, chosen: -1,
		Algorithms: append(algorithms, &Algorithm{Name: Slots, needs: inSlots})}
	o.tune()
	return o
}

// tune makes the table anew.
func (o *Operation) tune() {
	o.rules = o.table(&tuned)
	for i := range o.rules {
		o.rules[i].algorithm = o.index(o.rules[i].use)
	}
	o.limitSlots()
}

// index is where the algorithm of that name stands, -1 if there is none.
func (o *Operation) index(name string) int {
	return slices.IndexFunc(o.Algorithms, func(a *Algorithm) bool { return a.Name == name })
}

// Used is the number of calls that an algorithm, which there is, was picked for while they were counted.
func (o *Operation) Used(algorithm string) int64 { return o.Algorithms[o.index(algorithm)].Used() }

// counting says that calls are counted.
var counting atomic.Bool

// Count begins to count the calls of each algorithm, or ends it.
func Count(on bool) { counting.Store(on) }

// Pick returns which of the algorithms carries out a call.
func (o *Operation) Pick(k Case) int {
	at := o.chosen
	if at < 0 || !o.Algorithms[at].needs.met(&k) {
		for i := range o.rules {
			if at = o.rules[i].algorithm; o.takes(&o.rules[i], &k) {
				break
			}
		}
	}
	o.count(at)
	return at
}

// takes reports whether a row fits and its algorithm can be used.
func (o *Operation) takes(r *rule, k *Case) bool {
	return r.fits(k) && o.Algorithms[r.algorithm].needs.met(k)
}

func (o *Operation) count(algorithm int) {
	if counting.Load() {
		o.Algorithms[algorithm].used.Add(1)
	}
}

// Table is the default, in words: the first row that fits.
func (o *Operation) Table() (rows []string) {
	for i := range o.rules {
		rows = append(rows, o.rules[i].String())
	}
	return rows
}

// Chosen is the algorithm that Choose or Reproduce has named; it may be empty.
func (o *Operation) Chosen() string {
	if o.chosen < 0 {
		return ""
	}
	return o.Algorithms[o.chosen].Name
}

// choose takes an algorithm in place of the table; -1: none.
func (o *Operation) choose(algorithm int, fixed bool) {
	o.chosen, o.fixed = algorithm, fixed
	o.limitSlots()
}

// Choose takes algorithms in place of those of the tables. choices is a list operation:algorithm,... An algorithm that
// cannot be used in a case gives way to the table. All ranks of a job have to choose alike, before they communicate:
// Choose is not for use while an operation is under way. An earlier choice is forgotten, and so is Reproduce.
func Choose(choices string) error {
	reproduces = false
	for _, o := range Operations {
		o.choose(-1, false)
		for _, a := range o.Algorithms {
			a.used.Store(0)
		}
	}
	for choice := range strings.SplitSeq(choices, ",") {
		if choice = strings.TrimSpace(choice); choice == "" {
			continue
		}
		name, algorithm, _ := strings.Cut(choice, ":")
		var names []string
		o := Find(name)
		if o == nil {
			for _, o := range Operations {
				names = append(names, o.Name)
			}
			return fmt.Errorf("%q is not operation:algorithm; operations: %s", choice, strings.Join(names, ", "))
		}
		at := o.index(algorithm)
		if at < 0 {
			for _, a := range o.Algorithms {
				names = append(names, o.Name+":"+a.Name)
			}
			return fmt.Errorf("%q is not operation:algorithm; algorithms: %s", choice, strings.Join(names, ", "))
		}
		o.choose(at, false)
	}
	return nil
}

// Find returns the operation of that name, nil if there is none.
func Find(name string) *Operation {
	for _, o := range Operations {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// reproduces says that reductions go in one order only.
var reproduces bool

// Reproduce makes all reductions give the same bits wherever ranks run: Reduce, Allreduce and ReduceScatter fold, and
// Scan and Exscan go from rank to rank, which is the same order (coll/fold.go). It takes the place of what Choose has
// named. All ranks of a job call it, or none, before the first reduction.
func Reproduce() {
	reproduces = true
	for _, o := range []*Operation{Reduce, Allreduce, ReduceScatter} {
		o.choose(o.index("fold"), true)
	}
	for _, o := range []*Operation{Scan, Exscan} {
		o.choose(o.index("pipeline"), true)
	}
}

// Reproduces reports whether Reproduce has been called.
func Reproduces() bool { return reproduces }
