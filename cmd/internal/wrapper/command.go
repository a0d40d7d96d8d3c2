package wrapper

import (
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/usage"
)

// options are the words that the wrapper takes for itself: what --help, the manual and the completion of shells show.
var options = []usage.Option{
	{Names: []string{"cc", "cxx", "CC"}, Values: []string{"COMPILER"}, Joined: true, Help: "the compiler to run"},
	{Names: []string{"show", "showme"},
		Help: "print the command line that would be run; without other words, compiler and flags"},
	{Names: []string{"compile-info", "compile_info", "show-compile-info"}, Help: "print the command line that compiles"},
	{Names: []string{"link-info", "link_info", "show-link-info"}, Help: "print the command line that links"},
	{Names: []string{"showme:compile"}, Help: "print the flags that compile"},
	{Names: []string{"showme:link"}, Help: "print the flags that link"},
	{Names: []string{"showme:incdirs", "show-incdir"}, Help: "print the folder of mpi.h"},
	{Names: []string{"showme:libdirs", "show-libdir"}, Help: "print the folder of the library"},
	{Names: []string{"showme:libs"}, Help: "print the name of the library, as in -l"},
	{Names: []string{"showme:command"}, Help: "print the compiler"},
	{Names: []string{"showme:version"}, Help: "print the version"},
	{Names: []string{"showme:help"}, Help: "print these names"},
}

// Command describes mpicc.
func Command() usage.Command {
	return usage.Command{Name: "mpicc", Also: []string{"mpicxx", "mpic++", "mpiCC", "mpicc_abi"},
		Purpose: "compile and link MPI programs",
		Usage:   []string{"mpicc -O2 -o program program.c", "mpicxx -O2 -o program program.cc"},
		About: "mpicc compiles and links MPI programs with the installation of libimpi that it stands in: it runs the " +
			"compiler with the include path, the library path and the library added. mpicxx, mpic++ and mpiCC do so for " +
			"C++. All words but those below go to the compiler.\n\n" +
			"There is no static library: -static is refused. Programs are started with mpirun -n 4 ./program.",
		Options: options, Dashes: usage.One, Words: usage.Files,
		Notes: []usage.Note{{Title: "Environment", Text: "The first of these that is set names the compiler:\n" +
			"  C    " + strings.Join(langC.variables, ", ") + "\n  C++  " + strings.Join(langCXX.variables, ", ") + "\n" +
			"Without them it is the first that is found of " + strings.Join(langC.compilers, ", ") + " for C, and of " +
			strings.Join(langCXX.compilers, ", ") + " for C++."}},
		See: []string{"mpirun(1)", "impi-info(1)", "MPI_Init(3)"}}
}

// helpText precedes the compiler's own help.
func helpText(name, variable, compiler string) string {
	c := Command()
	return name + " compiles and links MPI programs with this installation of libimpi: it runs the compiler\n" +
		"with the include path, the library path and the library added.\n\n  " + name + " -O2 -o program program.c\n\n" +
		c.OptionLines() + "\nThe environment variable " + variable + " names the compiler, too.\n" +
		"There is no static library: -static is refused. Programs are started with mpirun -n 4 ./program.\n" +
		"All other words go to the compiler, " + compiler + ", whose own help is:\n\n"
}
