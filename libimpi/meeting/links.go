package meeting

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// cards are what all who take part in a transport.Meeting have handed out.
type cards struct {
	transport.Meeting
	ours, theirs [][]byte
}

// cards gets the cards of all. err is why this process takes no part: it tells the others.
func (m *Side) cards(err error) (c cards, _ error) {
	var card []byte
	if err == nil {
		c.Meeting, card, err = m.open()
	}
	c.ours, c.theirs, err = m.round(card, err)
	if err != nil && c.Meeting != nil {
		c.Close()
	}
	return c, err
}

// open begins a transport.Meeting.
func (m *Side) open() (meeting transport.Meeting, card []byte, err error) {
	if meeting, err = m.Links.Begin(); err != nil {
		return nil, nil, err
	}
	card, err = meeting.Card()
	if err == nil && len(card) > transport.MaxCard {
		err = fmt.Errorf("its card has %d bytes", len(card))
	}
	if err != nil {
		err = errorf(abi.MPI_ERR_OTHER, "rank %d of %s cannot be met: %v", m.Members.Rank(), m.Members, err)
	}
	return meeting, card, err
}

// link makes the links that this process needs, and notes the numbers of those to whom they lead in remote. It ends the
// transport.Meeting.
func (m *Side) link(s *sides, remote []int32, strangers []int, c cards) error {
	joins := false
	defer func() {
		if !joins {
			c.Close()
		}
	}()
	if len(c.ours) != len(s.of[0]) || len(c.theirs) != len(s.of[1]) {
		return errorf(abi.MPI_ERR_OTHER, "%d and %d processes have introduced themselves, and %d and %d hand out cards",
			len(s.of[0]), len(s.of[1]), len(c.ours), len(c.theirs))
	}
	for _, card := range slices.Concat(c.ours, c.theirs) {
		if len(card) > transport.MaxCard {
			return errorf(abi.MPI_ERR_OTHER, "a process that takes part in the meeting has a card of %d bytes", len(card))
		}
	}
	numbers := slices.Repeat([]int32{noNumber}, len(c.theirs))
	var who []Introduction
	for _, j := range strangers {
		who = append(who, s.of[1][j])
	}
	m.admitted = m.Guests.Admit(who)
	for i, j := range strangers {
		numbers[j], remote[j] = m.admitted[i], m.admitted[i]
	}
	ourselves := slices.Repeat([]int32{noNumber}, len(c.ours))
	p := transport.Participants{Me: m.Members.Rank(), Secret: m.secret}
	if m.first {
		p.Cards, p.Number = slices.Concat(c.ours, c.theirs), slices.Concat(ourselves, numbers)
	} else {
		p.Cards, p.Number = slices.Concat(c.theirs, c.ours), slices.Concat(numbers, ourselves)
		p.Me += len(numbers)
	}
	joins = true
	return m.join(c.Meeting, p)
}

// ErrGone is why nobody waits for links any more.
var ErrGone = errors.New("the other side has gone")

// join makes the links. All who take part in the meeting do, also those who need none. The thread that joins ends the
// meeting: if an own process is lost, this one does not wait for it.
func (m *Side) join(meeting transport.Meeting, p transport.Participants) error {
	var links []transport.Guest // the other thread's until it is done
	var failed error
	err := m.Links.Join(m.Ctx, m.Line, m.Root, func(ctx context.Context, r transport.Receiver, wake func()) {
		links, failed = meeting.Join(ctx, p, r, wake)
		meeting.Close()
	}, func() bool { return failed != nil })
	switch {
	case errors.Is(err, ErrGone):
		return errorf(abi.MPI_ERR_PROC_ABORTED, "%v, while links to it were made", ErrGone)
	case err != nil:
		return err
	case failed != nil:
		return errorf(abi.MPI_ERR_OTHER, "rank %d of %s gets no links to the other side: %v", m.Members.Rank(), m.Members,
			failed)
	}
	links = slices.DeleteFunc(links, func(l transport.Guest) bool {
		return l.By == nil || !slices.Contains(m.admitted, l.Number)
	})
	if len(links) != len(m.admitted) {
		return errorf(abi.MPI_ERR_INTERN, "%d links have been made where %d are needed", len(links), len(m.admitted))
	}
	return m.Guests.Reach(links)
}
