package machines

import (
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/startup"
)

// answer answers a request of a node's rank.
func (h *head) answer(r *nodeLink, a *tree.AskFrame) {
	reply := tree.AnswerFrame{ID: a.ID}
	defer func() { r.send(tree.Frame{Answer: &reply}) }()
	if a.Name == nil && (a.Spawn == nil || a.Like == nil) {
		reply.Answer = startup.Answer{Err: startup.Refuse(startup.ErrRefused, "the node asks for nothing")}
		return
	}
	reply.Answer, reply.Here = h.spawner.Ask(startup.Request{Spawn: a.Spawn, Name: a.Name}, a.Like)
}

// Ask is a node's way to the first launcher.
func (n *node) Ask(r startup.Request, like *options.Program) (startup.Answer, int) {
	n.mu.Lock()
	n.asked++
	id, to := n.asked, make(chan tree.AnswerFrame, 1)
	n.asking[id] = to
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.asking, id)
		n.mu.Unlock()
	}()
	gone := startup.Answer{Err: startup.Refuse(startup.ErrUnreachable, "the first launcher of the job cannot be asked")}
	if n.frames.Send(tree.Frame{Ask: &tree.AskFrame{ID: id, Spawn: r.Spawn, Name: r.Name, Like: like}}) != nil {
		return gone, 0
	}
	select {
	case a := <-to:
		return a.Answer, a.Here
	case <-n.alone:
		return gone, 0
	}
}

// answered hands an answer to who waits for it.
func (n *node) answered(a tree.AnswerFrame) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if to := n.asking[a.ID]; to != nil {
		delete(n.asking, a.ID)
		to <- a
	}
}
