package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

func TestThePictureIsThatOfTheTree(t *testing.T) {
	const root = "../../"
	want, err := floors(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(root + picture)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the folders and docs/imports.md say: run go run ./tools/floors", picture)
	}
	for d := xml.NewDecoder(bytes.NewReader(want)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestArrowsGoDownAndBoxesStandApart(t *testing.T) {
	all, err := read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	p := arrange(all)
	for _, row := range p.rows {
		for i, b := range row {
			if b.x < 0 || b.x+b.w > width || b.y+b.h > p.height {
				t.Errorf("%s leaves the picture: %.0f to %.0f", name(b), b.x, b.x+b.w)
			}
			if i > 0 && b.x < row[i-1].x+row[i-1].w {
				t.Errorf("%s covers %s", name(b), name(row[i-1]))
			}
			for _, line := range b.lines {
				if float64(len(line))*letter > b.w-padding {
					t.Errorf("%q is wider than the box of %s", line, name(b))
				}
			}
		}
	}
	for _, way := range p.arrows {
		for i, b := range way[1:] {
			if b.y < way[i].y+way[i].h {
				t.Errorf("an arrow from %s does not go down to %s", name(way[i]), name(b))
			}
		}
	}
}

func name(b *box) string {
	if b.of == nil {
		return "an arrow"
	}
	return b.of.name
}

// tree is a source tree of some folders and a table of imports.
func tree(table string) fstest.MapFS {
	files := fstest.MapFS{"docs/imports.md": {Data: []byte(table)}}
	for _, p := range purposes {
		files[p.folder+"/x.go"] = &fstest.MapFile{}
	}
	files["coll/op/x.go"], files["coll/op/deep/x.go"], files["coll/c/x.h"] = &fstest.MapFile{}, &fstest.MapFile{},
		&fstest.MapFile{}
	return files
}

func TestImportsThatFollowAreLeftOut(t *testing.T) {
	all, err := read(tree("| package | imports | tests |\n|---|---|---|\n" +
		"| `libimpi` | `coll`, `libimpi/topo`, `abi`, `C` | `file` |\n| `coll/op`, `coll` | `abi`, `coll` | |\n"))
	if err != nil {
		t.Fatal(err)
	}
	find := func(name string) *folder {
		return all[slices.IndexFunc(all, func(f *folder) bool { return f.name == name })]
	}
	if got := find("libimpi").imports; len(got) != 1 || got[0] != find("coll") {
		t.Errorf("libimpi imports %v", got)
	}
	if got := find("coll").packages; !slices.Equal(got, []string{"op (2)"}) {
		t.Errorf("below coll there are %q", got)
	}
}

func TestACircleOfImportsHasNoFloor(t *testing.T) {
	_, err := read(tree("| `coll/op` | `file` | |\n| `file` | `abi`, `coll` | |\n"))
	if err == nil {
		t.Error("no error")
	}
}
