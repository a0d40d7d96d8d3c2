// Package usage describes commands: names, options, values. What --help prints, the manual's section 1 and the
// completion of shells are made of the same description, so that they say the same.
//
// Flow: a command's package fills a Command in -> Help at run time; Man, Bash and Zsh when libimpi is built
// (cmd/internal/manual).
package usage

import (
	"fmt"
	"strings"
)

// Command is a command and all that its users are told of it.
type Command struct {
	Name    string
	Also    []string // other names of the same program
	Purpose string   // one line: what it does, without a full stop
	Usage   []string // command lines, without the word usage; the first word of each is the command
	About   string   // what to know before the options
	Options []Option
	Dashes  Dashes
	Words   Words
	Notes   []Note
	See     []string // pages of the manual: mpicc(1)
}

// Option is one option: its names without dashes, its values, what it does.
type Option struct {
	Names    []string
	Values   []string // what --help calls them: FILE, DIR and COMMAND are completed as such
	Choices  []string // what its first value can be, as far as that is a list
	Joined   bool     // the value follows "=" in the same word: -cc=COMPILER
	Optional bool     // the value may be left out, and follows "=" in the same word: -web=ADDRESS
	Pair     bool     // two values that may come as one NAME=value
	Help     string   // "" is accepted, and not advertised
}

// Dashes is how options begin.
type Dashes int

const (
	Either Dashes = iota // one dash or two
	One                  // one dash
	Letter               // two dashes, and one before a single letter
)

// Words is what the words of the command line are that are no options.
type Words int

const (
	None     Words = iota
	Files          // files, as of a compiler
	Programs       // a program and its arguments; after ":" options and another program
	Settings       // names of libimpi's settings, which the command lists with --names
)

// Note is a part of the text behind the options.
type Note struct{ Title, Text string }

// shown are the names of an option as they are typed: -n, --json.
func (c *Command) shown(o *Option) []string {
	names := make([]string, len(o.Names))
	for i, name := range o.Names {
		names[i] = "-" + name
		if c.Dashes == Letter && len(name) > 1 {
			names[i] = "--" + name
		}
	}
	return names
}

// Help is what --help prints.
func (c *Command) Help() string {
	var b strings.Builder
	b.WriteString("usage: " + strings.Join(c.Usage, "\n       ") + "\n")
	if c.About != "" {
		b.WriteString("\n" + c.About + "\n")
	}
	b.WriteString("\n" + c.OptionLines())
	for _, n := range c.Notes {
		b.WriteString("\n" + n.Title + ": " + n.Text + "\n")
	}
	return b.String()
}

// OptionLines is the list of options.
func (c *Command) OptionLines() string {
	var b strings.Builder
	for i := range c.Options {
		o := &c.Options[i]
		if o.Help == "" {
			continue
		}
		left := strings.Join(append([]string{strings.Join(c.shown(o), ", ")}, o.Values...), " ")
		if o.Joined {
			left = strings.Join(c.shown(o), ", ") + "=" + o.Values[0]
		} else if o.Optional {
			left = strings.Join(c.shown(o), ", ") + "[=" + o.Values[0] + "]"
		}
		if len(left) > 26 {
			fmt.Fprintf(&b, "  %s\n  %26s  %s\n", left, "", o.Help)
		} else {
			fmt.Fprintf(&b, "  %-26s  %s\n", left, o.Help)
		}
	}
	return b.String()
}
