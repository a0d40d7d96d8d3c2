package datatype

import (
	"math/rand"

	"github.com/libimpi/libimpi/abi"
)

// entry is one basic element of a type map.
type entry struct {
	at    int64
	basic *Type
}

// model is a type with its type map expanded element by element, by the text of MPI 5.0, 5.1: what the engine must
// agree with. Parts keep their padding.
type model struct {
	t        *Type
	entries  []entry
	ends     []int64 // where parts with data end, their padding included
	lbs, ubs []int64 // explicit bounds
}

func (m *model) bounds() (lb, ub int64) {
	align := int64(1)
	first := true
	for _, e := range m.entries {
		if first || e.at < lb {
			lb = e.at
		}
		if first || e.at+e.basic.Size() > ub {
			ub = e.at + e.basic.Size()
		}
		first = false
		align = max(align, e.basic.align)
	}
	for _, end := range m.ends {
		ub = max(ub, end)
	}
	if len(m.entries) == 0 && len(m.lbs) == 0 && len(m.ubs) > 0 {
		lb = m.ubs[0]
		for _, b := range m.ubs {
			lb = max(lb, b)
		}
	}
	for i, b := range m.lbs {
		if i == 0 || b < lb {
			lb = b
		}
	}
	if len(m.entries) == 0 && len(m.ubs) == 0 {
		ub = lb
	}
	if len(m.ubs) == 0 {
		for len(m.entries) > 0 && (ub-lb)%align != 0 {
			ub++
		}
		return lb, ub
	}
	ub = m.ubs[0]
	for _, b := range m.ubs {
		ub = max(ub, b)
	}
	return lb, ub
}

// place appends a copy of o at byte disp.
func (m *model) place(o *model, disp int64) {
	for _, e := range o.entries {
		m.entries = append(m.entries, entry{e.at + disp, e.basic})
	}
	for _, b := range o.lbs {
		m.lbs = append(m.lbs, b+disp)
	}
	for _, b := range o.ubs {
		m.ubs = append(m.ubs, b+disp)
	}
}

func (m *model) block(o *model, disp, n int64) {
	lb, ub := o.bounds()
	for i := range n {
		m.place(o, disp+i*(ub-lb))
		if len(o.entries) > 0 && len(o.ubs) == 0 {
			m.ends = append(m.ends, disp+i*(ub-lb)+ub)
		}
	}
}

func named(handle int) *model {
	t := Named(handle)
	m := &model{t: t}
	if t.form == formFields {
		for i, old := range t.olds {
			m.entries = append(m.entries, entry{t.disps[i], old})
		}
		return m
	}
	m.entries = []entry{{0, t}}
	return m
}

// leaf is what the random types are made of.
var leaf = named

// anyHandle draws a predefined type, complicated ones included.
func anyHandle(r *rand.Rand) int {
	handles := []int{abi.MPI_CHAR, abi.MPI_SHORT, abi.MPI_INT, abi.MPI_DOUBLE, abi.MPI_DOUBLE, abi.MPI_LONG,
		abi.MPI_UNSIGNED_LONG,
		abi.MPI_C_DOUBLE_COMPLEX, abi.MPI_C_BOOL, abi.MPI_WCHAR, abi.MPI_LONG_DOUBLE, abi.MPI_DOUBLE_INT, abi.MPI_SHORT_INT,
		abi.MPI_LONG_DOUBLE_INT, abi.MPI_2INT, abi.MPI_BYTE, abi.MPI_INTEGER16}
	return handles[r.Intn(len(handles))]
}

// maxEntries bounds the random types.
const maxEntries = 400

// anyType draws a type of the given depth and expands it alongside.
func anyType(r *rand.Rand, depth int) *model {
	if depth == 0 {
		return leaf(anyHandle(r))
	}
	old := anyType(r, depth-1)
	lb, ub := old.bounds()
	ext := ub - lb
	small := func() int64 { return int64(r.Intn(5)) }
	if len(old.entries) > maxEntries/4 {
		small = func() int64 { return int64(r.Intn(2)) }
	}
	// blocks is how many a list has: few, or so many that the engine treats it in another way.
	blocks := func() int64 {
		if len(old.entries) <= 4 && r.Intn(5) == 0 {
			return 10 + int64(r.Intn(40))
		}
		return small()
	}
	m := new(model)
	var err error
	must := func(t *Type, e error) *Type {
		if e != nil {
			err = e
		}
		return t
	}
	switch r.Intn(11) {
	case 0:
		n := small()
		m.block(old, 0, n)
		m.t = must(Contiguous(n, old.t))
	case 1:
		n, b, s := small(), small(), int64(r.Intn(13)-6)
		for i := range n {
			m.block(old, i*s*ext, b)
		}
		m.t = must(Vector(n, b, s, old.t))
	case 2:
		n, b, s := small(), small(), int64(r.Intn(200)-100)
		for i := range n {
			m.block(old, i*s, b)
		}
		m.t = must(Hvector(n, b, s, old.t))
	case 3, 4:
		lens, disps := make([]int64, blocks()), []int64{}
		bytes, unit := r.Intn(2) == 0, ext
		if bytes {
			unit = 1
		}
		for i := range lens {
			lens[i] = small()
			disps = append(disps, int64(r.Intn(40)-10))
			m.block(old, disps[i]*unit, lens[i])
		}
		if bytes {
			m.t = must(Hindexed(lens, disps, old.t))
		} else {
			m.t = must(Indexed(lens, disps, old.t))
		}
	case 5, 6:
		b, disps := small(), make([]int64, blocks())
		bytes, unit := r.Intn(2) == 0, ext
		if bytes {
			unit = 1
		}
		for i := range disps {
			disps[i] = int64(r.Intn(40) - 10)
			m.block(old, disps[i]*unit, b)
		}
		if bytes {
			m.t = must(HindexedBlock(b, disps, old.t))
		} else {
			m.t = must(IndexedBlock(b, disps, old.t))
		}
	case 7, 8:
		m.anyStruct(r, old, small, blocks(), must)
	case 9:
		lb, extent := int64(r.Intn(64)-32), int64(r.Intn(128)-20)
		m.block(old, 0, 1)
		m.lbs, m.ubs = []int64{lb}, []int64{lb + extent}
		m.t = must(Resized(old.t, lb, extent))
	case 10:
		m.block(old, 0, 1)
		m.t = Dup(old.t)
	}
	if err != nil {
		panic(err)
	}
	return m
}

func (m *model) anyStruct(r *rand.Rand, old *model, small func() int64, fields int64, must func(*Type, error) *Type) {
	var lens, disps []int64
	var types []*Type
	for range fields {
		part, at := old, int64(r.Intn(120)-20)
		switch r.Intn(8) {
		case 0:
			part = &model{t: LBMarker, lbs: []int64{0}}
		case 1:
			part = &model{t: UBMarker, ubs: []int64{0}}
		case 2, 3, 4:
			part = leaf(anyHandle(r))
		}
		n := small()
		lens, disps, types = append(lens, n), append(disps, at), append(types, part.t)
		m.block(part, at, n)
	}
	m.t = must(Struct(lens, disps, types))
}

// size is the packed size of the expanded type map.
func (m *model) size(rep Rep) (n int64) {
	for _, e := range m.entries {
		n += e.basic.packed(rep)
	}
	return n
}
