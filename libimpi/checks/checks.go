// Package checks finds mistakes of programs that one process sees by itself, where a user asks for that (IMPI_CHECK):
//
//	an operation begins   -> New, Reads and Writes -> Requests.Begin: what it must not share memory with
//	it has a request      -> Requests.Track
//	the program completes -> Requests.End: has the memory changed that was sent?
//	MPI ends              -> Requests.Left, and other objects: Leaks -> Fold, the lines that users read
//
// The rest of what a Set has is elsewhere: calls and types are compared by messages (libimpi/verify.go).
package checks

import (
	"fmt"
	"strings"
)

// Set is what is checked.
type Set uint32

const (
	Calls   Set = 1 << iota // all members of a communicator make the same call
	Types                   // both sides of a message, or of an access to a window, have the same types
	Buffers                 // operations under way do not share memory, and what is sent does not change
	Leaks                   // everything has been freed, completed and received at the end
	Threads                 // calls come from the threads from which they may
)

const (
	// Agreement is what IMPI_CHECK=1 stands for: what takes two processes to see.
	Agreement = Calls | Types
	All       = Calls | Types | Buffers | Leaks | Threads
)

// words are what users call the checks, in the order of their bits.
var words = [...]string{"calls", "types", "buffers", "leaks", "threads"}

// Has reports whether any of some checks is made.
func (s Set) Has(some Set) bool { return s&some != 0 }

// Parse reads a list of checks: words with commas between them, "all", 0 or 1.
func Parse(list string) (s Set, err error) {
	if list == "" {
		return 0, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		one, known := named(strings.TrimSpace(word))
		if !known {
			return 0, fmt.Errorf("%q is none of %s, all, 0 and 1", word, strings.Join(words[:], ", "))
		}
		s |= one
	}
	return s, nil
}

func named(word string) (Set, bool) {
	switch word {
	case "0":
		return 0, true
	case "1":
		return Agreement, true
	case "all":
		return All, true
	}
	for i, w := range words {
		if w == word {
			return 1 << i, true
		}
	}
	return 0, false
}
