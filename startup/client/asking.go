package client

import (
	"math/bits"
	"sync"
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

// What the clients of a job ask each other, by the server (wire.CmdAsk).

// inquiry is the question of this client that is under way.
type inquiry struct {
	mu      sync.Mutex // guards what follows
	number  uint32
	answers map[int][]byte // by client
	awaited uint32         // who will answer: a bit for each client
	known   bool           // the server has said who that is
	all     chan struct{}  // closed when they have; nil: no question is under way
}

// Answer makes the session answer other clients' questions with what source returns, which is called on a goroutine of
// its own, and may take long. Without it the answers are empty.
func (s *Session) Answer(source func(what []byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.source = source
}

// Ask asks all other clients, and returns what those have answered within limit, by client. complete is false if it
// cannot be excluded that others have not: the server knows nothing of questions, or a client of another library, one
// that has ended, or none, is in the place of one. One call at a time; clients is how many there are.
func (s *Session) Ask(what []byte, clients int, limit time.Duration) (answers map[int][]byte, complete bool) {
	q := &s.inquiry
	all := make(chan struct{})
	q.mu.Lock()
	q.number++
	number := q.number
	q.answers, q.awaited, q.known, q.all = map[int][]byte{}, 0, false, all
	q.mu.Unlock()
	if s.own && !s.over() {
		s.say(wire.AppendAsk(nil, s.rank, number, what))
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-all:
		case <-timer.C:
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = nil
	return q.answers, q.known && bits.OnesCount32(q.awaited) == clients-1 && len(q.answers) == clients-1
}

// took takes an answer. One that comes late is of no interest.
func (q *inquiry) took(own, client int32, number uint32, answer []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.all == nil || number != q.number || client < 0 || client >= wire.MaxClients:
		return
	case client == own:
		clients, ok := wire.Clients(answer)
		if !ok {
			return
		}
		q.awaited, q.known = clients, true
	default:
		q.answers[int(client)] = answer
	}
	if q.known && len(q.answers) >= bits.OnesCount32(q.awaited) {
		close(q.all)
		q.all = nil
	}
}

// stop ends the question under way: nobody will answer.
func (q *inquiry) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all != nil {
		close(q.all)
		q.all = nil
	}
}

// reply answers another client's question.
func (s *Session) reply(client int32, number uint32, what []byte) {
	s.mu.Lock()
	source := s.source
	s.mu.Unlock()
	go func() {
		var answer []byte
		if source != nil {
			answer = source(what)
		}
		if len(answer) > wire.ToldMax {
			answer = nil
		}
		s.say(wire.AppendTold(nil, client, number, answer))
	}()
}

// sayTime is how long the server may take to read a long answer.
const sayTime = 30 * time.Second

// say sends a command, unless the session has ended.
func (s *Session) say(b []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.send(b, sayTime)
}

// send is say for who has locked writing. The server has so long to read the command.
func (s *Session) send(b []byte, limit time.Duration) {
	s.mu.Lock()
	ended := s.ended
	if !ended {
		s.conn.SetWriteDeadline(time.Now().Add(limit))
	}
	s.mu.Unlock()
	if !ended {
		s.conn.Write(b)
		s.conn.SetWriteDeadline(time.Time{})
	}
}
