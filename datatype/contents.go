package datatype

import "github.com/libimpi/libimpi/abi"

// An arg is a group of constructor arguments in the order of the MPI standard's lists for
// MPI_Type_get_contents (MPI 5.0, 5.1.13). Which array a value appears in depends on its class and on
// whether the type came from a _c constructor: there counts and addresses are all large counts.
type arg struct {
	class  argClass
	values []int64
}

type argClass uint8

const (
	argInt argClass = iota
	argCount
	argAddress
)

func ints(v ...int64) arg      { return arg{argInt, v} }
func counts(v ...int64) arg    { return arg{argCount, v} }
func addresses(v ...int64) arg { return arg{argAddress, v} }

// Contents is the answer of MPI_Type_get_contents(_c); the lengths of its lists are that of
// MPI_Type_get_envelope(_c). Types are those given to the constructor. LBMarker and UBMarker may be among them.
type Contents struct {
	Combiner    int
	Large       bool // made by a _c constructor: MPI_Type_get_envelope must fail if LargeCounts is not empty
	Integers    []int64
	Addresses   []int64
	LargeCounts []int64
	Types       []*Type
}

// AsLarge marks t, just made and not yet in use, as the result of a _c constructor. It returns t.
func (t *Type) AsLarge() *Type {
	t.large = true
	return t
}

// Contents tells how t was made. A predefined type has no contents. The lists are the caller's.
func (t *Type) Contents() Contents {
	c := Contents{Combiner: t.combiner, Large: t.large}
	if t.combiner == abi.MPI_COMBINER_NAMED {
		return c
	}
	for _, a := range t.arguments() {
		switch {
		case a.class == argInt, a.class == argCount && !t.large:
			c.Integers = append(c.Integers, a.values...)
		case t.large:
			c.LargeCounts = append(c.LargeCounts, a.values...)
		default:
			c.Addresses = append(c.Addresses, a.values...)
		}
	}
	if c.Types = append(c.Types, t.olds...); t.argType != nil {
		c.Types = append(c.Types, t.argType)
	}
	return c
}

func (t *Type) arguments() []arg {
	n := int64(len(t.disps))
	switch t.combiner {
	case abi.MPI_COMBINER_CONTIGUOUS:
		return []arg{counts(t.blocklen)}
	case abi.MPI_COMBINER_VECTOR:
		return []arg{counts(t.count, t.blocklen, t.stride)}
	case abi.MPI_COMBINER_HVECTOR:
		return []arg{counts(t.count, t.blocklen), addresses(t.stride)}
	case abi.MPI_COMBINER_INDEXED:
		return []arg{counts(n), {argCount, t.lens}, {argCount, t.disps}}
	case abi.MPI_COMBINER_HINDEXED, abi.MPI_COMBINER_STRUCT:
		return []arg{counts(n), {argCount, t.lens}, {argAddress, t.disps}}
	case abi.MPI_COMBINER_INDEXED_BLOCK:
		return []arg{counts(n, t.blocklen), {argCount, t.disps}}
	case abi.MPI_COMBINER_HINDEXED_BLOCK:
		return []arg{counts(n, t.blocklen), {argAddress, t.disps}}
	case abi.MPI_COMBINER_RESIZED:
		return []arg{addresses(t.lb, t.extent())}
	}
	return t.args
}
