package unexpected

// What is kept of each peer, so that the message which a CANCEL means is found without a look at all others: in the
// order in which it came, and, once a search has been long, by request id. A peer may keep thousands waiting and cancel
// each of them. Such an index costs nothing as long as nobody cancels much, and goes with the last message.
//
// A message stands here as long as it can be cancelled: until it is matched.

// longSearch is how many messages a search may pass before an index is made.
const longSearch = 32

// byID is where one message stands among those of its peer with the same request id.
type byID[R any] struct {
	of           *Message[R]
	newer, older *byID[R]
}

// Kept is what is kept of a peer and has not been matched.
type Kept[R any] struct {
	newest *Message[R]
	index  map[uint64]*byID[R] // by request id; nil: nobody has searched long
}

// Newest is the message that has come last; from there Message.Older leads to the others.
func (p *Kept[R]) Newest() *Message[R] { return p.newest }

// Note adds the newest message of the peer.
func (p *Kept[R]) Note(m *Message[R]) {
	m.Older, m.newer = p.newest, nil
	if p.newest != nil {
		p.newest.newer = m
	}
	p.newest = m
	if p.index != nil {
		p.indexed(m)
	}
}

// indexed adds a message that is newer than all in the index.
func (p *Kept[R]) indexed(m *Message[R]) {
	older := p.index[m.SrqID]
	m.indexed = &byID[R]{of: m, older: older}
	if older != nil {
		older.newer = m.indexed
	}
	p.index[m.SrqID] = m.indexed
}

// Forget takes a message away. Its peer may have gone meanwhile, and this be another one.
func (p *Kept[R]) Forget(m *Message[R]) {
	if m.newer != nil {
		m.newer.Older = m.Older
	} else if p.newest == m {
		p.newest = m.Older
	}
	if m.Older != nil {
		m.Older.newer = m.newer
	}
	m.newer, m.Older = nil, nil
	if at := m.indexed; at != nil {
		p.unindex(at)
		m.indexed = nil
	}
	if p.newest == nil {
		p.index = nil
	}
}

func (p *Kept[R]) unindex(at *byID[R]) {
	if at.older != nil {
		at.older.newer = at.newer
	}
	switch {
	case at.newer != nil:
		at.newer.older = at.older
	case p.index[at.of.SrqID] != at:
	case at.older != nil:
		p.index[at.of.SrqID] = at.older
	default:
		delete(p.index, at.of.SrqID)
	}
}

// NewestOf finds the newest message of the peer with this request id that has not been matched (IMPI 0.0, 3.7.4: newest
// first, because ids of completed eager sends are used again); nil if there is none.
func (p *Kept[R]) NewestOf(srqid uint64) *Message[R] {
	if p.index == nil {
		passed := 0
		for m := p.newest; m != nil; m = m.Older {
			if m.SrqID == srqid {
				return m
			}
			if passed++; passed > longSearch {
				p.makeIndex()
				break
			}
		}
	}
	if at := p.index[srqid]; at != nil {
		return at.of
	}
	return nil
}

// makeIndex indexes all messages of the peer, the oldest first.
func (p *Kept[R]) makeIndex() {
	p.index = make(map[uint64]*byID[R])
	m := p.newest
	for m.Older != nil {
		m = m.Older
	}
	for ; m != nil; m = m.newer {
		p.indexed(m)
	}
}
