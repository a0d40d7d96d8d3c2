// Package strangers limits what connections cost that have not proved who they are, on a listener that is open to the
// world. It says which of them to close when there are too many, and folds the log lines about them.
package strangers

import "fmt"

// Stranger is a connection that has not proved who it is, as Evict sees it.
type Stranger struct {
	Host string // the address that it comes from, without a port
	Said int    // how far it has come in the handshake: who has come less far goes first
}

// Evict returns which stranger of a list, oldest first, is to be closed when there are too many, by its place in the
// list. It takes the address from which most have come, of these one that has come least far, and of these the oldest.
// So a crowd from one address keeps out only itself.
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

// Lines bounds how many log lines strangers cause: one for each of the first eight, and then one each time that their
// number has doubled. The zero value is ready.
type Lines struct{ n int }

// first is how many strangers get a line each, a power of two.
const first = 8

// Fold returns what to log in place of a line about one more stranger, or "" for nothing.
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
