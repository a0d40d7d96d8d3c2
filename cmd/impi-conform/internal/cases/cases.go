// Package cases is the list of conformance cases: files in Starlark, which package script interprets. No case is in Go.
package cases

import (
	"embed"
	"sync"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/script"
)

//go:embed files/*.star
var files embed.FS

// order is that of the files, in which their cases are run.
var order = []string{"server-auth", "server-exchange", "server-bad", "client", "table", "mesh", "packet-sent",
	"packet-received", "packet-more", "flow", "cancel", "collective", "comm", "comm-inter", "finish", "hostile",
	"several", "joint"}

// File is the text of some cases, or of what they load.
type File struct{ Name, Text string }

// Files are all files with cases, in their order, and those that they load.
func Files() (list []File) {
	for _, name := range order {
		text, err := files.ReadFile("files/" + name + ".star")
		if err != nil {
			panic(err) // the tests find it
		}
		list = append(list, File{name + ".star", string(text)})
	}
	for _, name := range script.Library() {
		text, err := script.LibraryText(name)
		if err != nil {
			panic(err)
		}
		list = append(list, File{name, text})
	}
	return list
}

// All are all cases, in the order in which they are run.
func All() []conform.Case { return all() }

var all = sync.OnceValue(func() (list []conform.Case) {
	for _, f := range Files()[:len(order)] {
		cases, err := script.Parse(f.Name, f.Text)
		if err != nil {
			panic(err) // the tests find it
		}
		list = append(list, cases...)
	}
	return list
})
