package contexts

import (
	"crypto/sha256"
	"encoding/binary"
)

// OfGroup is the context id of an agreement of a kind that processes, by their ranks in MPI_COMM_WORLD, make without a
// communicator, under a string tag: 55 bits of a digest of these, and their range.
func OfGroup(kind, tag string, members []int32) uint64 {
	h := sha256.New()
	var number [8]byte
	word := func(n uint64) {
		binary.LittleEndian.PutUint64(number[:], n)
		h.Write(number[:])
	}
	word(uint64(len(kind)))
	h.Write([]byte(kind))
	word(uint64(len(tag)))
	h.Write([]byte(tag))
	for _, rank := range members {
		word(uint64(rank))
	}
	return Groups | binary.LittleEndian.Uint64(h.Sum(nil))>>9<<1
}
