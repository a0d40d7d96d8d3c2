package survive

import (
	"fmt"
	"slices"
)

// The early-returning agreement (Herault et al., Practical Scalable Consensus for Pseudo-Synchronous Distributed
// Systems, SC15), over a tree that is repaired when members fail.
//
// Contributions go up the tree (Up); each member waits for its children, the root decides, and the decision goes down
// (Down). A member returns as soon as it has the decision, without knowing who else does: 2 (n-1) messages on paths
// of 2 log n. On a failure only those act that have no decision yet:
//
//   - Whoever waits for a child that fails waits for those below the child instead.
//   - Whoever has reported to a parent that fails reports to the next above that lives; if none does, to the first
//     member that lives, the new root.
//   - A new root that had reported already asks (Query) those that the old one may have told of a decision: the
//     topmost of all other branches. Who has the decision answers with it; others report, and then follow only the new
//     root.
//
// Whoever has the decision keeps it, and sends it to whoever still reports or asks, until it has the next decision:
// that one contains a contribution of every survivor, so all had the one before.
//
// Survivors agree: let a root have decided, and another one be about to. No member below a node that lives and is
// undecided can have the decision, since decisions pass a node only if their sender knows that it has failed. So it
// suffices that the new root hears of the topmost node of each branch after its old ancestors failed. This holds
// because reports carry the failures that their sender knows of, and nobody listens to those that it knows to have
// failed.
//
// It says nothing of the dead: a member that fails may have returned from an agreement with a value that no survivor
// knows. Confirmed in operation.go excludes that, too, for a second agreement.

// Agreements is the part of one member in all agreements of a communicator, which take place one after the other. The
// tree of each is made of the members that the one before has not found to have failed.
type Agreements struct {
	me    int
	known Set // to have failed
	out   []Message
	queue []*Operation

	number uint64 // of the agreement that is under way, or of the next
	active bool
	last   Value     // the decision before
	early  []Message // reports of members that are ahead

	// Of the agreement that is under way:
	tree     tree
	at       int // this member's node
	root     int // the first node that lives
	isRoot   bool
	value    Value            // contributions so far
	pending  map[int]struct{} // members that have not reported yet
	heard    map[int]struct{} // members that have
	reported int              // the member that this one has reported to, or -1
}

// New is the part of a member in the agreements of a communicator of that size.
func New(me, size int, shape Shape) *Agreements {
	return &Agreements{me: me, tree: tree{shape: shape, size: size}}
}

// Known are the members that this one knows to have failed.
func (a *Agreements) Known() Set { return a.known }

// Messages returns what there is to send, in this order. The slice is valid until the next call of another method.
func (a *Agreements) Messages() []Message {
	out := a.out
	a.out = a.out[:0]
	return out
}

// Lost says that these members have failed.
func (a *Agreements) Lost(members Set) {
	a.learn(members)
	a.advance()
}

// Receive takes a message. An error says that its sender breaks the rules, or ErrFailed that this process has to end.
func (a *Agreements) Receive(m Message) error {
	if err := m.check(a.me, a.tree.size); err != nil {
		return err
	}
	if a.known.Has(m.From) {
		return nil
	}
	switch {
	case m.Number == a.number && a.active:
		a.current(&m)
	case m.Number == a.number || m.Number == a.number+1 && a.active:
		if m.Kind == Down {
			return fmt.Errorf("member %d sent the decision of agreement %d, to which member %d has not contributed",
				m.From, m.Number, a.me)
		}
		if m.Kind == Up {
			a.keep(m)
		}
		a.learn(m.Value.Failed)
	case m.Number > a.number:
		return fmt.Errorf("member %d is in agreement %d, but member %d in %d", m.From, m.Number, a.me, a.number)
	default:
		a.learn(m.Value.Failed)
		if m.Number+1 == a.number && m.Kind != Down {
			a.send(m.From, Down, m.Number, a.last)
		}
	}
	a.advance()
	return nil
}

// current takes a message of the agreement that is under way.
func (a *Agreements) current(m *Message) {
	switch m.Kind {
	case Up:
		a.report(m)
	case Query:
		a.learn(m.Value.Failed) // if the sender is the root for this member, too, it is reported to, unless it was
	case Down:
		a.decide(m.Value, m.From)
	}
}

// keep stores the report of a member that is ahead. Another one of the same member replaces it.
func (a *Agreements) keep(m Message) {
	for i := range a.early {
		if a.early[i].From == m.From {
			a.early[i] = m
			return
		}
	}
	a.early = append(a.early, m)
}

func (a *Agreements) send(to int, kind Kind, number uint64, v Value) {
	a.out = append(a.out, Message{From: a.me, To: to, Kind: kind, Number: number, Value: v})
}

// begin begins the next agreement with a contribution.
func (a *Agreements) begin(v Value) {
	a.active = true
	a.tree.gone = a.last.Failed
	a.at, a.root, a.isRoot = a.tree.node(a.me), 0, false
	a.value, a.reported = v, -1
	if a.pending == nil {
		a.pending, a.heard = map[int]struct{}{}, map[int]struct{}{}
	}
	clear(a.pending)
	clear(a.heard)
	a.awaitBelow(a.at)
	early := a.early
	a.early = a.early[:0]
	for i := range early {
		a.report(&early[i])
	}
	clear(early)
}

// report takes the contributions of a branch.
func (a *Agreements) report(m *Message) {
	a.heard[m.From] = struct{}{}
	delete(a.pending, m.From)
	a.value = a.value.with(m.Value)
	a.learn(m.Value.Failed)
}

// await waits for the report of a node, or if it has failed, for those of the nodes below it. A failed member that had
// reported has done so for all below it.
func (a *Agreements) await(node int) {
	m := a.tree.member(node)
	if _, heard := a.heard[m]; heard || node == a.at {
		return
	}
	if a.known.Has(m) {
		a.awaitBelow(node)
		return
	}
	a.pending[m] = struct{}{}
	if a.reported >= 0 { // the old root may have decided
		a.send(m, Query, a.number, Value{Failed: a.known})
	}
}

func (a *Agreements) awaitBelow(node int) {
	for i := a.tree.shape.degree(node, a.tree.nodes()); i > 0; i-- {
		a.await(a.tree.shape.child(node, i-1))
	}
}

// learn takes failures. Those below one that this member waits for take its place.
func (a *Agreements) learn(failed Set) {
	fresh := failed.Without(a.known)
	if len(fresh) == 0 {
		return
	}
	a.known = a.known.Union(failed)
	if !a.active {
		return
	}
	for _, m := range fresh {
		if _, waits := a.pending[int(m)]; waits {
			delete(a.pending, int(m))
			a.awaitBelow(a.tree.node(int(m)))
		}
	}
}

// advance does what can be done: reports, decides, and begins what waits.
func (a *Agreements) advance() {
	for {
		if !a.active {
			if len(a.queue) == 0 {
				return
			}
			a.begin(a.queue[0].contribution(a.last))
		}
		a.findRoot()
		if len(a.pending) > 0 {
			return
		}
		if !a.isRoot {
			a.reportTo(a.tree.member(a.tree.parent(a.at, a.root, a.known)))
			return
		}
		v := a.value
		v.Failed = a.known
		a.decide(v, a.me)
	}
}

// findRoot finds the root. If it is this member only since others failed, all other branches are below it, too.
func (a *Agreements) findRoot() {
	a.root = a.tree.node(a.known.first())
	if a.root == a.at && !a.isRoot {
		a.isRoot = true
		if a.at > 0 {
			a.await(0)
		}
	}
}

func (a *Agreements) reportTo(parent int) {
	if a.reported != parent {
		a.reported = parent
		v := a.value
		v.Failed = a.known
		a.send(parent, Up, a.number, v)
	}
}

// decide takes the decision, made here or heard from another member, and passes it on.
func (a *Agreements) decide(v Value, from int) {
	a.passBelow(v, a.at, from)
	if a.isRoot && a.at > 0 {
		a.pass(v, 0, from)
	}
	a.active, a.last = false, v
	a.number++
	a.learn(v.Failed)
	if a.queue[0].decided(v) {
		a.queue = slices.Delete(a.queue, 0, 1)
	}
}

// pass passes the decision on to a node, or if it has failed, to those below.
func (a *Agreements) pass(v Value, node, from int) {
	m := a.tree.member(node)
	switch {
	case node == a.at:
	case a.known.Has(m):
		a.passBelow(v, node, from)
	case m != from:
		a.send(m, Down, a.number, v)
	}
}

func (a *Agreements) passBelow(v Value, node, from int) {
	for i := a.tree.shape.degree(node, a.tree.nodes()); i > 0; i-- {
		a.pass(v, a.tree.shape.child(node, i-1), from)
	}
}
