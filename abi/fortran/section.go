package main

import (
	"fmt"
	"slices"
	"strings"
)

// Choice buffers. mpi_f08 passes descriptors: a buffer that is not contiguous is described by a datatype over its
// elements, in the place of the one that the program gives (library/section.c). It depends on the buffer which:
//
//	count elements           one element of a datatype, with the count in it
//	a block for each process elements of a datatype, as many as counts and displacements say
//	and a datatype for each  the same of each datatype
//	two of one datatype      a reduction's: one datatype that knows both
//	memory                   none, as in MPI_Win_create: the address of its first element
//
// Where nothing says what is in a buffer, as in MPI_Pack, it is copied for the time of the call.

// buffer is a choice buffer.
func (e *entry) buffer(i int, a Argument, all []Argument) {
	switch {
	case !e.section:
		e.pass("void *"+a.Name, fmt.Sprintf("buffer_in(%s)", a.Name))
		return
	case e.second == a.Name:
		e.pass("struct descriptor *"+a.Name, e.sections[0]+".base[1]")
		return
	case e.fixed():
		e.pass("struct descriptor *"+a.Name, fmt.Sprintf("whole_in(%s)", a.Name))
		return
	}
	e.params = append(e.params, "struct descriptor *"+a.Name)
	s := "s_" + a.Name
	e.values = append(e.values, s+".base[0]")
	n, datatype := described(i, all)
	if datatype > 0 && all[datatype].Length != "" {
		e.blocks[datatype] = a
		e.sections = append(e.sections, s)
		return
	}
	second, count, handle, copies := "NULL", "-1", "MPI_DATATYPE_NULL", e.mayCopy(a)
	if datatype > 0 {
		handle = fmt.Sprintf("Datatype_in(*%s)", all[datatype].Name)
		e.paired[datatype] = s + ".datatype"
	} else {
		copies = "ALWAYS"
	}
	switch {
	case e.shares(i, all):
		e.second = all[i+1].Name
		second = e.second
	case n > 0 && !e.perProcess(a):
		count = "*" + all[n].Name
		e.paired[n] = s + ".count"
	}
	args := strings.Join([]string{a.Name, second, count, handle, copies}, ", ")
	e.before = append(e.before, fmt.Sprintf("struct section %s = section_in(%s);", s, args))
	e.after = append(e.after, fmt.Sprintf("section_end(&%s);", s))
	e.sections = append(e.sections, s)
}

// blocksOf has each of an array of datatypes describe the blocks of a buffer, whose section is made when the array is
// there.
func (e *entry) blocksOf(a, types Argument) {
	args := fmt.Sprintf("c_%s, %s", types.Name, e.length(types))
	e.before = append(e.before, fmt.Sprintf("struct section s_%s = blocks_in(%[1]s, %s, %s);", a.Name, args, e.mayCopy(a)))
	e.after = append(e.after, fmt.Sprintf("blocks_end(&s_%s, %s, %s);", a.Name, types.Name, args))
}

// described finds the arguments that say what is in a buffer: a count, if one number does, and a datatype; 0: none.
func described(i int, all []Argument) (count, datatype int) {
	for n := i + 1; n < len(all); n++ {
		switch a := all[n]; {
		case a.Kind == "BUFFER" && n > i+1:
			return 0, 0
		case a.Kind == "DATATYPE":
			return count, n
		case a.Length == "" && strings.Contains(a.Kind, "NUM_ELEM"):
			count = n
		}
	}
	return 0, 0
}

// shares reports whether the next argument is a buffer of the same datatype.
func (e *entry) shares(i int, all []Argument) bool {
	return i+1 < len(all) && all[i+1].Kind == "BUFFER"
}

// perProcess reports whether the count of a buffer is that of a block, of which there are several.
func (e *entry) perProcess(a Argument) bool {
	name := strings.ToLower(e.p.Name)
	return strings.Contains(name, "alltoall") || strings.Contains(name, "psend") || strings.Contains(name, "precv") ||
		strings.Contains(name, "gather") && a.Name == "recvbuf" || strings.Contains(name, "scatter") && a.Name == "sendbuf"
}

// mayCopy says whether the call may have a copy of a buffer: the operation ends with it.
func (e *entry) mayCopy(a Argument) string {
	if a.Flags["asynchronous"] || strings.HasSuffix(e.p.Name, "_init") {
		return "NEVER"
	}
	return "MAY"
}

// fixed reports whether the call is about the memory itself, as windows and attached buffers are, or about its first
// element, or knows the buffer from another call.
func (e *entry) fixed() bool {
	return slices.ContainsFunc(strings.Fields("Get_address Win_ _attach Free_mem Fetch_and_op Compare_and_swap _end"),
		func(part string) bool { return strings.Contains(e.p.Name, part) })
}
