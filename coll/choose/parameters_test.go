package choose

import (
	"math"
	"strings"
	"testing"
	"testing/quick"
)

func text(p Parameters) string {
	values, _, _ := strings.Cut(p.Told(""), toldFrom)
	return strings.ReplaceAll(values, ",", "\n")
}

func FuzzParameters(f *testing.F) {
	for _, s := range []string{"", text(BuiltIn), "# only a comment", "latency", "latency 1e309\n", "latency NaN",
		"latency 0x1p-3\nlatency 2", "gap -1", "copy 1 # one\r\n", "latency 1e-400", "\x00 1", text(BuiltIn) + "\ncopy 1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseParameters(s)
		if err != nil {
			if p != BuiltIn || !strings.Contains(err.Error(), ": ") {
				t.Fatalf("%v: %v", err, p)
			}
			return
		}
		again, from, err := ReadTold(p.Told(s))
		if err != nil || again != p || from != s {
			t.Fatalf("%v told is %v, %q, %v", p, again, from, err)
		}
		b := boundsOf(p)
		for i, bytes := range b.each() {
			if *bytes < 1 || *bytes > 1<<40 {
				t.Fatalf("bound %d of %v is %d", i, p, *bytes)
			}
		}
	})
}

// The figures that the tables had before they were computed.
func TestTheBuiltInParametersGiveTheUsualBounds(t *testing.T) {
	want := bounds{8 << 10, 32 << 10, 32 << 10, 32 << 10, 8 << 10, 4 << 10, 64 << 10, 32, 64 << 10, 256, 8, 32 << 10,
		512, 16 << 10, 64 << 10, 512 << 10, 128}
	if got := boundsOf(BuiltIn); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
}

// A slower start of messages makes no bound smaller, and slower bytes make none larger.
func TestBoundsAreMonotone(t *testing.T) {
	draw := func(x uint16, usual float64) float64 { return usual * math.Exp2(float64(x%2048)/128-8) }
	check := func(x [7]uint16, more uint16) bool {
		p := BuiltIn
		for i, f := range p.fields() {
			*f = draw(x[i], *f)
		}
		factor := 1 + float64(more)/1000
		for i, grow := range []bool{true, true, false, false, false, false, false} {
			q := p
			*q.fields()[i] *= factor
			before, after := boundsOf(p), boundsOf(q)
			if !grow {
				before, after = after, before
			}
			a, b := before.each(), after.each()
			for j := range a {
				if *a[j] > *b[j] {
					t.Logf("%v: bound %d with %s times %g", p, j, parameterNames[i], factor)
					return false
				}
			}
			if before.bruckRanks > after.bruckRanks || before.gathervRanks > after.gathervRanks {
				t.Logf("%v: ranks with %s times %g", p, parameterNames[i], factor)
				return false
			}
		}
		return true
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func TestTunedTablesShowTheirBounds(t *testing.T) {
	defer Tune(BuiltIn)
	slow := BuiltIn
	slow.Latency *= 4
	slow.Overhead *= 4
	Tune(slow)
	if got := Bcast.Table()[7]; got != "circulant: from 3 ranks on, from 131072 bytes on" {
		t.Errorf("4 times as slow: %s", got)
	}
	Tune(BuiltIn)
	if got := Bcast.Table()[7]; got != "circulant: from 3 ranks on, from 32768 bytes on" {
		t.Errorf("built in: %s", got)
	}
}
