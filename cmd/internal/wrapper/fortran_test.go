package wrapper

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/fortran"
)

// fortranSystem has modules in /m/COMPILER-BYTES of INTEGER, and objects *8.o and *4.o. It notes who asked for modules.
func fortranSystem(asked *[]string) System {
	on := system()
	on.Identify = func(compiler []string) (fortran.Compiler, error) {
		return fortran.Compiler{Words: compiler, Family: compiler[0]}, nil
	}
	on.Modules = func(c fortran.Compiler, k fortran.Kinds, quiet bool) fortran.Modules {
		if asked != nil {
			*asked = append(*asked, fmt.Sprintf("%s %d quiet %v", c.Family, k.Integer, quiet))
		}
		return fortran.Modules{Folder: fmt.Sprintf("/m/%s-%d", c.Family, k.Integer)}
	}
	on.Integers = func(objects []string) (int, error) {
		found := map[string]int{}
		for _, o := range objects {
			if digit := o[len(o)-3]; digit == '4' || digit == '8' {
				found[o] = int(digit - '0')
			}
		}
		n := 0
		for _, bytes := range found {
			if n != 0 && n != bytes {
				return 0, errors.New("both")
			}
			n = bytes
		}
		return n, nil
	}
	return on
}

func TestMpifortAnswersEveryDialectAndRunsTheRest(t *testing.T) {
	const (
		mod   = "-I/m/gfortran-4 " + inc
		mod8  = "-I/m/gfortran-8 -I/opt/i/share/libimpi/fortran/i8 " + inc
		lib   = "-L/opt/i/lib -Wl,-rpath,/opt/i/lib -Wl,--enable-new-dtags "
		link  = lib + "-lmpifort_abi -lmpi_abi"
		link8 = lib + "-lmpifort_abi_i8 -lmpi_abi"
		i8    = "-fdefault-integer-8"
	)
	for _, c := range []struct {
		env, command, words string
		print, run, fails   string
	}{
		{words: "-show", print: "gfortran " + mod + " " + link},
		{words: "-showme", print: "gfortran " + mod + " " + link},
		{words: "--showme", print: "gfortran " + mod + " " + link},
		{command: "mpif77", words: "-show", print: "gfortran " + mod + " " + link},
		{command: "/usr/bin/mpif90.libimpi", words: "-show", print: "gfortran " + mod + " " + link},
		{command: "mpifort_abi", words: "-show", print: "gfortran " + mod + " " + link},
		{words: "-showme:compile", print: mod},
		{words: "--showme:compile " + i8, print: mod8},
		{words: "--showme:link", print: link},
		{words: "--showme:link " + i8, print: link8},
		{words: "-showme:incdirs", print: "/m/gfortran-4 /opt/i/include"},
		{words: "-show-incdir " + i8, print: "/m/gfortran-8 /opt/i/share/libimpi/fortran/i8 /opt/i/include"},
		{words: "-showme:libdirs", print: "/opt/i/lib"},
		{words: "-showme:libs", print: "mpifort_abi mpi_abi"},
		{words: "-showme:libs -i8", print: "mpifort_abi_i8 mpi_abi"},
		{words: "-showme:command", print: "gfortran"},
		{words: "-showme:version", print: "mpifort 50.0.1 (libimpi 0.1.0 (Interoperable MPI; not Intel MPI))"},
		{words: "-compile-info", print: "gfortran " + mod + " -c"},
		{words: "-compile_info -O2", print: "gfortran -O2 " + mod + " -c"},
		{words: "-link-info", print: "gfortran " + mod + " " + link},
		{words: "-show -c a.f90", print: "gfortran " + mod + " -c a.f90"},
		{words: "-show a.o -o a", print: "gfortran " + inc + " a.o -o a " + link},
		{words: "-showme:nonsense", fails: "unknown question"},
		{words: "-fc=", fails: "names no compiler"},

		{words: "a.f90 -o a", run: "gfortran " + mod + " a.f90 -o a " + link},
		{words: "-c a.f", run: "gfortran " + mod + " -c a.f"},
		{words: "-c a.F", run: "gfortran " + mod + " -c a.F"},
		{words: "-c -x f95 -", run: "gfortran " + mod + " -c -x f95 -"},
		{words: "-cpp -E a.f90", run: "gfortran " + inc + " -cpp -E a.f90"},
		{words: "-fsyntax-only a.f90", run: "gfortran " + mod + " -fsyntax-only a.f90"},
		{words: "a.o b.o -lm", run: "gfortran " + inc + " a.o b.o -lm " + link},
		{words: "-c a.c", run: "gfortran " + inc + " -c a.c"},
		{words: i8 + " a.f90", run: "gfortran " + mod8 + " " + i8 + " a.f90 " + link8},
		{words: i8 + " a.o", run: "gfortran -I/opt/i/share/libimpi/fortran/i8 " + inc + " " + i8 + " a.o " + link8},
		{words: "a8.o b8.a", run: "gfortran " + inc + " a8.o b8.a " + link8},
		{words: i8 + " a4.o", run: "gfortran -I/opt/i/share/libimpi/fortran/i8 " + inc + " " + i8 + " a4.o " + link},
		{words: "a8.o b4.o", fails: "both"},
		{words: "-c a.f90 -o a8.o", run: "gfortran " + mod + " -c a.f90 -o a8.o"},
		{words: "a.f90 b8.o", fails: "compiled for INTEGERs of 8 bytes, and the sources are for those of 4"},
		{words: "-shared a.f90 -o a8.o", run: "gfortran " + mod + " -shared a.f90 -o a8.o " + link},
		{words: "-real-size 64 -c a.f90",
			run: "gfortran -I/m/gfortran-4 -I/opt/i/share/libimpi/fortran/r8d8 " + inc + " -real-size 64 -c a.f90"},
		{words: "-r16 -c a.f90", fails: "-r16: MPI's datatypes are not made for REAL of 16 bytes"},
		{words: "a.f90 -L/usr/lib -lmpifort_abi",
			run: "gfortran " + mod + " -L/opt/i/lib a.f90 -L/usr/lib -lmpifort_abi " + link},
		{words: "-static a.f90", fails: "-static: libimpi is a shared library only"},
		{words: "--version", run: "gfortran --version"},
		{words: "-V", run: "gfortran -V"},
		{words: "-v", run: "gfortran -v"},
		{words: "-fc=flang -c a.f90", run: "flang -I/m/flang-4 " + inc + " -c a.f90"},
		{command: "mpif90", words: "-f90=ifx -c a.f90", run: "ifx -I/m/ifx-4 " + inc + " -c a.f90"},
		{env: "IMPI_FC=ifx", words: "-c a.f90", run: "ifx -I/m/ifx-4 " + inc + " -c a.f90"},
		{env: "MPICH_FC=ifx", words: "-c a.f90", run: "ifx -I/m/ifx-4 " + inc + " -c a.f90"},
		{env: "OMPI_FC=ifx", words: "-c a.f90", run: "ifx -I/m/ifx-4 " + inc + " -c a.f90"},
		{env: "I_MPI_FC=ifx", words: "-c a.f90", run: "ifx -I/m/ifx-4 " + inc + " -c a.f90"},
		{env: "MPICH_F77=ifx", words: "-c a.f90", run: "gfortran " + mod + " -c a.f90"},
		{env: "MPICH_F77=ifx", command: "mpif77", words: "-c a.f", run: "ifx -I/m/ifx-4 " + inc + " -c a.f"},
		{env: "I_MPI_F90=ifx", command: "mpif90", words: "-c a.f", run: "ifx -I/m/ifx-4 " + inc + " -c a.f"},
		{env: "MPICH_FC=ifx", command: "mpif90", words: "-c a.f", run: "ifx -I/m/ifx-4 " + inc + " -c a.f"},
		{env: "IMPI_CC=icx", words: "-c a.f", run: "gfortran " + mod + " -c a.f"},
		{env: "IMPI_FC=gfortran " + i8, words: "-c a.f", run: "gfortran " + i8 + " " + mod8 + " -c a.f"},
	} {
		on := fortranSystem(nil)
		on.Getenv = func(name string) string {
			v, ok := strings.CutPrefix(c.env, name+"=")
			if !ok {
				return ""
			}
			return v
		}
		if c.command == "" {
			c.command = "mpifort"
		}
		got, err := Decide(c.command, strings.Fields(c.words), Place{"/opt/i"}, on)
		label := c.env + " " + c.command + " " + c.words
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want %q", label, err, c.fails)
			}
		case err != nil:
			t.Errorf("%s: %v", label, err)
		case strings.TrimSuffix(got.Print, "\n") != c.print:
			t.Errorf("%s prints %q, want %q", label, got.Print, c.print)
		case strings.Join(got.Run, " ") != c.run:
			t.Errorf("%s runs %q, want %q", label, got.Run, c.run)
		}
	}
}

func TestGfortranIsToldThatBuffersHaveAllTypes(t *testing.T) {
	on := fortranSystem(nil)
	on.Identify = func(compiler []string) (fortran.Compiler, error) {
		return fortran.Identify(compiler, "GNU Fortran (GCC) 12.2.0"), nil
	}
	got, err := Decide("mpifort", []string{"-c", "a.f"}, Place{"/p"}, on)
	want := "gfortran -fallow-argument-mismatch -I/m/gfortran-4 -I/p/include -c a.f"
	if err != nil || strings.Join(got.Run, " ") != want {
		t.Errorf("%q, %v", got.Run, err)
	}
}

func TestOnlyWhatCompilesFortranNeedsModulesAndQuestionsAreQuiet(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"a.f90", "gfortran 4 quiet false"},
		{"-c a.F90 -i8", "gfortran 8 quiet false"},
		{"a.o", ""}, {"-E a.f90", ""}, {"-c a.c", ""}, {"--version", ""}, {"-V", ""},
		{"-show", "gfortran 4 quiet true"}, {"-show a.f90", "gfortran 4 quiet true"}, {"-show a.o", ""},
		{"-showme:compile", "gfortran 4 quiet true"}, {"-compile-info", "gfortran 4 quiet true"},
		{"-showme:link", ""}, {"-showme:libs", ""}, {"-showme:command", ""}, {"-showme:version", ""}, {"-showme:help", ""},
	} {
		var asked []string
		if _, err := Decide("mpifort", strings.Fields(c.words), Place{"/p"}, fortranSystem(&asked)); err != nil {
			t.Errorf("%s: %v", c.words, err)
		}
		if got := strings.Join(asked, "; "); got != c.want {
			t.Errorf("%s asks for modules: %q, want %q", c.words, got, c.want)
		}
	}
}

func TestMissingModulesAreToldIfTheCompilerFailsAndNotBefore(t *testing.T) {
	on := fortranSystem(nil)
	on.Modules = func(fortran.Compiler, fortran.Kinds, bool) fortran.Modules { return fortran.Modules{Lacks: "too old"} }
	got, err := Decide("mpifort", []string{"-c", "a.f90"}, Place{"/p"}, on)
	if err != nil || got.Lacks != "too old" || strings.Join(got.Run, " ") != "gfortran -I/p/include -c a.f90" {
		t.Errorf("%+v, %v", got, err)
	}
	on.Identify = func([]string) (fortran.Compiler, error) { return fortran.Compiler{}, errors.New("cannot be run") }
	if got, err = Decide("mpifort", []string{"-c", "a.f90"}, Place{"/p"}, on); err != nil || got.Lacks != "cannot be run" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = Decide("mpifort", []string{"-show"}, Place{"/p"}, on); err != nil ||
		!strings.HasPrefix(got.Print, "gfortran -I/p/include -L/p/lib ") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestModulesAreInstalledForTheNamedCompilerOrAll(t *testing.T) {
	for _, c := range []struct{ env, words, want string }{
		{"", "-install-modules", "gfortran;ifx"},
		{"", "--install-modules -fc=flang", "flang"},
		{"", "-fc=gfortran -install-modules", "gfortran"},
		{"ifort -O2", "-install-modules", "ifort -O2"},
		{"gfortran", "-install-modules", "gfortran"},
	} {
		on := fortranSystem(nil)
		on.Getenv = func(name string) string { return map[string]string{"OMPI_FC": c.env}[name] }
		on.Exists = func(name string) bool { return name == "gfortran" || name == "ifx" }
		got, err := Decide("mpifort", strings.Fields(c.words), Place{"/p"}, on)
		var names []string
		for _, words := range got.Install {
			names = append(names, strings.Join(words, " "))
		}
		if err != nil || strings.Join(names, ";") != c.want || got.Run != nil {
			t.Errorf("%s %s: %+v, %v; want %s", c.env, c.words, got, err, c.want)
		}
	}
	on := fortranSystem(nil)
	on.Exists = func(string) bool { return false }
	if got, err := Decide("mpifort", []string{"-install-modules"}, Place{"/p"}, on); err == nil {
		t.Errorf("no compiler is no error: %+v", got)
	}
	got, err := Decide("mpicc", []string{"-install-modules", "a.c"}, Place{"/p"}, system())
	if err != nil || !slices.Contains(got.Run, "-install-modules") {
		t.Errorf("mpicc takes a word of mpifort's: %+v, %v", got, err)
	}
}

func TestHelpOfMpifortIsOursFirst(t *testing.T) {
	got, err := Decide("/p/bin/mpif90", []string{"--help"}, Place{"/p"}, fortranSystem(nil))
	if err != nil || !strings.HasPrefix(got.Print, "mpif90 compiles") || !strings.Contains(got.Print, "program.f90") ||
		!strings.Contains(got.Print, "-install-modules") || strings.Join(got.Run, " ") != "gfortran --help" {
		t.Errorf("%q, runs %q, %v", got.Print, got.Run, err)
	}
}

func TestEveryWordThatTheHelpOfMpifortListsIsAnswered(t *testing.T) {
	for _, o := range langFortran.options() {
		for _, name := range o.Names {
			word := "-" + name
			if o.Joined {
				word += "=ftn"
			}
			got, err := Decide("mpifort", []string{word, "x.f"}, Place{"/p"}, fortranSystem(nil))
			if err != nil || o.Joined && got.Run[0] != "ftn" || !o.Joined && got.Print == "" && got.Install == nil {
				t.Errorf("%s: %+v, %v", word, got, err)
			}
		}
	}
}
