package wrapper

import (
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/usage"
)

// questions are the words that the wrapper takes for itself, in all languages: what --help, the manual and the
// completion of shells show.
var questions = []usage.Option{
	{Names: []string{"show", "showme"},
		Help: "print the command line that would be run; without other words, compiler and flags"},
	{Names: []string{"compile-info", "compile_info", "show-compile-info"}, Help: "print the command line that compiles"},
	{Names: []string{"link-info", "link_info", "show-link-info"}, Help: "print the command line that links"},
	{Names: []string{"showme:compile"}, Help: "print the flags that compile"},
	{Names: []string{"showme:link"}, Help: "print the flags that link"},
	{Names: []string{"showme:incdirs", "show-incdir"}, Help: "print the folder of mpi.h, or those of modules and mpif.h"},
	{Names: []string{"showme:libdirs", "show-libdir"}, Help: "print the folder of the library"},
	{Names: []string{"showme:libs"}, Help: "print the names of the libraries, as in -l"},
	{Names: []string{"showme:command"}, Help: "print the compiler"},
	{Names: []string{"showme:version"}, Help: "print the version"},
	{Names: []string{"showme:help"}, Help: "print these names"},
}

// options are those of a language.
func (l language) options() []usage.Option {
	named := make([]string, len(l.named))
	for i, n := range l.named {
		named[i] = strings.TrimPrefix(n, "-")
	}
	list := append([]usage.Option{{Names: named, Values: []string{"COMPILER"}, Joined: true, Help: "the compiler to run"}},
		questions...)
	if l.fortran() {
		list = append(list, usage.Option{Names: []string{strings.TrimPrefix(installModules, "-")}, Help: "make the " +
			"modules of this compiler, or of all that are found, in the installation, so that users need not make them"})
	}
	return list
}

const (
	runs = "it runs the compiler with the include path, the library path and the library added. "
	ends = "There is no static library: -static is refused. Programs are started with mpirun -n 4 ./program."
)

// Commands describes mpicc and mpifort.
func Commands() []usage.Command { return []usage.Command{cCommand(), fortranCommand()} }

func cCommand() usage.Command {
	return usage.Command{Name: "mpicc", Also: []string{"mpicxx", "mpic++", "mpiCC", "mpicc_abi"},
		Purpose: "compile and link MPI programs",
		Usage:   []string{"mpicc -O2 -o program program.c", "mpicxx -O2 -o program program.cc"},
		About: "mpicc compiles and links MPI programs with the installation of libimpi that it stands in: " + runs +
			"mpicxx, mpic++ and mpiCC do so for C++. All words but those below go to the compiler.\n\n" + ends,
		Options: langC.options(), Dashes: usage.One, Words: usage.Files,
		Notes: []usage.Note{{Title: "Environment", Text: "The first of these that is set names the compiler:\n" +
			"  C    " + strings.Join(langC.variables, ", ") + "\n  C++  " + strings.Join(langCXX.variables, ", ") + "\n" +
			"Without them it is the first that is found of " + strings.Join(langC.compilers, ", ") + " for C, and of " +
			strings.Join(langCXX.compilers, ", ") + " for C++."}},
		See: []string{"mpirun(1)", "mpifort(1)", "impi-info(1)", "MPI_Init(3)"}}
}

// fortranCommand describes mpifort.
func fortranCommand() usage.Command {
	return usage.Command{Name: "mpifort", Also: []string{"mpif77", "mpif90", "mpifort_abi"},
		Purpose: "compile and link MPI programs in Fortran",
		Usage:   []string{"mpifort -O2 -o program program.f90", "mpifort -fc=flang -fdefault-integer-8 -o program program.f"},
		About: "mpifort compiles and links Fortran programs with the installation of libimpi that it stands in: " + runs +
			"All words but those below go to the compiler. include 'mpif.h', use mpi and use mpi_f08 are all there.\n\n" +
			"Files of modules are good for one compiler in one version. mpifort takes those of the compiler that it runs, " +
			"from the installation or the user's cache, and makes them when there are none, which takes less than a " +
			"second; it says so in one line. If neither cache nor /tmp can be written, mpif.h works alone.\n\n" +
			"Options that make INTEGER or REAL longer, such as -fdefault-integer-8, -i8 or -r8, choose modules, " +
			"mpif.h and library for them. Give them when linking, too; without them objects on the command line choose " +
			"the library.\n\n" + ends,
		Options: langFortran.options(), Dashes: usage.One, Words: usage.Files,
		Notes: []usage.Note{{Title: "Environment", Text: "The first of these that is set names the compiler:\n  " +
			strings.Join(langFortran.variables, ", ") + "\nmpif77 and mpif90 take MPICH_F77 or MPICH_F90 and the like first. " +
			"Without them it is the first that is found of " + strings.Join(langFortran.compilers, ", ") + "."},
			{Title: "Files", Text: "Modules are in lib/fortran of the installation, and in libimpi/fortran below " +
				"XDG_CACHE_HOME (~/.cache), which may be removed at any time; their sources are in share/libimpi/fortran."}},
		See: []string{"mpirun(1)", "mpicc(1)", "impi-info(1)", "MPI_Init(3)"}}
}

// helpText precedes the compiler's own help.
func helpText(name string, lang language, compiler string) string {
	c, file := cCommand(), "program.c"
	if lang.fortran() {
		c, file = fortranCommand(), "program.f90"
	}
	return name + " compiles and links MPI programs with this installation of libimpi: it runs the compiler\n" +
		"with the include path, the library path and the library added.\n\n  " + name + " -O2 -o program " + file + "\n\n" +
		c.OptionLines() + "\nThe environment variable " + lang.variables[0] + " names the compiler, too.\n" + ends +
		"\nAll other words go to the compiler, " + compiler + ", whose own help is:\n\n"
}
