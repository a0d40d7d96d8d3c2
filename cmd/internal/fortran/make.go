package fortran

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// refusal is a compiler's: it does not translate what it should.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// building begins the names of folders in which modules are being made.
const building = "building-"

// make makes the folder of this name in root, and reports whether it was not there. Processes that want one at the same
// time wait for the first; where there are no locks each makes one, and the first to be ready is kept.
func (s Store) make(root, name string, c Compiler, k Kinds) (m Modules, made bool, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return Modules{}, false, err
	}
	lock, err := os.Open(root)
	if err != nil {
		return Modules{}, false, err
	}
	defer lock.Close()
	alone := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) == nil
	folder := filepath.Join(root, name)
	if m, found := open(folder); found {
		return m, false, nil
	}
	if alone { // so what is being made was left by a process that died
		left, _ := filepath.Glob(filepath.Join(root, building+"*"))
		for _, l := range left {
			os.RemoveAll(l)
		}
	}
	work, err := os.MkdirTemp(root, building)
	if err != nil {
		return Modules{}, false, err
	}
	defer os.RemoveAll(work)
	lacks, err := s.translate(work, c, k)
	if err == nil && lacks != "" {
		err = os.WriteFile(filepath.Join(work, note), []byte(lacks+"\n"), 0o644)
	}
	if err == nil {
		err = os.Chmod(work, 0o755)
	}
	if err == nil {
		err = os.Rename(work, folder)
	}
	m, found := open(folder)
	if found {
		return m, true, nil
	}
	return m, false, err
}

// translate makes all modules in the current folder of the compiler, where it writes them by itself and finds them
// again. lacks says why the last one, mpi_f08, is not there.
func (s Store) translate(work string, c Compiler, k Kinds) (lacks string, err error) {
	path, err := exec.LookPath(c.Words[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", err
	}
	options, _ := c.options(k)
	words := append(append(append(c.Words[1:len(c.Words):len(c.Words)], options...), k.macros()...), "-c")
	for _, source := range sources {
		last := source == sources[len(sources)-1]
		if last && c.lacksF08() {
			return fmt.Sprintf("%v is too old for module mpi_f08, which needs gfortran %d: module mpi and mpif.h work", c,
				oldestF08), nil
		}
		said, err := compile(work, path, append(words[:len(words):len(words)], s.source(source)))
		if err == nil {
			continue
		}
		if !errors.As(err, new(*exec.ExitError)) || strings.Contains(said, "No space left") {
			return "", fmt.Errorf("%s: %v %s", work, err, firstError(said))
		}
		if last {
			return fmt.Sprintf("%v does not translate module mpi_f08 (%s): module mpi and mpif.h work", c,
				firstError(said)), nil
		}
		return "", &refusal{fmt.Sprintf("%v does not translate MPI's modules (%s): mpif.h works", c, firstError(said))}
	}
	return "", nil
}

// compile runs the compiler, and leaves no objects, which modules without code do not need.
func compile(work, path string, words []string) (said string, err error) {
	var out bytes.Buffer
	command := exec.Command(path, words...)
	command.Dir, command.Stdout, command.Stderr = work, &out, &out
	err = command.Run()
	objects, _ := filepath.Glob(filepath.Join(work, "*.o"))
	for _, o := range objects {
		os.Remove(o)
	}
	return out.String(), err
}

// firstError is the line that says most of what a compiler says.
func firstError(said string) string {
	first := ""
	for line := range strings.SplitSeq(said, "\n") {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "rror") {
			return line
		}
		if first == "" {
			first = line
		}
	}
	return first
}

// Ask finds out which compiler words run.
func Ask(words []string) (Compiler, error) {
	for _, question := range []string{"--version", "-V"} {
		said, err := exec.Command(words[0], append(words[1:len(words):len(words)], question)...).CombinedOutput()
		if err == nil && len(said) > 0 {
			return Identify(words, string(said)), nil
		}
		if !errors.As(err, new(*exec.ExitError)) && err != nil {
			return Compiler{}, err
		}
	}
	return Compiler{}, fmt.Errorf("%s does not tell its version, so that no modules can be made for it: mpif.h works",
		words[0])
}
