package libimpi

import (
	"math"
	"slices"
)

// tagSpace gives out ranges of tags. They go up, and begin anew after the last tag: then those that are still in use
// are left out. All others are so long ago that no message with them is under way.
type tagSpace struct {
	next  int64
	inUse []tagRange // by their first tags
}

type tagRange struct{ first, end int64 }

// tagsEnd is above the last tag that is given out.
const tagsEnd = math.MaxInt32

// take gives out n tags and returns the first. ok is false if there are not so many in a row.
func (s *tagSpace) take(n int32) (first int32, ok bool) {
	for _, from := range []int64{s.next, 0} {
		at, i := s.gap(from, int64(n))
		if end := at + int64(n); end <= tagsEnd {
			s.inUse = slices.Insert(s.inUse, i, tagRange{at, end})
			s.next = end
			return int32(at), true
		}
	}
	return 0, false
}

// gap is the first of n tags from a tag on that nobody uses, and the place of their range among the others.
func (s *tagSpace) gap(from, n int64) (at int64, i int) {
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
func (s *tagSpace) place(tag int64) int {
	i, _ := slices.BinarySearchFunc(s.inUse, tag, func(r tagRange, tag int64) int { return int(r.first - tag) })
	return i
}

// giveBack ends the use of the range that begins with a tag.
func (s *tagSpace) giveBack(first int32) {
	if i := s.place(int64(first)); i < len(s.inUse) && s.inUse[i].first == int64(first) {
		s.inUse = slices.Delete(s.inUse, i, i+1)
	}
}
