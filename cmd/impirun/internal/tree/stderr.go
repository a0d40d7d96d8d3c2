package tree

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// heldErrors is the stderr of a command: held back until it is clear whether the command is tried again, in which case
// nobody need know what it said.
type heldErrors struct {
	pipe *os.File // nil: it is our own, and not ours to hold
	to   io.Writer
	done chan struct{} // closed when all has been read

	mu   sync.Mutex
	held []byte
	free bool
}

// unbound is what srun says where Slurm binds nobody, of our wish that it bind nobody.
var unbound = []byte("lacks support for cpu binding")

// maxHeld bounds what is held, in bytes.
const maxHeld = 64 << 10

func (h *heldErrors) copy() {
	defer close(h.done)
	buf := make([]byte, 4096)
	for {
		n, err := h.pipe.Read(buf)
		h.mu.Lock()
		if h.free {
			h.to.Write(buf[:n])
		} else if len(h.held) < maxHeld {
			h.held = append(h.held, buf[:n]...)
		}
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// release writes what was held, and all that follows.
func (h *heldErrors) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = true
	for line := range bytes.Lines(h.held) {
		if !bytes.Contains(line, unbound) {
			h.to.Write(line)
		}
	}
	h.held = nil
}

func (h *heldErrors) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.held)
}

// close waits for the end of the pipe, but not for what the command has left behind with it, such as the master of
// connections that ssh can share.
func (h *heldErrors) close() {
	if h.pipe == nil {
		return
	}
	select {
	case <-h.done:
	case <-time.After(time.Second):
	}
	h.pipe.Close()
}

// drop closes the pipe of a command that does not run: nobody reads it, and nothing will come.
func (h *heldErrors) drop() {
	if h.pipe != nil {
		h.pipe.Close()
	}
}
