package tree

import (
	"io"
	"sync"
)

// mailbox is what is to be sent down a branch, in order, so that nobody who sends has to wait for it.
type mailbox struct {
	mu     sync.Mutex
	more   *sync.Cond
	list   [][]byte
	last   bool // the stream ends behind the list
	closed bool
}

func newMailbox() *mailbox {
	m := &mailbox{}
	m.more = sync.NewCond(&m.mu)
	return m
}

// put adds a letter.
func (m *mailbox) put(x Letter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed && !m.last {
		m.list = append(m.list, x.bytes())
		m.more.Signal()
	}
}

// finish ends the stream when all has been sent.
func (m *mailbox) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = true
	m.more.Signal()
}

func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.list = true, nil
	m.more.Signal()
}

// begin sends the start frame and then what there is and what comes.
func (m *mailbox) begin(f *Frames, stdin io.Closer, start StartFrame) {
	go func() {
		if f.Send(Frame{Start: &start}) != nil {
			return // its end tells why
		}
		for {
			m.mu.Lock()
			for len(m.list) == 0 && !m.closed && !m.last {
				m.more.Wait()
			}
			if m.closed || len(m.list) == 0 {
				m.mu.Unlock()
				stdin.Close()
				return
			}
			next := m.list[0]
			m.list = m.list[1:]
			m.mu.Unlock()
			if _, err := f.out.Write(next); err != nil {
				return
			}
		}
	}()
}
