// Package decode puts the arguments of a call of MPI into words, for messages, reports and traces: constants and
// objects by their names, arrays by their first elements.
//
//	a function (abi.Call) and its arguments as 64-bit words, Objects -> Arguments: name and text of each
//
// It reads the program's memory only through Objects, which may refuse: what the program has passed may be wrong.
package decode

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/report"
)

// Objects is what decode needs of the process. Kinds are those of abi.Param: COMMUNICATOR, DATATYPE and so on.
type Objects interface {
	// Name is the name of the object of a handle that is no predefined one; "": it has none, or there is no such object.
	Name(kind string, handle uint64) string
	// Members are how many processes ranks of a communicator, or of that of a window, stand for, and which the caller is;
	// false: there is no such object.
	Members(kind string, handle uint64) (size, rank int, ok bool)
	// World is the rank in MPI_COMM_WORLD of a rank there; false: it has none.
	World(kind string, handle uint64, rank int) (int, bool)
	// Read copies memory of the program from an address on, and returns how many bytes there were.
	Read(address uint64, b []byte) int
}

// Most is how many elements of an array are shown, and mostText how many bytes of a string.
const (
	Most     = 8
	mostText = 60
)

// call is a call that is being decoded.
type call struct {
	abi.Call
	args []uint64
	o    Objects
}

// Arguments are the arguments of a call, in order.
func Arguments(c abi.Call, args []uint64, o Objects) (list []report.Arg) {
	d := call{c, args, o}
	for i := range min(len(c.Params), len(args)) {
		list = append(list, report.Arg{Name: c.Params[i].Name, Text: d.text(i)})
	}
	return list
}

// On describes the communicator, window or file of a call: its name, and how many processes it has; "" if there is
// none.
func On(c abi.Call, args []uint64, o Objects) string {
	d := call{c, args, o}
	for _, kind := range []string{"COMMUNICATOR", "WINDOW", "FILE"} {
		i := d.first(kind)
		if i < 0 {
			continue
		}
		h, ok := d.handle(i)
		size, rank, known := o.Members(kind, h)
		if !ok || !known {
			return ""
		}
		name := d.object(kind, h)
		switch {
		case strings.Contains(name, " of size"): // it has no name
			return fmt.Sprintf("%s: this is rank %d", name, rank)
		case size == 1:
			return fmt.Sprintf("%s: 1 process, this is rank %d", name, rank)
		}
		return fmt.Sprintf("%s: %d processes, this is rank %d", name, size, rank)
	}
	return ""
}

// Peer is the rank in MPI_COMM_WORLD of the process that the call names as its peer; false if it names none.
func Peer(c abi.Call, args []uint64, o Objects) (int, bool) {
	d := call{c, args, o}
	for i := range min(len(c.Params), len(args)) {
		switch p := c.Params[i]; p.Name {
		case "dest", "source", "target_rank":
			if !p.Out && p.Length == "" {
				return d.world(int(int32(args[i])))
			}
		}
	}
	return 0, false
}

// first is the first parameter of a kind that has a handle; -1: there is none.
func (d call) first(kind string) int {
	for i := range min(len(d.Params), len(d.args)) {
		if p := d.Params[i]; p.Kind == kind && p.In && p.Length == "" {
			return i
		}
	}
	return -1
}

// handle is the handle that an argument is, or points to.
func (d call) handle(i int) (uint64, bool) {
	if !d.Params[i].Out {
		return d.args[i], true
	}
	return d.word(d.args[i], 8)
}

// world is the rank in MPI_COMM_WORLD of a rank in the call's communicator, or window.
func (d call) world(rank int) (int, bool) {
	for _, kind := range []string{"COMMUNICATOR", "WINDOW"} {
		if i := d.first(kind); i >= 0 {
			if h, ok := d.handle(i); ok {
				return d.o.World(kind, h, rank)
			}
		}
	}
	return 0, false
}

// text puts one argument into words.
func (d call) text(i int) string {
	p, v := d.Params[i], d.args[i]
	if name := special(p, v); name != "" {
		return name
	}
	switch k := kinds[base(p.Kind)]; {
	case p.Kind == "STRING" && !p.Out:
		return d.quoted(v)
	case k.form == address || p.Kind == "":
		return pointer(v)
	case p.Length != "" && p.In:
		return d.list(i)
	case p.Out && !p.In, p.Length != "":
		return pointer(v)
	case p.Out:
		size := d.size(p.Kind)
		word, ok := d.word(v, size)
		if !ok {
			return pointer(v)
		}
		return "&" + d.value(p.Kind, word)
	default:
		return d.value(p.Kind, v)
	}
}

// special is the name of an address that stands for something else.
func special(p abi.Param, v uint64) string {
	switch {
	case p.Kind == "BUFFER" && v == abi.MPI_IN_PLACE && p.Name != "buffer_addr":
		return "MPI_IN_PLACE"
	case p.Kind == "STATUS" && p.Out && v == 0 && p.Length != "":
		return "MPI_STATUSES_IGNORE"
	case p.Kind == "STATUS" && p.Out && v == 0:
		return "MPI_STATUS_IGNORE"
	case p.Kind == "ERROR_CODE" && p.Length != "" && v == 0:
		return "MPI_ERRCODES_IGNORE"
	case p.Kind == "WEIGHT" && v == abi.MPI_UNWEIGHTED:
		return "MPI_UNWEIGHTED"
	case p.Kind == "WEIGHT" && v == abi.MPI_WEIGHTS_EMPTY:
		return "MPI_WEIGHTS_EMPTY"
	}
	return ""
}

func pointer(v uint64) string {
	if v == 0 {
		return "NULL"
	}
	return fmt.Sprintf("%#x", v)
}

// value puts one value of a kind into words.
func (d call) value(kind string, v uint64) string {
	switch k := kinds[base(kind)]; k.form {
	case handle:
		return d.object(kind, v)
	case address:
		return pointer(v)
	case truth:
		return map[bool]string{false: "0 (false)", true: strconv.FormatInt(int64(v), 10) + " (true)"}[v != 0]
	case flags:
		return bits(k.group, int64(v))
	case named:
		if name := abi.ConstantName(k.group, int64(v)); name != "" && (k.only == "" || k.only == name) {
			return name
		}
	case rank:
		if int64(v) < 0 {
			if name := abi.ConstantName(abi.Ranks, int64(v)); name != "" {
				return name
			}
		} else if w, ok := d.world(int(int64(v))); ok && w != int(int64(v)) {
			return fmt.Sprintf("%d (rank %d of MPI_COMM_WORLD)", int64(v), w)
		}
	}
	return strconv.FormatInt(int64(v), 10)
}

// object is the object of a handle.
func (d call) object(kind string, h uint64) string {
	if name := abi.HandleName(h); name != "" {
		return name
	}
	if name := d.o.Name(kind, h); name != "" {
		return name
	}
	if h == 0 {
		return "0" // as a variable that was never set may be
	}
	return pointer(h)
}

// bits are the names of a set of flags.
func bits(group string, v int64) string {
	var names []string
	for bit := int64(1); bit <= v && bit > 0; bit <<= 1 {
		if v&bit == 0 {
			continue
		}
		name := abi.ConstantName(group, bit)
		if name == "" {
			return strconv.FormatInt(v, 10)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return strconv.FormatInt(v, 10)
	}
	return strings.Join(names, "|")
}

// list is the elements of an array that goes into the call.
func (d call) list(i int) string {
	p, at := d.Params[i], d.args[i]
	n := d.length(p)
	if n < 0 || at == 0 {
		return pointer(at)
	}
	var texts []string
	size := d.size(p.Kind)
	for k := range min(n, Most) {
		word, ok := d.word(at+uint64(k*size), size)
		if !ok {
			return pointer(at) + ", which is not all memory"
		}
		texts = append(texts, d.value(p.Kind, word))
	}
	if n > Most {
		texts = append(texts, fmt.Sprintf("... %d in all", n))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// length is how many elements an array has; -1: that is not known, or it has none at this process.
func (d call) length(p abi.Param) int {
	if p.Length == "[n, 3]" {
		if n := d.length(abi.Param{Length: "n"}); n > 0 {
			return 3 * n
		}
		return -1
	}
	for i := range min(len(d.Params), len(d.args)) {
		if d.Params[i].Name == p.Length {
			return int(int32(d.args[i]))
		}
	}
	comm := d.first("COMMUNICATOR")
	if p.Length != "*" || comm < 0 || !eachRank[p.Name] || strings.Contains(strings.ToLower(d.Name), "neighbor") {
		return -1
	}
	size, self, ok := d.o.Members("COMMUNICATOR", d.args[comm])
	for i := range min(len(d.Params), len(d.args)) {
		if d.Params[i].Name == "root" && int(int32(d.args[i])) != self {
			return -1 // it means something at the root alone
		}
	}
	if !ok {
		return -1
	}
	return size
}

// eachRank are the arrays that have an element for each rank of the call's communicator.
var eachRank = map[string]bool{"sendcounts": true, "recvcounts": true, "displs": true, "sdispls": true, "rdispls": true,
	"sendtypes": true, "recvtypes": true}

// size is that of one value of a kind in memory, in bytes.
func (d call) size(kind string) int {
	switch k := kinds[base(kind)]; {
	case k.form == handle || k.wide, strings.HasPrefix(kind, "POLY") && strings.HasSuffix(d.Name, "_c"):
		return 8
	}
	return 4
}

// word reads a value of so many bytes, as an argument would be.
func (d call) word(at uint64, size int) (uint64, bool) {
	var b [8]byte
	if at == 0 || d.o.Read(at, b[:size]) != size {
		return 0, false
	}
	if size == 4 {
		return uint64(int32(binary.NativeEndian.Uint32(b[:]))), true
	}
	return binary.NativeEndian.Uint64(b[:]), true
}

// quoted is a string of the program.
func (d call) quoted(at uint64) string {
	if at == 0 {
		return "NULL"
	}
	b := make([]byte, mostText+1)
	n := d.o.Read(at, b)
	text, _, ended := strings.Cut(string(b[:n]), "\x00")
	switch {
	case ended:
		return strconv.Quote(text)
	case n == 0:
		return pointer(at) + ", which is no memory"
	}
	return strconv.Quote(text[:min(n, mostText)]) + "..."
}
