package onesided

import (
	"reflect"
	"testing"
	"testing/quick"
)

func TestARequestIsReadAsItWasWritten(t *testing.T) {
	same := func(r Request) bool {
		r.Kind, r.Tag = r.Kind%(kinds-1)+1, max(r.Tag, 0)
		r.Count, r.First, r.Elements = max(r.Count, 0), max(r.First, 0), max(r.Elements, 0)
		r.Type, r.Data = append([]byte{}, r.Type...), append([]byte{}, r.Data...)
		got, ok := Parse(r.Append(nil))
		return ok && reflect.DeepEqual(got, r)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add((&Request{Kind: AskPut, Type: []byte{1}, Data: []byte{2}}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, ok := Parse(b); ok && len(r.Type)+len(r.Data)+requestBytes != len(b) {
			t.Errorf("%d bytes are read as %d and %d", len(b), len(r.Type), len(r.Data))
		}
	})
}
