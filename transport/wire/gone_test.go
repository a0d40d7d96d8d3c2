package wire

import (
	"reflect"
	"slices"
	"testing"
)

func TestLostRanksTravelWithTheirReason(t *testing.T) {
	b := AppendGone(nil, 2, []int32{0, 7, 1 << 30}, "killed\n")
	c, _ := ParseCmd(b)
	client, ranks, text, ok := ParseGone(b[CmdSize:])
	if c.Cmd != CmdGone || int(c.Len) != len(b)-CmdSize || !ok || client != 2 || text != "killed " ||
		!slices.Equal(ranks, []int32{0, 7, 1 << 30}) {
		t.Error(c, client, ranks, text, ok)
	}
	most := AppendGone(nil, 0, make([]int32, GoneMost), string(make([]byte, 2*LostMax)))
	if _, ranks, _, ok := ParseGone(most[CmdSize:]); !ok || len(ranks) != GoneMost || len(most) != CmdSize+GoneMax {
		t.Errorf("%d ranks, %d bytes", len(ranks), len(most))
	}
	for what, b := range map[string][]byte{
		"no rank":     AppendGone(nil, 0, nil, "x"),
		"below 0":     AppendGone(nil, 0, []int32{1, -1}, "x"),
		"too many":    AppendGone(nil, 0, make([]int32, GoneMost+1), ""),
		"cut":         AppendGone(nil, 0, []int32{1, 2}, "")[:CmdSize+GoneHead+GoneSize],
		"no head":     make([]byte, CmdSize+GoneHead-1),
		"a long text": append(AppendGone(nil, 0, []int32{1}, string(make([]byte, LostMax))), 'x'),
	} {
		if _, _, _, ok := ParseGone(b[CmdSize:]); ok {
			t.Errorf("%s is taken", what)
		}
	}
}

func TestSuspicionsTravelWithWhoHasThem(t *testing.T) {
	for _, breach := range []bool{false, true} {
		sent := Suspicion{By: 4, Client: 1, Ranks: []int32{0, 7}, Breach: breach, Text: "silent"}
		b := sent.Append(nil)
		c, _ := ParseCmd(b)
		got, ok := ParseSuspicion(b[CmdSize:])
		if c.Cmd != CmdSuspect || int(c.Len) != len(b)-CmdSize || !ok || !reflect.DeepEqual(got, sent) {
			t.Error(c, got, ok)
		}
		sent.Ranks = nil
		if _, ok := ParseSuspicion(sent.Append(nil)[CmdSize:]); ok {
			t.Error("one of nobody is taken")
		}
	}
	if _, ok := ParseSuspicion(make([]byte, GoneHead-1)); ok {
		t.Error("half a head is taken")
	}
}
