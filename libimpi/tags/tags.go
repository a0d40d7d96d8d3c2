// Package tags gives out ranges of tags: those of the messages that a partitioned channel is made of.
package tags

import (
	"math"
	"slices"
)

// Space gives out ranges of tags. The zero value has given out none. They go up, and begin anew after the last tag:
// then those that are still in use are left out. All others are so long ago that no message with them is under way.
type Space struct {
	next  int64
	inUse []block // by their first tags
}

type block struct{ first, end int64 }

// End is above the last tag that is given out.
const End = math.MaxInt32

// Take gives out n tags and returns the first. ok is false if there are not so many in a row.
func (s *Space) Take(n int32) (first int32, ok bool) {
	for _, from := range []int64{s.next, 0} {
		at, i := s.gap(from, int64(n))
		if end := at + int64(n); end <= End {
			s.inUse = slices.Insert(s.inUse, i, block{at, end})
			s.next = end
			return int32(at), true
		}
	}
	return 0, false
}

// gap is the first of n tags from a tag on that nobody uses, and the place of their range among the others.
func (s *Space) gap(from, n int64) (at int64, i int) {
	at, i = from, s.place(from)
	if i > 0 {
		at = max(at, s.inUse[i-1].end)
	}
	for ; i < len(s.inUse) && s.inUse[i].first < at+n; i++ {
		at = s.inUse[i].end
	}
	return at, i
}

// place is where the first range stands that begins at a tag or after it.
func (s *Space) place(tag int64) int {
	i, _ := slices.BinarySearchFunc(s.inUse, tag, func(r block, tag int64) int { return int(r.first - tag) })
	return i
}

// GiveBack ends the use of the range that begins with a tag.
func (s *Space) GiveBack(first int32) {
	if i := s.place(int64(first)); i < len(s.inUse) && s.inUse[i].first == int64(first) {
		s.inUse = slices.Delete(s.inUse, i, i+1)
	}
}
