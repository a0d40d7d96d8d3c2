package client

import (
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/transport/wire"
)

// RanksError says that the clients go on without some ranks: those that their client says it has lost, or those that
// the server does not let go on, which may be our own (Suspect).
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

// Suspect asks the server to decide about ranks of another client, counted within that, which rank by of this one
// cannot reach, or which break the protocol. The answer is a RanksError, about them or about by.
func (s *Session) Suspect(by, client int32, ranks []int32, breach bool, why string) {
	if !s.own || s.over() {
		return
	}
	for part := range slices.Chunk(ranks, wire.GoneMost-1) {
		x := wire.Suspicion{By: by, Client: client, Ranks: part, Breach: breach, Text: why}
		s.say(x.Append(nil))
	}
}
