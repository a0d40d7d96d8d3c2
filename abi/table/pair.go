package table

import "fmt"

// Difference says how a parameter of MPI_X differs from the one of the same
// name in MPI_X_c.
type Difference int

const (
	Same          Difference = iota // same type
	Retyped                         // same 64 bits under another name: MPI_Aint, MPI_Count
	WiderValue                      // int became 64 bits, by value
	WiderArray                      // array of int became an array of 64-bit integers
	WiderOutput                     // *int became an output of 64 bits
	WiderPosition                   // the same, read and written: the position of pack and unpack
	OtherCallback                   // a callback type with 64-bit counts
	OnlyLarge                       // MPI_X has no such parameter
)

var differenceNames = [...]string{"same", "retyped", "wider value", "wider array", "wider output",
	"wider position", "other callback", "only in the large form"}

func (d Difference) String() string { return differenceNames[d] }

// Compare lists, for each parameter of large, how small differs. The parameters
// of small must be those of large, in the same order, but for parameters that
// only large has. A difference of any other kind is an error.
func Compare(small, large Function) ([]Difference, error) {
	if small.Result != large.Result || small.Variadic || large.Variadic {
		return nil, fmt.Errorf("%s and %s: results differ, or variadic", small.Name, large.Name)
	}
	var diffs []Difference
	i := 0
	for _, l := range large.Params {
		if i == len(small.Params) || small.Params[i].Name != l.Name {
			diffs = append(diffs, OnlyLarge)
			continue
		}
		d, ok := compareParams(small.Params[i], l)
		if !ok {
			return nil, fmt.Errorf("%s and %s: %q and %q differ in an unknown way",
				small.Name, large.Name, small.Params[i].Decl(), l.Decl())
		}
		diffs = append(diffs, d)
		i++
	}
	if i != len(small.Params) {
		return nil, fmt.Errorf("%s: %q has no counterpart in %s", small.Name, small.Params[i].Decl(), large.Name)
	}
	return diffs, nil
}

var wideTypes = map[string]bool{"MPI_Count": true, "MPI_Aint": true, "MPI_Offset": true}

func compareParams(s, l Param) (Difference, bool) {
	if s == l {
		return Same, true
	}
	sameShape := s.Const == l.Const && s.Stars == l.Stars && s.Dims == l.Dims
	if !sameShape {
		return 0, false
	}
	scalar := s.Stars == 0 && s.Dims == ""
	output := s.Stars == 1 && s.Dims == "" && !s.Const
	array := s.Stars == 0 && s.Dims == "[]" && s.Const
	switch {
	case wideTypes[s.Type] && wideTypes[l.Type] && (scalar || output || array):
		return Retyped, true
	case s.Type == "int" && wideTypes[l.Type] && scalar:
		return WiderValue, true
	case s.Type == "int" && wideTypes[l.Type] && array:
		return WiderArray, true
	case s.Type == "int" && wideTypes[l.Type] && output && s.Name == "position":
		return WiderPosition, true
	case s.Type == "int" && wideTypes[l.Type] && output:
		return WiderOutput, true
	case output && l.Type == s.Type+"_c" && s.Class == Pointer && !wideTypes[l.Type]:
		return OtherCallback, true
	}
	return 0, false
}
