package client

import (
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

// answerTime is how long the server may take to read an answer.
const answerTime = 2 * time.Second

// Report makes the session answer the server with what source returns, when somebody watches the job. source is called
// on a goroutine of its own, of which there is one at a time.
func (s *Session) Report(source func() []wire.Traffic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traffic = source
}

// report answers a question of the server; before Report with no rows. What it asks before the answer has left is not
// answered: no server of ours does that.
func (s *Session) report(number uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked || s.ended || !s.own {
		return
	}
	s.asked = true
	source := s.traffic
	go func() {
		var rows []wire.Traffic
		if source != nil {
			rows = source()
		}
		s.answer(wire.AppendTraffic(nil, number, rows))
	}()
}

// answer sends a command, unless the session has ended. An error needs no word: who reads notices that the server has
// gone.
func (s *Session) answer(b []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	s.asked = false
	s.mu.Unlock()
	s.send(b, answerTime)
}
