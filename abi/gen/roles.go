package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// What the arguments of a call are for whoever records calls (gobridge/observe): which of them is the peer, how many
// elements it sends, and so on. It follows from the functions' names and their parameters'.

// recorded is a row of the table: what is 0 is left out of the text.
type recorded struct {
	what, flags    string
	sent, received string         // how much data there is: see the header
	args           map[string]int // the number of an argument, from 1
}

// fields are the arguments that the recorder knows, and the parameters that they are, the first that there is.
var fields = []struct {
	name   string
	params []string
}{
	{"buffer", []string{"sendbuf"}}, {"into", []string{"recvbuf"}},
	{"count", []string{"sendcount", "sendcounts", "origin_count", "count"}},
	{"type", []string{"sendtype", "sendtypes", "origin_datatype", "datatype"}},
	{"rcount", []string{"recvcount", "recvcounts", "result_count", "count"}},
	{"rtype", []string{"recvtype", "recvtypes", "result_datatype", "datatype"}},
	{"parts", []string{"partitions"}},
	{"dest", []string{"dest", "target_rank"}}, {"source", []string{"source"}},
	{"tag", []string{"sendtag", "tag"}}, {"rtag", []string{"recvtag", "tag"}},
	{"root", []string{"root"}}, {"op", []string{"op"}}, {"offset", []string{"offset"}},
	{"request", []string{"request"}}, {"requests", []string{"array_of_requests"}}, {"message", []string{"message"}},
	{"status", []string{"status", "array_of_statuses"}}, {"flag", []string{"flag"}},
	{"outcount", []string{"outcount"}}, {"index", []string{"index", "indx", "array_of_indices"}},
}

// volumes are how much a collective operation sends and receives.
var volumes = map[string][2]string{
	"Bcast": {"ONE | AT_ROOT", "ONE | ELSEWHERE"}, "Gather": {"ONE", "EACH | AT_ROOT"},
	"Gatherv": {"ONE", "LIST | AT_ROOT"}, "Scatter": {"EACH | AT_ROOT", "ONE"}, "Scatterv": {"LIST | AT_ROOT", "ONE"},
	"Allgather": {"ONE", "EACH"}, "Allgatherv": {"ONE", "LIST"}, "Alltoall": {"EACH", "EACH"},
	"Alltoallv": {"LIST", "LIST"}, "Alltoallw": {"LIST | TYPES", "LIST | TYPES"},
	"Reduce": {"ONE", "ONE | AT_ROOT"}, "Allreduce": {"ONE", "ONE"}, "Scan": {"ONE", "ONE"}, "Exscan": {"ONE", "ONE"},
	"Reduce_scatter_block": {"EACH | RECEIVED", "ONE"}, "Reduce_scatter": {"LIST | RECEIVED", "MINE"},
	"Neighbor_allgather": {"ONE", "EACH | NEIGHBORS"}, "Neighbor_allgatherv": {"ONE", "LIST | NEIGHBORS"},
	"Neighbor_alltoall":  {"EACH | NEIGHBORS", "EACH | NEIGHBORS"},
	"Neighbor_alltoallv": {"LIST | NEIGHBORS", "LIST | NEIGHBORS"},
	"Neighbor_alltoallw": {"LIST | NEIGHBORS | TYPES", "LIST | NEIGHBORS | TYPES"}, "Barrier": {"0", "0"},
}

// endings are the calls that complete requests or start persistent ones.
var endings = map[string]string{"Wait": "END_ONE", "Test": "END_ONE", "Waitall": "END_ALL", "Testall": "END_ALL",
	"Waitany": "END_ANY", "Testany": "END_ANY", "Waitsome": "END_SOME", "Testsome": "END_SOME", "Start": "START_ONE",
	"Startall": "START_ALL", "Mrecv": "MATCHED", "Imrecv": "MATCHED"}

// recordedAs says what a call is. f.Name of a large form is that of the small one.
func recordedAs(f table.Function) recorded {
	name := strings.TrimSuffix(f.Short(), "_c")
	r := recorded{args: map[string]int{}}
	params := map[string]int{}
	for i, p := range f.Params {
		params[p.Name] = i + 1
		for field, t := range map[string]string{"comm": "MPI_Comm", "win": "MPI_Win", "file": "MPI_File"} {
			if p.Type == t && p.Class == table.Handle && r.args[field] == 0 {
				r.args[field] = i + 1
			}
		}
	}
	base := strings.TrimSuffix(name, "_init")
	begins := base != name
	if plain := blockingForm(base); plain != base {
		base, begins = plain, true
		r.flags = "IMPI_NONBLOCKING"
	} else if begins {
		r.flags = "IMPI_PERSISTENT"
	}
	volume, collective := volumes[base]
	use := func(names ...string) {
		for _, f := range fields {
			for _, p := range f.params {
				if slices.Contains(names, f.name) && params[p] > 0 {
					r.args[f.name] = params[p]
					break
				}
			}
		}
	}
	switch what := endings[name]; {
	case what != "":
		r.what = what
		use("request", "requests", "message", "status", "flag", "outcount", "index", "count")
		if n := params["incount"]; n > 0 {
			r.args["count"] = n
		}
		if name == "Mrecv" || name == "Imrecv" {
			use("count", "type")
		}
	case collective && r.args["comm"] > 0:
		r.what, r.sent, r.received = "COLLECTIVE", volume[0], volume[1]
		use("buffer", "into", "count", "type", "rcount", "rtype", "root", "op", "request")
	case strings.HasSuffix(base, "robe"):
		r.what = "PROBE"
		use("source", "tag", "message", "status", "flag")
	case r.args["comm"] > 0 && params["dest"]+params["source"] > 0 && params["tag"]+params["sendtag"] > 0:
		r.what = "MESSAGE"
		use("count", "type", "parts", "dest", "source", "tag", "rtag", "request", "status")
		if params["source"] > 0 {
			use("rcount", "rtype")
		}
		r.flags = joined(r.flags, modes(base))
	case r.args["win"] > 0 && params["target_rank"] > 0 && params["origin_addr"] > 0:
		r.what = "ONE_SIDED"
		use("count", "type", "dest", "request")
		r.flags = map[bool]string{true: "IMPI_PUT"}[!strings.Contains(base, "et")]
		if strings.Contains(base, "et") || strings.Contains(base, "Fetch") || strings.Contains(base, "Compare") {
			r.flags = "IMPI_GET"
		}
		if base != "Get" && base != "Rget" && r.flags == "IMPI_GET" {
			r.flags = "IMPI_GET | IMPI_PUT"
		}
	case r.args["file"] > 0 && (strings.HasPrefix(base, "File_read") || strings.HasPrefix(base, "File_write") ||
		strings.HasPrefix(base, "File_iread") || strings.HasPrefix(base, "File_iwrite")) && params["count"] > 0:
		r.what = "FILE"
		use("count", "type", "offset", "request")
		if r.flags = "IMPI_PUT"; strings.Contains(base, "read") {
			r.flags = "IMPI_GET"
		}
	}
	if !begins && r.what != "FILE" && r.what != "ONE_SIDED" && endings[name] == "" {
		delete(r.args, "request")
	}
	return r
}

// blockingForm returns the blocking form's name of a nonblocking operation.
func blockingForm(name string) string {
	rest, ok := strings.CutPrefix(name, "I")
	if !ok || rest == "" {
		return name
	}
	plain := strings.ToUpper(rest[:1]) + rest[1:]
	_, collective := volumes[plain]
	if collective || strings.HasSuffix(rest, "send") || strings.HasSuffix(rest, "recv") ||
		strings.HasPrefix(rest, "sendrecv") || strings.HasSuffix(rest, "probe") {
		return plain
	}
	return name
}

// modes are the flags of a way to send.
func modes(base string) string {
	switch base {
	case "Ssend":
		return "IMPI_SYNCHRONOUS"
	case "Bsend":
		return "IMPI_BUFFERED"
	case "Rsend":
		return "IMPI_READY"
	case "Psend", "Precv":
		return "IMPI_PARTITIONED"
	}
	return ""
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " | " + b
}

const rolesTop = `/* Code generated by abi/gen; DO NOT EDIT. */
/* What calls do, for record.c. */

/* The work of a call; 0: another. */
enum { MESSAGE = 1, PROBE, COLLECTIVE, ONE_SIDED, FILE, MATCHED, END_ONE, END_ALL, END_ANY, END_SOME, START_ONE,
    START_ALL };

/* How much data there is: the count, the count for each process, the sum of a list of counts, the process's own of
 * the list; at the root alone, or elsewhere; for each neighbor; with a type for each; by what the receive has. */
enum { ONE = 1, EACH, LIST, MINE, HOW = 7, AT_ROOT = 8, ELSEWHERE = 16, NEIGHBORS = 32, TYPES = 64, RECEIVED = 128 };

/* What a call's arguments are, by number, from 1; 0: it has none. */
struct role {
    uint8_t what, flags, sent, received, wide; /* wide: counts have 64 bits */
    uint8_t buffer, into, count, type, rcount, rtype, parts, dest, source, tag, rtag, root, op, offset;
    uint8_t request, requests, message, status, flag, outcount, index, comm, win, file;
};

`

// rolesHeader is the table for C.
func rolesHeader(functions []table.Function) []byte {
	var b bytes.Buffer
	b.WriteString(rolesTop)
	b.WriteString("static const struct role roles[IMPI_CALLS] = {\n")
	for _, f := range numbered(functions) {
		r := recordedAs(f)
		var list []string
		text := func(name, value string) {
			if value != "" && value != "0" {
				list = append(list, "."+name+" = "+value)
			}
		}
		text("what", r.what)
		text("flags", r.flags)
		text("sent", r.sent)
		text("received", r.received)
		if strings.HasSuffix(f.Name, "_c") {
			text("wide", "1")
		}
		var names []string
		for n := range r.args {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			text(n, fmt.Sprint(r.args[n]))
		}
		if len(list) > 0 {
			b.WriteString(wrap("    [IMPI_CALL_"+f.Short()+"] = {", strings.Join(list, ", "), "},"))
		}
	}
	b.WriteString("};\n")
	return b.Bytes()
}
