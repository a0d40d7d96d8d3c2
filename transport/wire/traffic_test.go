package wire

import (
	"bytes"
	"math"
	"reflect"
	"testing"
)

func TestTrafficComesBackAsItWent(t *testing.T) {
	rows := []Traffic{
		{Ours: 1, Theirs: 2, PacketsOut: 3, PacketsIn: 4, BytesOut: 5, BytesIn: 6, AcksOut: 7, AcksIn: 8, Outstanding: 9,
			HighWater: 10, Silence: 11, State: 12},
		{Ours: -1, Theirs: math.MaxInt32, BytesOut: math.MaxUint64, Silence: math.MaxUint32},
	}
	b := AppendTraffic(nil, 77, rows)
	c, _ := ParseCmd(b)
	if c.Cmd != CmdTraffic || int(c.Len) != len(b)-CmdSize || len(b) != CmdSize+TrafficHead+2*TrafficSize {
		t.Fatalf("%v with %d bytes, announced %d", c.Cmd, len(b), c.Len)
	}
	number, all, got, ok := ParseTraffic(b[CmdSize:])
	if !ok || number != 77 || all != 2 || !reflect.DeepEqual(got, rows) {
		t.Errorf("%d, %d of %d: %+v, %v", number, len(got), all, got, ok)
	}
}

func TestTrafficIsBounded(t *testing.T) {
	b := AppendTraffic(nil, 1, make([]Traffic, TrafficMax+5))
	if len(b) != CmdSize+TrafficMaxBytes {
		t.Fatalf("%d bytes", len(b))
	}
	if _, all, rows, ok := ParseTraffic(b[CmdSize:]); !ok || all != TrafficMax+5 || len(rows) != TrafficMax {
		t.Errorf("%d rows of %d, %v", len(rows), all, ok)
	}
	for _, n := range []int{0, 1, TrafficHead - 1, TrafficHead + 1, TrafficHead + TrafficSize - 1,
		TrafficMaxBytes + TrafficSize} {
		if _, _, _, ok := ParseTraffic(make([]byte, n)); ok {
			t.Errorf("%d bytes are no report", n)
		}
	}
}

func TestWatchHasANumber(t *testing.T) {
	b := AppendWatch(nil, 0xfffffffe)
	if n, ok := ParseWatch(b[CmdSize:]); !ok || n != 0xfffffffe || len(b) != CmdSize+WatchSize {
		t.Errorf("%x: %d, %v", b, n, ok)
	}
	if _, ok := ParseWatch(make([]byte, 3)); ok {
		t.Error("3 bytes are no question")
	}
}

func FuzzTraffic(f *testing.F) {
	f.Add(AppendTraffic(nil, 1, []Traffic{{Ours: 1}, {Theirs: 2, State: 7}})[CmdSize:])
	f.Add(make([]byte, TrafficHead+1))
	f.Fuzz(func(t *testing.T, b []byte) {
		number, all, rows, ok := ParseTraffic(b)
		if !ok {
			return
		}
		again := AppendTraffic(nil, number, rows)[CmdSize+TrafficHead:]
		if !bytes.Equal(again, b[TrafficHead:]) || int(all) < len(rows) {
			t.Errorf("%d of %d rows: %x is not %x", len(rows), all, again, b[TrafficHead:])
		}
	})
}
