package transport

import "context"

// How processes of different jobs find each other (MPI 5.0, 11.8 to 11.10). Two processes that know how to talk, the
// leaders, have a Line. All processes of both sides take part in a Meeting: each hands out a card, the leaders exchange
// the cards of their sides, everybody gets all of them, and Join makes links of them.
//
//	leader:     Line.Exchange            everybody:  Links.Meet -> Meeting.Card -> (cards of all) -> Meeting.Join
//
// A process of another job has no world rank here. The engine gives it a number, above all world ranks, by which
// transports name it in Header.Src, Header.Dst and Receiver.Lost. Each process counts for itself.

// SecretSize is the length of what only those who take part in a meeting know, in bytes.
const SecretSize = 32

// Line connects the leaders of two sides. Each has proved to the other that it may be there.
type Line interface {
	// Exchange gives the other leader some bytes, at most MaxExchange, and returns what that one gives. It blocks until
	// both have called it, or ctx is done.
	Exchange(ctx context.Context, mine []byte) (theirs []byte, err error)
	// Secret is known to the two leaders alone: the same to both, and to no other line.
	Secret() [SecretSize]byte
	// First says whose side comes first where an order is needed: true at one end, false at the other.
	First() bool
	// Ended says, without waiting, whether the other leader is known to have closed its end or to have died, whatever it
	// has said before.
	Ended() bool
	Close() error
}

// MaxExchange bounds what one call of Line.Exchange carries, in bytes.
const MaxExchange = 64 << 20

// MaxCard bounds a card, in bytes.
const MaxCard = 1 << 10

// Meeting is one occasion on which processes of several jobs get links to each other. Its methods are called by one
// thread, without the engine's lock.
type Meeting interface {
	// Card returns where others find this process during the meeting. It opens the places where it is found.
	Card() ([]byte, error)
	// Join makes a link to each process that is wanted. All who take part call it at the same time. It blocks until all
	// of this process's links are there, or ctx is done; then none of them is. Deliver and Lost of these links are called
	// like those of Links.Local: by Poll, under the engine's lock; wake is called as that of Open.
	Join(ctx context.Context, p Participants, r Receiver, wake func()) ([]Guest, error)
	// Close ends the meeting, which has been joined or not. Links stay.
	Close()
}

// Participants are all who take part in a meeting, as one of them sees them.
type Participants struct {
	Cards  [][]byte         // of all, in the same order for everybody
	Me     int              // which of them is this process's
	Number []int32          // the number that this process gives to each; -1: no link is wanted, by neither end
	Secret [SecretSize]byte // the same for all
}

// Guest is a link that a meeting has made. Who shares this machine's memory with us is reached by Links.Local, which
// has been told of the number.
type Guest struct {
	Number int32
	By     Transport // takes packets to that number; the same value for all whom it serves
	Near   bool      // By is Links.Local
}

// Parter is a Transport to which Join has added processes, or that Join has made: it lets them go. Without it they stay
// until the end.
type Parter interface {
	// Part ends the link to a process of another job in order: nothing that this process has sent is lost, and the other
	// hears that no more comes. Nothing more is delivered from there. It does not block. The number is free afterwards.
	Part(number int32)
	// Parted reports whether the other has ended the link in order, too, and all that it had sent has been delivered.
	// After that its death is no news. Any number, known or not, may be asked for.
	Parted(number int32) bool
}

// Indexer is a Transport whose peers have small indexes, by which a fast path finds what it needs of them: the local
// rank of a process of this segment, and more for one of another job, as long as its link lasts.
type Indexer interface {
	// Local is the index of a process; -1 if it has none.
	Local(peer int32) int
}
