package tree

import (
	"io/fs"
	"strings"
	"testing"
)

// An empty file is what a test has left in the folder where it ran, and somebody has committed.
func TestNoFileIsEmpty(t *testing.T) {
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (name == "build" || name != "." && strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if entry.IsDir() {
			return nil
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			t.Errorf("%s is empty", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
