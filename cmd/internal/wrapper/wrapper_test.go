package wrapper

import (
	"regexp"
	"strings"
	"testing"
)

const (
	inc  = "-I/opt/i/include"
	link = "-L/opt/i/lib -Wl,-rpath,/opt/i/lib -Wl,--enable-new-dtags -lmpi_abi"
)

// system is a machine without variables where every compiler can be run.
func system() System {
	return System{Getenv: func(string) string { return "" }, Exists: func(string) bool { return true },
		Self: func(string) bool { return false }}
}

func TestTheWrapperAnswersEveryDialectAndRunsTheRest(t *testing.T) {
	for _, c := range []struct {
		env, command, words string
		print, run, fails   string
	}{
		{command: "mpicc", words: "-show", print: "cc " + inc + " " + link},
		{command: "mpicc", words: "-showme", print: "cc " + inc + " " + link},
		{command: "mpicc", words: "--showme", print: "cc " + inc + " " + link},
		{command: "mpicxx", words: "-show", print: "c++ " + inc + " " + link},
		{command: "mpic++", words: "-showme:command", print: "c++"},
		{command: "mpiCC", words: "-showme:command", print: "c++"},
		{command: "/usr/bin/mpicxx.libimpi", words: "-showme:command", print: "c++"},
		{command: "/x/bin/mpicc_abi", words: "-showme:command", print: "cc"},
		{command: "mpicc", words: "-showme:compile", print: inc},
		{command: "mpicc", words: "--showme:link", print: link},
		{command: "mpicc", words: "-showme:incdirs", print: "/opt/i/include"},
		{command: "mpicc", words: "-showme:libdirs", print: "/opt/i/lib"},
		{command: "mpicc", words: "-showme:libs", print: "mpi_abi"},
		{command: "mpicc", words: "-showme:version",
			print: "mpicc 50.0.1 (libimpi 0.1.0 (Interoperable MPI; not Intel MPI))"},
		{command: "mpicc", words: "-show-incdir", print: "/opt/i/include"},
		{command: "mpicc", words: "-show-libdir", print: "/opt/i/lib"},
		{command: "mpicc", words: "-compile-info", print: "cc " + inc + " -c"},
		{command: "mpicc", words: "-compile_info", print: "cc " + inc + " -c"},
		{command: "mpicc", words: "-link-info", print: "cc " + inc + " " + link},
		{command: "mpicc", words: "-link_info", print: "cc " + inc + " " + link},
		{command: "mpicc", words: "-show -c a.c", print: "cc " + inc + " -c a.c"},
		{command: "mpicc", words: "-show a.c -o a", print: "cc " + inc + " a.c -o a " + link},
		{command: "mpicc", words: "-showme:nonsense", fails: "unknown question"},
		{command: "mpicc", words: "-shown", fails: "unknown question"},
		{command: "mpicc", words: "-cc=", fails: "names no compiler"},

		{command: "mpicc", words: "a.c -o a", run: "cc " + inc + " a.c -o a " + link},
		{command: "mpicc", words: "-c a.c", run: "cc " + inc + " -c a.c"},
		{command: "mpicc", words: "-S a.c", run: "cc " + inc + " -S a.c"},
		{command: "mpicc", words: "-E a.c", run: "cc " + inc + " -E a.c"},
		{command: "mpicc", words: "-M a.c", run: "cc " + inc + " -M a.c"},
		{command: "mpicc", words: "-MM a.c", run: "cc " + inc + " -MM a.c"},
		{command: "mpicc", words: "-MD a.c", run: "cc " + inc + " -MD a.c " + link},
		{command: "mpicc", words: "a.o b.o -lm", run: "cc " + inc + " a.o b.o -lm " + link},
		{command: "mpicc", words: "-shared a.o", run: "cc " + inc + " -shared a.o " + link},
		{command: "mpicc", words: "a.c -L/usr/lib -lmpi_abi",
			run: "cc " + inc + " -L/opt/i/lib a.c -L/usr/lib -lmpi_abi " + link},
		{command: "mpicc", words: "-c a.c -lmpi", run: "cc " + inc + " -c a.c -lmpi"},
		{command: "mpicc", words: "-static a.c", fails: "-static: libimpi is a shared library only"},
		{command: "mpicc", words: "-static -c a.c", run: "cc " + inc + " -static -c a.c"},
		{command: "mpicc", words: "-static-libgcc a.c", run: "cc " + inc + " -static-libgcc a.c " + link},
		{command: "mpicc", words: "--version", run: "cc --version"},
		{command: "mpicc", words: "-v", run: "cc -v"},
		{command: "mpicc", words: "-v a.c", run: "cc " + inc + " -v a.c " + link},
		{command: "mpicc", words: "-cc=clang a.c", run: "clang " + inc + " a.c " + link},
		{command: "mpicc", env: "MPICH_CC=icx", words: "a.c", run: "icx " + inc + " a.c " + link},
		{command: "mpicc", env: "OMPI_CC=icx", words: "a.c", run: "icx " + inc + " a.c " + link},
		{command: "mpicc", env: "IMPI_CC=ccache gcc", words: "a.c", run: "ccache gcc " + inc + " a.c " + link},
		{command: "mpicc", env: "IMPI_CXX=x", words: "a.c", run: "cc " + inc + " a.c " + link},
		{command: "mpicxx", env: "IMPI_CXX=x", words: "a.cc", run: "x " + inc + " a.cc " + link},
	} {
		on := system()
		on.Getenv = func(name string) string {
			v, ok := strings.CutPrefix(c.env, name+"=")
			if !ok {
				return ""
			}
			return v
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

func TestHelpIsOursFirst(t *testing.T) {
	got, err := Decide("/opt/i/bin/mpicxx", []string{"--help"}, Place{"/opt/i"}, system())
	if err != nil || !strings.HasPrefix(got.Print, "mpicxx compiles") ||
		!strings.Contains(got.Print, "variable IMPI_CXX names the compiler") ||
		strings.Join(got.Run, " ") != "c++ --help" {
		t.Errorf("%q, runs %q, %v", got.Print, got.Run, err)
	}
}

// Meson takes the first three numbers that it sees, and the highest of all wrappers.
func TestBuildSystemsTakeUsForTheNewest(t *testing.T) {
	got, _ := Decide("mpicc", []string{"--showme:version"}, Place{"/opt/i"}, system())
	if first := regexp.MustCompile(`\d+.\d+.\d+`).FindString(got.Print); first != buildVersion {
		t.Errorf("%q is taken for the version in %q", first, got.Print)
	}
}

func TestTheFirstCompilerThatExistsIsTaken(t *testing.T) {
	only := func(name string) System {
		on := system()
		on.Exists = func(n string) bool { return n == name }
		return on
	}
	got, err := Decide("mpicc", []string{"a.c"}, Place{"/p"}, only("gcc"))
	if err != nil || got.Run[0] != "gcc" {
		t.Errorf("runs %q, %v; want gcc", got.Run, err)
	}
	if _, err = Decide("mpicc", []string{"a.c"}, Place{"/p"}, only("tcc")); err == nil {
		t.Error("no compiler at all is no error")
	}
	if got, err = Decide("mpicc", []string{"-showme:link"}, Place{"/p"}, only("tcc")); err != nil ||
		got.Print == "" {
		t.Errorf("a question that needs no compiler: %q, %v", got.Print, err)
	}
}

func TestPrintedWordsCanBePastedIntoAShell(t *testing.T) {
	got, _ := Decide("mpicc", []string{"-showme:compile"}, Place{"/my stuff/it's"}, system())
	if want := `-I"/my stuff/it's/include"` + "\n"; got.Print != want {
		t.Errorf("prints %s, want %s", got.Print, want)
	}
	got, _ = Decide("mpicc", []string{"-showme:compile"}, Place{"/it's $5"}, system())
	if want := `'-I/it'\''s $5/include'` + "\n"; got.Print != want {
		t.Errorf("prints %s, want %s", got.Print, want)
	}
}

func TestEveryQuestionThatTheHelpListsIsAnswered(t *testing.T) {
	for _, o := range langC.options() {
		for _, name := range o.Names {
			word := "-" + name
			if o.Joined {
				word += "=tcc"
			}
			got, err := Decide("mpicc", []string{word, "x.c"}, Place{"/p"}, system())
			if err != nil || !o.Joined && (got.Print == "" || got.Run != nil) || o.Joined && got.Run[0] != "tcc" {
				t.Errorf("%s: %+v, %v", word, got, err)
			}
		}
	}
}

func TestAWrapperNeverRunsItself(t *testing.T) {
	on := system()
	on.Getenv = func(name string) string { return map[string]string{"MPICH_CC": "/opt/i/bin/mpicc"}[name] }
	on.Self = func(compiler string) bool { return compiler == "/opt/i/bin/mpicc" }
	got, err := Decide("mpicc", []string{"a.c"}, Place{"/opt/i"}, on)
	if err != nil || got.Run[0] != "cc" {
		t.Errorf("runs %q, %v", got.Run, err)
	}
}
