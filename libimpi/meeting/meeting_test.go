package meeting

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

var rewrite = flag.Bool("rewrite", false, "write the traces anew")

// describe says in words what goes over a line.
func describe(whose string, b []byte) string {
	if no := readNo(b); no != nil {
		return fmt.Sprintf("  %s: no, class %d: %s", whose, no.Class, no.Text)
	}
	words, _, err := readWords(b)
	if err != nil {
		return fmt.Sprintf("  %s: %v", whose, err)
	}
	text := "  " + whose + ":"
	for _, w := range words {
		switch p, err := readIntroduction(w); {
		case err == nil:
			text += fmt.Sprintf(" %v knows %v;", p.Identity, p.Guests)
		case len(w) == 0:
			text += " nothing;"
		default:
			text += fmt.Sprintf(" %q;", w)
		}
	}
	return text
}

// scenes are meetings whose traces stand in testdata.
var scenes = []struct {
	name  string
	sizes [2]int
	is    func(sides [2][]*process)
}{
	{"strangers", [2]int{2, 1}, func([2][]*process) {}},
	{"acquainted", [2]int{1, 2}, func(s [2][]*process) { acquaint(s[0][0], s[1][0]); acquaint(s[0][0], s[1][1]) }},
	{"some-acquainted", [2]int{2, 2}, func(s [2][]*process) { acquaint(s[0][1], s[1][0]) }},
	{"no-links-here", [2]int{2, 1}, func(s [2][]*process) { s[0][1].fails = "begin" }},
	{"no-card", [2]int{1, 2}, func(s [2][]*process) { s[1][0].fails = "card" }},
	{"no-join", [2]int{1, 2}, func(s [2][]*process) { s[1][0].fails = "join" }},
	{"twice", [2]int{2, 1}, func(s [2][]*process) { s[0][1].me.Identity = s[0][0].me.Identity }},
	{"long-card", [2]int{1, 1}, func(s [2][]*process) { s[0][0].card = make([]byte, transport.MaxCard+1) }},
}

func TestMeetingsGoAsTheirTracesSay(t *testing.T) {
	for _, scene := range scenes {
		sides := newWorld(scene.sizes)
		scene.is(sides)
		var trace strings.Builder
		sides[0][0].trace = func(format string, args ...any) { fmt.Fprintf(&trace, "round\n"+format+"\n", args...) }
		a, b := newLine()
		for side, members := range meet(t, sides, [2]transport.Line{a, b}, nil) {
			for rank, o := range members {
				p := sides[side][rank]
				fmt.Fprintf(&trace, "%d.%d: numbers %v, reached %v, error %v\n", side, rank, o.remote, p.reached, o.err)
				for _, m := range p.meetings {
					if begun := p.fails != "begin"; begun && m.ended != 1 {
						t.Errorf("%s: the transport's meeting of %d.%d has ended %d times", scene.name, side, rank, m.ended)
					}
				}
			}
		}
		name := filepath.Join("testdata", scene.name+".txt")
		if *rewrite {
			if err := os.WriteFile(name, []byte(trace.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil || trace.String() != string(want) {
			t.Errorf("%s is not as it was (%v); it is\n%s", name, err, trace.String())
		}
	}
}

// All who take part in the transport's meeting see the same cards in the same order, and each gives numbers only to
// strangers of the other side.
func TestAllSeeTheSameCards(t *testing.T) {
	sides := newWorld([2]int{2, 3})
	acquaint(sides[0][0], sides[1][2])
	a, b := newLine()
	for side, members := range meet(t, sides, [2]transport.Line{a, b}, nil) {
		for rank, o := range members {
			p := sides[side][rank]
			if o.err != nil || len(o.remote) != len(sides[1-side]) || slices.Contains(o.remote, noNumber) {
				t.Fatalf("%d.%d: %v, %v", side, rank, o.remote, o.err)
			}
			all := p.meetings[0].joined
			if !bytes.Equal(all.Cards[all.Me], p.card) || len(all.Cards) != 5 {
				t.Errorf("%d.%d is not at place %d of %q", side, rank, all.Me, all.Cards)
			}
			if got := slices.Compact(slices.Sorted(slices.Values(all.Number))); len(got) != len(p.admitted)+1 {
				t.Errorf("%d.%d: numbers %v for %d strangers", side, rank, all.Number, len(p.admitted))
			}
		}
	}
}

// Why a leader takes no part is the error of all.
func TestALeaderThatTakesNoPartIsHeardByAll(t *testing.T) {
	sides := newWorld([2]int{2, 2})
	a, b := newLine()
	for side, members := range meet(t, sides, [2]transport.Line{a, b}, errorf(abi.MPI_ERR_PORT, "no such port")) {
		for rank, o := range members {
			if class, text := classAndText(o.err); class != abi.MPI_ERR_PORT || !strings.Contains(text, "no such port") {
				t.Errorf("%d.%d: class %d, %q", side, rank, class, text)
			}
		}
	}
}

// A side that breaks the rules is refused, and told so; nothing is made.
func TestASideThatBreaksTheRulesIsRefused(t *testing.T) {
	me := Introduction{Identity: who(1, 0)}
	for name, says := range map[string][]byte{
		"nothing":             {},
		"no words":            {saysWords},
		"a word cut off":      encodeWords(nil, [][]byte{me.Encode()})[:20],
		"a short word":        encodeWords(nil, [][]byte{{1, 2, 3}}),
		"more than words":     append(encodeWords(nil, [][]byte{me.Encode()}), 7),
		"many who say little": {saysWords, 0xff, 0xff, 0xff, 0xff},
		"one of ours":         encodeWords(nil, [][]byte{(&Introduction{Identity: who(0, 0)}).Encode()}),
		"one who is not":      encodeWords(nil, [][]byte{(&Introduction{Identity: who(0, 77)}).Encode()}),
		"a rank below 0":      encodeWords(nil, [][]byte{(&Introduction{Identity: who(1, -2)}).Encode()}),
	} {
		sides := newWorld([2]int{2, 0})
		line := &liar{says: [][]byte{says, encodeWords(nil, [][]byte{{}}), encodeWords(nil, [][]byte{{}})}}
		for rank, o := range meet(t, sides, [2]transport.Line{line, nil}, nil)[0] {
			if o.err == nil {
				t.Errorf("%s: no error at rank %d", name, rank)
			}
			if p := sides[0][rank]; len(p.reached) > 0 {
				t.Errorf("%s: rank %d has a link", name, rank)
			}
		}
		if last := line.heard[len(line.heard)-1]; readNo(last) == nil {
			t.Errorf("%s: it was not told why", name)
		}
	}
}

// liar is a line to somebody who says what it likes.
type liar struct {
	wire
	says, heard [][]byte
}

func (l *liar) Exchange(_ context.Context, mine []byte) ([]byte, error) {
	l.heard = append(l.heard, mine)
	if n := len(l.heard); n <= len(l.says) {
		return l.says[n-1], nil
	}
	return nil, errFake
}

// A process that hands out one card more than there are processes is refused before anybody joins.
func TestAMeetingThatIsNotJoinedEnds(t *testing.T) {
	p := newWorld([2]int{1, 0})[0][0]
	meeting := &fakeMeeting{p: p}
	m := &Side{Members: p, Guests: p, Links: p, Ctx: t.Context()}
	if err := m.link(new(sides), nil, nil, cards{Meeting: meeting, ours: [][]byte{nil}}); err == nil {
		t.Error("one card more than there are processes")
	}
	if meeting.ended != 1 || meeting.joined.Cards != nil {
		t.Errorf("the meeting has ended %d times", meeting.ended)
	}
}

// What a hostile job says is refused, whatever it is.
func FuzzWhatASideSays(f *testing.F) {
	p := Introduction{Identity: Identity{[16]byte{1}, 2}, TagUB: 5, Guests: []Identity{{[16]byte{3}, 4}}}
	f.Add(encodeWords(nil, [][]byte{p.Encode(), {}}))
	f.Add(encodeNo(nil, errFake))
	f.Fuzz(func(t *testing.T, b []byte) {
		if no := readNo(b); no != nil && len(no.Text) > mostText {
			t.Errorf("a text of %d bytes", len(no.Text))
		}
		words, rest, err := readWords(b)
		if err != nil {
			return
		}
		if again := append(encodeWords(nil, words), rest...); !bytes.Equal(again, b) {
			t.Errorf("%x is read as %x", b, again)
		}
		for _, w := range words {
			if p, err := readIntroduction(w); err == nil && !bytes.Equal(p.Encode(), w) {
				t.Errorf("%x is read as %+v", w, p)
			}
		}
	})
}
