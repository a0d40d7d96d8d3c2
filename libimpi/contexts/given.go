package contexts

import (
	"errors"
	"fmt"
)

// Blocks that one process gives to others. Block 0 of a job is that of its MPI_COMM_WORLD; after it the processes take
// turns, so that no two of them ever give the same one:
//
//	block 1 + n * size + me    the n-th block, from 0, that process me of size gives

// mostBlocks is how many blocks a job has.
const mostBlocks = Survivors / (2 * BlockSize)

// Give returns a block that this process has not given before.
func (ids *IDs) Give() (Block, error) {
	n := 1 + ids.given*ids.size + ids.me
	if n >= mostBlocks {
		return Block{}, ErrNoneLeft
	}
	ids.given++
	return ids.block(n), nil
}

// Word is a block as its giver tells it; of the empty one it is 0, which tells that there is none left.
func (b Block) Word() uint64 { return b.Next }

// Given returns the block that a process of this job tells by a word, if it is one that this process can give.
func (ids *IDs) Given(giver int, word uint64) (Block, error) {
	b, its, err := ids.GivenBy(word)
	if err == nil && its != giver {
		return Block{}, fmt.Errorf("%w: process %d gives %#x", ErrNotIts, giver, word)
	}
	return b, err
}

// GivenBy returns the block of a word, and the only process of this job that can give it.
func (ids *IDs) GivenBy(word uint64) (b Block, giver int, err error) {
	if word == 0 {
		return Block{}, 0, ErrNoneLeft
	}
	n := (word - ids.base) / (2 * BlockSize)
	if b := ids.block(n); word >= ids.base && n > 0 && n < mostBlocks && b.Next == word {
		return b, int((n - 1) % ids.size), nil
	}
	return Block{}, 0, fmt.Errorf("%w: %#x is no block", ErrNotIts, word)
}

// ErrNotIts says that a process gives a block that is not one of its own.
var ErrNotIts = errors.New("context ids that are not the giver's")

func (ids *IDs) block(n uint64) Block {
	first := ids.base + n*2*BlockSize
	return Block{first, first + 2*BlockSize}
}
