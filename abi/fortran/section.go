package main

import (
	"fmt"
	"strings"
)

// Choice buffers. mpi_f08 passes descriptors: a buffer that is not contiguous is described by a datatype over its
// elements where a count and a datatype say what the call does with it, else copied for the time of a blocking call.

// buffer is a choice buffer.
func (e *entry) buffer(i int, a Argument, all []Argument) {
	if !e.section {
		e.pass("void *"+a.Name, fmt.Sprintf("buffer_in(%s)", a.Name))
		return
	}
	e.params = append(e.params, "struct descriptor *"+a.Name)
	switch n, ok := e.pair(i, a, all); {
	case ok:
		e.described(a, all[n], all[n+1], n)
	case e.fixed():
		e.values = append(e.values, fmt.Sprintf("whole_in(%s)", a.Name))
	case a.Flags["asynchronous"] || e.persistent():
		if !e.refuses {
			e.refuses = true
			e.before = append(e.before, "int refused = 0;")
		}
		e.before = append(e.before, fmt.Sprintf("void *c_%s = contiguous_in(%[1]s, &refused);", a.Name))
		e.values = append(e.values, "c_"+a.Name)
	default:
		e.copied(a)
	}
}

// described has a datatype describe the buffer.
func (e *entry) described(a, count, datatype Argument, n int) {
	s := "s_" + a.Name
	e.before = append(e.before, fmt.Sprintf("struct section %s = section_in(%s, *%s, Datatype_in(*%s));", s, a.Name,
		count.Name, datatype.Name))
	e.values = append(e.values, s+".base")
	e.paired[n], e.paired[n+1] = s+".count", s+".datatype"
	e.after = append(e.after, fmt.Sprintf("section_end(&%s);", s))
	e.sections = append(e.sections, s)
}

// copied has a copy stand for a buffer that is not contiguous.
func (e *entry) copied(a Argument) {
	e.room = true
	e.before = append(e.before, fmt.Sprintf("void *c_%s = copy_in(&room, %[1]s);", a.Name))
	e.values = append(e.values, "c_"+a.Name)
	if a.Dir != "in" {
		e.after = append(e.after, fmt.Sprintf("copy_out(%s, c_%[1]s);", a.Name))
	}
}

// pair finds the count and the datatype that say what the call does with a buffer: all[n] and all[n+1].
func (e *entry) pair(i int, a Argument, all []Argument) (n int, ok bool) {
	name := strings.ToLower(e.p.Name)
	each := strings.Contains(name, "alltoall") || // a block for each process
		strings.Contains(name, "gather") && a.Name == "recvbuf" || strings.Contains(name, "scatter") && a.Name == "sendbuf"
	shared := i > 0 && all[i-1].Kind == "BUFFER" // one count for two buffers
	if each || shared || strings.Contains(name, "partition") || strings.HasPrefix(name, "mpi_p") && strings.HasSuffix(name, "_init") {
		return 0, false
	}
	for n = i + 1; n+1 < len(all); n++ {
		if all[n].Kind == "BUFFER" || all[n].Length != "" {
			return 0, false
		}
		if strings.Contains(all[n].Kind, "XFER_NUM_ELEM") {
			return n, all[n+1].Kind == "DATATYPE" && all[n+1].Length == ""
		}
	}
	return 0, false
}

// fixed reports whether the call is about the memory itself, as windows and attached buffers are.
func (e *entry) fixed() bool {
	for _, part := range []string{"Get_address", "Win_", "_attach", "Free_mem"} {
		if strings.Contains(e.p.Name, part) {
			return true
		}
	}
	return false
}

func (e *entry) persistent() bool { return strings.HasSuffix(e.p.Name, "_init") }
