package coll

import (
	"fmt"
	"strings"

	"github.com/libimpi/libimpi/abi"
)

// Verification (Traff's thesis, chapter 11): before an operation moves data, all ranks tell what they are about to do,
// and compare. All of them get the same error if something differs.
//
// Each rank says the same number of words (allgather); where data goes between pairs of ranks in different amounts,
// each tells each other how much it sends (alltoall), and whether that is what it expects from the others (allgather).
// Only an error costs more: arguments that are lists are told by hashes, and what they are is fetched for the message.

// Routine is a collective operation, as verification names it.
type Routine uint8

// The operations.
const (
	OpBarrier Routine = iota
	OpBcast
	OpGather
	OpGatherv
	OpScatter
	OpScatterv
	OpAllgather
	OpAllgatherv
	OpAlltoall
	OpAlltoallv
	OpAlltoallw
	OpReduce
	OpAllreduce
	OpReduceScatter
	OpReduceScatterBlock
	OpScan
	OpExscan
	OpNeighbors
)

var routineNames = [...]string{"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather",
	"allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
	"scan", "exscan", "neighborhood collective"}

// String is the operation's name.
func (r Routine) String() string { return routineNames[r] }

// Rooted reports whether one of the ranks has a part of its own in the operation.
func (r Routine) Rooted() bool {
	switch r {
	case OpBcast, OpGather, OpGatherv, OpScatter, OpScatterv, OpReduce:
		return true
	}
	return false
}

// Form is how an operation is called for.
type Form uint8

// The forms.
const (
	Blocking Form = iota
	Nonblocking
	Persistent
)

// Name is how the program calls an operation.
func (f Form) Name(o Routine) string {
	if n := int(o) - len(routineNames); n >= 0 {
		if n < len(functions) {
			return functions[n]
		}
		return "an unknown operation"
	}
	name := routineNames[o]
	switch {
	case f == Nonblocking:
		return "MPI_I" + name
	case f == Persistent:
		return "MPI_" + strings.ToUpper(name[:1]) + name[1:] + "_init"
	}
	return "MPI_" + strings.ToUpper(name[:1]) + name[1:]
}

// Call is what a rank says of its call.
type Call struct {
	Routine Routine
	Form    Form
	Root    int
	Op      Op
	Equal   Buf  // data of the same signature at all ranks; of no type if there is none
	InPlace bool // MPI_IN_PLACE, where all ranks have to pass it if one does

	// Other arguments, at most mostValues. Alike reports which ranks have to give the same ones; nil: all.
	Values []Value
	Alike  func(rank int) bool

	// Data that goes from rank to rank, where amounts may differ: what goes to each rank, and what comes from each. Nil,
	// or NoBuf for a rank: none.
	Out, In func(rank int) Buf
	Paired  bool // at some rank one of them is not nil

	// In a neighborhood collective data goes along edges instead.
	Edges          *Edges
	OutAt, InAt    *Blocks
	Given, Expects func(rank int) (hash, amount int64) // edges of a new graph, by the rank at the other end

	// Across says that the ranks are one group of an intercommunicator: one of them passes MPI_ROOT and all others
	// MPI_PROC_NULL, or all the same rank. RootAt becomes the rank of the former, or -1 minus the latter. Verify does not
	// answer what they do not agree on: it leaves it in Differs, since the other group has to be told.
	Across  bool
	RootAt  int64
	Differs error
}

// NoBuf stands for data that does not go between two ranks at all.
func NoBuf() Buf { return Buf{Count: -1} }

// The words that a rank says.
const (
	wordRoutine = iota
	wordForm
	wordRoot
	wordOp
	wordBytes
	wordHash
	wordKind
	wordInPlace
	wordValues
	words = wordValues + mostValues
)

// verification is a call that is compared with those of the other ranks.
type verification struct {
	c     Comm
	name  string // of the communicator
	call  *Call
	table []int64
}

// Verify compares the calls of all ranks of c. It is to be the first thing that an operation does. name is that of the
// communicator, or of the window or file.
func Verify(c Comm, name string, call *Call) error {
	v := &verification{c: &shifted{c, tagVerify}, name: name, call: call}
	p := c.Size()
	v.table = make([]int64, words*(p+1))
	mine := v.table[words*p:]
	mine[wordRoutine], mine[wordForm], mine[wordRoot] = int64(call.Routine), int64(call.Form), int64(call.Root)
	mine[wordOp] = number(call.Op)
	mine[wordHash], mine[wordBytes] = signed(call.Equal)
	mine[wordKind] = kind(call.Equal)
	if call.InPlace {
		mine[wordInPlace] = 1
	}
	for i, a := range call.Values {
		mine[wordValues+i] = a.word
	}
	if err := Allgather(v.c, Numbers(mine), perRank(Numbers(v.table[:words*p]), p)); err != nil {
		return err
	}
	return c.Then(v.compare)
}

// found ends a comparison with what ranks do not agree on.
func (v *verification) found(err error) error {
	if !v.call.Across {
		return err
	}
	v.call.Differs = err
	return nil
}

func (v *verification) said(rank int) []int64 { return v.table[words*rank : words*(rank+1)] }

// title begins a message about the call that all ranks make.
func (v *verification) title() string {
	return fmt.Sprintf("%s on %s: ", v.call.Form.Name(v.call.Routine), v.name)
}

// compare compares what all have said. All ranks find the same, and go on alike.
func (v *verification) compare() error {
	p := v.c.Size()
	for r := 1; r < p; r++ {
		if err := v.sameCall(v.said(0), v.said(r), r); err != nil {
			return v.found(err)
		}
	}
	if err := v.roots(); err != nil {
		return v.found(err)
	}
	for r := 1; r < p; r++ {
		if err := v.sameData(v.said(0), v.said(r), r); err != nil {
			return v.found(err)
		}
	}
	switch {
	case len(v.call.Values) > 0:
		return v.values()
	case v.call.Edges != nil:
		return v.edges()
	case v.call.Paired:
		return v.pairs()
	}
	return nil
}

// sameCall compares which operation ranks 0 and r call.
func (v *verification) sameCall(a, b []int64, r int) error {
	if a[wordRoutine] == b[wordRoutine] && a[wordForm] == b[wordForm] {
		return nil
	}
	of := func(w []int64) string { return Form(w[wordForm]).Name(Routine(w[wordRoutine])) }
	return &Error{Class: abi.MPI_ERR_OTHER, Msg: fmt.Sprintf("on %s, rank 0 calls %s and rank %d calls %s", v.name, of(a),
		r, of(b))}
}

// roots compares the roots.
func (v *verification) roots() error {
	fail := func(format string, args ...any) error {
		return &Error{Class: abi.MPI_ERR_ROOT, Msg: v.title() + fmt.Sprintf(format, args...)}
	}
	root, first := -1, v.said(0)[wordRoot]
	for r := range v.c.Size() {
		switch said := v.said(r)[wordRoot]; {
		case v.call.Across && said == abi.MPI_ROOT && root >= 0:
			return fail("ranks %d and %d both give MPI_ROOT", root, r)
		case v.call.Across && said == abi.MPI_ROOT:
			root = r
		}
	}
	for r := range v.c.Size() {
		switch said := v.said(r)[wordRoot]; {
		case r == root || root >= 0 && said == abi.MPI_PROC_NULL:
		case root >= 0:
			return fail("rank %d gives MPI_ROOT, and rank %d gives %d", root, r, said)
		case said != first:
			return fail("the root is %d on rank 0, and %d on rank %d", first, said, r)
		}
	}
	if v.call.RootAt = int64(root); root < 0 {
		v.call.RootAt = -1 - first
	}
	return nil
}

// sameData compares the operators and the data of ranks 0 and r.
func (v *verification) sameData(a, b []int64, r int) error {
	fail := func(class int, format string, args ...any) error {
		return &Error{Class: class, Msg: v.title() + fmt.Sprintf(format, args...)}
	}
	bytes := a[wordBytes]
	switch {
	case a[wordOp] != b[wordOp]:
		return fail(abi.MPI_ERR_OP, "the operation is %s on rank 0, and %s on rank %d", opName(a[wordOp]), opName(b[wordOp]),
			r)
	case a[wordInPlace] > b[wordInPlace]:
		return fail(abi.MPI_ERR_BUFFER, "rank 0 passes MPI_IN_PLACE, and rank %d does not", r)
	case a[wordInPlace] < b[wordInPlace]:
		return fail(abi.MPI_ERR_BUFFER, "rank %d passes MPI_IN_PLACE, and rank 0 does not", r)
	case bytes != b[wordBytes]:
		return fail(abi.MPI_ERR_COUNT, "rank 0 has %d bytes, and rank %d has %d", bytes, r, b[wordBytes])
	case !matches(a[wordHash], bytes, b[wordHash], bytes):
		return fail(abi.MPI_ERR_TYPE, "rank 0 has %s, and rank %d has %s, both %d bytes", elements(a[wordKind], bytes), r,
			elements(b[wordKind], bytes), bytes)
	}
	return nil
}

// pairs compares what each rank sends to each other with what that one expects.
func (v *verification) pairs() error {
	p, call := v.c.Size(), v.call
	out, in := make([]int64, 2*p), make([]int64, 2*p)
	for r := range p {
		out[2*r], out[2*r+1] = -1, -1
		switch {
		case call.Given != nil:
			out[2*r], out[2*r+1] = call.Given(r)
		case call.Out != nil:
			out[2*r], out[2*r+1] = signed(call.Out(r))
		}
	}
	if err := Alltoall(v.c, perRank(Numbers(out), p), perRank(Numbers(in), p)); err != nil {
		return err
	}
	return v.verdicts(func() (said, want int64, from int) {
		for r := range p {
			hash, amount := int64(-1), int64(-1)
			switch {
			case call.Expects != nil:
				hash, amount = call.Expects(r)
			case call.In != nil:
				hash, amount = signed(call.In(r))
			}
			if in[2*r+1] >= 0 && amount >= 0 && !matches(in[2*r], in[2*r+1], hash, amount) {
				return in[2*r+1], amount, r
			}
		}
		return 0, 0, -1
	})
}

// edges compares what goes along each edge with what its other end expects.
func (v *verification) edges() error {
	call := v.call
	out, in := make([]int64, 2*len(call.Edges.Out)), make([]int64, 2*len(call.Edges.In))
	for i := range call.Edges.Out {
		out[2*i], out[2*i+1] = signed(call.OutAt.At(i))
	}
	two := func(list []int64) *Blocks {
		b := Numbers(list)
		b.Count = 2
		all := Even(b)
		return &all
	}
	if err := Neighbors(v.c, call.Edges, two(out), two(in)); err != nil {
		return err
	}
	return v.verdicts(func() (said, want int64, from int) {
		for i, r := range call.Edges.In {
			if r < 0 {
				continue
			}
			hash, amount := signed(call.InAt.At(i))
			if !matches(in[2*i], in[2*i+1], hash, amount) {
				return in[2*i+1], amount, int(r)
			}
		}
		return 0, 0, -1
	})
}

// verdicts collects from all ranks from which other one something comes that is not what they want, -1 if there is
// none, and in which amounts.
func (v *verification) verdicts(find func() (said, want int64, from int)) error {
	p := v.c.Size()
	all := make([]int64, 3*(p+1))
	mine := all[3*p:]
	if err := v.c.Then(func() error {
		said, want, from := find()
		mine[0], mine[1], mine[2] = int64(from), said, want
		return nil
	}); err != nil {
		return err
	}
	if err := Allgather(v.c, Numbers(mine), perRank(Numbers(all[:3*p]), p)); err != nil {
		return err
	}
	return v.c.Then(func() error {
		for r := range p {
			from, said, want := all[3*r], all[3*r+1], all[3*r+2]
			switch {
			case from < 0:
				continue
			case v.call.Given != nil:
				return &Error{Class: abi.MPI_ERR_TOPOLOGY, Msg: v.title() + fmt.Sprintf("rank %d gives %d edges to rank %d, which "+
					"gives %d from it, or their weights differ", from, said, r, want)}
			}
			return &Error{Class: abi.MPI_ERR_TYPE, Msg: v.title() + fmt.Sprintf("what rank %d sends to rank %d is not what "+
				"that one expects (%d bytes, and %d)", from, r, said, want)}
		}
		return nil
	})
}

// number tells operators apart: predefined ones by their handle; of those of the program, whether they commute.
func number(op Op) int64 {
	if op == nil {
		return 0
	}
	if p, ok := op.(interface{ Handle() int }); ok {
		return int64(p.Handle())
	}
	if op.Commutative() {
		return -1
	}
	return -2
}

// signed is the hash of a buffer's signature and its bytes. MPI_PACKED, whose hash is 0 here, matches all.
func signed(b Buf) (hash, bytes int64) {
	if b == NoBuf() {
		return -1, -1
	}
	if b.Count == 0 || b.Type == nil || b.Type.Size() == 0 {
		return 0, 0
	}
	if u := b.Type.Uniform(); u != nil && u.Handle() == abi.MPI_PACKED {
		return 0, b.Size()
	}
	return int64(b.Type.SignatureOf(b.Count)), b.Size()
}

func matches(hash, bytes, otherHash, otherBytes int64) bool {
	return bytes == otherBytes && (hash == otherHash || hash == 0 || otherHash == 0)
}

// perRank is a buffer of one block for each rank.
func perRank(b Buf, p int) Buf {
	b.Count /= int64(p)
	return b
}

// shifted adds a number to all tags.
type shifted struct {
	Comm
	by int
}

func (s *shifted) Send(b Buf, to, tag int) error           { return s.Comm.Send(b, to, tag+s.by) }
func (s *shifted) Recv(b Buf, from, tag int) error         { return s.Comm.Recv(b, from, tag+s.by) }
func (s *shifted) Isend(b Buf, to, tag int) (Req, error)   { return s.Comm.Isend(b, to, tag+s.by) }
func (s *shifted) Irecv(b Buf, from, tag int) (Req, error) { return s.Comm.Irecv(b, from, tag+s.by) }

// Shifted is c with a number added to all tags.
func Shifted(c Comm, by int) Comm { return &shifted{c, by} }
