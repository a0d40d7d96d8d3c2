package datatype

import "github.com/libimpi/libimpi/abi"

// Substitute is t made again, by the same calls of constructors, of other types in the place of the predefined ones: so
// is the layout of a type found in a file whose basic elements have other sizes than in memory (MPI 5.0, 14.5.1).
// Counts, strides and displacements in elements keep their meaning, and those in bytes their value.
//
// basic answers what stands for a predefined type; nil for a pair such as MPI_DOUBLE_INT: then it is its value,
// followed without a gap by its index. MPI_LB and MPI_UB stay. basic is called once for each type, and an error of its
// own is passed on. It takes time in proportion to the type's lists; a type of which nothing changes is answered
// itself, and a new one is not committed.
func (t *Type) Substitute(basic func(named *Type) (*Type, error)) (*Type, error) {
	s := substitution{basic, map[*Type]*Type{}}
	return s.of(t)
}

type substitution struct {
	basic func(*Type) (*Type, error)
	known map[*Type]*Type // parts may be used on every level
}

func (s *substitution) of(t *Type) (*Type, error) {
	if t == LBMarker || t == UBMarker {
		return t, nil
	}
	if known := s.known[t]; known != nil {
		return known, nil
	}
	made, err := s.made(t)
	if err == nil {
		s.known[t] = made
	}
	return made, err
}

func (s *substitution) made(t *Type) (*Type, error) {
	switch {
	case t.handle != 0:
		return s.named(t)
	case t.form == formFields:
		return s.fields(t)
	case t.argType == nil: // MPI_Type_create_f90_real and its like
		return s.of(t.old)
	}
	old, err := s.of(t.argType)
	if err != nil || old == t.argType {
		return t, err
	}
	return t.again(old)
}

func (s *substitution) named(t *Type) (*Type, error) {
	made, err := s.basic(t)
	if made != nil || err != nil || t.form != formFields {
		return made, err
	}
	value, err := s.of(t.olds[0])
	if err != nil {
		return nil, err
	}
	index, err := s.of(t.olds[1])
	if err != nil {
		return nil, err
	}
	return Struct([]int64{1, 1}, []int64{0, value.extent()}, []*Type{value, index})
}

func (s *substitution) fields(t *Type) (*Type, error) {
	olds, same := make([]*Type, len(t.olds)), true
	for i, old := range t.olds {
		var err error
		if olds[i], err = s.of(old); err != nil {
			return nil, err
		}
		same = same && olds[i] == old
	}
	if same {
		return t, nil
	}
	return Struct(t.lens, t.disps, olds)
}

// again is the constructor of t, called with another type.
func (t *Type) again(old *Type) (*Type, error) {
	switch t.combiner {
	case abi.MPI_COMBINER_CONTIGUOUS:
		return Contiguous(t.blocklen, old)
	case abi.MPI_COMBINER_VECTOR:
		return Vector(t.count, t.blocklen, t.stride, old)
	case abi.MPI_COMBINER_HVECTOR:
		return Hvector(t.count, t.blocklen, t.stride, old)
	case abi.MPI_COMBINER_INDEXED:
		return Indexed(t.lens, t.disps, old)
	case abi.MPI_COMBINER_HINDEXED:
		return Hindexed(t.lens, t.disps, old)
	case abi.MPI_COMBINER_INDEXED_BLOCK:
		return IndexedBlock(t.blocklen, t.disps, old)
	case abi.MPI_COMBINER_HINDEXED_BLOCK:
		return HindexedBlock(t.blocklen, t.disps, old)
	case abi.MPI_COMBINER_RESIZED:
		return Resized(old, t.lb, t.extent())
	case abi.MPI_COMBINER_SUBARRAY:
		a := t.args
		return Subarray(a[1].values, a[2].values, a[3].values, int(a[4].values[0]), old)
	case abi.MPI_COMBINER_DARRAY:
		a := t.args
		return Darray(a[0].values[0], a[0].values[1], a[1].values, a[2].values, a[3].values, a[4].values,
			int(a[5].values[0]), old)
	}
	return Dup(old), nil
}

// Opaque is a basic type of so many bytes, which are moved as they are: what stands for one whose form in a file is not
// known here. Elements of it are counted like those of any other. It is no type for messages: its signature is that of
// no type, and elsewhere it is so many of MPI_BYTE.
func Opaque(size int64) *Type {
	t := &Type{combiner: abi.MPI_COMBINER_NAMED, units: 1, shape: newShape()}
	t.size, t.size32, t.elems = size, size, 1
	t.data, t.hi, t.end, t.ub = true, size, size, size
	t.uniform = t
	t.Commit()
	return t
}

// opaque tells types made by Opaque from the markers, which have no elements.
func (t *Type) opaque() bool { return t.form == formBasic && t.handle == 0 && t.elems == 1 }
