package main

import (
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// The types of so many digits (MPI 5.0, 19.1.9). They are predefined, if without a name: the same arguments give the
// same handle, which is never freed.

type f90Args struct {
	combiner int
	p, r     int32 // an integer has no p
}

type f90Table struct {
	sync.Mutex
	handles map[f90Args]uintptr
	types   map[*datatype.Type]uintptr
}

var f90Types = f90Table{handles: map[f90Args]uintptr{}, types: map[*datatype.Type]uintptr{}}

// of returns the handle that belongs to some arguments.
func (f *f90Table) of(args f90Args) (uintptr, error) {
	f.Lock()
	defer f.Unlock()
	if h := f.handles[args]; h != 0 {
		return h, nil
	}
	t, err := args.make()
	if err != nil {
		return 0, err
	}
	h := addType(&dataType{Type: t, fixed: true})
	f.handles[args], f.types[t] = h, h
	return h, nil
}

func (a f90Args) make() (*datatype.Type, error) {
	switch a.combiner {
	case abi.MPI_COMBINER_F90_REAL:
		return datatype.F90Real(int(a.p), int(a.r))
	case abi.MPI_COMBINER_F90_COMPLEX:
		return datatype.F90Complex(int(a.p), int(a.r))
	}
	return datatype.F90Integer(int(a.r))
}

// handle is that of a type which is one of these, 0 if it is none.
func (f *f90Table) handle(t *datatype.Type) uintptr {
	f.Lock()
	defer f.Unlock()
	return f.types[t]
}
