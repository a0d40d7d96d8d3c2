// Package strangers is what a listener that is open to the world does about those who connect and have not proved who
// they are: there is room for so many, and a limit to what is said of them.
package strangers

import "fmt"

// Stranger is one of those, as Evict sees it.
type Stranger struct {
	Host string // the address that it comes from, without a port
	Said int    // how far it has come: less goes first
}

// Evict answers who makes room, by its place in a list of which the oldest stands first: of the address from which most
// have come, one that has said least, and of these the oldest. So a crowd from one address keeps out itself.
func Evict(list []Stranger) (place int) {
	crowd := map[string]int{}
	for _, s := range list {
		crowd[s.Host]++
	}
	for i, s := range list {
		v := list[place]
		if n, most := crowd[s.Host], crowd[v.Host]; n > most || n == most && s.Host == v.Host && s.Said < v.Said {
			place = i
		}
	}
	return place
}

// Lines bounds what is said of strangers, however many come: each of the first, and then each time that they have
// doubled. The zero value is ready.
type Lines struct{ n int }

// first is how many lines are said one by one, a power of two.
const first = 8

// Fold answers what to say in place of a line about one more of them, "" for nothing.
func (l *Lines) Fold(line string) string {
	l.n++
	switch {
	case l.n <= first:
		return line
	case l.n&(l.n-1) == 0:
		return fmt.Sprintf("%s (%d connections of strangers so far; not each is reported)", line, l.n)
	}
	return ""
}
