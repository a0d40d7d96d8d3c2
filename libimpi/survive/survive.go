// Package survive has the algorithms by which the members of a communicator act together although some of them fail:
// an agreement (agreement.go), what agree and shrink make of it (operation.go), and how a revocation spreads
// (revoke.go). A member is its rank in the communicator, for an intercommunicator its rank in both groups, one after
// the other.
//
// Each is a state machine without locks, clocks or I/O: it is fed with messages and with news of failures, and has
// messages to send. So it advances whenever the engine polls, and runs in a simulator. Its caller must provide
//
//   - a failure detector that is perfect: who is said to have failed does nothing any more that others see, and every
//     survivor is told of every failure, in any order and at any time;
//   - channels that lose nothing between two survivors. Messages may overtake each other, and those of a failed process
//     may arrive late or never.
package survive

import (
	"errors"
	"fmt"
)

// Value is what members contribute to an agreement, and what they agree on.
type Value struct {
	And    uint64 // bitwise AND of all
	Max    uint64 // the largest of all; for the smallest, contribute complements
	Failed Set    // members known to have failed: the union
	Acked  Set    // failures that the program has acknowledged: those that it has acknowledged everywhere
}

// with is what two members contribute together. It makes no difference if a contribution is counted twice.
func (v Value) with(w Value) Value {
	return Value{v.And & w.And, max(v.Max, w.Max), v.Failed.Union(w.Failed), v.Acked.Common(w.Acked)}
}

// Unacknowledged reports whether a failure has not been acknowledged everywhere: if so, MPIX_Comm_agree raises
// MPIX_ERR_PROC_FAILED, at all members since they agree on the value.
func (v Value) Unacknowledged() bool { return !v.Failed.Within(v.Acked) }

// Kind is the kind of a message.
type Kind uint8

const (
	Up    Kind = iota + 1 // to the parent: contributions of all below, and the failures that the sender knows of
	Query                 // to a member that may have the decision: the failures that the sender knows of
	Down                  // the decision
)

// Message is a message of an agreement.
type Message struct {
	From, To int
	Kind     Kind
	Number   uint64 // of the agreement
	Value    Value
}

// ErrFailed says that others take this process for failed: it must end.
var ErrFailed = errors.New("this process was declared failed by others")

// check reports what is wrong with a message that another process sent.
func (m *Message) check(me, size int) error {
	if m.From < 0 || m.From >= size || m.From == me {
		return fmt.Errorf("an agreement's message to member %d of %d is from member %d", me, size, m.From)
	}
	if m.Kind < Up || m.Kind > Down {
		return fmt.Errorf("member %d sent an agreement's message of unknown kind %d", m.From, m.Kind)
	}
	if err := m.Value.Failed.check(size); err != nil {
		return fmt.Errorf("member %d sent failures: %w", m.From, err)
	}
	if err := m.Value.Acked.check(size); err != nil {
		return fmt.Errorf("member %d sent acknowledged failures: %w", m.From, err)
	}
	if m.Value.Failed.Has(me) {
		return ErrFailed
	}
	return nil
}
