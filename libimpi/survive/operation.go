package survive

// Operation is an agree or a shrink, of one agreement or several. The operations of a communicator take place in the
// order in which its members call them; one that is called before another is done waits for it.
type Operation struct {
	kind   kind
	mine   Value
	vote   Vote  // of shrink: goes on in its rounds; nil: there is none, or it is over
	before Set   // failures agreed on before this round
	first  Value // of Confirmed: what the first round has decided
	rounds int
	done   bool
	result Value
}

type kind uint8

const (
	once kind = iota
	confirmed
	shrink
)

// Agree begins an agreement, to which this member contributes v; the failures that it knows of are added. Survivors get
// the same value; a member that fails may have got another one.
func (a *Agreements) Agree(v Value) *Operation { return a.call(&Operation{kind: once, mine: v}) }

// Confirmed begins an agreement whose value is uniform: nobody, not even one that fails later, gets another value than
// the survivors. The second round ends only when all survivors have what the first has decided.
func (a *Agreements) Confirmed(v Value) *Operation {
	return a.call(&Operation{kind: confirmed, mine: v})
}

// Shrink begins to agree on the members that have failed. Rounds go on until one finds no failure that the agreement
// before, which may be one of another operation, did not know of. Max of its value is the largest proposal in the last
// round: if each member proposes context ids that only it gives away, those of the largest are new for all.
func (a *Agreements) Shrink(proposal uint64) *Operation {
	return a.call(&Operation{kind: shrink, mine: Value{And: ^uint64(0), Max: proposal}})
}

// Vote is an agreement on a number, of rounds, in which those who take part in a shrink join what each of them says to
// the largest of it.
type Vote interface {
	// Say is what this member says in the next round.
	Say() uint64
	// Hear takes the largest of what all have said. It returns the same at all members: whether the vote is over.
	Hear(largest uint64) (over bool)
}

// ShrinkAndVote is Shrink whose rounds also go on until a vote is over.
func (a *Agreements) ShrinkAndVote(v Vote) *Operation {
	return a.call(&Operation{kind: shrink, mine: Value{And: ^uint64(0)}, vote: v})
}

// Busy reports whether an operation is under way.
func (a *Agreements) Busy() bool { return len(a.queue) > 0 }

// Done reports whether the operation is done.
func (o *Operation) Done() bool { return o.done }

// Value is what members have agreed on, if the operation is done.
func (o *Operation) Value() Value { return o.result }

// Rounds is of how many agreements the operation was.
func (o *Operation) Rounds() int { return o.rounds }

func (a *Agreements) call(o *Operation) *Operation {
	a.queue = append(a.queue, o)
	if !a.active {
		a.advance()
	}
	return o
}

// contribution is what this member says in the next round; last is the decision before.
func (o *Operation) contribution(last Value) Value {
	o.before = last.Failed
	if o.vote != nil {
		o.mine.Max = o.vote.Say()
	}
	return o.mine
}

// decided takes the decision of a round, and reports whether it was the last.
func (o *Operation) decided(v Value) bool {
	o.rounds++
	switch o.kind {
	case confirmed:
		if o.rounds == 1 {
			o.first = v
			return false
		}
		v = o.first
	case shrink:
		if o.vote != nil && o.vote.Hear(v.Max) {
			o.vote = nil
		}
		if o.vote != nil || !v.Failed.Within(o.before) {
			return false
		}
	}
	o.result, o.done = v, true
	return true
}
