package supervise

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAProgramIsFoundAsAShellWouldFindIt(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	file("bin/tool", 0o755)
	file("bin/plain", 0o644)
	file("other/plain", 0o755)
	file("here", 0o755)
	path := filepath.Join(dir, "bin") + ":" + filepath.Join(dir, "other")
	for _, c := range []struct {
		name, dir, path string
		want            string
		code            int
	}{
		{"tool", "", path, dir + "/bin/tool", 0},
		{"plain", "", path, dir + "/other/plain", 0},
		{"plain", "", dir + "/bin", "", CodeNotExecutable},
		{"nowhere", "", path, "", CodeNotFound},
		{"here", dir, path, dir + "/here", 0},
		{"./here", dir, path, "./here", 0},
		{"./tool", dir, path, "", CodeNotFound},
		{"./bin/plain", dir, path, "", CodeNotExecutable},
		{dir + "/bin/tool", "", "", dir + "/bin/tool", 0},
		{dir + "/bin", "", "", "", CodeNotExecutable},
		{"tool", dir + "/none", path, "", CodeNotFound},
	} {
		got, err := FindProgram(c.name, c.dir, c.path)
		code := 0
		var e *StartError
		if errors.As(err, &e) {
			code = e.Code
		}
		if code != c.code || code == 0 && got != c.want {
			t.Errorf("%s in %q: %q, code %d (%v); want %q, %d", c.name, c.dir, got, code, err, c.want, c.code)
		}
	}
}
