package tcp

import "errors"

// Hosts that part one by one, where those of a Host are not all done at the same time: processes of other jobs, whose
// communicators end when the program says so. On the link to such a host happens what finish.go says, while Poll serves
// the others. From Part on, what comes from there is thrown away.

// Part ends the use of the connection to a host in order: all that has been sent leaves, and then FINI. It does not
// block. It is called when the engine has nothing left to send there; a continuation of which it still owes a part
// cannot be completed any more, and breaks the connection.
func (h *Host) Part(host int32) {
	l := h.links[host]
	if l == nil || l.ended || l.finiOut || h.epoll < 0 {
		return
	}
	x := h.job.Hosts[host]
	for theirs := x.First; theirs < x.First+x.NProcs; theirs++ {
		for ours := h.flow.first; ours < h.flow.first+h.job.Hosts[h.me].NProcs; ours++ {
			h.Shut(ours, theirs, false)
		}
	}
	if l.ended {
		return
	}
	if l.owed > 0 {
		h.end(l, errors.New("a long message to it was not completed"))
		return
	}
	h.sayFini(l)
}

// Parted reports whether a host has said FINI, so that all it has sent has been delivered, or is lost.
func (h *Host) Parted(host int32) bool {
	l := h.links[host]
	return l == nil || l.fini || l.ended
}

// Reap closes connections that both ends have parted from, as far as that has come, and returns how many hosts there
// are that this one has not parted from, or whose end it awaits. It is called after a Poll.
func (h *Host) Reap() (left int) {
	for _, l := range h.links {
		if l == nil {
			continue
		}
		h.tell(l)
		if len(l.replies) > 0 {
			h.reply(l)
		}
		switch {
		case l.ended:
			h.close(l)
			continue
		case l.finiOut && l.fini && !l.halved && l.off == len(l.out) && (l.many == nil || !l.many.Pending()):
			h.closeWrite(l)
		}
		left++
	}
	return left
}

// tell calls Options.Finished when it is due.
func (h *Host) tell(l *link) {
	if !l.told && (l.fini || l.ended) && h.finished != nil {
		l.told = true
		h.finished(l.host)
	}
}
