package machines

import (
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// The launcher's standard input on several machines. The rank that reads it, or all ranks, may be anywhere. A rank on
// the launcher's own machine inherits it as it is; to others it travels in frames: a node asks for some, writes it into
// the pipe that its ranks read, and asks again when they have taken it, so that a rank which does not read costs no
// memory. If all ranks read, the launcher goes at the pace of the slowest node.

// stdin is that input.
var stdin = supervise.Foreground(os.Stdin)

// inputPiece is how much travels at a time, in bytes.
const inputPiece = 64 << 10

// assign returns what of the launcher's standard input goes to the ranks of a machine: plan is that machine's own.
func assign(m *tree.Member, plan *options.Plan) tree.InputKind {
	local := slices.Index(m.Ranks, plan.StdinRank)
	switch {
	case plan.Stdin == options.StdinAll:
		return tree.InputSent
	case plan.Stdin == options.StdinOne && local >= 0:
		plan.StdinRank = local
		if m.Local && !plan.StdinLater {
			return tree.InputOwn
		}
		return tree.InputSent
	}
	plan.Stdin, plan.StdinRank = options.StdinNone, 0
	return tree.InputNone
}

// pour sends the next piece of standard input to the nodes that get it, if they all want it. It does not block.
func (h *head) pour() {
	var to []*nodeLink
	for _, r := range h.nodes {
		if r.Input != tree.InputSent || r.ended {
			continue
		}
		if !r.wants {
			return
		}
		to = append(to, r)
	}
	if len(to) == 0 {
		return
	}
	for _, r := range to {
		r.wants = false
	}
	go func() {
		b := make([]byte, inputPiece)
		n, _ := stdin.Read(b)
		var sent sync.WaitGroup
		for _, r := range to {
			sent.Go(func() { r.send(tree.Frame{Input: &tree.InputFrame{Data: b[:n]}}) })
		}
		sent.Wait()
	}()
}

// takeInput makes a node's standard input what its ranks are to inherit.
func (n *node) takeInput(null *os.File) error {
	switch n.self.Input {
	case tree.InputOwn:
		defer unix.Close(tree.InputFD)
		return unix.Dup3(tree.InputFD, 0, 0)
	case tree.InputSent:
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer r.Close()
		n.feed = w
		return unix.Dup3(int(r.Fd()), 0, 0)
	}
	return unix.Dup3(int(null.Fd()), 0, 0)
}

// serveInput hands on what comes, until the end of it or of its readers. It begins when the ranks have been started:
// then a rank that alone reads must be the only one that keeps the pipe open.
func (n *node) serveInput() {
	if n.feed == nil {
		return
	}
	if n.plan.Stdin == options.StdinOne {
		if null, err := os.Open(os.DevNull); err == nil {
			unix.Dup3(int(null.Fd()), 0, 0)
			null.Close()
		}
	}
	go func() {
		defer n.feed.Close()
		for n.frames.Send(tree.Frame{Want: true}) == nil {
			m := <-n.input
			if len(m.Data) == 0 {
				return
			}
			if _, err := n.feed.Write(m.Data); err != nil {
				return
			}
		}
	}()
}
