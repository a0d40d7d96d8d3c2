package debugger

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

func TestToolsRunWhereTheirUserIs(t *testing.T) {
	for _, c := range []struct {
		want string
		n    int
		s    surroundings
		is   string // the place, or a part of the error
	}{
		{"", 1, surroundings{}, options.InHere},
		{"", 2, surroundings{}, options.InFiles},
		{"", 2, surroundings{terminal: true}, options.InFiles},
		{"", 1, surroundings{terminal: true, display: true, emulator: true}, options.InHere},
		{"", 2, surroundings{terminal: true, display: true, emulator: true}, options.InWindows},
		{"", 2, surroundings{display: true}, options.InFiles},
		{"", 1, surroundings{terminal: true, tmux: true}, options.InTmux},
		{options.InAuto, 9, surroundings{tmux: true, display: true, emulator: true}, options.InTmux},
		{"", 1, surroundings{far: true}, onSocket},
		{"", 2, surroundings{far: true, tmux: true}, options.InTmux},
		{options.InFiles, 1, surroundings{tmux: true}, options.InFiles},
		{options.InHere, 1, surroundings{tmux: true}, options.InHere},
		{options.InHere, 1, surroundings{far: true}, "of this machine"},
		{"", 2, surroundings{terminal: true, hasTmux: true, display: true, emulator: true}, options.InTmux},
		{"", 2, surroundings{hasTmux: true, display: true, emulator: true}, options.InWindows},
		{options.InTmux, 1, surroundings{terminal: true, hasTmux: true}, options.InTmux},
		{options.InTmux, 1, surroundings{hasTmux: true}, "neither inside tmux"},
		{options.InTmux, 1, surroundings{terminal: true}, "there is no tmux"},
		{options.InWindows, 1, surroundings{emulator: true}, "no display"},
		{options.InWindows, 1, surroundings{display: true}, "no xterm"},
	} {
		got, err := placeOf(c.want, c.n, c.s)
		if got != c.is && (err == nil || !strings.Contains(err.Error(), c.is)) {
			t.Errorf("%q for %d ranks, %+v: %q, %v; want %q", c.want, c.n, c.s, got, err, c.is)
		}
	}
}
