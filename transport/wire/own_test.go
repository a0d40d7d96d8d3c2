package wire

import "testing"

func TestWhatClientsSayBeyondIMPISurvivesTheWire(t *testing.T) {
	o := Own{Stream: 12345, Streams: 3, Rep: [16]byte{1, 2, 15: 9}}
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
	for said, want := range map[uint32]uint32{0: 1, 1: 1, MaxStreams: MaxStreams, MaxStreams + 1: MaxStreams,
		1<<32 - 1: MaxStreams} {
		if got, _ := ParseOwn(Own{Streams: said}.Append(nil)); got.Streams != want {
			t.Errorf("%d streams: %d", said, got.Streams)
		}
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
