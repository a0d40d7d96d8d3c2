package version

import (
	"os"
	"strings"
	"testing"
)

func TestTextSaysTheCommitIfTheBuildKnewIt(t *testing.T) {
	defer func() { commit = "" }()
	for said, want := range map[string]string{
		"":                     "libimpi " + Number + " (Interoperable MPI; not Intel MPI)",
		"0123abc4567-dirty":    "libimpi " + Number + " (Interoperable MPI; not Intel MPI), commit 0123abc4567-dirty",
		"v0.1.0-7-g0123abc456": "libimpi " + Number + " (Interoperable MPI; not Intel MPI), commit v0.1.0-7-g0123abc456",
	} {
		commit = said
		if got := Text(); got != want {
			t.Errorf("commit %q: %q, want %q", said, got, want)
		}
	}
}

// The library cannot import this package, which belongs to the programs, and says the number itself.
func TestTheLibrarySaysTheSameNumber(t *testing.T) {
	text, err := os.ReadFile("../../../gobridge/env.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := "const Version = \"" + Number + "\"\n"; !strings.Contains(string(text), want) {
		t.Errorf("gobridge/env.go does not say %q", want)
	}
}
