package unexpected

import "fmt"

// For tests: whether everything is in its place.

// Check returns all messages that wait for contexts. Errors: one of them is not where it belongs.
func (e *Early[R]) Check() (map[*Message[R]]bool, error) {
	all := map[*Message[R]]bool{}
	for cid, q := range e.byContext {
		var last *Message[R]
		for m := q.head; m != nil; last, m = m, m.next {
			all[m] = true
			if m.CID != cid || !m.Early || m.prev != last {
				return nil, fmt.Errorf("a message for context %d among those for %d, early: %t", m.CID, cid, m.Early)
			}
		}
		if last == nil || q.tail != last {
			return nil, fmt.Errorf("the queue of context %d does not end with its last message", cid)
		}
	}
	return all, nil
}

// Check returns all messages of a peer, the newest first. Errors: one of them is not where it belongs.
func (p *Kept[R]) Check() (all []*Message[R], err error) {
	var newer *Message[R]
	for m := p.newest; m != nil; newer, m = m, m.Older {
		if m.newer != newer || (m.indexed != nil) != (p.index != nil) {
			return nil, fmt.Errorf("message %d from the newest of its peer on is not in its place", len(all))
		}
		all = append(all, m)
	}
	if len(all) == 0 && p.index != nil {
		return nil, fmt.Errorf("an index of %d ids for no message", len(p.index))
	}
	return all, nil
}

// Indexed reports whether there is an index.
func (p *Kept[R]) Indexed() bool { return p.index != nil }
