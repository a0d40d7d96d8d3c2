package options

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Ranks under a debugger or another tool:
//
//	-debug RANKS [TOOL [OPTIONS] --]
//
// TOOL is the word right after RANKS if a "--" follows it in the same program's words; that "--" ends the words of the
// tool, and options of impirun may go on behind it. The tools that are known by name need no "--" if they have no
// options. A program that has "--" among its own arguments is told apart by a "--" in front of it.

// Debug says which ranks a tool starts, and which tool.
type Debug struct {
	Ranks []Span
	Tool  []string // the tool and its options; empty: the debugger that there is or, with Bare, none
	Bare  bool     // the program itself runs in a terminal of its own
}

// Span is some ranks that follow one another.
type Span struct{ First, Last int }

// Terminals are where tools that people talk to run: see Plan.DebugIn.
var Terminals = []string{InAuto, InTmux, InWindows, InHere, InFiles}

// The values of Plan.DebugIn.
const (
	InAuto    = "auto"
	InTmux    = "tmux"    // a pane for each rank
	InWindows = "windows" // a terminal emulator for each rank
	InHere    = "here"    // the launcher's own terminal, for one rank
	InFiles   = "files"   // nobody talks to the tool, and what it writes goes to a file for each rank
)

// KnownTools are the tools whose options the launcher knows.
var KnownTools = []string{"gdb", "lldb", "gdbserver", "valgrind", "perf", "strace"}

// Has reports whether a rank is among those of d.
func (d *Debug) Has(rank int) bool {
	return slices.ContainsFunc(d.Ranks, func(s Span) bool { return s.First <= rank && rank <= s.Last })
}

// overlaps reports whether any of some ranks is among those of d.
func (d *Debug) overlaps(ranks Span) bool {
	return slices.ContainsFunc(d.Ranks, func(s Span) bool { return max(s.First, ranks.First) <= min(s.Last, ranks.Last) })
}

// DebugOf returns what is said of a rank; nil: it runs as usual.
func (p *Plan) DebugOf(rank int) *Debug {
	for i := range p.Debug {
		if p.Debug[i].Has(rank) {
			return &p.Debug[i]
		}
	}
	return nil
}

// String is "ranks 0,2-3: ..." for -explain.
func (d *Debug) String() string {
	var ranks []string
	for _, s := range d.Ranks {
		ranks = append(ranks, s.String())
	}
	what := fmt.Sprintf("under %q", d.Tool)
	switch {
	case d.Bare:
		what = "in terminals"
	case len(d.Tool) == 0:
		what = "under a debugger"
	}
	return strings.Join(ranks, ",") + " " + what
}

func (s Span) String() string {
	switch {
	case s.First == 0 && s.Last == math.MaxInt:
		return "all"
	case s.First == s.Last:
		return strconv.Itoa(s.First)
	}
	return fmt.Sprintf("%d-%d", s.First, s.Last)
}

// debugOptions are the rows of the table for all that.
func debugOptions() []option {
	return []option{
		{names: []string{"debug"}, values: []string{"RANKS"}, command: true,
			help: "start these ranks (0,2-3 or all) under a debugger, gdb or lldb, or under TOOL, with \"--\" behind its " +
				"options: -debug 0 valgrind --leak-check=full -- ./program",
			apply: func(p *parser, v []string) error { return p.debug(v[0], Debug{Tool: v[1:]}) }},
		{names: []string{"debug-in"}, values: []string{"WHERE"}, choices: Terminals,
			help: "where debuggers run: tmux (a pane for each rank), windows (xterm, or $TERMINAL), here (one rank, at " +
				"this terminal), files (what they write goes to a file for each rank); default auto: the first that there is",
			apply: func(p *parser, v []string) error {
				if p.plan.DebugIn = v[0]; !slices.Contains(Terminals, v[0]) {
					return fmt.Errorf("the places are %s", strings.Join(Terminals, ", "))
				}
				return nil
			}},
		{names: []string{"xterm"}, values: []string{"RANKS"},
			help: "start these ranks in terminals of their own, as -debug does, without a debugger",
			apply: func(p *parser, v []string) error {
				word := strings.TrimSuffix(v[0], "!") // "!" keeps a window open, as it stays here anyway
				if word == "-1" {
					word = "all"
				}
				return p.debug(word, Debug{Bare: true})
			}},
	}
}

// debug notes that some ranks run under a tool.
func (p *parser) debug(ranks string, d Debug) (err error) {
	if d.Ranks, err = spans(ranks); err != nil {
		return err
	}
	for _, s := range d.Ranks {
		for i := range p.plan.Debug {
			for _, other := range p.plan.Debug[i].Ranks {
				if both := max(s.First, other.First); both <= min(s.Last, other.Last) {
					return fmt.Errorf("rank %d is named twice", both)
				}
			}
		}
	}
	p.plan.Debug = append(p.plan.Debug, d)
	return nil
}

// spans reads a list of ranks: numbers and ranges, or all.
func spans(word string) (list []Span, err error) {
	if word == "all" {
		return []Span{{0, math.MaxInt}}, nil
	}
	for part := range strings.SplitSeq(word, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA != nil || errB != nil || a < 0 || a > b || b >= maxRanks {
			return nil, fmt.Errorf("RANKS are numbers and ranges, as 0,2-3, or all")
		}
		list = append(list, Span{a, b})
	}
	return list, nil
}

// commandIn finds the words of a tool at the beginning of args, and what is left behind them.
func commandIn(args []string) (tool, left []string, err error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil, args, nil
	}
	block := args
	if end := slices.Index(args, ":"); end >= 0 {
		block = args[:end]
	}
	if end := slices.Index(block, "--"); end > 0 {
		return args[:end:end], args[end+1:], nil
	}
	if !slices.Contains(KnownTools, args[0]) {
		return nil, args, nil
	}
	if len(block) > 1 && strings.HasPrefix(block[1], "-") {
		return nil, nil, fmt.Errorf("\"--\" ends the options of %[1]s, as in -debug 0 %[1]s %[2]s -- ./program", args[0],
			block[1])
	}
	return args[:1:1], args[1:], nil
}

// settleDebug refuses what debuggers cannot do, and ranks that there are not.
func (p *parser) settleDebug() error {
	plan := &p.plan
	if len(plan.Debug) == 0 {
		if plan.DebugIn != "" {
			return fmt.Errorf("-debug-in goes with -debug or -xterm")
		}
		return nil
	}
	first := 0
	for i := range plan.Programs {
		g := &plan.Programs[i]
		named := slices.ContainsFunc(plan.Debug, func(d Debug) bool { return d.overlaps(Span{first, first + g.N - 1}) })
		if named && slices.Contains(KnownTools, g.Argv[0]) {
			return fmt.Errorf("%[1]s follows RANKS at once, as in -debug 0 %[1]s -- ./program", g.Argv[0])
		}
		first += g.N
	}
	if len(plan.Programs) == 1 && !p.seen["n"] {
		return nil // an allocation may have more
	}
	return plan.CheckDebug()
}

// CheckDebug refuses ranks that there are not.
func (p *Plan) CheckDebug() error {
	named := 0
	for i := range p.Debug {
		for _, s := range p.Debug[i].Ranks {
			if s.Last != math.MaxInt && s.Last >= p.Size() {
				return fmt.Errorf("-debug: there is no rank %d; ranks are 0 to %d", s.Last, p.Size()-1)
			}
			named += min(s.Last, p.Size()-1) - s.First + 1
		}
	}
	if p.DebugIn == InHere && named > 1 {
		return fmt.Errorf("-debug-in here is for one rank, and %d are named", named)
	}
	return nil
}
