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
	if int(o) >= len(routineNames) {
		return "an unknown operation"
	}
	name := routineNames[o]
	switch {
	case o == OpNeighbors && f == Nonblocking:
		return "a nonblocking " + name
	case o == OpNeighbors && f == Persistent:
		return "a persistent " + name
	case o == OpNeighbors:
		return "a " + name
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
	Equal   Buf // data of the same signature at all ranks; of no type if there is none

	// Data that goes from rank to rank, where amounts may differ: what goes to each rank, and what comes from each. Nil,
	// or NoBuf for a rank: none.
	Out, In func(rank int) Buf
	Paired  bool // at some rank one of them is not nil
}

// NoBuf stands for data that does not go between two ranks at all.
func NoBuf() Buf { return Buf{Count: -1} }

// The words that a rank says.
const (
	wordRoutine = iota
	wordForm
	wordRoot
	wordOp
	wordHash
	wordBytes
	words
)

// Verify compares the calls of all ranks of c. It is to be the first thing that an operation does. name is that of the
// communicator.
func Verify(c Comm, name string, call *Call) error {
	c = &shifted{c, tagVerify}
	p := c.Size()
	table := make([]int64, words*(p+1))
	mine := table[words*p:]
	mine[wordRoutine], mine[wordForm], mine[wordRoot] = int64(call.Routine), int64(call.Form), int64(call.Root)
	mine[wordOp] = number(call.Op)
	mine[wordHash], mine[wordBytes] = signed(call.Equal)
	if err := Allgather(c, Numbers(mine), Numbers(table[:words*p]).perRank(p)); err != nil {
		return err
	}
	return c.Then(func() error {
		said := func(r int) []int64 { return table[words*r : words*(r+1)] }
		for r := 1; r < p; r++ {
			if err := differ(name, said(0), said(r), 0, r); err != nil {
				return err
			}
		}
		if !call.Paired {
			return nil
		}
		return verifyPairs(c, name, call)
	})
}

// verifyPairs compares what each rank sends to each other with what that one expects.
func verifyPairs(c Comm, name string, call *Call) error {
	p := c.Size()
	out, in, verdicts := make([]int64, 2*p), make([]int64, 2*p), make([]int64, p+1)
	for r := range p {
		out[2*r], out[2*r+1] = -1, -1
		if call.Out != nil {
			out[2*r], out[2*r+1] = signed(call.Out(r))
		}
	}
	if err := Alltoall(c, Numbers(out).perRank(p), Numbers(in).perRank(p)); err != nil {
		return err
	}
	if err := c.Then(func() error {
		verdicts[p] = -1
		for r := p - 1; r >= 0 && call.In != nil; r-- {
			hash, bytes := signed(call.In(r))
			if in[2*r+1] >= 0 && bytes >= 0 && !matches(in[2*r], in[2*r+1], hash, bytes) {
				verdicts[p] = int64(r)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := Allgather(c, Numbers(verdicts[p:]), Numbers(verdicts[:p]).perRank(p)); err != nil {
		return err
	}
	return c.Then(func() error {
		for r, from := range verdicts[:p] {
			if from < 0 {
				continue
			}
			text := fmt.Sprintf("%s on %s: what rank %d sends to rank %d is not what that one expects", call.Form.Name(
				call.Routine), name, from, r)
			if r == c.Rank() {
				_, bytes := signed(call.In(int(from)))
				text += fmt.Sprintf(" (%d bytes, and %d)", in[2*from+1], bytes)
			}
			return &Error{Class: abi.MPI_ERR_TYPE, Msg: text}
		}
		return nil
	})
}

// differ says what two ranks do not agree on; nil if they do.
func differ(name string, a, b []int64, ra, rb int) error {
	of := func(w []int64) string { return Form(w[wordForm]).Name(Routine(w[wordRoutine])) }
	fail := func(class int, format string, args ...any) error {
		return &Error{Class: class, Msg: fmt.Sprintf("%s on %s: ", of(a), name) + fmt.Sprintf(format, args...)}
	}
	switch {
	case a[wordRoutine] != b[wordRoutine] || a[wordForm] != b[wordForm]:
		return &Error{Class: abi.MPI_ERR_OTHER, Msg: fmt.Sprintf("on %s, rank %d calls %s and rank %d calls %s", name, ra,
			of(a), rb, of(b))}
	case a[wordRoot] != b[wordRoot]:
		return fail(abi.MPI_ERR_ROOT, "the root is %d on rank %d, and %d on rank %d", a[wordRoot], ra, b[wordRoot], rb)
	case a[wordOp] != b[wordOp]:
		return fail(abi.MPI_ERR_OP, "rank %d and rank %d give different operations", ra, rb)
	case a[wordBytes] != b[wordBytes]:
		return fail(abi.MPI_ERR_COUNT, "rank %d has %d bytes, and rank %d has %d", ra, a[wordBytes], rb, b[wordBytes])
	case !matches(a[wordHash], a[wordBytes], b[wordHash], b[wordBytes]):
		return fail(abi.MPI_ERR_TYPE, "rank %d and rank %d have different types of elements, both %d bytes", ra, rb,
			a[wordBytes])
	}
	return nil
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
func (b Buf) perRank(p int) Buf {
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
