package libimpi

import (
	stdcontext "context"
	"crypto/rand"
	"crypto/sha256"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// peerLine is a line of messages between the leaders of two groups, on a communicator that both belong to. Its errors
// are losses.
type peerLine struct {
	on     *Comm
	with   int // the other leader's rank
	tag    int
	secret [transport.SecretSize]byte
	first  bool
}

// openLine gives a leader a line to the other one, on a communicator of both. Both call it.
func (m *encounter) openLine(on *Comm, with int, tag int32) error {
	l, err := on.openPeerLine(with, tag)
	if err == nil {
		m.line = l
	}
	return err
}

func (c *Comm) openPeerLine(with int, tag int32) (*peerLine, error) {
	l := &peerLine{on: c, with: with, tag: int(tag), first: c.engine.before(c.engine.me, c.group.World(with))}
	var mine, theirs [transport.SecretSize]byte
	rand.Read(mine[:])
	if err := c.exchange(byteBuf(mine[:]), byteBuf(theirs[:]), with, l.tag); err != nil {
		return nil, err
	}
	if !l.first {
		mine, theirs = theirs, mine
	}
	l.secret = sha256.Sum256(append(mine[:], theirs[:]...))
	return l, nil
}

// Exchange implements transport.Line.
func (l *peerLine) Exchange(_ stdcontext.Context, mine []byte) ([]byte, error) {
	length := make([]int64, 1)
	if err := l.on.exchange(numberBuf([]int64{int64(len(mine))}), numberBuf(length), l.with, l.tag); err != nil {
		return nil, err
	}
	if length[0] < 0 || length[0] > transport.MaxExchange {
		return nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s announces %d bytes", l.with, l.on.describe(), length[0])
	}
	theirs := make([]byte, length[0])
	return theirs, l.on.exchange(byteBuf(mine), byteBuf(theirs), l.with, l.tag)
}

// Secret implements transport.Line.
func (l *peerLine) Secret() [transport.SecretSize]byte { return l.secret }

// First implements transport.Line.
func (l *peerLine) First() bool { return l.first }

// Ended implements transport.Line. The engine's lock is not held.
func (l *peerLine) Ended() bool {
	e := l.on.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	return l.on.without(int32(l.with)) != nil
}

// Close implements transport.Line.
func (l *peerLine) Close() error { return nil }
