package coll

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Arguments that ranks have to give alike, beside those that Call has a place for.

// functions are collective ones that are no operations on data, and neighborhood collectives.
var functions = [...]string{"MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_create", "MPI_Comm_split",
	"MPI_Comm_split_type", "MPI_Comm_disconnect", "MPI_Intercomm_create", "MPI_Intercomm_merge", "MPI_Cart_create",
	"MPI_Cart_sub", "MPI_Graph_create", "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent", "MPI_Comm_spawn",
	"MPI_Comm_spawn_multiple", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Win_create", "MPI_Win_allocate",
	"MPI_Win_allocate_shared", "MPI_Win_create_dynamic", "MPI_Win_free", "MPI_Win_fence", "MPI_Finalize",
	"MPI_File_open", "MPI_File_close", "MPI_File_set_info", "MPI_File_set_view", "MPI_File_set_size",
	"MPI_File_preallocate", "MPI_File_set_atomicity", "MPI_File_seek_shared", "MPI_File_sync",
	"MPI_File_read_all", "MPI_File_write_all", "MPI_File_read_at_all", "MPI_File_write_at_all",
	"MPI_File_iread_all", "MPI_File_iwrite_all", "MPI_File_iread_at_all", "MPI_File_iwrite_at_all",
	"MPI_File_read_ordered", "MPI_File_write_ordered",
	"MPI_File_read_all_begin", "MPI_File_write_all_begin", "MPI_File_read_at_all_begin", "MPI_File_write_at_all_begin",
	"MPI_File_read_ordered_begin", "MPI_File_write_ordered_begin",
	"MPI_File_read_all_end", "MPI_File_write_all_end", "MPI_File_read_at_all_end", "MPI_File_write_at_all_end",
	"MPI_File_read_ordered_end", "MPI_File_write_ordered_end",
	"MPI_Neighbor_allgather", "MPI_Neighbor_allgatherv", "MPI_Neighbor_alltoall", "MPI_Neighbor_alltoallv",
	"MPI_Neighbor_alltoallw", "MPI_Ineighbor_allgather", "MPI_Ineighbor_allgatherv", "MPI_Ineighbor_alltoall",
	"MPI_Ineighbor_alltoallv", "MPI_Ineighbor_alltoallw", "MPI_Neighbor_allgather_init",
	"MPI_Neighbor_allgatherv_init", "MPI_Neighbor_alltoall_init", "MPI_Neighbor_alltoallv_init",
	"MPI_Neighbor_alltoallw_init"}

// Function is the Routine of a collective function that is none of the operations above.
func Function(name string) Routine {
	return Routine(len(routineNames) + slices.Index(functions[:], name))
}

// Value is an argument of a call, or what is to be the same in one.
type Value struct {
	Arg   string // in the words of a message
	Class int    // of the error if ranks differ
	word  int64
	text  string // what the word is a hash of; "": a number
	flag  bool   // the word is 0 for false, and 1
}

// mostValues bounds those of a call.
const mostValues = 5

// anything is the word of a value that agrees with every other.
const anything = math.MinInt64

// Number is an argument that is a number.
func Number(arg string, class int, n int64) Value { return Value{Arg: arg, Class: class, word: n} }

// Anything is an argument for which a rank may pass what it likes, while others have to agree.
func Anything(arg string, class int) Value { return Number(arg, class, anything) }

// Flag is an argument that is true or false.
func Flag(arg string, class int, on bool) Value {
	v := Value{Arg: arg, Class: class, flag: true}
	if on {
		v.word = 1
	}
	return v
}

// On reports whether a flag is true.
func (v *Value) On() bool { return v.flag && v.word != 0 }

// Text is an argument that is told in words.
func Text(arg string, class int, text string) Value {
	h := fnv.New64a()
	io.WriteString(h, text)
	return Value{Arg: arg, Class: class, word: int64(h.Sum64() >> 1), text: "(" + text + ")"}
}

// List is an argument that is a list.
func List[T any](arg string, class int, list []T) Value {
	v := Text(arg, class, fmt.Sprint(list))
	v.text = fmt.Sprint(list)
	return v
}

// values compares the values.
func (v *verification) values() error {
	if v.call.Alike != nil {
		return v.valuesAmong()
	}
	for i := range v.call.Values {
		first := -1
		for r := range v.c.Size() {
			switch word := v.said(r)[wordValues+i]; {
			case word == anything:
			case first < 0:
				first = r
			case word != v.said(first)[wordValues+i]:
				return v.unlike(i, first, r)
			}
		}
	}
	if v.call.Paired {
		return v.pairs()
	}
	return nil
}

// valuesAmong is values where only some ranks have to agree: each looks at those that it has named.
func (v *verification) valuesAmong() error {
	p := v.c.Size()
	verdicts := make([]int64, p+1)
	verdicts[p] = -1
	for r := p - 1; r >= 0; r-- {
		if !v.call.Alike(r) {
			continue
		}
		for i, a := range v.call.Values {
			if v.said(r)[wordValues+i] != a.word {
				verdicts[p] = int64(r*mostValues + i)
			}
		}
	}
	if err := Allgather(v.c, Numbers(verdicts[p:]), perRank(Numbers(verdicts[:p]), p)); err != nil {
		return err
	}
	return v.c.Then(func() error {
		for r, found := range verdicts[:p] {
			if other, i := int(found)/mostValues, int(found)%mostValues; found >= 0 && other < p && i < len(v.call.Values) {
				return v.unlike(i, r, other)
			}
		}
		return nil
	})
}

// textBytes is how much of a text is told.
const textBytes = 96

// unlike is the error of ranks a and b, which differ in value i.
func (v *verification) unlike(i, a, b int) error {
	val := v.call.Values[i]
	texts := [2][]byte{make([]byte, textBytes), make([]byte, textBytes)}
	for n, r := range [2]int{a, b} {
		switch word := v.said(r)[wordValues+i]; {
		case val.flag:
			copy(texts[n], fmt.Sprint(word != 0))
		case val.text == "":
			copy(texts[n], fmt.Sprint(word))
		default:
			copy(texts[n], shortened(val.text))
			if err := Bcast(v.c, Bytes(texts[n]), r); err != nil {
				return err
			}
		}
	}
	return v.c.Then(func() error {
		return v.found(&Error{Class: val.Class, Msg: v.title() + fmt.Sprintf("%s is %s on rank %d, and %s on rank %d",
			val.Arg, printable(texts[0]), a, printable(texts[1]), b)})
	})
}

// shortened is the beginning of a text that is too long to be told.
func shortened(text string) string {
	if len(text) <= textBytes {
		return text
	}
	return text[:textBytes-3] + "..."
}

// printable is a text that another rank has told.
func printable(text []byte) string {
	end := slices.Index(text, 0)
	if end < 0 {
		end = len(text)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(string(text[:end]), "?"))
}

// kind is the handle of the basic type that all of a buffer's elements have, 0 if there is none.
func kind(b Buf) int64 {
	if b.Type == nil || b.Count <= 0 || b.Type.Uniform() == nil {
		return 0
	}
	return int64(b.Type.Uniform().Handle())
}

// elements are so many bytes of a basic type in words.
func elements(kind, bytes int64) string {
	if t := datatype.Named(int(kind)); t != nil && t.Size() > 0 && kind != 0 {
		return fmt.Sprintf("%d %s", bytes/t.Size(), t.Name())
	}
	return "elements of several types"
}

// operators are the names of the predefined operations.
var operators = map[int64]string{abi.MPI_SUM: "MPI_SUM", abi.MPI_MIN: "MPI_MIN", abi.MPI_MAX: "MPI_MAX",
	abi.MPI_PROD: "MPI_PROD", abi.MPI_BAND: "MPI_BAND", abi.MPI_BOR: "MPI_BOR", abi.MPI_BXOR: "MPI_BXOR",
	abi.MPI_LAND: "MPI_LAND", abi.MPI_LOR: "MPI_LOR", abi.MPI_LXOR: "MPI_LXOR", abi.MPI_MINLOC: "MPI_MINLOC",
	abi.MPI_MAXLOC: "MPI_MAXLOC", abi.MPI_REPLACE: "MPI_REPLACE", abi.MPI_NO_OP: "MPI_NO_OP",
	-1: "a commutative one of the program", -2: "one of the program that does not commute"}

// opName is what number has answered, in words.
func opName(n int64) string {
	if name, ok := operators[n]; ok {
		return name
	}
	return "none"
}
