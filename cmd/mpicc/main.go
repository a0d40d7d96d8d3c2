// Command mpicc compiles and links C programs against the installation it stands in. Installed as mpicxx,
// mpic++ and mpiCC it does the same for C++, as mpifort, mpif77 and mpif90 for Fortran; mpicc_abi and mpifort_abi are
// the same as mpicc and mpifort, since the standard ABI is the only one here.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/libimpi/libimpi/cmd/internal/fortran"
	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/wrapper"
)

func main() {
	code, err := do()
	if err != nil {
		say(err.Error())
	}
	os.Exit(code)
}

func say(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", filepath.Base(os.Args[0]), text) }

func do() (code int, err error) {
	prefix, err := install.Prefix()
	if err != nil {
		return 1, err
	}
	modules := fortran.Store{Sources: filepath.Join(prefix, "share", "libimpi", "fortran"),
		Installed: filepath.Join(prefix, "lib", "fortran"), Getenv: os.Getenv, Say: say}
	system := wrapper.System{Getenv: os.Getenv, Self: isSelf, Identify: fortran.Ask, Integers: fortran.Integers,
		Exists: func(compiler string) bool { _, err := exec.LookPath(compiler); return err == nil },
		Modules: func(c fortran.Compiler, k fortran.Kinds, quiet bool) fortran.Modules {
			if quiet {
				modules.Say = func(string) {}
			}
			return modules.Find(c, k)
		}}
	answer, err := wrapper.Decide(os.Args[0], os.Args[1:], wrapper.Place{Prefix: prefix}, system)
	if err != nil {
		return 1, err
	}
	fmt.Print(answer.Print)
	for _, compiler := range answer.Install {
		if failed := installModules(modules, compiler); failed != nil {
			code, err = 1, errors.Join(err, failed)
		}
	}
	if len(answer.Run) == 0 {
		return code, err
	}
	return run(answer)
}

// isSelf reports whether a compiler's name leads to this program.
func isSelf(compiler string) bool {
	self, err := os.Executable()
	path, notFound := exec.LookPath(compiler)
	if err != nil || notFound != nil {
		return false
	}
	ours, err := os.Stat(self)
	theirs, broken := os.Stat(path)
	return err == nil && broken == nil && os.SameFile(ours, theirs)
}

// installModules makes the modules of a compiler, and prints where they are.
func installModules(modules fortran.Store, words []string) error {
	compiler, err := fortran.Ask(words)
	if err != nil {
		return err
	}
	folders, err := modules.Install(compiler)
	for _, folder := range folders {
		fmt.Println(folder)
	}
	return err
}

// run becomes the compiler. If there is something to say in case that it fails, it waits for it.
func run(answer wrapper.Answer) (code int, err error) {
	path, err := exec.LookPath(answer.Run[0])
	if errors.Is(err, exec.ErrNotFound) {
		return 1, fmt.Errorf("compiler %s not found", answer.Run[0])
	} else if err != nil {
		return 1, err
	}
	if answer.Lacks == "" {
		return 1, fmt.Errorf("%s: %v", path, syscall.Exec(path, answer.Run, os.Environ()))
	}
	compiler := exec.Cmd{Path: path, Args: answer.Run, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	switch err = compiler.Run(); {
	case err == nil:
		return 0, nil
	case !errors.As(err, new(*exec.ExitError)):
		return 1, err
	}
	return max(compiler.ProcessState.ExitCode(), 1), errors.New(answer.Lacks)
}
