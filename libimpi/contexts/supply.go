package contexts

import "slices"

// Supply is the ids of what is made of one communicator. They are handed out in the order of the calls, which is the
// same at all members, so that a call knows which id of which block it gets before that block is there. Blocks that are
// on their way may come in any order.
type Supply struct {
	block  Block     // the newest, as far as it is not used up
	coming []*Coming // blocks that have been asked for, the oldest first
}

// Coming is a block that has been asked for.
type Coming struct {
	left  int // ids that nobody has been promised yet
	users []*Promise
}

// Promise is the id of a new communicator.
type Promise struct {
	ID   uint64 // if Done and Err is nil
	Err  error
	Done bool
	kept func() // called when it is done, if it was not at once
}

// Ask returns the id of the next communicator. If its block is still on the way, kept is called when it is there. It
// also returns a block for the caller to bring, which then calls Bring; all members have to do so at this call.
func (s *Supply) Ask(kept func()) (p *Promise, bring *Coming) {
	if !s.block.Empty() {
		p = &Promise{ID: s.block.Next, Done: true}
		s.block = s.block.Rest()
		return p, nil
	}
	n := len(s.coming)
	if n == 0 || s.coming[n-1].left == 0 {
		bring = &Coming{left: BlockSize}
		s.coming = append(s.coming, bring)
		n++
	}
	from := s.coming[n-1]
	p = &Promise{kept: kept}
	from.left--
	from.users = append(from.users, p)
	return p, bring
}

// Bring says that a block has come, or why it does not; then the next call asks for one again.
func (s *Supply) Bring(c *Coming, b Block, err error) {
	i := slices.Index(s.coming, c)
	s.coming = slices.Delete(s.coming, i, i+1)
	for _, p := range c.users {
		if p.Err = err; err == nil {
			p.ID, b = b.Next, b.Rest()
		}
		p.Done = true
	}
	if c.left > 0 && err == nil { // only the newest has some left
		s.block = b
	}
	for _, p := range c.users {
		if p.kept != nil {
			p.kept()
		}
	}
}

// Stock gives the supply its first block.
func (s *Supply) Stock(b Block) { s.block = b }
