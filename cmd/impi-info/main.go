// Command impi-info says which libimpi this is, where it stands, and which settings are in force.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/version"
)

func main() {
	prefix, err := install.Prefix()
	if err != nil {
		fmt.Fprintln(os.Stderr, "impi-info:", err)
		os.Exit(1)
	}
	row := func(name, value string) { fmt.Printf("%-16s %s\n", name, value) }
	row("version", version.Text())
	row("standard", "MPI "+version.MPIStandard)
	row("abi", version.ABI+" ("+version.Soname+")")
	row("wire protocol", "IMPI 0.0")
	row("platform", runtime.GOOS+"/"+runtime.GOARCH)
	row("prefix", prefix)
	row("header", present(filepath.Join(prefix, "include", "mpi.h")))
	row("library", present(filepath.Join(prefix, "lib", version.Soname)))
	row("launcher", present(filepath.Join(prefix, "bin", "impirun")))
	fmt.Println()
	for _, s := range settings {
		value, source := s.inForce(os.LookupEnv)
		fmt.Printf("%-16s %-12s %-12s %s\n", s.name, value, source, s.help)
	}
}

func present(path string) string {
	if _, err := os.Stat(path); err != nil {
		return path + " (missing)"
	}
	return path
}
