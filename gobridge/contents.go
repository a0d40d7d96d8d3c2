package main

import "C"

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

// How a datatype was made (MPI 5.0, 5.1.13), its name, and packing (5.2, 5.3).

//export impi_Type_get_envelope
func impi_Type_get_envelope(datatype, num_integers, num_addresses, num_large_counts,
	num_datatypes, combiner uintptr, wide int32) int32 {
	k, t := typeQuery("MPI_Type_get_envelope", datatype)
	k.result(num_integers, "num_integers")
	k.result(num_addresses, "num_addresses")
	if wide != 0 {
		k.result(num_large_counts, "num_large_counts")
	}
	k.result(num_datatypes, "num_datatypes")
	k.result(combiner, "combiner")
	if k.err != nil {
		return k.fail()
	}
	c := t.Contents()
	if len(c.LargeCounts) > 0 && wide == 0 {
		k.set(abi.MPI_ERR_TYPE, "the datatype was made with large counts: use MPI_Type_get_envelope_c")
		return k.fail()
	}
	put(num_integers, int64(len(c.Integers)))
	put(num_addresses, int64(len(c.Addresses)))
	put(num_datatypes, int64(len(c.Types)))
	if num_large_counts != 0 {
		put(num_large_counts, int64(len(c.LargeCounts)))
	}
	put(combiner, int32(c.Combiner))
	return 0
}

//export impi_Type_get_contents
func impi_Type_get_contents(datatype uintptr, max_integers, max_addresses, max_large_counts, max_datatypes int64,
	array_of_integers, array_of_addresses, array_of_large_counts, array_of_datatypes uintptr, wide int32) int32 {
	k, t := typeQuery("MPI_Type_get_contents", datatype)
	if k.err != nil {
		return k.fail()
	}
	c := t.Contents()
	switch {
	case c.Combiner == abi.MPI_COMBINER_NAMED:
		k.set(abi.MPI_ERR_TYPE, "the datatype is predefined and has no contents")
	case len(c.LargeCounts) > 0 && wide == 0:
		k.set(abi.MPI_ERR_TYPE, "the datatype was made with large counts: use MPI_Type_get_contents_c")
	case int64(len(c.Integers)) > max_integers, int64(len(c.Addresses)) > max_addresses,
		int64(len(c.Types)) > max_datatypes,
		wide != 0 && int64(len(c.LargeCounts)) > max_large_counts:
		k.set(abi.MPI_ERR_ARG,
			"room for %d integers, %d addresses, %d large counts and %d datatypes; %d, %d, %d and %d are needed",
			max_integers, max_addresses, max_large_counts, max_datatypes, len(c.Integers), len(c.Addresses),
			len(c.LargeCounts), len(c.Types))
	}
	k.array(array_of_integers, len(c.Integers), "array_of_integers")
	k.array(array_of_addresses, len(c.Addresses), "array_of_addresses")
	k.array(array_of_large_counts, len(c.LargeCounts), "array_of_large_counts")
	k.array(array_of_datatypes, len(c.Types), "array_of_datatypes")
	if k.err != nil {
		return k.fail()
	}
	for i, v := range c.Integers {
		slice[int32](array_of_integers, len(c.Integers))[i] = int32(v)
	}
	copy(slice[int64](array_of_addresses, len(c.Addresses)), c.Addresses)
	copy(slice[int64](array_of_large_counts, len(c.LargeCounts)), c.LargeCounts)
	handles := slice[uintptr](array_of_datatypes, len(c.Types))
	for i, t := range c.Types {
		handles[i] = contentHandle(t)
	}
	return 0
}

// contentHandle is a handle for a constructor's argument: a new one for a derived type, which the program frees.
func contentHandle(t *datatype.Type) uintptr {
	switch t {
	case datatype.LBMarker:
		return handleLB
	case datatype.UBMarker:
		return handleUB
	}
	return handleOfType(t)
}

//export impi_Type_get_name
func impi_Type_get_name(datatype, type_name, resultlen uintptr) int32 {
	k, name := check{fn: "MPI_Type_get_name"}, "MPI_DATATYPE_NULL"
	if datatype != abi.MPI_DATATYPE_NULL {
		k, _ = typeQuery(k.fn, datatype)
	}
	k.result(type_name, "type_name")
	k.result(resultlen, "resultlen")
	if k.err != nil {
		return k.fail()
	}
	if datatype != abi.MPI_DATATYPE_NULL {
		name = dataTypeOf(datatype).name
	}
	put(resultlen, int32(putText(type_name, name, abi.MPI_MAX_OBJECT_NAME)))
	return 0
}

//export impi_Type_set_name
func impi_Type_set_name(datatype, type_name uintptr) int32 {
	k, _ := typeQuery("MPI_Type_set_name", datatype)
	k.result(type_name, "type_name")
	if k.err != nil {
		return k.fail()
	}
	t := dataTypeOf(datatype)
	t.name = text(type_name, abi.MPI_MAX_OBJECT_NAME-1)
	t.Rename(t.name)
	return 0
}

//export impi_Get_address
func impi_Get_address(location, address uintptr) int32 {
	k := check{fn: "MPI_Get_address"}
	if k.result(address, "address"); k.err != nil {
		return k.fail()
	}
	put(address, location)
	return 0
}

// packed is the representation that MPI_Pack makes for a communicator: what messages on it
// have. That is external32 without a header on one that spans IMPI clients (IMPI 0.0, 4.1), unless their memories are
// all alike.
func (c *communicator) packed() datatype.Rep {
	if !c.Native() {
		return datatype.External32
	}
	return datatype.Native
}

// pack moves between typed memory and a packed buffer of size bytes from *position on, which it advances.
func (k *check) pack(typed uintptr, count int64, t *datatype.Type, buffer uintptr, size int64, position uintptr,
	rep datatype.Rep, out bool) int32 {
	names := [...]string{"outbuf", "outcount", "insize", "inbuf"}
	if out {
		names = [...]string{"inbuf", "incount", "outsize", "outbuf"}
	}
	k.count(count, names[1])
	k.count(size, names[2])
	k.result(position, "position")
	k.buffer(typed, count, t, names[0])
	if k.err != nil {
		return k.fail()
	}
	at64 := ref[int64](position)
	n := t.PackedSize(count, rep)
	if *at64 < 0 || *at64 > size || n > size-*at64 {
		k.set(abi.MPI_ERR_TRUNCATE, "%d bytes from position %d do not fit the buffer of %d bytes", n, *at64, size)
		return k.fail()
	}
	if n == 0 {
		return 0
	}
	if buffer == 0 {
		k.set(abi.MPI_ERR_BUFFER, "argument %s is NULL, for %d bytes", names[3], size)
		return k.fail()
	}
	var cur datatype.Cursor
	cur.Init(at(typed), count, t, rep)
	bytes := unsafe.Slice((*byte)(unsafe.Add(at(buffer), *at64)), n)
	if out {
		cur.Pack(bytes)
	} else {
		cur.Unpack(bytes)
	}
	if err := cur.Err(); err != nil {
		return k.failed(err)
	}
	*at64 += n
	return 0
}

//export impi_Pack
func impi_Pack(inbuf uintptr, incount int64, datatype, outbuf uintptr, outsize int64,
	position, comm uintptr, wide int32) int32 {
	k := check{fn: "MPI_Pack"}
	if k.comm(comm) == nil {
		return k.fail()
	}
	t := k.typ(datatype, "datatype")
	return k.pack(inbuf, incount, t, outbuf, outsize, position, k.c.packed(), true)
}

//export impi_Unpack
func impi_Unpack(inbuf uintptr, insize int64, position, outbuf uintptr, outcount int64,
	datatype, comm uintptr, wide int32) int32 {
	k := check{fn: "MPI_Unpack"}
	if k.comm(comm) == nil {
		return k.fail()
	}
	t := k.typ(datatype, "datatype")
	return k.pack(outbuf, outcount, t, inbuf, insize, position, k.c.packed(), false)
}

// packedSize is how many bytes so many elements take, MPI_UNDEFINED if 63 bits cannot count them (MPI 5.0, 5.2).
func packedSize(count int64, t *datatype.Type, rep datatype.Rep) int64 {
	if n := t.PackedSize(count, rep); n < math.MaxInt64 {
		return n
	}
	return abi.MPI_UNDEFINED
}

//export impi_Pack_size
func impi_Pack_size(incount int64, datatype, comm, size uintptr) int32 {
	k := check{fn: "MPI_Pack_size"}
	if k.comm(comm) == nil {
		return k.fail()
	}
	k.count(incount, "incount")
	t := k.anyType(datatype, "datatype")
	k.result(size, "size")
	if k.err != nil {
		return k.fail()
	}
	put(size, packedSize(incount, t, k.c.packed()))
	return 0
}

// datarep checks the name of a data representation.
func (k *check) datarep(p uintptr) {
	if k.result(p, "datarep"); k.err != nil {
		return
	}
	if s := text(p, abi.MPI_MAX_DATAREP_STRING); s != "external32" {
		k.set(abi.MPI_ERR_ARG, "argument datarep is %q; only external32 is defined", s)
	}
}

//export impi_Pack_external
func impi_Pack_external(datarep, inbuf uintptr, incount int64, dt, outbuf uintptr, outsize int64,
	position uintptr) int32 {
	k := check{fn: "MPI_Pack_external"}
	if k.notStarted() {
		return k.fail()
	}
	k.datarep(datarep)
	t := k.typ(dt, "datatype")
	return k.pack(inbuf, incount, t, outbuf, outsize, position, datatype.External32, true)
}

//export impi_Unpack_external
func impi_Unpack_external(datarep, inbuf uintptr, insize int64, position, outbuf uintptr, outcount int64,
	dt uintptr) int32 {
	k := check{fn: "MPI_Unpack_external"}
	if k.notStarted() {
		return k.fail()
	}
	k.datarep(datarep)
	t := k.typ(dt, "datatype")
	return k.pack(outbuf, outcount, t, inbuf, insize, position, datatype.External32, false)
}

//export impi_Pack_external_size
func impi_Pack_external_size(datarep uintptr, incount int64, dt, size uintptr) int32 {
	k := check{fn: "MPI_Pack_external_size"}
	if k.notStarted() {
		return k.fail()
	}
	k.datarep(datarep)
	k.count(incount, "incount")
	t := k.anyType(dt, "datatype")
	k.result(size, "size")
	if k.err != nil {
		return k.fail()
	}
	put(size, packedSize(incount, t, datatype.External32))
	return 0
}

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
	forgetCreation(h) // it is no type of the program's
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
