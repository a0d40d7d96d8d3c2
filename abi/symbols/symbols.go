// Package symbols compares what a shared library exports with the functions of
// the MPI binding: each as a strong PMPI_X and a weak MPI_X, and nothing else.
package symbols

import (
	"debug/elf"
	"errors"
	"fmt"
	"sort"

	"github.com/libimpi/libimpi/abi/table"
)

// Compare reads the dynamic symbols of library. The error names every symbol
// that is missing, too many, or of another kind.
func Compare(library string, functions []table.Function) error {
	file, err := elf.Open(library)
	if err != nil {
		return err
	}
	defer file.Close()
	list, err := file.DynamicSymbols()
	if err != nil {
		return fmt.Errorf("%s: %w", library, err)
	}
	want := map[string]elf.SymBind{}
	for _, f := range functions {
		want[f.Name] = elf.STB_WEAK
		want["P"+f.Name] = elf.STB_GLOBAL
	}
	var problems []error
	for _, s := range list {
		if s.Section == elf.SHN_UNDEF {
			continue // imported
		}
		binding, known := want[s.Name]
		delete(want, s.Name)
		switch got, kind := elf.ST_BIND(s.Info), elf.ST_TYPE(s.Info); {
		case !known:
			problems = append(problems, fmt.Errorf("%s is exported and is no MPI function", s.Name))
		case kind != elf.STT_FUNC || got != binding:
			problems = append(problems, fmt.Errorf("%s is %v %v, want %v STT_FUNC", s.Name, got, kind, binding))
		}
	}
	for name := range want {
		problems = append(problems, fmt.Errorf("%s is missing", name))
	}
	sort.Slice(problems, func(i, j int) bool { return problems[i].Error() < problems[j].Error() })
	return errors.Join(problems...)
}
