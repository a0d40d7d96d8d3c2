package coll

import "github.com/libimpi/libimpi/coll/buffer"

// cut says where a vector is cut into pieces: at the given elements, or into n nearly equal pieces.
type cut struct {
	n     int
	count int64
	at    []int64 // n+1 of them; nil: nearly equal
	unit  int64   // and then: pieces have so many elements or a multiple, but for the last; 0: any number
}

// evenly cuts b into n nearly equal pieces.
func evenly(b Buf, n int) cut { return cut{n: n, count: b.Count} }

// start is the first element of piece i.
func (k *cut) start(i int) int64 {
	if k.at != nil {
		return k.at[i]
	}
	if k.unit == 0 {
		return buffer.PieceAt(k.count, k.n, i)
	}
	return min(k.count, k.unit*buffer.PieceAt((k.count+k.unit-1)/k.unit, k.n, i))
}

// of is pieces from to to-1 of b.
func (k *cut) of(b Buf, from, to int) Buf {
	lo := k.start(from)
	return b.Slice(lo, k.start(to)-lo)
}

// longest is the count of the longest piece.
func (k *cut) longest() int64 {
	if k.at == nil {
		return k.start(1)
	}
	most := int64(0)
	for i := range k.n {
		most = max(most, k.at[i+1]-k.at[i])
	}
	return most
}

// cutAs cuts a vector as b is, a block for each of p ranks.
func (s *Scratch) cutAs(b *Blocks, p int) (cut, error) {
	if b.kind != consecutive {
		return cut{n: p, count: int64(p) * b.buf.Count}, nil
	}
	at, err := s.Counts(p + 1)
	if err != nil {
		return cut{}, err
	}
	at[0] = 0
	for i, n := range b.v.Counts {
		at[i+1] = at[i] + n
	}
	return cut{n: p, count: at[p], at: at}, nil
}
