package coll

import "github.com/libimpi/libimpi/abi"

// A Sketch is where the buffers of a Schedule lie that is looked at and never carried out: a range of addresses, which
// need not be memory until an algorithm writes there what it has computed for itself. So a simulation can record what
// 10^5 ranks do with a gigabyte each.
type Sketch struct {
	all  []byte
	used int64
}

// NewSketch makes a Sketch of the given range.
func NewSketch(all []byte) *Sketch { return &Sketch{all: all} }

// Take returns the next n bytes, aligned to 16, and Reset gives all of them back.
func (k *Sketch) Take(n int64) ([]byte, error) {
	at := (k.used + 15) &^ 15
	if n > int64(len(k.all))-at {
		return nil, &Error{Class: abi.MPI_ERR_NO_MEM, Msg: "the buffers of a schedule do not fit into its sketch"}
	}
	k.used = at + n
	return k.all[at:k.used:k.used], nil
}

// Reset makes the whole range free again.
func (k *Sketch) Reset() { k.used = 0 }

// Sketch has the working memory of what is recorded next come from k, small pieces apart.
func (s *Schedule) Sketch(k *Sketch) { s.sketch = k }
