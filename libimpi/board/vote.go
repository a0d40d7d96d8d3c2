package board

import (
	"math"
	"sync/atomic"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// Votes: while none of them is lost the members of a board agree on a word without a message. Each shows its word in a
// place of its own, or that it abstains, since it knows of a loss, and looks at the places of all others. Whoever has
// ended without a vote is made to abstain by who finds that. So a vote never changes once it is there, and all members
// come to the same: the bitwise and of all words, or that they have to agree in another way.
//
// There are two places for each member, used by turns. Who votes again in one of them knows that all others have read
// what stood there: they have voted since, or have agreed in the other way, in which all that are not lost take part.
//
// A place's word is twice the number of the vote, and 1 more for who does not abstain.

// Vote is one of a member, and what it waits for.
type Vote struct {
	board  *Board
	number uint64
	gone   func(rank int) bool
}

// Vote begins the next vote with a word, or abstains. gone says whether a member has ended; it is called under the
// engine's lock.
func (b *Board) Vote(value uint64, abstains bool, gone func(rank int) bool) Vote {
	b.votes++
	v := Vote{board: b, number: b.votes, gone: gone}
	word, place := v.place(b.rank)
	vote := v.number << 1
	if !abstains {
		*place = value
		vote |= 1
	}
	if old := atomic.LoadUint64(word); old>>1 < v.number { // else others take this member for one that has ended
		atomic.CompareAndSwapUint64(word, old, vote)
	}
	b.wake()
	return v
}

func (v Vote) place(rank int) (word, value *uint64) {
	return v.board.shared.Vote(rank, int(v.number%2))
}

// Looks looks at the votes of others, for a while, and reports whether all are there.
func (v Vote) Looks() bool {
	for r := range v.board.local {
		if word, _ := v.place(r); !v.board.finds(word, v.number<<1) {
			return false
		}
	}
	return true
}

// Holds implements Condition: all votes are there.
func (v Vote) Holds() bool {
	for r := range v.board.local {
		word, _ := v.place(r)
		for old := atomic.LoadUint64(word); old < v.number<<1; old = atomic.LoadUint64(word) {
			if !v.gone(r) {
				return false
			}
			atomic.CompareAndSwapUint64(word, old, v.number<<1)
		}
	}
	return true
}

// Result is the bitwise and of all words, once all votes are there, unless somebody abstains.
func (v Vote) Result() (all uint64, agreed bool) {
	all, agreed = math.MaxUint64, true
	for r := range v.board.local {
		word, value := v.place(r)
		all &= *value
		agreed = agreed && atomic.LoadUint64(word) == v.number<<1|1
	}
	return all, agreed
}

// Abstain makes a member abstain from all votes on a board that it does not use.
func Abstain(shared transport.Board, rank int) {
	for i := range 2 {
		word, _ := shared.Vote(rank, i)
		futex.Release64(word, math.MaxUint64-1)
	}
}
