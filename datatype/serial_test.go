package datatype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/abi"
)

// layoutOf is what a serialized type must keep: sums and bounds, and the loop trees.
type layoutOf struct {
	Size, Size32, Elems, Align, Lo, Hi, LB, UB int64
	Hash                                       uint64
	MarkLB, MarkUB                             bool
	Uniform                                    *Type
	Native, External                           program
}

func (t *Type) layout() layoutOf {
	return layoutOf{t.size, t.size32, t.elems, t.align, t.lo, t.hi, t.lb, t.ub, t.signature().hash,
		t.markLB, t.markUB, t.uniform, *t.program(Native), *t.program(External32)}
}

var sameTree = cmp.Options{
	cmp.AllowUnexported(program{}, node{}, list{}),
	cmp.Comparer(func(a, b *Type) bool { return a == b }),
	// Lengths of blocks without gaps may be in any unit.
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == reflect.TypeFor[node]() },
		cmp.FilterValues(func(a, b node) bool { return a.runsOnly() && b.runsOnly() }, cmp.Transformer("runs",
			func(nd node) any {
				lens := make([]int64, len(nd.lens))
				for i, n := range nd.lens {
					lens[i] = n * nd.child.size
				}
				return struct {
					Kind                    kind
					Size, Runs, Least, Most int64
					Offs                    list
					Lens                    []int64
				}{nd.child.kind, nd.size, nd.runs, nd.least * nd.child.size, nd.most * nd.child.size,
					list{offs: nd.offs, scale: nd.scale}, lens}
			}))),
	// Displacements in units of an extent come back in bytes.
	cmp.Transformer("bytes", func(l list) struct {
		Offs, Lens []int64
		Kids       []*node
	} {
		offs := make([]int64, len(l.offs))
		for i, off := range l.offs {
			offs[i] = off * l.scale
		}
		return struct {
			Offs, Lens []int64
			Kids       []*node
		}{offs, l.lens, l.kids}
	}),
}

func TestASerializedTypeComesBackTheSame(t *testing.T) {
	check(t, 3000, func(r *rand.Rand, m *model) error {
		b, err := m.t.Append([]byte("head"))
		if err != nil || string(b[:4]) != "head" {
			return fmt.Errorf("append: %v", err)
		}
		back, err := Decode(b[4:])
		if err != nil {
			return err
		}
		if diff := cmp.Diff(m.t.layout(), back.layout(), sameTree); diff != "" {
			return fmt.Errorf("(-want +got)\n%s", diff)
		}
		again, err := back.Append(nil)
		if err != nil || string(again) != string(b[4:]) {
			return fmt.Errorf("the form of the decoded type differs: %x, want %x (%v)", again, b[4:], err)
		}
		for i := 4; i < len(b); i++ {
			if _, err := Decode(b[4:i]); err == nil {
				return fmt.Errorf("accepted the first %d of %d bytes", i-4, len(b)-4)
			}
		}
		return nil
	})
}

func TestASharedPartIsSerializedOnce(t *testing.T) {
	typ := Named(abi.MPI_INT)
	for range 40 { // 2^40 elements in a tree, 41 nodes in the graph
		typ = ok(Struct([]int64{1, 1}, []int64{0, typ.Extent()}, []*Type{typ, typ}))
	}
	b, err := typ.Append(nil)
	if err != nil || len(b) > 1000 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	back, err := Decode(b)
	if err != nil || back.Size() != 4<<40 {
		t.Fatalf("decoded %v, %v", back, err)
	}
}

func TestDeepAndBrokenFormsAreRefused(t *testing.T) {
	deep := Named(abi.MPI_INT)
	for range maxSerialDepth - 1 {
		deep = ok(Resized(ok(Contiguous(1, deep)), 0, 4))
	}
	if _, err := deep.Append(nil); err == nil {
		t.Error("a type of too many levels was serialized")
	}
	for name, b := range map[string][]byte{
		"nothing":           {},
		"another version":   {2, 1, serialNamed, 0},
		"no node":           {1, 0},
		"no such handle":    {1, 1, serialNamed, 1},
		"forward reference": {1, 1, serialVector, 1, 1, 0, 0},
		"bytes behind":      {1, 1, serialLower, 0},
		"long list":         {1, 2, serialLower, serialEqual, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0},
		"overflow": append(append([]byte{1, 2, serialNamed, 0x85, 0x04, serialVector},
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), 9, 2, 0),
	} {
		var e *Error
		if typ, err := Decode(b); !errors.As(err, &e) || e.Class != abi.MPI_ERR_TYPE {
			t.Errorf("%s: %v, %v", name, typ, err)
		}
	}
}

func TestATypeOfTheMostLevelsIsSerialized(t *testing.T) {
	chain := func(levels int) (typ *Type, form []byte) {
		typ = testInt
		form = append(form, serialNamed, 0x89, 0x04) // MPI_INT
		for i := 1; i < levels; i++ {
			typ = ok(Hvector(1, 1, 0, typ))
			form = binary.AppendUvarint(append(form, serialVector, 1, 1, 0), uint64(i-1))
		}
		return typ, append(binary.AppendUvarint([]byte{serialVersion}, uint64(levels)), form...)
	}
	deepest, form := chain(maxSerialDepth)
	b, err := deepest.Append(nil)
	if err != nil || string(b) != string(form) {
		t.Fatalf("%d levels: %x, want %x (%v)", maxSerialDepth, b, form, err)
	}
	if back, err := Decode(form); err != nil || back.Size() != 4 {
		t.Errorf("%d levels: %v", maxSerialDepth, err)
	}
	deeper, form := chain(maxSerialDepth + 1)
	if _, err := deeper.Append(nil); err == nil {
		t.Errorf("%d levels were serialized", maxSerialDepth+1)
	}
	if _, err := Decode(form); err == nil {
		t.Errorf("%d levels were decoded", maxSerialDepth+1)
	}
}

func FuzzDecode(f *testing.F) {
	for seed := range 60 {
		r := rand.New(rand.NewSource(int64(seed)))
		b, err := anyType(r, r.Intn(4)).t.Append(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		typ, err := Decode(b)
		if err != nil {
			return
		}
		typ.Commit()
		typ.program(External32)
		again, err := typ.Append(nil)
		if err != nil {
			t.Fatalf("cannot be serialized again: %v", err)
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		h1, n1 := typ.Signature()
		h2, n2 := back.Signature()
		if h1 != h2 || n1 != n2 || typ.Extent() != back.Extent() || typ.Size() != back.Size() {
			t.Fatalf("%x decodes to something else than %x", b, again)
		}
	})
}
