package main

import "C"

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

// Sections of arrays, as Fortran's mpi_f08 passes them (abi/fortran): a buffer that is not contiguous is its first
// address with a datatype that Fortran's library asks for here, instead of the program's, and frees when it likes. It
// looks for impi_section when it is loaded; other MPI libraries have none.

// section is what only such a datatype has.
type section struct {
	of    uintptr        // the program's datatype
	recv  *datatype.Type // of the second of two buffers
	wrong *libimpi.Error // what the call that uses it has to say; nil: nothing
}

// impi_section returns the handle of a datatype that lays another one over sections: a number of buffers, one or two,
// and of each the bytes of an element, the number of dimensions, and of each of these the number of elements and the
// bytes from one to the next. A buffer without dimensions is contiguous. From count 0 on the datatype is one of so many
// elements over the only buffer; below 0, any number of elements of it is. If nothing can be made of the datatype it is
// returned, so that the call finds what is wrong with it.
//
//export impi_section
func impi_section(layout uintptr, count int64, oldtype uintptr) uintptr {
	if started() == nil {
		return oldtype
	}
	d, ok := usable(oldtype)
	if d == nil || !ok {
		return oldtype
	}
	made := &dataType{Type: d.Type, section: &section{of: oldtype}}
	buffers, words := *ref[int64](layout), layout+8
	made.over(&made.Type, &words)
	if buffers > 1 {
		made.section.recv = d.Type
		made.over(&made.section.recv, &words)
	}
	if count >= 0 && made.section.wrong == nil {
		made.one(count)
	}
	if made.section != nil && made.section.wrong != nil {
		made.Type = datatype.Dup(d.Type) // not committed: C leaves the call to Go
	}
	h := addType(made)
	switch e, _ := shownType(h); {
	case e == nil:
		return oldtype
	case buffers > 1: // C would take the first for both
		atomic.AndUint32(flagsOf(e), ^uint32(planned))
	}
	return h
}

// over lays a type over the section that words describe, and goes on behind them.
func (d *dataType) over(t **datatype.Type, words *uintptr) {
	head := slice[int64](*words, 2)
	elem, dims := head[0], make([]datatype.Side, head[1])
	for i, w := range slice[[2]int64](*words+16, len(dims)) {
		dims[i] = datatype.Side{N: w[0], Stride: w[1]}
	}
	*words += 16 + uintptr(16*len(dims))
	view, err := datatype.View(datatype.Sectioned(elem, dims), *t)
	if err != nil {
		d.section.wrong = libimpi.AsError(err)
		return
	}
	*t = view
}

// one makes so many elements of a view one element of an ordinary type.
func (d *dataType) one(count int64) {
	if d.section.wrong = beyond(d.Type, count); d.section.wrong == nil {
		d.Type, _ = d.Laid(count)
		d.section = nil
	}
}

// beyond returns what is wrong with so many elements of a view; nil: they are all in its section.
func beyond(t *datatype.Type, count int64) *libimpi.Error {
	if !t.IsView() || count <= 0 || t.Size() == 0 {
		return nil
	}
	if lo, hi, room := t.Reach(count); lo < 0 || hi > room {
		return libimpi.Errorf(abi.MPI_ERR_BUFFER, "%d elements of the datatype take bytes %d to %d of a section of an array "+
			"that has %d bytes", count, lo, hi, room)
	}
	return nil
}

// bothTypes looks up the datatypes of two buffers that share an argument, and the program's datatype.
func (k *check) bothTypes(h uintptr, arg string) (send, recv *datatype.Type, of uintptr) {
	switch d := k.dataType(h, arg); {
	case d == nil:
		return nil, nil, h
	case d.section == nil || d.section.recv == nil:
		return d.Type, d.Type, h
	default:
		return d.Type, d.section.recv, d.section.of
	}
}

// fits refuses elements that are not in the section.
func (k *check) fits(t *datatype.Type, count int64, arg string) {
	if k.err != nil || t == nil || !t.IsView() {
		return
	}
	if err := beyond(t, count); err != nil {
		k.set(err.Class, "argument %s: %s", arg, err.Text)
	}
}
