package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The header alone, and included twice after other headers, in every language
// version that programs are written in.
func TestTheHeaderCompilesInEveryLanguageVersion(t *testing.T) {
	dir := t.TempDir()
	source := "#include <mpi.h>\n#include <stdio.h>\n#include <mpi.h>\n" +
		"int main(int argc, char **argv)\n{\n    MPI_Status status;\n    MPI_Init(&argc, &argv);\n" +
		"    MPI_Recv(0, 0, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);\n" +
		"    return MPI_Pcontrol(1, 2) + PMPI_Finalize() + status.MPI_SOURCE;\n}\n"
	for _, c := range []struct{ compiler, suffix, standard string }{
		{"gcc", ".c", "c89"}, {"gcc", ".c", "c99"}, {"gcc", ".c", "c11"}, {"gcc", ".c", "c17"},
		{"g++", ".cc", "c++98"}, {"g++", ".cc", "c++11"}, {"g++", ".cc", "c++17"},
	} {
		t.Run(c.standard, func(t *testing.T) {
			if _, err := exec.LookPath(c.compiler); err != nil {
				t.Skip(err)
			}
			file := filepath.Join(dir, "program"+c.suffix)
			if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
				t.Fatal(err)
			}
			execute(t, dir, c.compiler, "-std="+c.standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-long-long",
				"-I"+root(t), "-fsyntax-only", file)
		})
	}
}

// Every value and type of the table, asked of the compiler.
func TestEveryConstantHasTheValueOfTheTable(t *testing.T) {
	in := tables(t)
	var b strings.Builder
	b.WriteString("#include <mpi.h>\n#include <stddef.h>\n")
	n := 0
	assert := func(name, format string, a ...any) {
		n++
		fmt.Fprintf(&b, "_Static_assert(%s, \"%s\");\n", fmt.Sprintf(format, a...), name)
	}
	for _, c := range in.constants {
		switch {
		case strings.HasPrefix(c.Name, "MPIX_"):
			fmt.Fprintf(&b, "#ifdef %s\n#error %s\n#endif\n", c.Name, c.Name)
			if name := openMPIName(c); name != "" {
				assert(name, "%s == %s", name, c.Value)
			}
		case c.Kind == "handle type":
			assert(c.Name, "__builtin_types_compatible_p(%s, %s)", c.Name, c.Value)
		case c.Kind == "integer type":
			assert(c.Name, "__builtin_types_compatible_p(%s, %s)", c.Name, c.Value)
		case strings.HasPrefix(c.Kind, "callback typedef"):
			fmt.Fprintf(&b, "%s *pointer_%s;\n", c.Name, c.Name)
			if c.Kind == "callback typedef" {
				assert(c.Name, "__builtin_types_compatible_p(%s *, %s)", c.Name, c.Value)
			} else {
				assert(c.Name, "__builtin_types_compatible_p(%s, %s)", c.Name, c.Value)
			}
		case strings.HasPrefix(c.Kind, "struct member"):
			member := strings.TrimPrefix(c.Name, "MPI_Status.")
			assert(c.Name, "offsetof(MPI_Status, %s) == %s", member, strings.TrimPrefix(c.Value, "offset "))
			assert(c.Name, "offsetof(MPI_F08_status, %s) == %s", member, strings.TrimPrefix(c.Value, "offset "))
		}
		ctype, ok := c.CType()
		if !ok || strings.HasPrefix(c.Name, "MPIX_") {
			continue
		}
		value, err := c.Int()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(ctype, "MPI_T_") || !enumerator(c) {
			assert(c.Name, "__builtin_types_compatible_p(__typeof__(%s), %s)", c.Name, ctype)
		}
		assert(c.Name, "(intptr_t)%s == %d", c.Name, value)
	}
	b.WriteString("_Static_assert(sizeof(MPI_Status) == 32 && _Alignof(MPI_Status) == 4, \"\");\n")
	b.WriteString("_Static_assert(sizeof(MPI_F08_status) == 32 && sizeof(MPI_T_cb_safety) == 4, \"\");\n")
	if n < 700 {
		t.Errorf("only %d assertions", n)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "constants.c")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	execute(t, dir, "gcc", "-std=gnu11", "-Wall", "-I"+root(t), "-fsyntax-only", file)
}

// Integer constants must be usable in case labels and #if.
func TestIntegerConstantsAreConstantExpressions(t *testing.T) {
	in := tables(t)
	var b strings.Builder
	b.WriteString("#include <mpi.h>\nenum {\n")
	for _, c := range in.constants {
		if ctype, ok := c.CType(); ok && ctype == "int" && !strings.HasPrefix(c.Name, "MPIX_") {
			fmt.Fprintf(&b, "    k_%s = %s,\n", c.Name, c.Name)
		}
	}
	b.WriteString("    k_last };\n#if MPI_VERSION < 5 || MPI_ANY_TAG >= 0 || !MPI_ERR_LASTCODE\n#error\n#endif\n")
	dir := t.TempDir()
	file := filepath.Join(dir, "enum.c")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	execute(t, dir, "gcc", "-std=c11", "-pedantic-errors", "-I"+root(t), "-fsyntax-only", file)
}
