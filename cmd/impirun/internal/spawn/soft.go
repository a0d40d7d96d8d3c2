package spawn

import (
	"fmt"
	"strconv"
	"strings"
)

// counts are numbers of processes that are acceptable (the info key soft; MPI 5.0, 11.8.4): from 0 to most, true if it
// is one of them.
type counts []bool

// exactly accepts n processes and no other number.
func exactly(n int) counts {
	c := make(counts, n+1)
	c[n] = true
	return c
}

// parseSoft reads a list of ranges, a, a:b or a:b:c: from a to b in steps of c. Numbers outside of 0 to most are passed
// over, as the standard says.
func parseSoft(text string, most int) (counts, error) {
	c := make(counts, most+1)
	for word := range strings.SplitSeq(text, ",") {
		parts := strings.Split(strings.TrimSpace(word), ":")
		v := [3]int64{0, 0, 1}
		if len(parts) > 3 {
			return nil, fmt.Errorf("%q is none of a, a:b, a:b:c", word)
		}
		for i, part := range parts {
			n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
			if err != nil {
				return nil, fmt.Errorf("%q is none of a, a:b, a:b:c", word)
			}
			v[i] = n
		}
		if len(parts) == 1 {
			v[1] = v[0]
		}
		a, b, step := v[0], v[1], v[2]
		if step == 0 {
			return nil, fmt.Errorf("%q has steps of 0", word)
		}
		if step < 0 {
			if b > a {
				continue
			}
			// The same numbers upwards.
			a, b, step = a-(a-b)/-step*-step, a, -step
		}
		if a < 0 {
			a += (-a + step - 1) / step * step
		}
		for n := a; n <= b && n <= int64(most); n += step {
			c[n] = true
		}
	}
	return c, nil
}

// best is the largest acceptable number of at most n processes; -1: there is none.
func (c counts) best(n int) int {
	for n = min(n, len(c)-1); n >= 0; n-- {
		if c[n] {
			return n
		}
	}
	return -1
}
