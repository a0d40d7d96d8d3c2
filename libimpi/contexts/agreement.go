package contexts

import "slices"

// An agreement of processes of several jobs on a block, in rounds of two steps. In the first each process says the
// largest id that it knows, and the block to be is what follows the maximum. In the second each has a veto: the block
// stands if no process has used one of its ids, or one above, since the numbers were collected. So that two agreements
// do not undo each other for ever, a process with several under way consents to the first of them in an order that all
// processes share; one that still waits for a process to take part does not count.

// Place is where an agreement takes place: on which context, and with which tag. A process has one at a time there.
type Place struct {
	Context uint64
	Tag     int
}

func (p Place) before(q Place) bool {
	return p.Context < q.Context || p.Context == q.Context && p.Tag < q.Tag
}

// Agreement is one that is under way, as one process sees it. It goes on, with Say and Hear in turn, until Hear says
// that it is done or has failed; End ends it in any case.
type Agreement struct {
	ids     *IDs
	at      Place
	entered bool
	voting  bool   // the second step
	most    uint64 // of the numbers that the first one has collected
}

// Agree begins an agreement.
func (ids *IDs) Agree(at Place) Agreement { return Agreement{ids: ids, at: at} }

// Say is what this process contributes to the next step.
func (a *Agreement) Say() uint64 {
	if !a.voting {
		return a.ids.LargestOfJobs | 1
	}
	if a.ids.reserve(a.at, a.most) {
		return 0
	}
	return 1
}

// Hear takes the largest of what all have said. When it is done, Block is what they agree on.
func (a *Agreement) Hear(largest uint64) (done bool, err error) {
	if a.voting {
		a.voting = false
		return largest == 0, nil
	}
	if !a.entered { // everybody is here: from now on it goes on whatever the program does
		a.entered = true
		a.ids.agreeing = append(a.ids.agreeing, a.at)
	}
	if largest < Jobs || largest >= Jobs+Survivors-2*BlockSize {
		return false, ErrNoneLeft
	}
	a.voting, a.most = true, largest
	return false, nil
}

// Block is what all agree on.
func (a *Agreement) Block() Block { return Block{a.most + 1, a.most + 1 + 2*BlockSize} }

// End lets the process consent to others.
func (a *Agreement) End() {
	if a.entered {
		i := slices.Index(a.ids.agreeing, a.at)
		a.ids.agreeing = slices.Delete(a.ids.agreeing, i, i+1)
		a.entered = false
	}
}

// reserve keeps the block after most for an agreement, if this process consents.
func (ids *IDs) reserve(at Place, most uint64) bool {
	if most < ids.LargestOfJobs || slices.ContainsFunc(ids.agreeing, func(p Place) bool { return p.before(at) }) {
		return false
	}
	ids.LargestOfJobs = most + 2*BlockSize
	return true
}
