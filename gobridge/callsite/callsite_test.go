package callsite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program calls a library with one of MPI's names, which prints the address that the call returns to, and what is
// mapped where.
const (
	library = `#include <stdio.h>
void called(void)
{
    char line[4096];
    FILE *f = fopen("/proc/self/maps", "r");
    printf("%lx\n", (unsigned long)__builtin_return_address(0));
    while (fgets(line, sizeof line, f)) fputs(line, stdout);
}
`
	// With -O2 main lies in a section of its own, before other, and after it in the table of lines.
	program = `void called(void);
int other(int a) { return a + 1; }
int main(void)
{

    called();
    return 0;
}
`
)

// compiled returns what the program prints, when it is compiled with these options.
func compiled(t *testing.T, options ...string) (uintptr, string) {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"library.c": library, "program.c": program} {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range [][]string{
		{"-shared", "-fPIC", "-g", "-o", at("libmpi.so.1"), at("library.c")},
		append(options, "-o", at("program"), at("program.c"), at("libmpi.so.1"), "-Wl,-rpath,"+dir),
	} {
		if out, err := exec.Command("gcc", line...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %q: %v\n%s", line, err, out)
		}
	}
	out, err := exec.Command(at("program")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var pc uintptr
	first, maps, _ := strings.Cut(string(out), "\n")
	if _, err := fmt.Sscanf(first, "%x", &pc); err != nil {
		t.Fatal(err)
	}
	return pc, maps
}

func TestTheLineOfACallIsFound(t *testing.T) {
	for _, options := range [][]string{{"-g"}, {"-g", "-O2"}, {"-g", "-no-pie"}, {"-g", "-gz"}, {"-gdwarf-4"}} {
		pc, maps := compiled(t, options...)
		site, ok := Find(strings.NewReader(maps), []uintptr{pc})
		if !ok || site.String() != "program.c:6" {
			t.Errorf("%q: %v, %v", options, site, ok)
		}
		call := Outside(strings.NewReader(maps), []uintptr{pc})[0]
		read, err := Open(call.File)
		if err != nil {
			t.Fatal(err)
		}
		if again, ok := read.Line(call.Offset); !ok || again != site {
			t.Errorf("%q: %v of the program that was read once, %v", options, again, ok)
		}
	}
}

// Addresses in MPI's own libraries are passed over.
func TestTheCallFromOutsideCounts(t *testing.T) {
	pc, maps := compiled(t, "-g")
	inside := uintptr(0)
	for line := range strings.Lines(maps) {
		if strings.Contains(line, "libmpi.so.1") && strings.Contains(line, "r-xp") {
			fmt.Sscanf(line, "%x-", &inside)
		}
	}
	site, ok := Find(strings.NewReader(maps), []uintptr{inside + 1, pc})
	if !ok || site.String() != "program.c:6" {
		t.Errorf("%v, %v", site, ok)
	}
}

func TestTheLibraryThatCallsForAProgramIsKnown(t *testing.T) {
	const maps = `1000-2000 r-xp 00000000 00:00 7 /usr/lib/libmpi_abi.so.1
2000-3000 r-xp 00000000 00:00 8 /usr/lib/libmpichcxx.so.12
3000-4000 r-xp 00000000 00:00 9 /home/user/cxx
`
	for _, c := range []struct {
		returns []uintptr
		want    bool
	}{{[]uintptr{0x1100, 0x2100, 0x3100}, true}, {[]uintptr{0x1100, 0x3100, 0x2100}, false}, {[]uintptr{0x1100}, false},
		{[]uintptr{0x9000, 0x2100}, false}, {nil, false}} {
		if got := Through(strings.NewReader(maps), c.returns, "cxx"); got != c.want {
			t.Errorf("%#x: %v", c.returns, got)
		}
	}
}

func TestCodeWithoutDebugInformationHasNoLine(t *testing.T) {
	pc, maps := compiled(t)
	deleted := strings.ReplaceAll(maps, "/program", "/program (deleted)")
	for name, maps := range map[string]string{"without -g": maps, "nothing": "", "no file": deleted,
		"nonsense": "zz-yy\n\n/\n"} {
		if site, ok := Find(strings.NewReader(maps), []uintptr{pc}); ok {
			t.Errorf("%s: %v", name, site)
		}
	}
	if site, ok := Find(strings.NewReader(maps), nil); ok {
		t.Error(site)
	}
}

func TestTheFunctionOfACrashIsFound(t *testing.T) {
	for _, c := range []struct {
		options []string
		want    string
	}{{[]string{"-g"}, "main at program.c:6"}, {[]string{"-O1"}, "main"}, {[]string{"-O1", "-s"}, "program+0x"}} {
		pc, maps := compiled(t, c.options...)
		var inside, system uintptr
		for line := range strings.Lines(maps) {
			if strings.Contains(line, "libmpi.so.1") && strings.Contains(line, "r-xp") {
				fmt.Sscanf(line, "%x-", &inside)
			}
			if strings.Contains(line, "/libc.") && strings.Contains(line, "r-xp") {
				fmt.Sscanf(line, "%x-", &system)
			}
		}
		for _, at := range []struct {
			pc      uintptr
			returns []uintptr
		}{{pc - 1, nil}, {system, []uintptr{inside, system, pc}}, {0, []uintptr{1, pc}}} {
			call, ok := Crash(strings.NewReader(maps), at.pc, at.returns)
			got := call.Function()
			if site, known := call.Line(); known {
				got += " at " + site.String()
			}
			if !ok || !strings.HasPrefix(got, c.want) || strings.Contains(got, " at ") != strings.Contains(c.want, " at ") {
				t.Errorf("%q, %#x: %v, %v", c.options, at.pc, got, ok)
			}
		}
		if _, ok := Crash(strings.NewReader(maps), system, nil); ok {
			t.Error("a library of the system is the program")
		}
		if at, ok := At(strings.NewReader(maps), system); !ok || !strings.HasPrefix(filepath.Base(at.File), "libc.") {
			t.Errorf("%v, %v", at, ok)
		}
	}
}
