package survive

import (
	"errors"
	"testing"
)

func TestMessagesThatBreakTheRulesAreRefused(t *testing.T) {
	for name, m := range map[string]Message{
		"of nobody":                      {From: 4, Kind: Up},
		"of itself":                      {From: 1, Kind: Up},
		"of a negative member":           {From: -1, Kind: Up},
		"of no kind":                     {From: 0},
		"of an unknown kind":             {From: 0, Kind: Down + 1},
		"with failures out of range":     {From: 0, Kind: Up, Value: Value{Failed: Set{4}}},
		"with acknowledged out of order": {From: 0, Kind: Up, Value: Value{Acked: Set{3, 2}}},
		"of an agreement far ahead":      {From: 0, Kind: Up, Number: 1},
		"a decision without this member": {From: 0, Kind: Down},
	} {
		if New(1, 4, Binomial).Receive(m) == nil {
			t.Errorf("a message %s is accepted", name)
		}
	}
}

func TestAProcessThatOthersTakeForFailedIsTold(t *testing.T) {
	err := New(1, 4, Binomial).Receive(Message{From: 0, Kind: Up, Value: Value{Failed: Of(1)}})
	if !errors.Is(err, ErrFailed) {
		t.Errorf("%v", err)
	}
}

// Whatever others send, a member refuses it or goes on, sends only to others, and keeps at most a message of each.
func FuzzAnyMessages(f *testing.F) {
	f.Add([]byte{3, 1, 0, 5, 0, 2, 1, 0, 2, 3, 9, 9, 9, 4, 1, 2, 3, 4})
	f.Add([]byte{200, 1, 3, 0, 0, 0, 0, 1, 2, 0, 0, 255, 1, 1, 1, 1, 1, 1, 4, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b)
		}
		size := 1 + next()%9
		me := next() % size
		a := New(me, size, Shape(next()%2))
		for len(data) > 0 {
			switch next() % 6 {
			case 0:
				a.Agree(Value{And: uint64(next())})
			case 1:
				if m := next() % size; m != me {
					a.Lost(Of(m))
				}
			case 2:
				a.Shrink(uint64(next()))
			default:
				m := Message{From: next() - 1, Kind: Kind(next() % 5), Number: a.number + uint64(next()%4) - 1,
					Value: Value{Failed: Of(next()%10 - 1)}}
				if err := a.Receive(m); err == nil && m.Value.Failed.Has(me) {
					t.Error("a member takes itself for failed")
				}
			}
			for _, m := range a.Messages() {
				if m.To == me || m.To < 0 || m.To >= size || m.From != me {
					t.Errorf("member %d sends %v", me, m)
				}
			}
			if len(a.early) >= size {
				t.Errorf("%d messages are kept", len(a.early))
			}
		}
	})
}
