package checks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Leak is something that a process has left behind at the end, so many times.
type Leak struct {
	One   string `json:"one"`            // "communicator"
	Made  string `json:"made,omitempty"` // "MPI_Comm_dup at solver.c:118"
	Fate  string `json:"fate"`           // "never freed"
	Count int    `json:"count"`
}

// mostLeaks bounds how many kinds of leaks a process tells of.
const mostLeaks = 256

// Gather adds up what is alike, and leaves out what is too much.
func Gather(leaks []Leak) (all []Leak) {
	at := map[Leak]int{}
	for _, l := range leaks {
		key := l
		key.Count = 0
		if i, known := at[key]; known {
			all[i].Count += l.Count
		} else if len(all) < mostLeaks {
			at[key] = len(all)
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b Leak) int {
		return cmp.Or(cmp.Compare(a.Fate, b.Fate), cmp.Compare(a.One, b.One), cmp.Compare(a.Made, b.Made))
	})
	return all
}

// Encode is what another process reads with Fold; empty: nothing is left.
func Encode(leaks []Leak) []byte {
	if len(leaks) == 0 {
		return nil
	}
	text, _ := json.Marshal(leaks) // strings and numbers always can be
	return text
}

// Fold makes lines of what all ranks tell, by their ranks. The same leak of many ranks is one line. What is none of
// Encode's is left out.
func Fold(told [][]byte) (lines []string) {
	type ranks struct {
		of          []int
		least, most int
	}
	by := map[Leak]*ranks{}
	var order []Leak
	for rank, text := range told {
		var leaks []Leak
		if len(text) == 0 || json.Unmarshal(text, &leaks) != nil {
			continue
		}
		for _, l := range leaks {
			n := l.Count
			l = Leak{One: plain(l.One), Made: plain(l.Made), Fate: plain(l.Fate)}
			r := by[l]
			if r == nil {
				r = &ranks{least: n}
				by[l] = r
				order = append(order, l)
			}
			r.of = append(r.of, rank)
			r.least, r.most = min(r.least, n), max(r.most, n)
		}
	}
	for _, l := range order {
		r := by[l]
		lines = append(lines, fmt.Sprintf("%s: %s", inWords(r.of), l.inWords(r.least, r.most, len(r.of) > 1)))
	}
	return lines
}

// plain leaves out of a text of another process what is none.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// inWords is the leak, with how many there are at each rank.
func (l *Leak) inWords(least, most int, several bool) string {
	number := fmt.Sprint(most)
	if least < most {
		number = fmt.Sprintf("%d to %d", least, most)
	}
	what, rest, _ := strings.Cut(l.One, " of ")
	if most > 1 {
		what = plural(what)
	}
	if rest != "" {
		what += " of " + rest
	}
	if several {
		what += " each"
	}
	if l.Made != "" {
		return fmt.Sprintf("%s %s, from %s: %s", number, what, l.Made, l.Fate)
	}
	return fmt.Sprintf("%s %s: %s", number, what, l.Fate)
}

func plural(one string) string {
	if strings.HasSuffix(one, "y") {
		return one[:len(one)-1] + "ies"
	}
	return one + "s"
}

// inWords is a list of ranks, in order: "rank 3", "ranks 0-2,5".
func inWords(ranks []int) string {
	var runs []string
	for i := 0; i < len(ranks); {
		end := i
		for end+1 < len(ranks) && ranks[end+1] == ranks[end]+1 {
			end++
		}
		if end == i {
			runs = append(runs, fmt.Sprint(ranks[i]))
		} else {
			runs = append(runs, fmt.Sprintf("%d-%d", ranks[i], ranks[end]))
		}
		i = end + 1
	}
	if len(ranks) == 1 {
		return "rank " + runs[0]
	}
	return "ranks " + strings.Join(runs, ",")
}
