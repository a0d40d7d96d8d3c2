package main

import (
	"path/filepath"
	"runtime"
	"strings"
)

// survive times what fault-tolerant jobs do (ftbench.c), with the libraries that have them: agreements of 8 ranks, and
// revoke and shrink of 64, of which five die one after the other.
func survive(l *library) ([]sample, error) {
	options := l.tolerant()
	if options == nil {
		return nil, nil
	}
	program, err := l.program(filepath.Join(l.bench, "ftbench.c"))
	if err != nil {
		return nil, err
	}
	agrees := job{ranks: 8, path: program, more: options, over: runtime.NumCPU() < 8}
	all, err := l.samples(agrees)
	if err != nil {
		return nil, err
	}
	loses := job{ranks: 64, path: program, args: []string{"5"}, more: options, over: runtime.NumCPU() < 64}
	more, err := l.samples(loses)
	return append(all, more...), err
}

// tolerant are the options for a job that goes on after losses; nil: there is no such job.
func (l *library) tolerant() []string {
	switch {
	case l.name == ours:
		return []string{"-q", "-with-ft", "ulfm"}
	case l.name == "openmpi" && !strings.HasPrefix(l.version, "4."):
		return []string{"--with-ft", "ulfm"}
	}
	return nil
}
