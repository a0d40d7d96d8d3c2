package allocation

import (
	"fmt"
	"strings"
)

// The lists of PBS, LSF and Grid Engine, which name machines one by one.

// pbs reads PBS_NODEFILE: a line for each slot, or, if the site has it so, for each machine.
func pbs(from Environment) (*Allocation, error) {
	file := from.Get("PBS_NODEFILE")
	if file == "" || from.Get("PBS_JOBID") == "" {
		return nil, nil
	}
	a := &Allocation{Job: from.Get("PBS_JOBID"), Source: file}
	return a, a.readNames(from, file)
}

// readNames reads a file that has a name on each line.
func (a *Allocation) readNames(from Environment, file string) error {
	text, err := from.File(file)
	if err != nil {
		return err
	}
	at := map[string]int{}
	for i, line := range strings.Split(string(text), "\n") {
		list := words(line)
		if len(list) == 0 {
			continue
		}
		if !isName(list[0].text) {
			return &SyntaxError{file, i + 1, list[0].column, "the name of a machine", list[0].text}
		}
		if len(list) > 1 {
			return &SyntaxError{file, i + 1, list[1].column, "the end of the line", list[1].text}
		}
		a.add(list[0].text, 1, at)
	}
	return a.some()
}

func (a *Allocation) some() error {
	if len(a.Machines) == 0 {
		return fmt.Errorf("%s names no machine", a.Source)
	}
	return nil
}

// lsf reads LSB_MCPU_HOSTS ("n1 4 n2 4"), or else the file LSB_DJOB_HOSTFILE, or LSB_HOSTS ("n1 n1 n2").
func lsf(from Environment) (*Allocation, error) {
	job := from.Get("LSB_JOBID")
	if job == "" {
		return nil, nil
	}
	at := map[string]int{}
	if list := from.Get("LSB_MCPU_HOSTS"); list != "" {
		a := &Allocation{Job: job, Source: "LSB_MCPU_HOSTS"}
		all := words(list)
		for i := 0; i < len(all); i += 2 {
			if !isName(all[i].text) {
				return nil, &SyntaxError{a.Source, 0, all[i].column, "the name of a machine", all[i].text}
			}
			if i+1 == len(all) {
				return nil, &SyntaxError{a.Source, 0, len(list) + 1, "the number of slots of " + all[i].text, ""}
			}
			n, ok := count(all[i+1].text)
			if !ok {
				return nil, &SyntaxError{a.Source, 0, all[i+1].column, "a number of slots", all[i+1].text}
			}
			a.add(all[i].text, n, at)
		}
		return a, a.some()
	}
	if file := from.Get("LSB_DJOB_HOSTFILE"); file != "" {
		a := &Allocation{Job: job, Source: file}
		return a, a.readNames(from, file)
	}
	a := &Allocation{Job: job, Source: "LSB_HOSTS"}
	for _, w := range words(from.Get(a.Source)) {
		if !isName(w.text) {
			return nil, &SyntaxError{a.Source, 0, w.column, "the name of a machine", w.text}
		}
		a.add(w.text, 1, at)
	}
	if len(a.Machines) == 0 { // a job that LSF has started by other means
		return nil, nil
	}
	return a, nil
}

// gridEngine reads PE_HOSTFILE: a line "NAME SLOTS QUEUE PROCESSORS" for each machine.
func gridEngine(from Environment) (*Allocation, error) {
	file := from.Get("PE_HOSTFILE")
	if file == "" {
		return nil, nil
	}
	text, err := from.File(file)
	if err != nil {
		return nil, err
	}
	a, at := &Allocation{Job: from.Get("JOB_ID"), Source: file}, map[string]int{}
	for i, line := range strings.Split(string(text), "\n") {
		list := words(line)
		if len(list) == 0 {
			continue
		}
		if !isName(list[0].text) {
			return nil, &SyntaxError{file, i + 1, list[0].column, "the name of a machine", list[0].text}
		}
		if len(list) == 1 {
			return nil, &SyntaxError{file, i + 1, len(line) + 1, "the number of slots of " + list[0].text, ""}
		}
		n, ok := count(list[1].text)
		if !ok {
			return nil, &SyntaxError{file, i + 1, list[1].column, "a number of slots", list[1].text}
		}
		a.add(list[0].text, n, at)
	}
	return a, a.some()
}
