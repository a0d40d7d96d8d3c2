package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/libimpi/libimpi/cmd/internal/tuned"
	"github.com/libimpi/libimpi/cmd/internal/version"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/settings"
)

// The documents of --json. Keys stay as they are: programs read them.

// parameter is a setting as it is in force.
type parameter struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Source  string `json:"source"` // default or environment
	Level   string `json:"level"`  // basic, detailed or tuning: whom it is for
	Help    string `json:"help"`
}

// document is all that --json tells without a name.
type document struct {
	Version      string           `json:"version"`
	Standard     string           `json:"mpi_standard"`
	ABI          string           `json:"mpi_abi"`
	Soname       string           `json:"soname"`
	WireProtocol string           `json:"wire_protocol"`
	Platform     string           `json:"platform"`
	Prefix       string           `json:"prefix"`
	Files        map[string]place `json:"files"`
	Parameters   []parameter      `json:"parameters"`
	Collectives  collectives      `json:"collectives"`
}

// place is a file of the installation, and whether it is there.
type place struct {
	Path  string `json:"path"`
	There bool   `json:"present"`
}

// collectives are the algorithms of collective operations.
type collectives struct {
	Parameters string      `json:"parameters"`
	From       string      `json:"from"`
	Operations []operation `json:"operations"`
}

type operation struct {
	Name       string      `json:"name"`
	Chosen     string      `json:"chosen"` // by IMPI_ALGORITHM; empty: as the defaults say
	Bytes      string      `json:"bytes_of"`
	Algorithms []algorithm `json:"algorithms"`
	Defaults   []string    `json:"defaults"`
}

type algorithm struct {
	Name  string `json:"name"`
	Needs string `json:"needs"`
}

// parameters are all settings, in the order of the table; what a launcher sets is not among them.
func parameters(lookup func(string) (string, bool)) []parameter {
	var all []parameter
	for i := range settings.All {
		s := &settings.All[i]
		if s.Detail == settings.Internal {
			continue
		}
		value, source := s.InForce(lookup)
		all = append(all, parameter{s.Name, value, s.Default, source, levels[s.Detail], s.Plain()})
	}
	return all
}

// levels are the words for how much of a user's attention a setting deserves.
var levels = [...]string{settings.Basic: "basic", settings.Detailed: "detailed", settings.Tuning: "tuning"}

// files are what an installation needs.
func files(prefix string) map[string]place {
	all := map[string]place{}
	for name, path := range map[string]string{"header": "include/mpi.h", "library": "lib/" + version.Soname,
		"launcher": "bin/impirun"} {
		path = filepath.Join(prefix, path)
		_, err := os.Stat(path)
		all[name] = place{path, err == nil}
	}
	return all
}

func everything(prefix string, all []parameter) (document, error) {
	d := document{Version: version.Text(), Standard: version.MPIStandard, ABI: version.ABI, Soname: version.Soname,
		WireProtocol: "IMPI 0.0", Platform: runtime.GOOS + "/" + runtime.GOARCH, Prefix: prefix, Files: files(prefix),
		Parameters: all}
	numbers, from, err := choices(prefix)
	if err != nil {
		return d, err
	}
	d.Collectives = collectives{Parameters: fmt.Sprint(numbers), From: from, Operations: []operation{}}
	for _, o := range choose.Operations {
		op := operation{Name: o.Name, Chosen: o.Chosen(), Bytes: o.Bytes, Algorithms: []algorithm{}, Defaults: o.Table()}
		for _, a := range o.Algorithms {
			op.Algorithms = append(op.Algorithms, algorithm{a.Name, a.Needs()})
		}
		d.Collectives.Operations = append(d.Collectives.Operations, op)
	}
	return d, nil
}

// choices makes the choices of algorithms that ranks of this environment would make, and returns the parameters that
// they follow and where these come from.
func choices(prefix string) (numbers choose.Parameters, from string, err error) {
	if err := choose.Choose(os.Getenv("IMPI_ALGORITHM")); err != nil {
		return numbers, "", fmt.Errorf("IMPI_ALGORITHM: %w", err)
	}
	if os.Getenv("IMPI_REPRODUCIBLE") == "1" {
		choose.Reproduce()
	}
	numbers, from, err = tuned.Find(os.Getenv, prefix)
	if err != nil {
		complain(fmt.Errorf("warning: %w", err))
	}
	if from == "" {
		from = "built in"
	}
	choose.Tune(numbers)
	return numbers, from, nil
}
