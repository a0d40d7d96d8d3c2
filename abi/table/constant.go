package table

import (
	"fmt"
	"strconv"
	"strings"
)

// Constant is one row of constants.tsv or extensions.tsv: a type, a value or a
// callback typedef of the ABI.
type Constant struct {
	Name  string
	Kind  string // as in the table: "int constant", "handle MPI_Comm", "callback typedef", ...
	Value string // as in the table: "0x101", "-2", a C type, ...
	Group string
	Note  string
	Own   bool // from extensions.tsv: the ABI gives no value
}

// CType returns the C type of a value that a program can name, and whether the
// constant is such a value (and not a type, a typedef, or a Fortran name).
func (c Constant) CType() (string, bool) {
	for _, kind := range []string{"handle ", "pointer ", "predefined callback "} {
		if t, ok := strings.CutPrefix(c.Kind, kind); ok && t != "type" {
			return spaceStars(t), true
		}
	}
	switch c.Kind {
	case "preprocessor int", "int constant", "error class int":
		return "int", true
	case "MPI_Offset constant":
		return "MPI_Offset", true
	}
	return "", false
}

// Int returns the numeric value of a constant for which CType reports true.
func (c Constant) Int() (int64, error) {
	v, err := strconv.ParseInt(c.Value, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("constant %s: value %q is not a number", c.Name, c.Value)
	}
	return v, nil
}

func spaceStars(t string) string {
	base := strings.TrimRight(t, "*")
	if base == t {
		return t
	}
	return base + " " + t[len(base):]
}

// ReadConstants merges the ABI's constants with those of libimpi's own. An own
// row takes the place of the ABI's row of that name, which must have no value; names that begin with IMPI_ or MPIX_ are
// new.
func ReadConstants(abiTSV, ownTSV string) ([]Constant, error) {
	abi, err := readConstants(abiTSV)
	if err != nil {
		return nil, err
	}
	own, err := readConstants(ownTSV)
	if err != nil {
		return nil, err
	}
	index := map[string]int{}
	for i, c := range abi {
		index[c.Name] = i
	}
	for _, c := range own {
		c.Own = true
		i, found := index[c.Name]
		if !found && (strings.HasPrefix(c.Name, "IMPI_") || strings.HasPrefix(c.Name, "MPIX_")) {
			abi = append(abi, c)
			continue
		}
		if !found {
			return nil, fmt.Errorf("extensions.tsv: %s is not a name of constants.tsv", c.Name)
		}
		if v := abi[i].Value; v != "no ABI value" && v != "not in the ABI" {
			return nil, fmt.Errorf("extensions.tsv: the ABI fixes %s as %s", c.Name, v)
		}
		abi[i] = c
	}
	return abi, nil
}

func readConstants(tsv string) ([]Constant, error) {
	rows, err := ReadTSV(tsv, "name", "kind", "value", "group", "note")
	if err != nil {
		return nil, err
	}
	var all []Constant
	seen := map[string]bool{}
	for _, r := range rows {
		c := Constant{Name: r[0], Kind: r[1], Value: r[2], Group: r[3], Note: r[4]}
		if seen[c.Name] && c.Kind != "fact" {
			return nil, fmt.Errorf("constant %s appears twice", c.Name)
		}
		seen[c.Name] = true
		if _, ok := c.CType(); ok && c.Value != "no ABI value" && c.Value != "not in the ABI" {
			if _, err := c.Int(); err != nil {
				return nil, err
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// ReadTSV splits a table with a header line; the header must be as expected.
func ReadTSV(text string, columns ...string) ([][]string, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if got, want := lines[0], strings.Join(columns, "\t"); got != want {
		return nil, fmt.Errorf("header is %q, want %q", got, want)
	}
	var rows [][]string
	for n, line := range lines[1:] {
		row := strings.Split(line, "\t")
		if len(row) != len(columns) {
			return nil, fmt.Errorf("line %d: %d columns, want %d", n+2, len(row), len(columns))
		}
		rows = append(rows, row)
	}
	return rows, nil
}
