package wire

import "testing"

func TestWhatClientsSayBeyondIMPISurvivesTheWire(t *testing.T) {
	o := Own{Stream: 12345, Rep: [16]byte{1, 2, 15: 9}}
	b := o.Append(nil)
	if len(b) != OwnSize {
		t.Fatalf("%d bytes", len(b))
	}
	if got, ok := ParseOwn(b); !ok || got != o {
		t.Errorf("got %+v", got)
	}
	if _, ok := ParseOwn(b[:OwnSize-1]); ok {
		t.Error("read more than there is")
	}
	if huge, _ := ParseOwn(Own{Stream: 1<<32 - 1}.Append(nil)); huge.Stream != 1<<31-1 {
		t.Errorf("stream %d", huge.Stream)
	}
	if Labels[NLabels-1] >= COwn {
		t.Error("labels must ascend")
	}
}

func TestDataIsNativeOnlyBetweenTheSameMemories(t *testing.T) {
	here, unknown := Mine(), Own{Stream: 5}
	other := here
	other.Rep[0] ^= 1
	if !here.Native(here) && here.Rep != [16]byte{} {
		t.Error("not between equals")
	}
	if here.Native(other) || unknown.Native(unknown) || here.Native(unknown) {
		t.Error("between strangers")
	}
}
