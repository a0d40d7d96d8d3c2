package survive

import (
	"bytes"
	"reflect"
	"testing"
	"testing/quick"
)

func TestAMessageIsParsedAsItWasSent(t *testing.T) {
	same := func(kind Kind, number, and, most uint64, failed, acked []uint8) bool {
		m := Message{3, 5, kind, number, Value{and, most, fromBytes(failed), fromBytes(acked)}}
		if len(m.Value.Failed) == 0 {
			m.Value.Failed = nil
		}
		if len(m.Value.Acked) == 0 {
			m.Value.Acked = nil
		}
		got, err := Parse(3, 5, m.Append([]byte{9})[1:])
		return err == nil && reflect.DeepEqual(got, m)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	whole := (&Message{Kind: Up, Number: 7, Value: Value{And: 1, Max: 2, Failed: Of(1, 2), Acked: Of(1)}}).Append(nil)
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(append(whole[:28:28], 255, 255, 255, 255, 255, 255, 255, 255))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(0, 1, b)
		if err != nil {
			return
		}
		if kind := int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3]); kind < 256 && !bytes.Equal(m.Append(nil), b) {
			t.Errorf("%x is %v, as bytes %x", b, m, m.Append(nil))
		}
	})
}
