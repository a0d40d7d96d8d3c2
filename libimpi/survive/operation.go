package survive

// Operation is an agree or a shrink, of one agreement or several. The operations of a communicator take place in the
// order in which its members call them; one that is called before another is done waits for it.
type Operation struct {
	kind   kind
	mine   Value
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
		if !v.Failed.Within(o.before) {
			return false
		}
	}
	o.result, o.done = v, true
	return true
}
