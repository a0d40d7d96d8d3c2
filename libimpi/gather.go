package libimpi

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/transport"
)

// Sends of the program to other clients and machines that come in a burst leave together (transport/tcp/gather.go):
// those that do not block, and blocking ones of short messages. Those of collectives leave at once, since other
// processes are known to wait for them. What has gathered leaves when the program waits or tests; the functions that do
// so call settle, in case they find at once what they ask for and do not poll. C sends them here if something has
// gathered, and counts those that it answers itself.

// post begins the start of a send to dest. Engine lock held, and kept until posted.
func (e *Engine) post(dest int32) {
	if g := e.peer(dest).gather; g != nil {
		e.turned(g)
		g.Post()
	}
}

// postPaced is post for a blocking send. False: there is nothing to gather.
func (e *Engine) postPaced(dest int32) bool {
	g := e.peer(dest).gather
	if g == nil {
		return false
	}
	e.turned(g)
	g.PostPaced()
	return true
}

// turned ends bursts if the fast path has completed requests since.
func (e *Engine) turned(g transport.Gatherer) {
	if turns := atomic.LoadUint32(&e.shared.Turns); turns != e.waiting.turns {
		e.waiting.turns = turns
		g.Settle()
	}
}

// posted ends post and postPaced.
func (e *Engine) posted(dest int32) {
	if g := e.peer(dest).gather; g != nil && g.Posted() {
		e.shared.Gathered = 1
	}
}

// settle sends what has gathered.
func (e *Engine) settle() {
	if g := e.ways.network.gatherer; g != nil {
		e.shared.Gathered = 0
		g.Settle()
	}
}
