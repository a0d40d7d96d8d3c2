package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/options"
)

// Programs that were compiled with another MPI run on libimpi by a library that has that MPI's ABI (abi/front). There
// is one for each, in a folder of its own, where only programs find it whose LD_LIBRARY_PATH leads there.

// fronts are the folders of these libraries below lib, by the names under which programs are linked.
var fronts = map[string]string{
	"libmpi.so.12":   options.ABIMPICH,
	"libmpich.so.12": options.ABIMPICH,
	"libmpi.so.40":   options.ABIOpenMPI,
}

// frontFor is the folder of the library that a program needs, "" if it needs none: as the user says, or else as the
// program is linked.
func frontFor(choice, program, dir string) string {
	name := choice
	switch choice {
	case options.ABINative:
		return ""
	case options.ABIAuto:
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		if name = fronts[otherLibrary(program)]; name == "" {
			return ""
		}
	}
	prefix, err := install.Prefix()
	if err != nil {
		return ""
	}
	folder := filepath.Join(prefix, "lib", name)
	if _, err := os.Stat(folder); err != nil {
		return "" // an installation without it; the program says what it misses
	}
	return folder
}

// before puts a folder in front of those that a variable lists.
func before(folder string, env []string, variable string) []string {
	for i, setting := range env {
		if folders, ok := strings.CutPrefix(setting, variable+"="); ok {
			if folders != "" {
				folder += string(filepath.ListSeparator) + folders
			}
			env[i] = variable + "=" + folder
			return env
		}
	}
	return append(env, variable+"="+folder)
}
