// Command manual writes what users read of the commands without running them: pages of the manual, and the completion
// of shells. The build runs it; what it says comes from the descriptions that --help prints.
//
//	manual -date DATE DIR PAGE
//	  -> DIR/man/man1/COMMAND.1
//	  -> DIR/man/man7/libimpi.7, of PAGE, which is docs/libimpi.md
//	  -> DIR/bash-completion/completions/COMMAND
//	  -> DIR/zsh/site-functions/_COMMAND
//
// A second name of a command is a link to the first.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/usage"
	"github.com/libimpi/libimpi/cmd/internal/version"
	"github.com/libimpi/libimpi/cmd/internal/wrapper"
	"github.com/libimpi/libimpi/tools/roff"
)

func main() {
	date := flag.String("date", "", "date that the pages show")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual [-date DATE] DIR PAGE")
		os.Exit(2)
	}
	of := roff.Software{Name: "libimpi " + version.Number, Date: *date}
	if err := writeLibrary(flag.Arg(0), flag.Arg(1), of); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
	for _, c := range append(wrapper.Commands(), options.Command(), usage.Info, usage.Stat, usage.Trace, usage.Conform) {
		if err := write(flag.Arg(0), &c, of); err != nil {
			fmt.Fprintln(os.Stderr, "manual:", err)
			os.Exit(1)
		}
	}
}

// write writes the files of one command.
func write(dir string, c *usage.Command, of roff.Software) error {
	completions := filepath.Join(dir, "bash-completion", "completions")
	return errors.Join(
		file(filepath.Join(dir, "man", "man1"), c.Name+".1", c.Man(of), ending(c.Also, ".1")),
		file(completions, c.Name, c.Bash(), c.Also),
		file(filepath.Join(dir, "zsh", "site-functions"), "_"+c.Name, c.Zsh(), nil))
}

// writeLibrary writes the page of the library.
func writeLibrary(dir, page string, of roff.Software) error {
	markdown, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := libraryPage(string(markdown), of)
	if err != nil {
		return err
	}
	return file(filepath.Join(dir, "man", "man7"), "libimpi.7", text, nil)
}

func ending(names []string, end string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = name + end
	}
	return list
}

// file writes a file, and links beside it.
func file(dir, name, text string, links []string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, link := range links {
		if err := os.Remove(filepath.Join(dir, link)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.Symlink(name, filepath.Join(dir, link)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666)
}
