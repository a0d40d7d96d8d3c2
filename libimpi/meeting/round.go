package meeting

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// A round: everybody says something, or why he cannot go on, and hears what all of both sides have said.
//
//	members -> their leader -> line -> the other leader -> its members
//
// Whoever fails, at either side, says so in the next round, and then all fail. A side that finds out by itself that the
// round was of no use says so over the line before it gives up, so that nobody waits for it.

// round says mine, or err, and returns what all have said, by their ranks. Errors: err of any process, losses.
func (m *Side) round(mine []byte, err error) (ours, theirs [][]byte, _ error) {
	said := append([]byte{saysWords}, mine...)
	if err != nil {
		said = encodeNo(nil, err)
	}
	all, lost := m.Members.Gather(said, m.Root)
	var answer []byte
	switch {
	case m.Members.Rank() != m.Root && lost != nil:
		return nil, nil, lost
	case lost != nil:
		m.Refuse(lost)
		answer = encodeNo(nil, lost)
	case m.Members.Rank() == m.Root:
		answer = m.compare(all)
	}
	if answer, err = m.Members.Bcast(answer, m.Root); err != nil {
		return nil, nil, err
	}
	return m.hear(answer)
}

// compare is what the leader does: it answers what its members are told.
func (m *Side) compare(all [][]byte) []byte {
	for r, said := range all {
		if no := readNo(said); no != nil {
			m.Refuse(no)
			return encodeNo(nil, no)
		}
		if len(said) == 0 || said[0] != saysWords {
			no := errorf(abi.MPI_ERR_INTERN, "rank %d of %s sent a malformed introduction", r, m.Members)
			m.Refuse(no)
			return encodeNo(nil, no)
		}
		all[r] = said[1:]
	}
	words := encodeWords(nil, all)
	if len(words) > MostWords {
		no := errorf(abi.MPI_ERR_OTHER, "the processes of %s have %d bytes to say to the other side", m.Members,
			len(words))
		m.Refuse(no)
		return encodeNo(nil, no)
	}
	theirs, err := m.exchange(m.Ctx, words)
	if err != nil {
		return encodeNo(nil, err)
	}
	if no := readNo(theirs); no != nil {
		no.Text = "the other side says: " + no.Text
		return encodeNo(nil, no)
	}
	if _, rest, err := readWords(theirs); err != nil || len(rest) > 0 {
		no := errorf(abi.MPI_ERR_OTHER, "the other side does not keep the protocol: %v", err)
		m.Refuse(no)
		return encodeNo(nil, no)
	}
	secret, first := m.Line.Secret(), byte(0)
	if m.Line.First() {
		first = 1
	}
	answer := append([]byte{saysWords, first}, secret[:]...)
	return append(append(answer, words...), theirs...)
}

// hear takes what the leader answers.
func (m *Side) hear(answer []byte) (ours, theirs [][]byte, _ error) {
	if no := readNo(answer); no != nil {
		return nil, nil, no
	}
	const head = 2 + transport.SecretSize
	if len(answer) < head {
		return nil, nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s answers %d bytes", m.Root, m.Members, len(answer))
	}
	m.first = answer[1] == 1
	m.secret = sha256.Sum256(answer[2:head])
	ours, rest, err := readWords(answer[head:])
	if err == nil {
		theirs, _, err = readWords(rest)
	}
	if err != nil {
		return nil, nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s answers: %v", m.Root, m.Members, err)
	}
	return ours, theirs, nil
}

// exchange gives the other leader some bytes.
func (m *Side) exchange(ctx context.Context, mine []byte) (theirs []byte, _ error) {
	if m.Line == nil {
		return nil, errorf(abi.MPI_ERR_INTERN, "there is no line to the other side")
	}
	theirs, failed, lost := m.Links.Exchange(ctx, m.Line, mine)
	if lost != nil {
		return nil, lost
	}
	if failed != nil {
		return nil, errorf(abi.MPI_ERR_OTHER, "the other side cannot be heard: %v", failed)
	}
	return theirs, nil
}

// refuseTime is for how long a leader tries to tell the other that its side gives up.
const refuseTime = 5 * time.Second

// Refuse tells the other side why this one gives up. It is not asked what it says to that.
func (m *Side) Refuse(err error) {
	if m.Line == nil || m.Members.Rank() != m.Root {
		return
	}
	ctx, cancel := context.WithTimeout(m.Ctx, refuseTime)
	defer cancel()
	m.exchange(ctx, encodeNo(nil, err))
}
