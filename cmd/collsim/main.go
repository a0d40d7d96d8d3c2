// Collsim times the collective operations of package coll on a virtual clock, and prints what docs/collectives.md
// shows: bounds of all algorithms, times for up to 10^5 ranks under three models of machines, what operations gain
// that go by machine, and where an operation takes longer than others that do the same together. With -pictures it
// draws the pictures into a folder.
//
//	go run ./cmd/collsim
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	folder := flag.String("pictures", "", "draw the pictures into this `folder`, too")
	flag.Parse()
	if err := print(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "sim:", err)
		os.Exit(1)
	}
}

// print prints all parts.
func print(folder string) error {
	for i, part := range parts {
		text, err := part.text()
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Println()
		}
		fmt.Print(text)
	}
	if folder == "" {
		return nil
	}
	for _, picture := range pictures {
		svg, err := picture.draw()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, picture.file), []byte(svg), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// parts are what is printed, in order. The page has a part between lines <!-- name --> and <!-- end -->.
var parts = []struct {
	name string
	text func() (string, error)
}{
	{"bounds", boundsTable},
	{"times", timesTables},
	{"machines", apartTables},
	{"guidelines", guidelinesTable},
}

// pictures are those of the page.
var pictures = []struct {
	file string
	draw func() (string, error)
}{
	{"collectives-ranks.svg", overRanks},
	{"collectives-bytes.svg", overBytes},
}
