package tree

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// mostFiles is how many Go files a folder has at most, without tests and generated files: a reader can keep a table of
// contents of that length in mind. A folder with more is several subjects.
const mostFiles = 40

// crowdedFolders have more files. Their numbers may only fall.
var crowdedFolders = map[string]int{"libimpi": 42}

func TestAFolderHasFewFiles(t *testing.T) {
	count := filesOf(sources(t, ".go"))
	for _, folder := range slices.Sorted(maps.Keys(count)) {
		if most := max(mostFiles, crowdedFolders[folder]); count[folder] > most {
			t.Errorf("%s has %d Go files without tests, and may have %d: move a subject to a package of its own", folder,
				count[folder], most)
		}
	}
}

// filesOf counts the files in each folder that are neither tests nor generated.
func filesOf(names []string) map[string]int {
	count := map[string]int{}
	for _, name := range names {
		if !generated(name) && !strings.HasSuffix(name, "_test.go") {
			count[path.Dir(name)]++
		}
	}
	return count
}

func TestTestsAndGeneratedFilesAreNotCounted(t *testing.T) {
	count := filesOf([]string{"a/x.go", "a/x_test.go", "a/z_x.go", "a/y.go", "a/b/x.go", "c/x_test.go"})
	if want := map[string]int{"a": 2, "a/b": 1}; !maps.Equal(count, want) {
		t.Errorf("%v, want %v", count, want)
	}
}
