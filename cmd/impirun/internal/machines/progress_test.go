package machines

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheProgressLineGivesWay(t *testing.T) {
	var out strings.Builder
	p := &progress{to: &out, active: true}
	p.update(tally{machines: 3, reached: 1, ranks: 6})
	p.update(tally{machines: 3, reached: 1, ranks: 6})
	p.clear()
	p.update(tally{3, 3, 6, 6, 5})
	p.update(tally{3, 3, 6, 6, 6})
	p.update(tally{3, 3, 6, 6, 5})
	p.begin()
	p.update(tally{3, 3, 6, 6, 5})
	want := "impirun: 1 of 3 machines reached, 0 of 6 ranks started, 0 joined\r\x1b[K" +
		"impirun: 3 of 3 machines reached, 6 of 6 ranks started, 5 joined\r\x1b[K"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	var none *progress
	none.clear()
	none.update(tally{})
	none.end()
	if none.due() != nil {
		t.Error("nobody to tell")
	}
}
