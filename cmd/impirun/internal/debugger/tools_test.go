package debugger

import (
	"errors"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

func TestAToolIsCalledWithTheProgramAndAFileOfItsRank(t *testing.T) {
	at := site{rank: 3, dir: "/w", suppressions: "/s"}
	for line, want := range map[string]command{
		"gdb":              {words: strings.Fields("gdb --args /p a -b"), talks: true},
		"gdb -q -ex run":   {words: strings.Fields("gdb -q -ex run --args /p a -b"), talks: true},
		"gdb --args":       {words: strings.Fields("gdb --args /p a -b"), talks: true},
		"/opt/bin/gdb":     {words: strings.Fields("/opt/bin/gdb --args /p a -b"), talks: true},
		"lldb -b":          {words: strings.Fields("lldb -b -- /p a -b"), talks: true},
		"gdbserver --once": {words: strings.Fields("gdbserver --once - /p a -b"), serves: true},
		"valgrind": {words: strings.Fields("valgrind --log-file=/w/valgrind.3 --suppressions=/s /p a -b"),
			file: "/w/valgrind.3"},
		"valgrind --log-fd=2": {words: strings.Fields("valgrind --suppressions=/s --log-fd=2 /p a -b")},
		"perf":                {words: strings.Fields("perf record -o /w/perf.data.3 -- /p a -b"), file: "/w/perf.data.3"},
		"perf -g":             {words: strings.Fields("perf record -o /w/perf.data.3 -g -- /p a -b"), file: "/w/perf.data.3"},
		"perf stat -d":        {words: strings.Fields("perf stat -o /w/perf.stat.3 -d -- /p a -b"), file: "/w/perf.stat.3"},
		"perf record -o x":    {words: strings.Fields("perf record -o x -- /p a -b")},
		"perf c2c":            {words: strings.Fields("perf c2c -- /p a -b")},
		"strace":              {words: strings.Fields("strace -f -o /w/strace.3 /p a -b"), file: "/w/strace.3"},
		"strace -ox -c":       {words: strings.Fields("strace -f -ox -c /p a -b")},
		"ltrace -o lt.%r":     {words: strings.Fields("ltrace -o lt.3 /p a -b"), talks: true},
	} {
		got := commandOf(strings.Fields(line), "/p", []string{"p", "a", "-b"}, at)
		if strings.Join(got.words, " ") != strings.Join(want.words, " ") || got.file != want.file ||
			got.talks != want.talks || got.serves != want.serves {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}

func TestADebuggerToWhomNobodyTalksRunsTheProgram(t *testing.T) {
	for line, want := range map[string]bool{"gdb": true, "gdb -q": true, "/opt/bin/lldb": true, "gdb -ex bt": false,
		"gdb -x file": false, "gdb --command=file": false, "lldb -o run": false, "rr record": false, "": false} {
		if got := alone(strings.Fields(line)); (got != nil) != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestTheDebuggerIsTheOneThatThereIs(t *testing.T) {
	for have, want := range map[string]string{"gdb lldb": "gdb", "lldb": "lldb", "": "gdb"} {
		find := func(name string) (string, error) {
			if strings.Contains(" "+have+" ", " "+name+" ") {
				return "/bin/" + name, nil
			}
			return "", errors.New("not found")
		}
		if got := defaultTool(find); len(got) != 1 || got[0] != want {
			t.Errorf("where there is %q: %q, want %s", have, got, want)
		}
	}
}

func TestADebuggerWithCommandsOfItsOwnNeedsNoTerminal(t *testing.T) {
	for line, want := range map[string]bool{"gdb -batch -ex run": true, "gdb --batch": true, "lldb -b": true, "gdb": false,
		"gdb -b 9600": false, "": false} {
		if got := scripted(&options.Debug{Tool: strings.Fields(line)}); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
