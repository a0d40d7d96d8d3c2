package lines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinesComeWithTheirNumbersUntilAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("a\n\nb\nc"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, enough := "", errors.New("enough")
	err := Each(file, func(number int, line string) error {
		all += fmt.Sprint(number, line, " ")
		if line == "b" {
			return enough
		}
		return nil
	})
	if all != "1a 2 3b " || err != enough {
		t.Errorf("%q, %v", all, err)
	}
}

// Such as a program that was given instead of a list.
func TestAFileWithALineWithoutAnEndIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(file, []byte("# one\n"+strings.Repeat("x", 1<<17)), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Each(file, func(int, string) error { return nil })
	if want := file + ", line 2: it has more than "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
