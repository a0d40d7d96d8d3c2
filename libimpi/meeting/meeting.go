// Package meeting is how two groups of processes of different jobs get to know each other (MPI 5.0, 11.8 to 11.10).
//
// Each group is a Side. Between their leaders is a line: a connection of two processes that have proved to each other
// that they may meet, or messages on a communicator that both leaders belong to. A meeting goes in rounds (round.go),
// and all processes of both sides take the same steps:
//
//	introductions  everybody says who he is and whom he knows (wire.go); it follows who of the two sides have no link
//	               yet (sides.go)
//	cards          those who need links open a transport.Meeting, and all get the cards of all; Join makes the links
//	               (links.go)
//	outcome        all say whether that went well; if it did not, the new links end
//
// Then both groups can make a communicator as any two groups do that know each other. What comes from the other side
// is another user's: everything is checked before it is believed.
package meeting

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// Members are the processes of a side. All of them make collective calls, in the same order; these block, and make
// progress. Errors: a member is lost.
type Members interface {
	fmt.Stringer // names them, for messages
	Rank() int
	Size() int
	// Gather gives the root the bytes of each member, in the order of ranks; others get nil. A member that has more
	// than MostWords to say, or all together, is an error at the root. Collective.
	Gather(mine []byte, root int) ([][]byte, error)
	// Bcast gives the root's bytes to all. Collective.
	Bcast(b []byte, root int) ([]byte, error)
}

// Guests are the processes of other jobs that this one has links with. In a meeting they go by number: a process of the
// own job by its rank there, any other by what this one has given it.
type Guests interface {
	// Introduce returns what this process says of itself, and the numbers of those whom it says it knows. These stay,
	// as those that Admit returns, until Release.
	Introduce() (me Introduction, known map[Identity]int32)
	// Own reports whether a process is of the own job, and how many processes that has.
	Own(who Identity) (own bool, size int32)
	// Admit gives processes of other jobs numbers. They cannot be reached yet.
	Admit(who []Introduction) []int32
	// Reach makes links the ways to processes that have been admitted. Errors: one of them is lost.
	Reach(links []transport.Guest) error
	// Release gives those up that were introduced or admitted. Links that nothing else needs end.
	Release()
}

// Links is how links are made, while the process makes progress.
type Links interface {
	// Begin begins a transport.Meeting. Errors: this process cannot have links with processes of other jobs.
	Begin() (transport.Meeting, error)
	// Exchange gives the other side's leader some bytes and returns its own. It makes progress. Errors: an own process
	// is lost.
	Exchange(ctx context.Context, line transport.Line, mine []byte) (theirs []byte, failed, lost error)
	// Join calls join on a thread of its own, with a context that ends when it is in vain to wait for links. It returns
	// when join has, and all members have heard whether that has made all links; or when a process of the own job is
	// lost, without waiting for join. failed tells whether join has made them. Errors: a member is lost; ErrGone: the
	// other side has gone, or has failed.
	Join(ctx context.Context, line transport.Line, root int, join func(context.Context, transport.Receiver, func()),
		failed func() bool) error
}

// Side is one of the two groups that meet, as one of its processes sees it.
type Side struct {
	Members Members
	Guests  Guests
	Links   Links

	Root int             // the leader's rank
	Ctx  context.Context // bounds the waiting for the other side, at the leader, and for links
	Line transport.Line  // at the leader; nil: there is none

	first    bool              // this side comes first
	secret   [sha256.Size]byte // which all of both sides know
	known    map[Identity]int32
	admitted []int32
}

// noNumber is the number of a process that has none yet.
const noNumber = -1

// Secret is what all of both sides know, and nobody else.
func (m *Side) Secret() [sha256.Size]byte { return m.secret }

// Meet makes all of both sides know each other, and returns the numbers of the other side's processes. failed is why
// this process takes no part, if it does not; then everybody gets that error. Errors reach all processes of both sides.
// The caller calls Guests.Release when it has made use of the numbers, and after an error.
func (m *Side) Meet(failed error) ([]int32, error) {
	me, known := m.Guests.Introduce()
	m.known = known
	ours, theirs, err := m.round(me.Encode(), failed)
	if err != nil {
		return nil, err
	}
	s, err := readSides(ours, theirs)
	if err != nil { // all find that out
		err = errorf(abi.MPI_ERR_OTHER, "the other side does not keep the protocol: %v", err)
		m.Refuse(err)
		return nil, err
	}
	remote, strangers, err := m.recognize(s)
	if s.strangers() {
		cards, failed := m.cards(err)
		if failed != nil {
			return nil, failed
		}
		err = m.link(s, remote, strangers, cards)
	}
	if _, _, err = m.round(nil, err); err != nil {
		return nil, err
	}
	return remote, nil
}

// recognize returns the numbers of the other side's processes, noNumber for those that need a link to this one, which
// are the strangers. Errors: they are not who they can be.
func (m *Side) recognize(s *sides) (remote []int32, strangers []int, err error) {
	for j := range s.of[1] {
		p := &s.of[1][j]
		number, isKnown := m.known[p.Identity]
		switch own, size := m.Guests.Own(p.Identity); {
		case own && p.Rank >= size:
			err = errorf(abi.MPI_ERR_OTHER, "the other side has %v, which there is not", p.Identity)
		case own:
			number = p.Rank
		case s.areStrangers(m.Members.Rank(), j):
			number = noNumber
			strangers = append(strangers, j)
		case !isKnown:
			err = errorf(abi.MPI_ERR_INTERN, "%v should be known, and is not", p.Identity)
		}
		remote = append(remote, number)
	}
	return remote, strangers, err
}
