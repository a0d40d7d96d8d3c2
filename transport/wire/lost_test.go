package wire

import (
	"strings"
	"testing"
)

func TestALostClientIsNamedInOneLine(t *testing.T) {
	b := AppendLost(nil, 3, "rank 5\nwas \x1b[31mkilled\xff")
	c, _ := ParseCmd(b)
	rank, text, ok := ParseLost(b[CmdSize:])
	if c.Cmd != CmdLost || int(c.Len) != len(b)-CmdSize || !ok || rank != 3 || text != "rank 5 was  [31mkilled?" {
		t.Error(c, rank, text, ok)
	}
	if got := words([]byte("a\u009b31mb\u2028c\u2029d\x7fe\u00a0f")); got != "a 31mb c d e\u00a0f" {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("x", 2*LostMax)
	if b = AppendLost(nil, 0, long); len(b) != CmdSize+LostHead+LostMax {
		t.Errorf("%d bytes", len(b))
	}
	for _, n := range []int{0, LostHead - 1, LostHead + LostMax + 1} {
		if _, _, ok := ParseLost(make([]byte, n)); ok {
			t.Errorf("%d bytes are taken", n)
		}
	}
}
