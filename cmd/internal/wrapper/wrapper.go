// Package wrapper decides what mpicc, mpicxx, mpifort and their other names do: a pure function from the command line
// and the place of the installation to what is to be printed or run.
//
// Flow: the name it was called by -> C, C++ or Fortran; words -> questions (-show...), -cc=, the rest -> flags of the
// installation before and behind the user's words, as far as the compiler will do that step. For Fortran the flags name
// the folder of the modules that this compiler can read (fortran.go).
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

	"github.com/libimpi/libimpi/cmd/internal/fortran"
	"github.com/libimpi/libimpi/cmd/internal/version"
)

// Place is where the installation is: the folder above the wrapper's own bin.
type Place struct{ Prefix string }

func (p Place) include() string { return filepath.Join(p.Prefix, "include") }
func (p Place) lib() string     { return filepath.Join(p.Prefix, "lib") }
func (p Place) sources() string { return filepath.Join(p.Prefix, "share", "libimpi", "fortran") }

// System is what the wrapper asks of the machine. The last three are for Fortran alone.
type System struct {
	Getenv func(name string) string
	Exists func(compiler string) bool // that it can be run
	Self   func(compiler string) bool // that it is this wrapper, which would run itself forever

	Identify func(compiler []string) (fortran.Compiler, error)
	Modules  func(c fortran.Compiler, k fortran.Kinds, quiet bool) fortran.Modules
	Integers func(objects []string) (bytes int, err error)
}

// Answer is what the wrapper does: prints Print, then makes modules or runs Run, if that is there.
type Answer struct {
	Print   string
	Run     []string
	Install [][]string // compilers whose modules are to be made in the installation
	Lacks   string     // what to say if Run fails
}

// language is what depends on the wrapper's name.
type language struct {
	name      string   // of the command
	variables []string // of the environment, that name the compiler; the first set one wins
	compilers []string // looked for in PATH, in this order
	named     []string // options that name the compiler
}

var (
	langC = language{"mpicc", []string{"IMPI_CC", "MPICH_CC", "OMPI_CC", "I_MPI_CC"}, []string{"cc", "gcc", "clang"},
		[]string{"-cc", "-cxx", "-CC"}}
	langCXX = language{"mpicxx", []string{"IMPI_CXX", "MPICH_CXX", "OMPI_CXX", "I_MPI_CXX"},
		[]string{"c++", "g++", "clang++"}, langC.named}
	langFortran = language{"mpifort", []string{"IMPI_FC", "MPICH_FC", "OMPI_FC", "I_MPI_FC"},
		[]string{"gfortran", "flang", "flang-new", "flang-new-19", "ifx", "nvfortran"}, []string{"-fc", "-f90", "-f77"}}
)

// languageOf tells the language by the name of the command.
func languageOf(command string) language {
	name, _, _ := strings.Cut(filepath.Base(command), ".") // mpicxx.libimpi, as Debian calls it
	switch name = strings.TrimSuffix(name, "_abi"); name {
	case "mpicxx", "mpic++", "mpiCC":
		return langCXX
	case "mpifort":
		return langFortran
	case "mpif77", "mpif90": // have variables of their own, too
		of := langFortran
		of.variables = nil
		for _, v := range langFortran.variables {
			if v != "IMPI_FC" {
				of.variables = append(of.variables, strings.TrimSuffix(v, "FC")+strings.ToUpper(name[len("mpi"):]))
			}
			of.variables = append(of.variables, v)
		}
		return of
	}
	return langC
}

func (l language) fortran() bool { return l.name == langFortran.name }

// buildVersion is the version that build systems hear: Meson takes the mpicc with the highest one, even if the user
// names another, and would mix our header with the other's library. It is ten times that of MPI's standard, and our
// release.
const buildVersion = "50.0.1"

// call is one command line: its compiler, and the flags of the installation that it gets.
type call struct {
	at       Place
	system   System
	lang     language
	compiler []string

	options            []string // of the compiler
	folders, libraries []string // for -I, -l
	lacks              string   // for Answer
}

// Decide answers what command, called with args, does.
func Decide(command string, args []string, at Place, system System) (Answer, error) {
	c := &call{at: at, system: system, lang: languageOf(command)}
	compiler, named, err := c.lang.compiler(system)
	var words []string
	question := ""
	for _, word := range args {
		option, name, valued := strings.Cut(word, "=")
		switch {
		case valued && slices.Contains(c.lang.named, option):
			compiler, named, err = strings.Fields(name), true, nil
			if len(compiler) == 0 {
				return Answer{}, fmt.Errorf("%s names no compiler", word)
			}
		case isQuestion(word), c.lang.fortran() && (word == installModules || word == "-"+installModules):
			question = strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		default:
			words = append(words, word)
		}
	}
	c.compiler = compiler
	install := "-"+question == installModules
	if err != nil && (question == "" || install) {
		return Answer{}, err
	}
	if install {
		return Answer{Install: c.found(named)}, nil
	}
	if err := c.flags(words, question); err != nil {
		return Answer{}, err
	}
	switch {
	case question != "":
		return c.answer(question, words)
	case len(words) == 1 && words[0] == "--help":
		return Answer{Print: helpText(filepath.Base(command), c.lang, join(compiler)), Run: append(compiler, words...)}, nil
	case slices.Contains(words, "-static") && links(words) && !asksOnly(words):
		return Answer{}, errors.New("-static: libimpi is a shared library only, and so must be what it is linked " +
			"with; leave -static out (-static-libgcc and -static-libstdc++ are fine)")
	}
	return Answer{Run: c.commandLine(words), Lacks: c.lacks}, nil
}

// installModules is the word that makes modules in the installation.
const installModules = "-install-modules"

// found are the compiler that the user has named, or all that are there.
func (c *call) found(named bool) [][]string {
	if named {
		return [][]string{c.compiler}
	}
	var all [][]string
	for i, name := range c.lang.compilers {
		if c.system.Exists(name) {
			all = append(all, c.lang.compilers[i:i+1])
		}
	}
	return all
}

// flags finds the flags for words; question is "" if they are to be run.
func (c *call) flags(words []string, question string) error {
	c.folders, c.libraries = nil, []string{"mpi_abi"}
	if c.lang.fortran() && !asksOnly(words) {
		if err := c.fortranFlags(words, question); err != nil {
			return err
		}
	}
	c.folders = append(c.folders, c.at.include())
	return nil
}

// compiler is the one that the environment names, or the first that is there.
func (l language) compiler(system System) (words []string, named bool, err error) {
	for _, v := range l.variables {
		if words := strings.Fields(system.Getenv(v)); len(words) > 0 && !system.Self(words[0]) {
			return words, true, nil
		}
	}
	if i := slices.IndexFunc(l.compilers, system.Exists); i >= 0 {
		return l.compilers[i : i+1], false, nil
	}
	return l.compilers[:1], false, fmt.Errorf("no compiler found: none of %s is in PATH (set %s)",
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

// answer prints one fact. The compiler stands in front where the dialect wants a whole command.
func (c *call) answer(question string, words []string) (Answer, error) {
	line := func(words ...string) (Answer, error) { return Answer{Print: join(words) + "\n"}, nil }
	switch question {
	case "show", "showme":
		if len(words) == 0 {
			return line(slices.Concat(c.compiler, c.compileFlags(), c.linkFlags())...)
		}
		return line(c.commandLine(words)...)
	case "compile-info", "compile_info", "show-compile-info":
		return line(slices.Concat(c.compiler, words, c.compileFlags(), []string{"-c"})...)
	case "link-info", "link_info", "show-link-info":
		return line(slices.Concat(c.compiler, words, c.compileFlags(), c.linkFlags())...)
	case "showme:compile":
		return line(c.compileFlags()...)
	case "showme:link":
		return line(c.linkFlags()...)
	case "showme:incdirs", "show-incdir":
		return line(c.folders...)
	case "showme:libdirs", "show-libdir":
		return line(c.at.lib())
	case "showme:libs":
		return line(c.libraries...)
	case "showme:command":
		return line(c.compiler...)
	case "showme:version":
		return Answer{Print: fmt.Sprintf("%s %s (%s)\n", c.lang.name, buildVersion, version.Text())}, nil
	case "showme:help":
		var all []string
		for _, o := range c.lang.options() {
			for _, name := range o.Names {
				all = append(all, "-"+name)
			}
		}
		return line(all...)
	}
	return Answer{}, fmt.Errorf("unknown question -%s (-showme:help lists them)", question)
}

// commandLine is the compiler with the user's words between our flags: include path first, libraries last.
func (c *call) commandLine(words []string) []string {
	if asksOnly(words) {
		return slices.Concat(c.compiler, words)
	}
	line := slices.Concat(c.compiler, c.compileFlags())
	if links(words) && slices.ContainsFunc(words, isLibrary) {
		line = append(line, "-L"+c.at.lib()) // before the user's own: the library that they name is ours
	}
	line = append(line, words...)
	if links(words) {
		line = append(line, c.linkFlags()...)
	}
	return line
}

// isLibrary reports whether a word names one of our libraries.
func isLibrary(word string) bool {
	switch word {
	case "-lmpi", "-lmpi_abi", "-lmpifort_abi", "-lmpifort_abi_i8":
		return true
	}
	return false
}

func (c *call) compileFlags() []string { return append(c.options, prefixed("-I", c.folders)...) }

func (c *call) linkFlags() []string {
	lib := c.at.lib()
	return append([]string{"-L" + lib, "-Wl,-rpath," + lib, "-Wl,--enable-new-dtags"}, prefixed("-l", c.libraries)...)
}

func prefixed(flag string, words []string) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = flag + w
	}
	return list
}

// links reports whether the compiler will go as far as linking.
func links(words []string) bool {
	for _, w := range words {
		switch w {
		case "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-syntax-only", "-Msyntax-only":
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
		return w == "--version" || w == "-V" || w == "-v" || w == "--help" || strings.HasPrefix(w, "-dump") ||
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
