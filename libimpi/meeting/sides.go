package meeting

import "fmt"

// sides are all who meet, as everybody sees them.
type sides struct {
	of    [2][]Introduction // ours and theirs
	knows [2][]map[Identity]bool
}

func readSides(ours, theirs [][]byte) (s *sides, err error) {
	s = new(sides)
	seen := map[Identity]bool{}
	for i, words := range [...][][]byte{ours, theirs} {
		for _, w := range words {
			p, err := readIntroduction(w)
			if err != nil {
				return nil, err
			}
			if seen[p.Identity] {
				return nil, fmt.Errorf("%v takes part twice: the groups of an intercommunicator are disjoint", p.Identity)
			}
			seen[p.Identity] = true
			knows := make(map[Identity]bool, len(p.Guests))
			for _, g := range p.Guests {
				knows[g] = true
			}
			s.of[i], s.knows[i] = append(s.of[i], p), append(s.knows[i], knows)
		}
	}
	return s, nil
}

// areStrangers reports whether our process i and their process j need a link. Processes of one job have always one, and
// so have those of which each says that it knows the other.
func (s *sides) areStrangers(i, j int) bool {
	a, b := &s.of[0][i], &s.of[1][j]
	return a.Job != b.Job && !(s.knows[0][i][b.Identity] && s.knows[1][j][a.Identity])
}

// strangers reports whether any two need a link.
func (s *sides) strangers() bool {
	for i := range s.of[0] {
		for j := range s.of[1] {
			if s.areStrangers(i, j) {
				return true
			}
		}
	}
	return false
}
