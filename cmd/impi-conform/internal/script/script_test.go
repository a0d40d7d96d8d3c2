package script

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
)

// play runs statements in a case, and returns what became of it.
func play(t *testing.T, body string, timeout time.Duration) conform.Result {
	t.Helper()
	text := "def play():\n    " + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n    ") +
		"\n\ncase(name = \"a/b\", rule = \"1\", about = \"x\", run = play)\n"
	cases, err := Parse("t.star", text)
	if err != nil {
		t.Fatal(err)
	}
	var result conform.Result
	conform.Run(context.Background(), cases, conform.Options{Timeout: timeout},
		func(r conform.Result) { result = r })
	return result
}

// says is the text of the first problem that is not the verdict's own, "" if there is none.
func says(r conform.Result) string {
	if len(r.Problems) == 0 {
		return ""
	}
	return r.Problems[len(r.Problems)-1].Text
}

func TestAFileDefinesCasesInItsOrder(t *testing.T) {
	cases, err := Parse("f.star", `
case(
    name = "a/first",
    rule = "3.7",
    about = "before its function",
    job = job(others = [[1], [2, 1]], manual = True, procs = 1, datalen = 1000),
    steps = ["send 1 7 10"],
    play = first,
)

def first(j):
    pass

def family(n):
    case(name = "a/n-%d" % n, rule = "3.8", about = "one of several", needs = "server", run = lambda: None)

for n in [1, 2]:
    family(n)

case(name = "b/fresh", rule = "1", about = "x", job = job(others = [[1]]), fresh = True)
case(name = "b/told", rule = "1", about = "x", job = job(xsize = 1, maxlinear = 2, told = True))
case(name = "b/function", rule = "1", about = "x", job = job(around = lambda label: (b"", b"")))
`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "a/first a/n-1 a/n-2 b/fresh b/told b/function" {
		t.Errorf("the cases are %s", got)
	}
	first := cases[0]
	if first.File != "f.star" || first.Line != 2 || first.Needs != conform.Client || first.Within == nil ||
		first.Job != "job(procs = 1, others = [[1], [2, 1]], datalen = 1000, manual = True)" ||
		first.Steps[0] != "send 1 7 10" {
		t.Errorf("got %+v", first)
	}
	if c := cases[1]; c.Line != 15 || c.Needs != conform.Server || c.Job != "" || c.Within != nil {
		t.Errorf("got %+v", c)
	}
	if cases[3].Job != "" || cases[4].Needs != conform.Values || cases[5].Job != "" {
		t.Errorf("got %+v", cases[3:])
	}
}

func TestAnErrorOfAFileHasItsPosition(t *testing.T) {
	const good = `name = "a/b", rule = "1", about = "x"`
	for text, want := range map[string]string{
		"x = (":                                        `^f.star:1:6: got end of file`,
		"\nx = 1 +* 2":                                 `^f.star:2:8: `,
		"def f():\n    return missing":                 `^f.star:2:12: undefined: missing`,
		"x = 1\nx = 2":                                 `^f.star:2:1: cannot reassign global x`,
		"x = [][1]":                                    `^f.star:1:7: .*out of range`,
		"load(\"none.star\", \"x\")":                   `^f.star:1:1: .*there is no such file; there are collectives.star`,
		"load(\"jobs.star\", \"nothing\")":             `^f.star:1:1: .*nothing not found`,
		"case(name = \"a/b\")":                         `^f.star:1:5: case: rule is missing`,
		"case(" + good + ")":                           `^f.star:1:5: case: a case has either job or run`,
		"case(" + good + ", run = 3)":                  `^f.star:1:5: case: run: got int, want function`,
		"case(" + good + ", jobs = 3)":                 `there is no parameter jobs`,
		"case(\"ab\", \"1\", \"x\", job())":            `name: "ab" is not of the form group/what`,
		"case(" + good + ", run = len, needs = \"x\")": `needs: "x" is none`,
		"case(" + good + ", run = len)\ncase(" + good + ", run = len)": `^f.star:2:5: case: there is another case a/b`,
		"job(others = [[1], 2])":                      `others: element 1: got int, want list of int`,
		"job(ranks = 2)":                              `job has no setting ranks`,
		"job(rank = 2)":                               `rank is 2, must be 0 to 0`,
		"job(procs = 1 << 40)":                        `procs: 1099511627776 does not fit`,
		"job(others = [[100000]])":                    `a host of 100000 processes`,
		"job(env = [\"LD_PRELOAD=/x\"])":              `env: "LD_PRELOAD=/x" is neither`,
		"job(host_id = b\"abc\")":                     `host_id: got bytes, want 16 bytes`,
		"start_server(2)":                             `^f.star:1:13: start_server: is for a case that runs`,
		"check(False, \"x\")":                         `is for a case that runs`,
		"fail(\"no %s\", 3)":                          `^f.star:1:5: fail: no 3`,
		"packet(tag = 1 << 31)":                       `tag: 2147483648 does not fit into int32`,
		"packet(colour = 1)":                          `a packet has no field "colour"`,
		"packet(src = b\"x\")":                        `src: got bytes, want 24 bytes`,
		"u32(-1)":                                     `numbers: element 0: -1 does not fit into uint32`,
		"zeros(1 << 30)":                              `size: 1073741824 bytes; it must be 0 to 16777216`,
		"get_u32(b\"ab\")":                            `get_u32: runtime error: index out of range`,
		"pattern(1)":                                  `pattern: size is missing: pattern\(tag, size\)`,
		"pattern(1, 2, 3)":                            `3 arguments, at most 2`,
		"pattern(1, tag = 2)":                         `tag is given twice`,
		"def f(x):\n    return x.y\n\nf(3)":           `^f.star:2:13: int has no .y field or method, called at f.star:4:2`,
		"def f():\n    return f()\n\nf()":             `called recursively`,
		"gate().path = \"x\"":                         `is for a case that runs`,
		"job().x = 1":                                 `settings has no attribute x`,
		"x = packet()\nx.tag = \"7\"":                 `^f.star:2:2: tag: got string, want int`,
		"zeros(1)[0] += 2":                            `^f.star:1:13: =: a call on the left`,
		"minloc([], 2, 1)":                            `minloc: slices.MinFunc: empty list`,
		"load(\"jobs.star\", \"TWO\")\nTWO.append(1)": `^f.star:2:11: append: cannot append to frozen list`,
		"def f():\n    x.tag = 5\n\nx = packet()\n\n" + "case(" + good + ", run = f)": ``,
	} {
		cases, err := Parse("f.star", text)
		switch e, _ := err.(*Error); {
		case want == "":
			if err != nil || len(cases) != 1 {
				t.Errorf("%s\n%v", text, err)
			}
		case e == nil || e.File != "f.star" || e.Line < 1 || e.Column < 1:
			t.Errorf("%s\nthe error is %#v", text, err)
		case !regexp.MustCompile(want).MatchString(err.Error()):
			t.Errorf("%s\n%v\nmust match %s", text, err, want)
		}
	}
}

func TestAFaultOfAScriptIsNoFailureOfTheImplementation(t *testing.T) {
	r := play(t, "x = [1]\nx[2]", time.Minute)
	if r.Outcome != conform.Indeterminate || !strings.Contains(r.Problems[0].Text, "its script is at fault") ||
		says(r) != "t.star:3:6: list index 2 out of range [-1:0]" && !strings.HasPrefix(says(r), "t.star:3:6: ") {
		t.Errorf("got %v: %+v", r.Outcome, r.Problems)
	}
}

func TestProblemsAndTheEndOfACasePassThroughTheInterpreter(t *testing.T) {
	for body, want := range map[string]string{
		"check(True, \"a\")\ncheck(2 == 3, \"%d is not %s\", 2, \"three\")\nwrong(\"b\")": "2 is not three, b",
		"def f(x):\n    fail(\"in a function: %d\", x)\n\nsorted([3, 1], key = f)":        "in a function: 3",
		"wrong(\"a\")\nstop()\nwrong(\"b\")":                                              "a",
		"stop()\nwrong(\"100%\")":                                                         "100%",
		"if not failed():\n    wrong(\"x\")\nif failed():\n    wrong(\"y\")":              "x, y",
	} {
		r := play(t, body, time.Minute)
		var texts []string
		for _, p := range r.Problems[min(1, len(r.Problems)):] { // the first says that no implementation was there
			texts = append(texts, p.Text)
		}
		if got := strings.Join(texts, ", "); got != want {
			t.Errorf("%s\ngot %s, want %s", body, got, want)
		}
	}
}

func TestWhatAScriptPrintsIsInTheReport(t *testing.T) {
	if r := play(t, "print(\"hello\", 1)", time.Minute); r.Output != "hello 1\n" || r.Outcome != conform.Pass {
		t.Errorf("got %q, %v", r.Output, r.Problems)
	}
}

// A value of the top level is frozen when cases run, which may be at the same time.
func TestWhatAFileHasMadeCannotBeChangedInACase(t *testing.T) {
	cases, err := Parse("f.star", "P = packet()\nL = []\n\ndef f():\n    P.tag = 5\n\ndef g():\n    L.append(1)\n\n"+
		"case(\"a/f\", \"1\", \"x\", run = f)\ncase(\"a/g\", \"1\", \"x\", run = g)")
	if err != nil {
		t.Fatal(err)
	}
	conform.Run(context.Background(), cases, conform.Options{Timeout: time.Minute, Jobs: 2}, func(r conform.Result) {
		if r.Outcome != conform.Indeterminate || !strings.Contains(says(r), "frozen") {
			t.Errorf("%s: %v", r.Case.Name, r.Problems)
		}
	})
}

// FuzzParse: no text crashes the tester, and every error has its place.
func FuzzParse(f *testing.F) {
	for _, name := range Library() {
		text, err := LibraryText(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add("case(name = \"a/b\", rule = \"1\", about = \"x\", job = job(rank = 1, others = [[1]]), play = len)")
	f.Add("x = [packet(tag = 5).but(tag = 6).tag * 3 % 2 for _ in range(3)]")
	f.Add("\"{}\".format(\"a\".join([\"b\"]).replace(\"b\", str(u32(1))))")
	f.Add("x = " + strings.Repeat("(", 2000))
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse("f.star", text)
		if err == nil {
			return
		}
		if e, ok := err.(*Error); !ok || e.Line < 1 || e.Column < 1 {
			t.Errorf("the error is %#v", err)
		}
	})
}
