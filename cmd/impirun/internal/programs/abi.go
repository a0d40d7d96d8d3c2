package programs

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/internal/install"
	"github.com/libimpi/libimpi/cmd/internal/linked"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// Programs that were compiled with another MPI run on libimpi by a library that has that MPI's ABI (abi/front). There
// is one for each, in a folder of its own, where only programs find it whose LD_LIBRARY_PATH leads there. A program
// that cannot get to libimpi is refused before it starts: its ranks would be jobs of their own, each rank 0 of 1, and
// do all of the work.

// fronts are the folders of these libraries below lib, by the names under which programs are linked.
var fronts = map[string]string{
	"libmpi.so.12":      options.ABIMPICH,
	"libmpich.so.12":    options.ABIMPICH,
	"libmpichcxx.so.12": options.ABIMPICH,
	"libmpicxx.so.12":   options.ABIMPICH,
	"libmpi.so.40":      options.ABIOpenMPI,
	"libmpi_cxx.so.40":  options.ABIOpenMPI,

	"libmpifort.so.12":               options.ABIMPICH,
	"libmpichfort.so.12":             options.ABIMPICH,
	"libmpi_mpifh.so.40":             options.ABIOpenMPI,
	"libmpi_usempif08.so.40":         options.ABIOpenMPI,
	"libmpi_usempi_ignore_tkr.so.40": options.ABIOpenMPI,
}

// standard are the names of the library with the ABI of MPI 5.0, which others have, too.
var standard = []string{"libmpi_abi.so.1", "libmpi_abi.so.0"}

var (
	// mpiLibrary are the names of MPI libraries, of all times.
	mpiLibrary = regexp.MustCompile(`^lib(p?mpi|p?mpich|mpi_(abi|mt|dbg|dbg_mt|ilp64|ibm|cray|gnu|intel|xl)|` +
		`mpich_(cray|gnu|intel)(_\d+)?|mpi_(cray|gnu|intel)_\d+|lam)\.so`)
	// fortranLibrary are the names of their Fortran bindings, and fortranCall is what a program in Fortran calls.
	fortranLibrary = regexp.MustCompile(`^lib(mpi_(mpifh|usempi|usempif08|usempi_ignore_tkr|f77|f90)|mpifort|mpichfort|` +
		`mpich?f(77|90|08)?|fmpich|mpig[fi]|mpiif)\.so`)
	fortranCall = regexp.MustCompile(`^p?mpi_[a-z0-9_]+_$`)
)

// needs is how a program is to be started.
type needs struct {
	choice  string // the user's: one of options.ABIs
	program string // the file, from folder dir
	dir     string
	name    string   // as the user calls it
	env     []string // what the program will see; a later value of a variable counts
	ranks   int      // of the job
}

// front is the folders that the program needs before those in LD_LIBRARY_PATH, "" if it needs none. It is an error if
// the program cannot get to libimpi: with -abi native, if its ranks would not find each other.
//
// Scripts and interpreters tell nothing of the MPI that what they load was compiled with: they get the folders of all
// fronts. A module finds its own there, since the names differ.
func (n needs) front() (string, error) {
	prefix, err := install.Prefix()
	if err != nil {
		return "", nil
	}
	program := n.program
	if !filepath.IsAbs(program) {
		program = filepath.Join(n.dir, program)
	}
	list, ok := linked.Libraries(program, ValueIn(n.env, "LD_LIBRARY_PATH"), isMPI)
	name := n.choice
	switch {
	case name == options.ABINative:
		if n.ranks == 1 || ValueIn(n.env, "LD_PRELOAD") != "" {
			return "", nil // what is loaded before all may be what brings the program to libimpi
		}
		return "", n.staysApart(program, list)
	case name == options.ABIAuto && !ok:
		return bothFronts(prefix), nil
	default:
		own, err := n.folder(program, list)
		switch {
		case err != nil:
			return "", err
		case name != options.ABIAuto && own != "" && own != name:
			return "", n.refuse("is not linked with the MPI that -abi "+name+" says", linked.Library{}, "leave -abi out")
		case name == options.ABIAuto && own == "" && !slices.ContainsFunc(list, ofMPI):
			return bothFronts(prefix), nil
		}
		if name == options.ABIAuto {
			name = own
		}
		if name == "" {
			return "", nil
		}
	}
	if err := n.fixed(list); err != nil {
		return "", err
	}
	if folder := filepath.Join(prefix, "lib", name); exists(folder) {
		return folder, nil
	}
	return "", nil // an installation without it; the program says what it misses
}

// bothFronts are the folders of all fronts that an installation has.
func bothFronts(prefix string) string {
	var list []string
	for _, name := range []string{options.ABIMPICH, options.ABIOpenMPI} {
		if folder := filepath.Join(prefix, "lib", name); exists(folder) {
			list = append(list, folder)
		}
	}
	return strings.Join(list, string(filepath.ListSeparator))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// ofMPI reports whether a library is that of an MPI.
func ofMPI(l linked.Library) bool { return isMPI(l.Name) }

// folder is that below lib which a program needs, as it is linked; "" if none.
func (n needs) folder(program string, list []linked.Library) (string, error) {
	var first linked.Library // the MPI library that all calls go to
	folder := ""
	for _, l := range list {
		at := ""
		switch {
		case fronts[l.Name] != "":
			at = fronts[l.Name]
		case fortranLibrary.MatchString(l.Name):
			if linked.Imports(program, fortranCall) {
				return "", n.refuse("needs "+l.Name+", the Fortran bindings of an MPI whose ABI libimpi does not have (it has "+
					strings.Join(ownNames(), ", ")+")", l, "")
			}
			continue
		case slices.Contains(standard, l.Name):
			at = "."
		case mpiLibrary.MatchString(l.Name) && !isLibimpi(l.Path):
			return "", n.refuse("needs "+l.Name+", an MPI library whose ABI libimpi does not have (it has "+
				strings.Join(ownNames(), ", ")+")", l, "compile it with our mpicc")
		default:
			continue
		}
		if folder != "" && at != folder {
			return "", n.refused(fmt.Sprintf(" needs both %s%s and %s%s, the libraries of two MPIs, and calls of both would "+
				"go to the first; compile all of it with one mpicc", first.Name, n.by(first), l.Name, n.by(l)))
		}
		if folder == "" {
			first, folder = l, at
		}
	}
	switch {
	case folder == "" && n.ranks > 1 && linked.Defines(program, "PMPI_Init"):
		return "", n.refuse("has another MPI library linked into it", linked.Library{}, "compile it with our mpicc")
	case folder == "." && isLibimpi(first.Path):
		return "", nil
	}
	return folder, nil
}

// fixed refuses a program whose RPATH leads to another MPI, whatever LD_LIBRARY_PATH says.
func (n needs) fixed(list []linked.Library) error {
	for _, l := range list {
		if isMPI(l.Name) && l.Fixed && !isLibimpi(l.Path) {
			return n.refuse("has an RPATH that leads to "+l.Path+", another MPI library, whatever LD_LIBRARY_PATH says", l,
				"remove the RPATH (patchelf --remove-rpath, chrpath -d)")
		}
	}
	return nil
}

// staysApart refuses a program of several ranks that is to run with the MPI library that it finds, which is not ours.
func (n needs) staysApart(program string, list []linked.Library) error {
	for _, l := range list {
		if mpiLibrary.MatchString(l.Name) && l.Path != "" && !isLibimpi(l.Path) && linked.Defines(l.Path, "PMPI_Init") {
			instead := "compile it with our mpicc"
			if fronts[l.Name] != "" || slices.Contains(standard, l.Name) {
				instead = "leave -abi native out"
			}
			return n.refuse("runs on "+l.Path+", another MPI library, so that each of its ranks would be a job of its own", l,
				instead)
		}
	}
	if linked.Defines(program, "PMPI_Init") {
		return n.refuse("has another MPI library linked into it, so that each of its ranks would be a job of its own",
			linked.Library{}, "compile it with our mpicc")
	}
	return nil
}

// refuse returns why a program is not started, and what to do: the one thing, if there is one, or its own launcher.
func (n needs) refuse(why string, l linked.Library, instead string) error {
	if instead != "" {
		instead += ", or "
	}
	return n.refused(fmt.Sprintf("%s %s; %sstart it with %s", n.by(l), why, instead, ownLauncher(l)))
}

func (n needs) refused(text string) error {
	return &supervise.StartError{Code: supervise.CodeNotExecutable, Text: "program " + n.name + text}
}

// by returns which library of the program needs another one; "" if it is the program itself.
func (n needs) by(l linked.Library) string {
	if l.By == "" || filepath.Base(l.By) == filepath.Base(n.program) {
		return ""
	}
	return " (by " + l.By + ")"
}

func isMPI(name string) bool { return mpiLibrary.MatchString(name) || fortranLibrary.MatchString(name) }

// ownNames are the libraries that we have, by name.
func ownNames() []string {
	names := slices.Clone(standard[:1])
	for name := range fronts {
		if mpiLibrary.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	return names
}

// isLibimpi reports whether a library is a libimpi, of whatever installation: it is made by Go, or needs one that is.
func isLibimpi(file string) bool {
	f, err := elf.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.ImportedLibraries()
	return f.Section(".note.go.buildid") != nil || slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(standard, name)
	})
}

// ownLauncher is the command that starts programs of a library: the one beside it, or that Debian has for it.
func ownLauncher(l linked.Library) string {
	if l.Path != "" {
		file, err := filepath.EvalSymlinks(l.Path)
		if err != nil {
			file = l.Path
		}
		prefix := filepath.Dir(filepath.Dir(file))
		for _, name := range []string{"mpirun", "mpiexec"} {
			command := filepath.Join(prefix, "bin", name)
			if _, err := exec.LookPath(command); err == nil && prefix != "/usr" && prefix != "/" {
				return command
			}
		}
		if strings.HasPrefix(file, "/usr/") || strings.HasPrefix(file, "/lib") {
			for name, number := range map[string]string{"mpirun.mpich": ".so.12", "mpirun.openmpi": ".so.40"} {
				if command, err := exec.LookPath(name); err == nil && strings.HasSuffix(l.Name, number) {
					return command
				}
			}
		}
	}
	return "the mpirun of the MPI that it was compiled with"
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
