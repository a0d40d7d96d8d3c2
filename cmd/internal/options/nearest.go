package options

import (
	"fmt"
	"maps"
	"slices"
)

// unknown is the error for a word that is no option, with the nearest one that is.
func unknown(word, name string) error {
	best := nearest(name, slices.Sorted(maps.Keys(byName)))
	if best == "" {
		return fmt.Errorf("unknown option %s (impirun --help lists them)", dashed(word))
	}
	return fmt.Errorf("unknown option %s, did you mean -%s? (impirun --help lists them)", dashed(word), best)
}

// nearest is the first of those candidates that are most like a word; "" if none is much like it.
func nearest(word string, candidates []string) (best string) {
	distance := 1 + len(word)/3
	for _, candidate := range candidates {
		if d := edits(word, candidate); d <= distance && (best == "" || d < distance) {
			best, distance = candidate, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
