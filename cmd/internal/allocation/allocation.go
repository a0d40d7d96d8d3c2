// Package allocation reads which machines a resource manager has given to the job that this process belongs to, and how
// many ranks each is to have. It is pure: the environment and files come as functions.
//
// Flow: Read asks each manager in turn whether its variables are there -> its list of machines, in its own notation
// (slurm.go, lists.go) -> machines in the manager's order, each once.
package allocation

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Manager is a resource manager.
type Manager string

const (
	Slurm      Manager = "slurm"
	PBS        Manager = "pbs" // and Torque
	LSF        Manager = "lsf"
	GridEngine Manager = "sge"
)

// Managers lists all, in the order in which they are asked.
var Managers = []Manager{Slurm, PBS, LSF, GridEngine}

// title is what a manager is called in messages.
func (m Manager) title() string {
	return map[Manager]string{Slurm: "Slurm", PBS: "PBS", LSF: "LSF", GridEngine: "Grid Engine"}[m]
}

// Machine is one of an allocation.
type Machine struct {
	Name  string
	Slots int // ranks that it is to have, at least 1
}

// Allocation is what a manager has given to this job.
type Allocation struct {
	Manager  Manager
	Job      string // the manager's name of it; "" if it does not say
	Source   string // the variable or file that names the machines
	Machines []Machine
}

// String is the allocation in a few words.
func (a *Allocation) String() string {
	text := a.Manager.title() + " job"
	if a.Job != "" {
		text += " " + a.Job
	}
	return text + " (" + a.Source + ")"
}

// Find is the place of a machine in the list, by a name with or without a domain; -1: it is not there.
func (a *Allocation) Find(name string) int {
	return slices.IndexFunc(a.Machines, func(m Machine) bool { return SameName(m.Name, name) })
}

// SameName reports whether two names may be of one machine. Those with different domains are not.
func SameName(a, b string) bool {
	shortA, domainA, _ := strings.Cut(a, ".")
	shortB, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(a, b) || strings.EqualFold(shortA, shortB) && (domainA == "" || domainB == "")
}

// Environment is where an allocation is read from.
type Environment struct {
	Get  func(variable string) string
	File func(name string) ([]byte, error)
}

// Read reads the allocation of one manager, or, if that is "", of the first that has made one. nil: there is none.
func Read(from Environment, only Manager) (*Allocation, error) {
	readers := map[Manager]func(Environment) (*Allocation, error){Slurm: slurm, PBS: pbs, LSF: lsf, GridEngine: gridEngine}
	for _, m := range Managers {
		if only != "" && only != m {
			continue
		}
		a, err := readers[m](from)
		if err != nil {
			return nil, fmt.Errorf("the allocation of %s: %w", m.title(), err)
		}
		if a != nil {
			a.Manager = m
			return a, nil
		}
	}
	return nil, nil
}

// SyntaxError says where a list is not what it should be.
type SyntaxError struct {
	Source       string // the variable or file
	Line, Column int    // Line is 0 in a variable; a column is counted in bytes from 1
	Want         string // what was expected there
	Got          string // what stands there; "" is the end
}

func (e *SyntaxError) Error() string {
	where := fmt.Sprintf("%s, column %d", e.Source, e.Column)
	if e.Line > 0 {
		where = fmt.Sprintf("%s, line %d, column %d", e.Source, e.Line, e.Column)
	}
	got := "the end"
	if e.Got != "" {
		got = strconv.Quote(e.Got)
	}
	return fmt.Sprintf("%s: expected %s, and found %s", where, e.Want, got)
}

// maxMachines and maxSlots bound a list, which a slip of a digit would make endless.
const (
	maxMachines = 1 << 16
	maxSlots    = 1 << 16
)

// add adds slots to a machine, which is new or there already.
func (a *Allocation) add(name string, slots int, at map[string]int) {
	i, known := at[name]
	if !known {
		i = len(a.Machines)
		at[name] = i
		a.Machines = append(a.Machines, Machine{Name: name})
	}
	a.Machines[i].Slots = min(maxSlots, a.Machines[i].Slots+slots)
}

// word is one of a line, and the column at which it begins.
type word struct {
	text   string
	column int
}

// words splits a line at white space.
func words(line string) (list []word) {
	for i := 0; i < len(line); {
		if isSpace(line[i]) {
			i++
			continue
		}
		end := i
		for end < len(line) && !isSpace(line[end]) {
			end++
		}
		list = append(list, word{line[i:end], i + 1})
		i = end
	}
	return list
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isName reports whether a word can be a machine's name, and not an option of a remote shell.
func isName(s string) bool {
	if s == "" || s[0] == '-' || s[0] == '.' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._:", c) >= 0
}

// count reads a number of slots.
func count(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= maxSlots && s[0] != '+' && s[0] != '-' && n < math.MaxInt32
}
