// Package script interprets conformance cases that are written in Starlark.
//
//	script.go   a file becomes cases: Parse
//	case.go     case() and job(): what a file defines; running a case
//	fault.go    errors, with file, line and column
//	bound.go    what a script may use at most: steps, time, bytes
//	function.go Go functions become builtins and methods
//	convert.go  values of Starlark become values of Go, and back
//	object.go   kinds of objects: their attributes and methods
//	bytes.go, packet.go, job.go, mesh.go, server.go, plan.go, verdict.go, constants.go: the bindings
//	manual.go   the table of all of them for docs/conformance.md
//
// Flow: Parse -> syntax tree -> rewrite (bound.go) -> program -> its top level runs once, and calls case() -> cases.
// What a file defines is frozen then; a case runs its function in a thread of its own on the goroutine of the case.
//
// Fatalf of a case unwinds by a panic, which must not pass through the interpreter: a builtin makes it an error, and
// invoke raises it again when the interpreter has returned.
package script

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// dialect is what the language has beyond its specification: while, and statements at the top level.
var dialect = syntax.FileOptions{While: true, TopLevelControl: true}

//go:embed lib/*.star
var library embed.FS

// Library is the names of the files that load() knows.
func Library() (names []string) {
	entries, _ := library.ReadDir("lib") // an embedded folder can be read
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// LibraryText is the text of one of them.
func LibraryText(name string) (string, error) {
	text, err := library.ReadFile("lib/" + name)
	return string(text), err
}

// file is a file that is being loaded.
type file struct {
	name  string
	cases []conform.Case
}

// Parse returns the cases that a file defines, in its order. Its error is an *Error.
func Parse(name, text string) ([]conform.Case, error) {
	f := &file{name: name}
	done := make(chan error, 1)
	go func() {
		var err error
		if broken := attempt(func() { _, err = f.load(text) }); broken != nil {
			err = broken
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return nil, fault(name, err)
		}
		return f.cases, nil
	case <-time.After(maxLoad): // a few steps can compare a lot; whoever wrote that does not wait for it
		return nil, &Error{name, 1, 1, fmt.Sprintf("the file takes longer than %v", maxLoad)}
	}
}

// load runs a file's top level and returns what it defines.
func (f *file) load(text string) (starlark.StringDict, error) {
	if len(text) > maxText {
		return nil, &Error{f.name, 1, 1, fmt.Sprintf("the file has more than %d bytes", maxText)}
	}
	tree, err := dialect.Parse(f.name, text, 0)
	if err != nil {
		return nil, fault(f.name, err)
	}
	hoist(tree)
	bound(tree)
	program, err := starlark.FileProgram(tree, predeclared().Has)
	if err != nil {
		return nil, fault(f.name, err)
	}
	r := &run{file: f}
	thread := r.start(f.name, maxLoadSteps)
	thread.Load = func(_ *starlark.Thread, module string) (starlark.StringDict, error) { return f.module(module) }
	globals, err := program.Init(thread, predeclared())
	if err != nil {
		return nil, fault(f.name, err)
	}
	globals.Freeze()
	return globals, nil
}

// hoist moves functions to the start of their file, behind load(): a case may stand before the function that it plays.
func hoist(tree *syntax.File) {
	rank := func(s syntax.Stmt) int {
		switch s.(type) {
		case *syntax.LoadStmt:
			return 0
		case *syntax.DefStmt:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(tree.Stmts, func(a, b syntax.Stmt) int { return rank(a) - rank(b) })
}

// modules are the files of the library that have been loaded.
var modules sync.Map // name: func() (starlark.StringDict, error)

// module is what a file of the library defines.
func (f *file) module(name string) (starlark.StringDict, error) {
	if !slices.Contains(Library(), name) {
		return nil, fmt.Errorf("there is no such file; there are %s", strings.Join(Library(), ", "))
	}
	if f.name == name || slices.Contains(Library(), f.name) && f.name < name {
		return nil, errors.New("a file of the library loads only those before it in the alphabet")
	}
	once, _ := modules.LoadOrStore(name, sync.OnceValues(func() (starlark.StringDict, error) {
		text, err := LibraryText(name)
		if err != nil {
			return nil, err
		}
		return (&file{name: name}).load(text)
	}))
	return once.(func() (starlark.StringDict, error))()
}
