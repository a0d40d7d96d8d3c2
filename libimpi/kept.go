package libimpi

// What is kept of each peer, so that the message which a CANCEL means is found without a look at all others: in the
// order in which it came, and, once a search has been long, by request id. A peer may keep thousands waiting and cancel
// each of them. Such an index costs nothing as long as nobody cancels much, and goes with the last message.
//
// A message stands here as long as it can be cancelled: until it is matched. All functions run under the engine's lock.

// longSearch is how many messages a search may pass before an index is made.
const longSearch = 32

// byID is where one message stands among those of its peer with the same request id.
type byID struct {
	of           *message
	newer, older *byID
}

// note adds the newest message of the peer.
func (p *peer) note(m *message) {
	m.older, m.newer = p.unmatched.newest, nil
	if p.unmatched.newest != nil {
		p.unmatched.newest.newer = m
	}
	p.unmatched.newest = m
	if p.unmatched.index != nil {
		p.indexed(m)
	}
}

// indexed adds a message that is newer than all in the index.
func (p *peer) indexed(m *message) {
	older := p.unmatched.index[m.srqid]
	m.indexed = &byID{of: m, older: older}
	if older != nil {
		older.newer = m.indexed
	}
	p.unmatched.index[m.srqid] = m.indexed
}

// forget takes a message away. Its peer may have gone meanwhile, and this be another one (Engine.nobody).
func (p *peer) forget(m *message) {
	if m.newer != nil {
		m.newer.older = m.older
	} else if p.unmatched.newest == m {
		p.unmatched.newest = m.older
	}
	if m.older != nil {
		m.older.newer = m.newer
	}
	m.newer, m.older = nil, nil
	if at := m.indexed; at != nil {
		p.unindex(at)
		m.indexed = nil
	}
	if p.unmatched.newest == nil {
		p.unmatched.index = nil
	}
}

func (p *peer) unindex(at *byID) {
	if at.older != nil {
		at.older.newer = at.newer
	}
	switch {
	case at.newer != nil:
		at.newer.older = at.older
	case p.unmatched.index[at.of.srqid] != at:
	case at.older != nil:
		p.unmatched.index[at.of.srqid] = at.older
	default:
		delete(p.unmatched.index, at.of.srqid)
	}
}

// newestOf finds the newest message of the peer with this request id that has not been matched (IMPI 0.0, 3.7.4: newest
// first, because ids of completed eager sends are used again); nil if there is none.
func (p *peer) newestOf(srqid uint64) *message {
	if p.unmatched.index == nil {
		passed := 0
		for m := p.unmatched.newest; m != nil; m = m.older {
			if m.srqid == srqid {
				return m
			}
			if passed++; passed > longSearch {
				p.makeIndex()
				break
			}
		}
	}
	if at := p.unmatched.index[srqid]; at != nil {
		return at.of
	}
	return nil
}

// makeIndex indexes all messages of the peer, the oldest first.
func (p *peer) makeIndex() {
	p.unmatched.index = make(map[uint64]*byID)
	m := p.unmatched.newest
	for m.older != nil {
		m = m.older
	}
	for ; m != nil; m = m.newer {
		p.indexed(m)
	}
}
