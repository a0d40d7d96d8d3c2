package fortran

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The entries of a front (abi/front) are those of libimpi's own library, compiled with a header that has the types and
// values of the ABI that the front has, and linked with the front's functions of C.

// target is the library whose entries are written.
type target struct {
	integer int    // bytes of an INTEGER
	front   string // "": libimpi's own; mpich, openmpi
}

// absent reports whether a front has no such procedure: those that are about the ABI of MPI 5.0.
func (t target) absent(p Procedure) bool {
	return t.front != "" && strings.HasPrefix(p.Name, "MPI_Abi_")
}

// descriptors reports whether mpi_f08 passes descriptors: the modules of Open MPI pass addresses.
func (t target) descriptors() bool { return t.front != "openmpi" }

// extension reports whether there are names of an extension: Open MPI 4 has persistent collective operations as MPIX_.
func (t target) extension(p Procedure) bool {
	return t.front == "openmpi" && p.C.Collective && strings.HasSuffix(p.Name, "_init")
}

// large reports whether there is an entry for large counts.
func (t target) large(p Procedure) bool {
	return p.Large != nil && t.front != "openmpi"
}

var define = regexp.MustCompile(`^#define (MPIX?_\w+)\s+(?:\(\(([^()]*)\)[^()]*\)|\(?-?\w+\)?)(?:\s|$)`)

// frontTypes are the types of an ABI.
var frontTypes = map[string]string{
	"mpich": "int count_low, count_high, MPI_SOURCE, MPI_TAG, MPI_ERROR;",
	"openmpi": "int MPI_SOURCE, MPI_TAG, MPI_ERROR, marks;\n" +
		"    size_t bytes;",
}

// addresses are constants of MPICH that are variables.
var addresses = []string{"MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"}

// frontHeader is mpi.h and mpix.h with the types and values of a front's ABI. Constants that the ABI has not are not in
// it.
func frontHeader(root, front string) (string, error) {
	dir := filepath.Join(root, "abi", "front")
	rows, err := readTable(filepath.Join(dir, front+".tsv"), "name", "value")
	if err != nil {
		return "", err
	}
	values := map[string]string{}
	for _, r := range rows {
		values[r[0]] = r[1]
	}
	var text strings.Builder
	for _, name := range []string{"mpi.h", "mpix.h"} {
		header, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		text.WriteString(strings.Replace(string(header), "#include \"mpi.h\"\n", "", 1))
	}
	var b strings.Builder
	inStatus := false
	for line := range strings.Lines(text.String()) {
		switch {
		case strings.HasPrefix(line, "typedef struct MPI_Status {"):
			inStatus = true
			fmt.Fprintf(&b, "#include <stddef.h>\n%s    %s\n", line, frontTypes[front])
		case inStatus && !strings.HasPrefix(line, "}"):
		case inStatus:
			inStatus = false
			b.WriteString(line)
		case front == "mpich" && strings.HasPrefix(line, "typedef struct MPI_ABI_") && !strings.Contains(line, "ABI_File") &&
			!strings.Contains(line, "ABI_T_"):
			name := line[strings.Index(line, "*")+1:]
			b.WriteString("typedef int " + name)
		default:
			b.WriteString(frontLine(line, front, values))
		}
	}
	if front == "openmpi" {
		if rows, err = readTable(filepath.Join(dir, front+"_fortran.tsv"), "name", "value"); err != nil {
			return "", err
		}
	}
	handleValues(&b, text.String(), rows)
	return b.String(), nil
}

// handleValues lists the values of predefined handles in Fortran: FORTRAN_HANDLES(X) with X(name, value). Rows may be
// about other constants, too: header says what is a handle, or has no such name.
func handleValues(b *strings.Builder, header string, rows [][]string) {
	isHandle := map[string]bool{}
	for _, m := range handleDefine.FindAllStringSubmatch(header, -1) {
		isHandle[m[1]] = true
	}
	b.WriteString("\n#define FORTRAN_HANDLES(X)")
	for _, r := range rows {
		if isHandle[r[0]] || !strings.Contains(header, "#define "+r[0]+" ") {
			fmt.Fprintf(b, " \\\n    X(%s, %s)", strings.ToLower(strings.TrimPrefix(r[0], "MPI_")), r[1])
		}
	}
	b.WriteString("\n")
}

var handleDefine = regexp.MustCompile(
	`(?m)^#define (MPI_\w+)\s+\(\(MPI_(?:Comm|Datatype|Errhandler|File|Group|Info|Message|Op|Request|Session|Win)\)`)

// frontLine is a line of mpi.h with the value that a constant has in another ABI.
func frontLine(line, front string, values map[string]string) string {
	m := define.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	name, cast := m[1], m[2]
	value, known := values[name]
	if front == "mpich" && slices.Contains(addresses, name) {
		return fmt.Sprintf("extern int *const %s;\n", name)
	}
	symbol, isSymbol := strings.CutPrefix(value, "&")
	switch {
	case isSymbol:
		symbol, _, _ = strings.Cut(symbol, ":")
		return fmt.Sprintf("extern char %s[];\n#define %s ((%s)%[1]s)\n", symbol, name, cast)
	case known && cast != "":
		return fmt.Sprintf("#define %s ((%s)(intptr_t)%s)\n", name, cast, value)
	case known:
		return fmt.Sprintf("#define %s (%s)\n", name, value)
	}
	return ""
}
