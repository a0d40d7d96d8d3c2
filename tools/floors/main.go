// Floors draws docs/floors.svg: the folders of the source tree as floors of a house, in which imports only go down.
//
//	docs/imports.md, the folders -> read (house.go): folders, what is in them, which imports which
//	  -> arrange (arrange.go): a row and a place in it for each folder, and the ways of the arrows
//	  -> draw (draw.go): SVG
package main

import (
	"fmt"
	"os"
)

const picture = "docs/floors.svg"

func main() {
	svg, err := floors(".")
	if err == nil {
		err = os.WriteFile(picture, svg, 0o644)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "floors: %v\n", err)
		os.Exit(1)
	}
}

// floors is the picture of the source tree in a folder.
func floors(root string) ([]byte, error) {
	h, err := read(os.DirFS(root))
	if err != nil {
		return nil, err
	}
	return draw(arrange(h)), nil
}
