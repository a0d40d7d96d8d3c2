package coll

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
)

// An operation is carried out by one of several algorithms. Which one is decided call by call:
//
//	the one that Choose has named for the operation, if it can be used in this case, else
//	the first row of the operation's table (tuning.go) that fits the case and whose algorithm can be used
//
// All ranks of a call see the same Case, and so they choose alike.

// Case is what an algorithm is chosen by: what all ranks of a call know alike.
type Case struct {
	Ranks    int
	Bytes    int64 // packed; of what, the operation says
	Longest  int64 // bytes of the longest block, if all ranks know all of them
	Count    int64 // elements of the vector of a reduction
	Commutes bool  // the operation of a reduction
	Crowded  bool  // the ranks outnumber their cores
	TwoCores bool  // the ranks share at most two cores
	Board    int64 // bytes of a part on the ranks' board; 0: there is none for this
	Vendor   bool  // another MPI library may carry this out
	Machines *Machines
}

// needs says in which cases an algorithm can be used.
type needs uint16

const (
	powerOfTwo needs = 1 << iota // of ranks
	commuting                    // operations
	threeRanks                   // or more
	pieceEach                    // the vector has an element for each rank
	twoRanks
	severalMachines
	ordered // commuting, or the ranks of each machine follow one another
	onBoard
	vendored
	inSlots
)

func (n needs) met(k *Case) bool {
	return (n&powerOfTwo == 0 || k.Ranks&(k.Ranks-1) == 0) && (n&commuting == 0 || k.Commutes) &&
		(n&threeRanks == 0 || k.Ranks >= 3) && (n&twoRanks == 0 || k.Ranks == 2) &&
		(n&pieceEach == 0 || k.Count >= int64(k.Ranks)) && (n&severalMachines == 0 || k.Machines != nil) &&
		(n&onBoard == 0 || k.Board > 0) && (n&vendored == 0 || k.Vendor) && n&inSlots == 0 &&
		(n&ordered == 0 || k.Commutes || k.Machines != nil && k.Machines.ordered)
}

var needsText = []string{"a power of two ranks", "operations that commute", "3 ranks", "an element for each rank",
	"2 ranks", "several machines", "operations that commute or ranks in the order of machines",
	"a board, which the ranks of a machine have",
	"another MPI library, by which the ranks talk (IMPI_LOCAL)", "a board, and contributions that fit its slots"}

func (n needs) String() string {
	var parts []string
	for i, text := range needsText {
		if n&(1<<i) != 0 {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// algorithm is a way to carry out an operation. F is the type of a function that does it; nil: the operation is made of
// others (machines.go), which the list of its algorithms cannot name.
type algorithm[F any] struct {
	name  string
	run   F
	needs needs
	used  atomic.Int64 // calls, while they are counted
}

// operation is a collective operation with all its algorithms.
type operation[F any] struct {
	name       string
	bytes      string // what Case.Bytes counts
	table      func(*bounds) []rule
	rules      []rule // of the table, with the bounds in force
	algorithms []*algorithm[F]
	defaults   []*algorithm[F] // by rule
	chosen     *algorithm[F]   // by Choose; may be nil
	fixed      bool            // chosen is Reproduce's
}

// An operation is one of these, whatever its F.
type selectable interface {
	describe() Operation
	choose(name string) bool
	reset()
	tune(b *bounds)
	slotLimit() int64
	countSlots()
}

func newOperation[F any](name, bytes string, table func(*bounds) []rule, algorithms ...*algorithm[F]) *operation[F] {
	o := &operation[F]{name: name, bytes: bytes, table: table,
		algorithms: append(algorithms, &algorithm[F]{name: slotsName, needs: inSlots})}
	o.tune(&tuned)
	return o
}

// tune makes the table anew.
func (o *operation[F]) tune(b *bounds) {
	o.rules, o.defaults = o.table(b), nil
	for _, r := range o.rules {
		o.defaults = append(o.defaults, o.find(r.use))
	}
}

// find returns the algorithm of that name, nil if there is none.
func (o *operation[F]) find(name string) *algorithm[F] {
	for _, a := range o.algorithms {
		if a.name == name {
			return a
		}
	}
	return nil
}

// counting says that calls are counted.
var counting atomic.Bool

// pick returns the algorithm for a case.
func (o *operation[F]) pick(k Case) F {
	a := o.chosen
	if a == nil || !a.needs.met(&k) {
		for i := range o.rules {
			if a = o.defaults[i]; o.rules[i].fits(&k) && a.needs.met(&k) {
				break
			}
		}
	}
	if counting.Load() {
		a.used.Add(1)
	}
	return a.run
}

func (o *operation[F]) choose(name string) bool {
	a := o.find(name)
	if a != nil {
		o.chosen = a
	}
	return a != nil
}

func (o *operation[F]) reset() {
	o.chosen, o.fixed = nil, false
	for _, a := range o.algorithms {
		a.used.Store(0)
	}
}

// Operation describes a collective operation of which an algorithm can be chosen.
type Operation struct {
	Name       string
	Bytes      string   // what the bounds of the table count, in bytes; empty if they count nothing
	Table      []string // the default: the first row that fits
	Algorithms []Algorithm
	Chosen     string // by Choose or Reproduce; may be empty
	fixed      bool
}

// Algorithm describes a way to carry out an operation.
type Algorithm struct {
	Name  string
	Needs string // when it can be used; empty: always
	Used  int64  // calls, while they were counted
}

func (o *operation[F]) describe() Operation {
	d := Operation{Name: o.name, Bytes: o.bytes}
	for i := range o.rules {
		d.Table = append(d.Table, o.rules[i].String())
	}
	for _, a := range o.algorithms {
		d.Algorithms = append(d.Algorithms, Algorithm{a.name, a.needs.String(), a.used.Load()})
	}
	if o.chosen != nil {
		d.Chosen, d.fixed = o.chosen.name, o.fixed
	}
	return d
}

// Operations describes all operations.
func Operations() []Operation {
	var all []Operation
	for _, o := range operations() {
		all = append(all, o.describe())
	}
	return all
}

// Count begins to count the calls of each algorithm, or ends it.
func Count(on bool) { counting.Store(on) }

// Choose takes algorithms in place of those of the tables. choices is a list operation:algorithm,... An algorithm that
// cannot be used in a case gives way to the table. All ranks of a job have to choose alike, before they communicate:
// Choose is not for use while an operation is under way. An earlier choice is forgotten, and so is Reproduce.
func Choose(choices string) error {
	defer limitSlots()
	reproduces = false
	all := operations()
	for _, o := range all {
		o.reset()
	}
	for choice := range strings.SplitSeq(choices, ",") {
		if choice = strings.TrimSpace(choice); choice == "" {
			continue
		}
		name, algorithm, _ := strings.Cut(choice, ":")
		i := slices.IndexFunc(all, func(o selectable) bool { return o.describe().Name == name })
		if i < 0 {
			return unknown(choice, "operations", all)
		}
		if !all[i].choose(algorithm) {
			return unknown(choice, "algorithms", all[i:i+1])
		}
	}
	return nil
}

// unknown is the error of a choice of something that does not exist. It lists what does.
func unknown(choice, of string, known []selectable) error {
	var names []string
	for _, o := range known {
		d := o.describe()
		if of == "operations" {
			names = append(names, d.Name)
			continue
		}
		for _, a := range d.Algorithms {
			names = append(names, d.Name+":"+a.Name)
		}
	}
	return &Error{Class: abi.MPI_ERR_ARG, Msg: fmt.Sprintf("%q is not operation:algorithm; %s: %s", choice, of,
		strings.Join(names, ", "))}
}

// operations are all that there are.
func operations() []selectable {
	return []selectable{barriers, bcasts, reduces, allreduces, reduceScatters, scans, exscans, gathers, gathervs, scatters,
		scattervs, allgathers, allgathervs, alltoalls, alltoallvs}
}
