package script

import (
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
)

// hostile are scripts that ask for too much, each by another way, and what they are told.
var hostile = map[string]string{
	"while True:\n    pass": "more than",
	"for _ in range(1000000):\n    for _ in range(100):\n        pass": "more than",
	"list(range(1 << 40))":                                             "a range of more than 1000000 elements",
	"\"x\" * (1 << 29)":                                                "at most 16777216 can be",
	"(1 << 29) * \"x\"":                                                "at most 16777216 can be",
	"b\"xy\" * (1 << 23 + 1)":                                          "at most 16777216 can be",
	"[0] * (1 << 24)":                                                  "at most 1000000 can be",
	"x = [0, 1]\nx *= 1000000":                                         "at most 1000000 can be",
	"x = 2\nfor _ in range(40):\n    x *= x":                           "an int has at most 4096 bits",
	"x = \"x\"\nfor _ in range(40):\n    x += x":                       "at most 16777216 can be",
	"x = b\"x\"\nfor _ in range(40):\n    x = x + x":                   "at most 16777216 can be",
	"x = [1]\nfor _ in range(40):\n    x += x":                         "at most 1000000 can be",
	"x = [\"x\"]\nfor _ in range(40):\n    x[0] += x[0]":               "at most 16777216 can be",
	"x = []\nfor _ in range(1000):\n    x.append(zeros(1 << 24))":      "too much memory",
	"x = [1]\nfor _ in range(40):\n    x.extend(x)":                    "more than 1000000 elements",
	"x = []\nfor _ in range(9):\n    x = [x] * 1000\nstr(x)":           "a text of more than",
	"x = []\nfor _ in range(9):\n    x = [x] * 1000\nrepr(x)":          "a text of more than",
	"x = []\nfor _ in range(9):\n    x = [x] * 1000\nprint(x)":         "a text of more than",
	"x = []\nfor _ in range(9):\n    x = [x] * 1000\nwrong(\"%s\", x)": "a text of more than",
	"x = []\nfor _ in range(9):\n    x = [x] * 1000\n\"%s\" % [x]":     "a text of more than",
	"x = []\nfor _ in range(9):\n    x = [x] * 1000\n\"{}\".format(x)": "a text of more than",
	"x = []\nfor _ in range(2000):\n    x = [x]\nstr(x)":               "lists more than 100 deep",
	"x = \"x\" * 1000000\nx.replace(\"x\", x)":                         "a text of more than",
	"x = \"x\" * 1000000\nx.join([x] * 1000)":                          "a text of more than",
	"x = \"x\" * 1000000\ny = x.join\ny([\"\"] * 1000)":                "a text of more than",
	"getattr(\"x\", \"join\")":                                         "is not in this language",
	"int(\"9\" * 1000000)":                                             "an int of more than 1000 digits",
	"zeros(1 << 25)":                                                   "bytes; it must be 0 to 16777216",
	"repeat(zeros(1 << 20), 1 << 20)":                                  "more than 16777216 bytes",
	"pattern(1, 1 << 40)":                                              "bytes; it must be",
	"row(1, 1 << 30)":                                                  "elements; it must be at most 1000000",
	"affine(1, 1 << 30)":                                               "elements; it must be at most 1000000",
	"u32(*([0] * 1000001))":                                            "at most 1000000 can be",
	"start_server(1, env = [\"LD_PRELOAD=x\"])":                        "is neither IMPI_AUTH_KEY=",
	"start_server(1, more = [\"-x\"])":                                 "is neither -port nor -auth",
	"launch_server(\"--help me\")":                                     "must be at most 6 digits or letters",
	"def f():\n    return f()\n\nf()":                                  "called recursively",
}

func TestNoScriptTakesMoreThanItMay(t *testing.T) {
	for body, want := range hostile {
		t.Run(strings.ReplaceAll(body, "\n", ";"), func(t *testing.T) {
			r := play(t, body, time.Minute)
			if r.Outcome != conform.Indeterminate || !strings.Contains(says(r), want) ||
				!strings.HasPrefix(says(r), "t.star:") {
				t.Errorf("%v: %q, must say %q", r.Outcome, says(r), want)
			}
		})
	}
}

func TestTheTopLevelOfAFileEndsToo(t *testing.T) {
	_, err := Parse("f.star", "\nwhile True:\n    pass")
	if e, ok := err.(*Error); !ok || e.Line != 2 && e.Line != 3 || !strings.Contains(e.Text, "more than 1000000 steps") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse("f.star", strings.Repeat("#", maxText+1)); err == nil {
		t.Error("a file of any length is taken")
	}
}

func TestTheDeadlineEndsAScriptThatComputes(t *testing.T) {
	body := "while True:\n    row(0, 1000000)\n" // few steps, each of which takes long
	if r := play(t, body, time.Millisecond); r.Outcome != conform.Indeterminate ||
		!strings.Contains(says(r), "deadline") {
		t.Errorf("%v: %v", r.Outcome, r.Problems)
	}
}

func TestBoundsChangeNothingElse(t *testing.T) {
	const body = `
x = 3
x *= 4
check(x == 12 and x % 5 == 2 and 2.5 * 2 == 5.0, "numbers")
x %= 5
check(x == 2, "numbers")
check("ab" * 2 == "abab" and 2 * [1] == [1, 1] and (1,) * 0 == () and "a" * -1 == "", "repetition")
check("%s-%d%%" % ("a", 3) == "a-3%" and "%r" % "x" == "\"x\"", "formatting")
check(", ".join(["a", "b"]) == "a, b" and "aXa".replace("X", "--") == "a--a", "text")
check("{} {n}".format(1, n = 2) == "1 2", "text")
l, d = [1], {"a": 1}
m = l
l += [2]
l.extend((3,))
d["a"] += 2
m[0 + 1] += 5
m[2 - 1] -= 5
d["a"] *= 2
check(m == [1, 2, 3] and d == {"a": 6} and "a" + "b" == "ab" and 1 + 2.5 == 3.5, "sums")
check(int("-12") == -12 and int(3.7) == 3 and int("ff", 16) == 255, "numbers")
check(str([1, b"x"]) == "[1, b\"x\"]" and list(range(2)) == [0, 1], "text")
check([f(3) for f in [lambda y: y * 2, lambda y: y % 2]] == [6, 1], "within others")
check({"a" * 2: [x * 2]}["aa"][0] == 4, "within others")
`
	if r := play(t, body, time.Minute); r.Outcome != conform.Pass {
		t.Error(r.Problems)
	}
}
