// Command mpicc compiles and links C programs against the installation it stands in. Installed as mpicxx,
// mpic++ and mpiCC it does the same for C++; mpicc_abi is the same as mpicc, since the standard ABI is the
// only one here.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/wrapper"
)

func main() {
	name := filepath.Base(os.Args[0])
	if err := do(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func do() error {
	prefix, err := install.Prefix()
	if err != nil {
		return err
	}
	exists := func(compiler string) bool { _, err := exec.LookPath(compiler); return err == nil }
	answer, err := wrapper.Decide(os.Args[0], os.Args[1:], wrapper.Place{Prefix: prefix}, os.Getenv, exists)
	if err != nil {
		return err
	}
	fmt.Print(answer.Print)
	if len(answer.Run) == 0 {
		return nil
	}
	path, err := exec.LookPath(answer.Run[0])
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("compiler %s not found", answer.Run[0])
	} else if err != nil {
		return err
	}
	return fmt.Errorf("%s: %v", path, syscall.Exec(path, answer.Run, os.Environ()))
}
