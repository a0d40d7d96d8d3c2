package survive

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Set is a set of members: their numbers, ascending. It is not changed once it is made, so processes, messages and
// decisions share it.
type Set []int32

// Of is the set of these members.
func Of(members ...int) Set {
	s := make(Set, len(members))
	for i, m := range members {
		s[i] = int32(m)
	}
	slices.Sort(s)
	return slices.Compact(s)
}

// Has reports whether a member is in the set.
func (s Set) Has(member int) bool {
	_, found := slices.BinarySearch(s, int32(member))
	return found
}

// first is the first member that is not in the set.
func (s Set) first() int {
	return sort.Search(len(s), func(i int) bool { return int(s[i]) != i })
}

// Within reports whether all of s is in t.
func (s Set) Within(t Set) bool {
	if len(s) == 0 || len(s) == len(t) && &s[0] == &t[0] {
		return true
	}
	if len(s) > len(t) {
		return false
	}
	i := 0
	for _, m := range s {
		for i < len(t) && t[i] < m {
			i++
		}
		if i == len(t) || t[i] != m {
			return false
		}
	}
	return true
}

// Union is what is in s or t. If one has all of the other, it is that one itself.
func (s Set) Union(t Set) Set {
	if t.Within(s) {
		return s
	}
	if s.Within(t) {
		return t
	}
	u := make(Set, 0, max(len(s), len(t))+1)
	for len(s) > 0 && len(t) > 0 {
		switch cmp.Compare(s[0], t[0]) {
		case -1:
			u, s = append(u, s[0]), s[1:]
		case 1:
			u, t = append(u, t[0]), t[1:]
		default:
			u, s, t = append(u, s[0]), s[1:], t[1:]
		}
	}
	return append(append(u, s...), t...)
}

// Common is what is in s and t.
func (s Set) Common(t Set) Set {
	if s.Within(t) {
		return s
	}
	return s.filter(t, true)
}

// Without is what is in s but not in t.
func (s Set) Without(t Set) Set {
	if len(t) == 0 {
		return s
	}
	if s.Within(t) {
		return nil
	}
	return s.filter(t, false)
}

// filter is what is in s and, if in, also in t; otherwise what is not in t.
func (s Set) filter(t Set, in bool) Set {
	var kept Set
	i := 0
	for _, m := range s {
		for i < len(t) && t[i] < m {
			i++
		}
		if (i < len(t) && t[i] == m) == in {
			kept = append(kept, m)
		}
	}
	return kept
}

// check reports what is wrong with a set of members of a communicator that another process sent.
func (s Set) check(size int) error {
	for i, m := range s {
		if m < 0 || int(m) >= size || i > 0 && s[i-1] >= m {
			return fmt.Errorf("a set of members of a communicator of %d has %d at its place %d, which is out of order or range",
				size, m, i)
		}
	}
	return nil
}
