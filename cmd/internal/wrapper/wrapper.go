// Package wrapper decides what mpicc, mpicxx and their other names do: a pure function from the command line and the
// place of the installation to what is to be printed or run.
//
// Flow: the name it was called by -> C or C++; words -> questions (-show...), -cc=, the rest -> flags of the
// installation before and behind the user's words, as far as the compiler will do that step.
//
// The dialects of the two families that build systems know are answered: -showme:... and -show,
// -compile-info, -link-info. CMake's FindMPI tries them in turn and takes an exit code of 0 for an answer.
package wrapper

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/version"
)

// Place is where the installation is: the folder above the wrapper's own bin.
type Place struct{ Prefix string }

func (p Place) include() string { return filepath.Join(p.Prefix, "include") }
func (p Place) lib() string     { return filepath.Join(p.Prefix, "lib") }

// Answer is what the wrapper does: prints Print, then runs Run, if they are there.
type Answer struct {
	Print string
	Run   []string
}

// language is what depends on the wrapper's name.
type language struct {
	variables []string // of the environment, that name the compiler; the first set one wins
	compilers []string // looked for in PATH, in this order
}

var (
	langC   = language{[]string{"IMPI_CC", "MPICH_CC", "OMPI_CC", "I_MPI_CC"}, []string{"cc", "gcc", "clang"}}
	langCXX = language{[]string{"IMPI_CXX", "MPICH_CXX", "OMPI_CXX", "I_MPI_CXX"}, []string{"c++", "g++", "clang++"}}
)

// languageOf tells C from C++ by the name of the command.
func languageOf(command string) language {
	name, _, _ := strings.Cut(filepath.Base(command), ".") // mpicxx.libimpi, as Debian calls it
	switch strings.TrimSuffix(name, "_abi") {
	case "mpicxx", "mpic++", "mpiCC":
		return langCXX
	}
	return langC
}

// buildVersion is the version that build systems hear: Meson takes the mpicc with the highest one, even if the user
// names another, and would mix our header with the other's library. It is ten times that of MPI's standard, and our
// release.
const buildVersion = "50.0.1"

// Decide answers what command, called with args, does. getenv reads the environment, exists says whether a
// compiler of that name can be found.
func Decide(command string, args []string, at Place, getenv func(string) string,
	exists func(string) bool) (Answer, error) {
	lang := languageOf(command)
	compiler, err := lang.compiler(getenv, exists)
	var words []string
	question := ""
	for _, word := range args {
		switch {
		case strings.HasPrefix(word, "-cc="), strings.HasPrefix(word, "-cxx="), strings.HasPrefix(word, "-CC="):
			_, name, _ := strings.Cut(word, "=")
			compiler, err = strings.Fields(name), nil
			if len(compiler) == 0 {
				return Answer{}, fmt.Errorf("%s names no compiler", word)
			}
		case isQuestion(word):
			question = strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		default:
			words = append(words, word)
		}
	}
	if err != nil && question == "" {
		return Answer{}, err
	}
	switch {
	case question != "":
		return at.answer(question, compiler, words)
	case len(words) == 1 && words[0] == "--help":
		return Answer{helpText(filepath.Base(command), lang.variables[0], join(compiler)), append(compiler, words...)}, nil
	case slices.Contains(words, "-static") && links(words) && !asksOnly(words):
		return Answer{}, errors.New("-static: libimpi is a shared library only, and so must be what it is linked " +
			"with; leave -static out (-static-libgcc and -static-libstdc++ are fine)")
	}
	return Answer{Run: at.commandLine(compiler, words)}, nil
}

func (l language) compiler(getenv func(string) string, exists func(string) bool) ([]string, error) {
	for _, v := range l.variables {
		if words := strings.Fields(getenv(v)); len(words) > 0 {
			return words, nil
		}
	}
	if i := slices.IndexFunc(l.compilers, exists); i >= 0 {
		return l.compilers[i : i+1], nil
	}
	return l.compilers[:1], fmt.Errorf("no compiler found: none of %s is in PATH (set %s)",
		strings.Join(l.compilers, ", "), l.variables[0])
}

// isQuestion reports whether a word asks the wrapper, not the compiler. Every -show is one, so that an unknown one
// is an error and not a file that the compiler complains about.
func isQuestion(word string) bool {
	bare := strings.TrimPrefix(word, "-")
	if bare == word {
		return false
	}
	bare = strings.TrimPrefix(bare, "-")
	switch bare {
	case "compile-info", "compile_info", "link-info", "link_info", "echo":
		return true
	}
	return strings.HasPrefix(bare, "show")
}

// answer prints one fact. compiler stands in front where the dialect wants a whole command.
func (p Place) answer(question string, compiler, words []string) (Answer, error) {
	line := func(words ...string) (Answer, error) { return Answer{Print: join(words) + "\n"}, nil }
	switch question {
	case "show", "showme":
		if len(words) == 0 {
			return line(append(append(compiler[:len(compiler):len(compiler)], p.compileFlags()...), p.linkFlags()...)...)
		}
		return line(p.commandLine(compiler, words)...)
	case "compile-info", "compile_info", "show-compile-info":
		return line(append(append(compiler[:len(compiler):len(compiler)], words...), append(p.compileFlags(), "-c")...)...)
	case "link-info", "link_info", "show-link-info":
		return line(append(append(compiler[:len(compiler):len(compiler)], words...),
			append(p.compileFlags(), p.linkFlags()...)...)...)
	case "showme:compile":
		return line(p.compileFlags()...)
	case "showme:link":
		return line(p.linkFlags()...)
	case "showme:incdirs", "show-incdir":
		return line(p.include())
	case "showme:libdirs", "show-libdir":
		return line(p.lib())
	case "showme:libs":
		return line("mpi_abi")
	case "showme:command":
		return line(compiler...)
	case "showme:version":
		return Answer{Print: fmt.Sprintf("mpicc %s (%s)\n", buildVersion, version.Text())}, nil
	case "showme:help":
		var all []string
		for _, o := range options {
			for _, name := range o.Names {
				all = append(all, "-"+name)
			}
		}
		return line(all...)
	}
	return Answer{}, fmt.Errorf("unknown question -%s (-showme:help lists them)", question)
}

// commandLine is the compiler with the user's words between our flags: include path first, libraries last.
func (p Place) commandLine(compiler, words []string) []string {
	line := append(compiler[:len(compiler):len(compiler)], p.compileFlags()...)
	if asksOnly(words) {
		return append(compiler[:len(compiler):len(compiler)], words...)
	}
	if links(words) && slices.ContainsFunc(words, func(w string) bool { return w == "-lmpi" || w == "-lmpi_abi" }) {
		line = append(line, "-L"+p.lib()) // before the user's own: the library that they name is ours
	}
	line = append(line, words...)
	if links(words) {
		line = append(line, p.linkFlags()...)
	}
	return line
}

func (p Place) compileFlags() []string { return []string{"-I" + p.include()} }

func (p Place) linkFlags() []string {
	return []string{"-L" + p.lib(), "-Wl,-rpath," + p.lib(), "-Wl,--enable-new-dtags", "-lmpi_abi"}
}

// links reports whether the compiler will go as far as linking.
func links(words []string) bool {
	for _, w := range words {
		switch w {
		case "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only":
			return false
		}
	}
	return true
}

// asksOnly reports whether the compiler is only asked about itself: mpicc --version, mpicc -dumpmachine.
func asksOnly(words []string) bool {
	for _, w := range words {
		if !strings.HasPrefix(w, "-") || w == "-" {
			return false
		}
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "--version" || w == "-v" || w == "--help" || strings.HasPrefix(w, "-dump") ||
			strings.HasPrefix(w, "-print-") || strings.HasPrefix(w, "--print-")
	})
}

// join writes words as a shell would take them.
func join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`&|;<>()*?[]#~") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
			if flag := inside.FindString(w); flag != "" && !strings.ContainsAny(w, "\"\\$`\n") {
				quoted[i] = flag + `"` + w[len(flag):] + `"`
			}
		}
	}
	return strings.Join(quoted, " ")
}

// inside are flags whose value is quoted, and not the whole word: CMake's FindMPI understands that, and only if nothing
// in the value needs more than double quotes.
var inside = regexp.MustCompile("^(?:-I|-L|-Wl,)")
