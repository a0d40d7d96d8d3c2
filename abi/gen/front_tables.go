package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// The constants of the ABIs that abi/front has: abi/front/mpich.tsv and openmpi.tsv, facts taken from the headers that
// programs are compiled with. A value is a number, or "&SYMBOL:SIZE", the address of a data symbol.

// frontGroup is a group of constants: what a parameter of that role may be. Bits are combined with or.
type frontGroup struct {
	role    string
	bits    bool
	members []string // without MPI_, but with MPIX_
}

var frontGroups = []frontGroup{
	{"rank", false, []string{"ANY_SOURCE", "PROC_NULL", "ROOT", "UNDEFINED"}},
	{"tag", false, []string{"ANY_TAG"}},
	{"compare", false, []string{"IDENT", "CONGRUENT", "SIMILAR", "UNEQUAL"}},
	{"topology", false, []string{"CART", "GRAPH", "DIST_GRAPH", "UNDEFINED"}},
	{"combiner", false, []string{"COMBINER_NAMED", "COMBINER_DUP", "COMBINER_CONTIGUOUS", "COMBINER_VECTOR",
		"COMBINER_HVECTOR", "COMBINER_INDEXED", "COMBINER_HINDEXED", "COMBINER_INDEXED_BLOCK", "COMBINER_HINDEXED_BLOCK",
		"COMBINER_STRUCT", "COMBINER_SUBARRAY", "COMBINER_DARRAY", "COMBINER_F90_REAL", "COMBINER_F90_COMPLEX",
		"COMBINER_F90_INTEGER", "COMBINER_RESIZED", "COMBINER_VALUE_INDEX"}},
	{"order", false, []string{"ORDER_C", "ORDER_FORTRAN"}},
	{"distribution", false, []string{"DISTRIBUTE_NONE", "DISTRIBUTE_BLOCK", "DISTRIBUTE_CYCLIC"}},
	{"argument", false, []string{"DISTRIBUTE_DFLT_DARG"}},
	{"lock", false, []string{"LOCK_EXCLUSIVE", "LOCK_SHARED"}},
	{"assertion", true, []string{"MODE_NOCHECK", "MODE_NOPRECEDE", "MODE_NOPUT", "MODE_NOSTORE", "MODE_NOSUCCEED"}},
	{"amode", true, []string{"MODE_APPEND", "MODE_CREATE", "MODE_DELETE_ON_CLOSE", "MODE_EXCL", "MODE_RDONLY", "MODE_RDWR",
		"MODE_SEQUENTIAL", "MODE_UNIQUE_OPEN", "MODE_WRONLY"}},
	{"thread", false, []string{"THREAD_SINGLE", "THREAD_FUNNELED", "THREAD_SERIALIZED", "THREAD_MULTIPLE"}},
	{"split", false, []string{"COMM_TYPE_SHARED", "COMM_TYPE_HW_UNGUIDED", "COMM_TYPE_HW_GUIDED",
		"COMM_TYPE_RESOURCE_GUIDED", "UNDEFINED"}},
	{"whence", false, []string{"SEEK_CUR", "SEEK_END", "SEEK_SET"}},
	{"typeclass", false, []string{"TYPECLASS_INTEGER", "TYPECLASS_REAL", "TYPECLASS_COMPLEX"}},
	{"keyval", false, []string{"KEYVAL_INVALID", "TAG_UB", "IO", "HOST", "WTIME_IS_GLOBAL", "APPNUM", "LASTUSEDCODE",
		"UNIVERSE_SIZE", "WIN_BASE", "WIN_DISP_UNIT", "WIN_SIZE", "WIN_CREATE_FLAVOR", "WIN_MODEL", "MPIX_FT"}},
	{"flavor", false, []string{"WIN_FLAVOR_CREATE", "WIN_FLAVOR_ALLOCATE", "WIN_FLAVOR_DYNAMIC", "WIN_FLAVOR_SHARED"}},
	{"model", false, []string{"WIN_UNIFIED", "WIN_SEPARATE"}},
	{"displacement", false, []string{"DISPLACEMENT_CURRENT"}},
	{"verbosity", false, []string{"T_VERBOSITY_USER_BASIC", "T_VERBOSITY_USER_DETAIL", "T_VERBOSITY_USER_ALL",
		"T_VERBOSITY_TUNER_BASIC", "T_VERBOSITY_TUNER_DETAIL", "T_VERBOSITY_TUNER_ALL", "T_VERBOSITY_MPIDEV_BASIC",
		"T_VERBOSITY_MPIDEV_DETAIL", "T_VERBOSITY_MPIDEV_ALL"}},
	{"bind", false, []string{"T_BIND_NO_OBJECT", "T_BIND_MPI_COMM", "T_BIND_MPI_DATATYPE", "T_BIND_MPI_ERRHANDLER",
		"T_BIND_MPI_FILE", "T_BIND_MPI_GROUP", "T_BIND_MPI_OP", "T_BIND_MPI_REQUEST", "T_BIND_MPI_WIN", "T_BIND_MPI_MESSAGE",
		"T_BIND_MPI_INFO", "T_BIND_MPI_SESSION"}},
	{"scope", false, []string{"T_SCOPE_CONSTANT", "T_SCOPE_READONLY", "T_SCOPE_LOCAL", "T_SCOPE_GROUP", "T_SCOPE_GROUP_EQ",
		"T_SCOPE_ALL", "T_SCOPE_ALL_EQ"}},
	{"pvarclass", false, []string{"T_PVAR_CLASS_STATE", "T_PVAR_CLASS_LEVEL", "T_PVAR_CLASS_SIZE",
		"T_PVAR_CLASS_PERCENTAGE", "T_PVAR_CLASS_HIGHWATERMARK", "T_PVAR_CLASS_LOWWATERMARK", "T_PVAR_CLASS_COUNTER",
		"T_PVAR_CLASS_AGGREGATE", "T_PVAR_CLASS_TIMER", "T_PVAR_CLASS_GENERIC"}},
	{"safety", false, []string{"T_CB_REQUIRE_NONE", "T_CB_REQUIRE_MPI_RESTRICTED", "T_CB_REQUIRE_THREAD_SAFE",
		"T_CB_REQUIRE_ASYNC_SIGNAL_SAFE"}},
	{"ordering", false, []string{"T_SOURCE_ORDERED", "T_SOURCE_UNORDERED"}},
}

// frontABIs are the ABIs, by the names of their files.
var frontABIs = []string{"mpich", "openmpi"}

// foreign is the value of a constant in another ABI.
type foreign struct {
	number int64
	symbol string // if not empty: the value is its address
	size   string
}

func readForeign(file string) (map[string]foreign, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := map[string]foreign{}
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		name, value, ok := strings.Cut(line, "\t")
		if i == 0 && line == "name\tvalue" {
			continue
		}
		var v foreign
		if symbol, isSymbol := strings.CutPrefix(value, "&"); isSymbol {
			v.symbol, v.size, ok = strings.Cut(symbol, ":")
		} else {
			v.number, err = strconv.ParseInt(value, 0, 64)
		}
		if !ok || err != nil {
			return nil, fmt.Errorf("%s, line %d: %q is not a name and a value", filepath.Base(file), i+1, line)
		}
		all[name] = v
	}
	return all, nil
}

// frontTables is abi/front/z_mpich.h or z_openmpi.h.
func frontTables(constants []table.Constant, of, fortran map[string]foreign, abi string) ([]byte, error) {
	native := map[string]int64{}
	var b strings.Builder
	fmt.Fprintf(&b, "%s/* The constants of %s.tsv beside libimpi's own. */\n\n", generatedLine, abi)
	var handles []table.Constant
	for _, c := range constants {
		if _, isValue := c.CType(); !isValue {
			continue
		}
		v, err := c.Int()
		if err != nil {
			continue // only names of Fortran have none
		}
		native[c.Name] = v
		f, known := of[c.Name]
		switch {
		case strings.HasPrefix(c.Kind, "handle ") && !strings.HasPrefix(c.Kind, "handle MPI_T_") && known:
			handles = append(handles, c)
		case strings.HasPrefix(c.Name, "MPI_MAX_"), c.Name == "MPI_IN_PLACE", c.Name == "MPI_BUFFER_AUTOMATIC",
			c.Name == "MPI_UNWEIGHTED", c.Name == "MPI_WEIGHTS_EMPTY", c.Name == "MPI_STATUS_IGNORE",
			c.Name == "MPI_ERR_LASTCODE", c.Name == "MPI_T_PVAR_ALL_HANDLES", strings.HasPrefix(c.Name, "MPI_THREAD_"),
			c.Name == "MPI_COMBINER_DARRAY", c.Name == "MPI_COMBINER_SUBARRAY", strings.HasPrefix(c.Name, "MPI_T_BIND_"),
			slices.Contains(frontNamed, c.Name):
			fmt.Fprintf(&b, "#define N_%s %d\n", c.Name, v)
			if known && f.symbol == "" {
				fmt.Fprintf(&b, "#define F_%s %d\n", c.Name, f.number)
			}
		}
	}
	frontHandles(&b, handles, of)
	frontFortran(&b, handles, of, fortran)
	for _, g := range frontGroups {
		frontSwitches(&b, g, native, of)
	}
	frontErrors(&b, constants, native, of)
	return []byte(b.String()), nil
}

// frontNamed are more constants that C written by hand names.
var frontNamed = []string{"MPI_SUCCESS", "MPI_UNDEFINED", "MPI_CART", "MPI_GRAPH", "MPI_DIST_GRAPH", "MPI_ERR_NO_MEM",
	"MPI_ERR_OTHER", "MPI_ERR_UNKNOWN", "MPI_ERR_ERRHANDLER", "MPI_ERR_ARG", "MPI_HOST", "MPI_IO", "MPI_LASTUSEDCODE",
	"MPI_WIN_CREATE_FLAVOR", "MPI_WIN_MODEL", "MPI_DISTRIBUTE_DFLT_DARG"}

// frontHandles lists the predefined handles: FRONT_PREDEFINED(X) with X(kind, native value, foreign value), and the
// symbols: FRONT_SYMBOLS(X) with X(symbol, size).
func frontHandles(b *strings.Builder, handles []table.Constant, of map[string]foreign) {
	b.WriteString("\n/* X(kind, in libimpi, there) */\n#define FRONT_PREDEFINED(X)")
	var symbols []string
	for _, c := range handles {
		kind := strings.TrimPrefix(c.Kind, "handle MPI_")
		v, _ := c.Int()
		f := of[c.Name]
		value := fmt.Sprintf("0x%x", uint32(f.number))
		if f.symbol != "" {
			value = "&" + f.symbol
			if s := fmt.Sprintf("X(%s, %s)", f.symbol, f.size); !slices.Contains(symbols, s) {
				symbols = append(symbols, s)
			}
		}
		fmt.Fprintf(b, " \\\n    X(%s, 0x%x, %s)", kind, v, value)
	}
	b.WriteString("\n\n/* X(symbol, size in bytes) */\n#define FRONT_SYMBOLS(X)")
	for _, s := range symbols {
		b.WriteString(" \\\n    " + s)
	}
	b.WriteString("\n")
}

// frontFortran lists the numbers that predefined handles have in Fortran, where they have others than in C:
// FRONT_FORTRAN(X) with X(kind, symbol, number).
func frontFortran(b *strings.Builder, handles []table.Constant, of, fortran map[string]foreign) {
	if fortran == nil {
		return
	}
	b.WriteString("\n/* X(kind, symbol, number in Fortran) */\n#define FRONT_FORTRAN(X)")
	for _, c := range handles {
		if f, known := fortran[c.Name]; known {
			fmt.Fprintf(b, " \\\n    X(%s, %s, %d)", strings.TrimPrefix(c.Kind, "handle MPI_"), of[c.Name].symbol, f.number)
		}
	}
	b.WriteString("\n")
}

// frontSwitches are front_ROLE_in and front_ROLE_out.
func frontSwitches(b *strings.Builder, g frontGroup, native map[string]int64, of map[string]foreign) {
	write := func(way string, from, to func(string) int64) {
		ctype := "int"
		if g.role == "displacement" {
			ctype = "int64_t"
		}
		fmt.Fprintf(b, "\nstatic inline %s front_%s_%s(%s v)\n{\n", ctype, g.role, way, ctype)
		if g.bits {
			b.WriteString("    int to = 0, known = 0;\n")
		} else {
			if g.role == "rank" || g.role == "tag" {
				b.WriteString("    if (__builtin_expect(v >= 0, 1)) return v;\n")
			}
			b.WriteString("    switch (v) {\n")
		}
		var seen []int64
		for _, m := range g.members {
			name := "MPI_" + m
			if strings.HasPrefix(m, "MPIX_") {
				name = m
			}
			if _, known := of[name]; !known || slices.Contains(seen, from(name)) {
				continue
			}
			seen = append(seen, from(name))
			if g.bits {
				fmt.Fprintf(b, "    known |= %d; if (v & %d) to |= %d; /* %s */\n", from(name), from(name), to(name), m)
			} else {
				fmt.Fprintf(b, "    case %d: return %d; /* %s */\n", from(name), to(name), m)
			}
		}
		if g.bits {
			// What is no bit of theirs becomes none of ours.
			b.WriteString("    return v & ~known ? to | 1 << 30 : to;\n}\n")
		} else {
			b.WriteString("    }\n    return v;\n}\n")
		}
	}
	there := func(name string) int64 { return of[name].number }
	here := func(name string) int64 { return native[name] }
	write("in", there, here)
	write("out", here, there)
}

// frontErrors are front_error_in and front_error_out: of classes, and for codes by front_code_in and front_code_out.
func frontErrors(b *strings.Builder, constants []table.Constant, native map[string]int64, of map[string]foreign) {
	write := func(way, otherwise string, swap bool) {
		fmt.Fprintf(b, "\nstatic inline int front_error_%s(int v)\n{\n", way)
		b.WriteString("    if (__builtin_expect(v == 0, 1)) return 0;\n    switch (v) {\n")
		var seen []int64
		for _, c := range constants {
			f, known := of[c.Name]
			if c.Kind != "error class int" || !known || c.Name == "MPI_SUCCESS" || c.Name == "MPI_ERR_LASTCODE" {
				continue
			}
			from, to := f.number, native[c.Name]
			if swap {
				from, to = to, from
			}
			if slices.Contains(seen, from) {
				continue
			}
			seen = append(seen, from)
			fmt.Fprintf(b, "    case %d: return %d; /* %s */\n", from, to, strings.TrimPrefix(c.Name, "MPI_"))
		}
		fmt.Fprintf(b, "    }\n    return %s;\n}\n", otherwise)
	}
	write("in", "front_code_in(v)", false)
	write("out", "front_code_out(v)", true)
}
