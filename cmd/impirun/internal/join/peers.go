package join

import (
	"sync"
	"time"

	"github.com/libimpi/libimpi/startup/client"
)

// Peers are the launchers of the job's other clients, which can be asked once this one has joined them. The zero value
// knows nobody yet.
type Peers struct {
	mu      sync.Mutex // guards what follows
	session *client.Session
	clients int
	source  func(what []byte) []byte
}

// Joined notes that this client has joined the others.
func (p *Peers) Joined(s *client.Session, clients int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session, p.clients = s, clients
	s.Answer(p.source)
}

// Answer makes source answer their questions. It is called on a goroutine of its own.
func (p *Peers) Answer(source func(what []byte) []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.source = source
	if p.session != nil {
		p.session.Answer(source)
	}
}

// Ask asks them: client.Session.Ask.
func (p *Peers) Ask(what []byte, limit time.Duration) (answers map[int][]byte, complete bool) {
	p.mu.Lock()
	s, n := p.session, p.clients
	p.mu.Unlock()
	if s == nil {
		return nil, false
	}
	return s.Ask(what, n, limit)
}
