package client

import (
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/transport/wire"
)

// RanksError says that another client goes on without some of its ranks.
type RanksError struct {
	Client int32
	Ranks  []int32 // counted within the client
	Text   string  // why
}

func (e *RanksError) Error() string {
	return fmt.Sprintf("ranks of client %d are lost: %s", e.Client, e.Text)
}

// Gone tells the other clients that this one goes on without ranks, counted within it. If that fails the server has
// gone, which Watch notices.
func (s *Session) Gone(ranks []int32, why string) {
	if !s.own || s.over() {
		return
	}
	for part := range slices.Chunk(ranks, wire.GoneMost) {
		s.say(wire.AppendGone(nil, s.rank, part, why))
	}
}
