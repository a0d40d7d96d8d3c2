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
const mostBlocks = Subgroups / (2 * BlockSize)

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
	if word == 0 {
		return Block{}, ErrNoneLeft
	}
	n := (word - ids.base) / (2 * BlockSize)
	if b := ids.block(n); word >= ids.base && n > 0 && n < mostBlocks && b.Next == word &&
		(n-1)%ids.size == uint64(giver) {
		return b, nil
	}
	return Block{}, fmt.Errorf("%w: process %d gives %#x", ErrNotIts, giver, word)
}

// ErrNotIts says that a process gives a block that is not one of its own.
var ErrNotIts = errors.New("context ids that are not the giver's")

func (ids *IDs) block(n uint64) Block {
	first := ids.base + n*2*BlockSize
	return Block{first, first + 2*BlockSize}
}
