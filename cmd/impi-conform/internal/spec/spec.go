// Package spec is the text of the specification, IMPI 0.0, chapters 1 to 4, by sections, and cuts the rules that cases
// name into parts that link to them. Embedded is impi-0.0.txt:
//
//	# 2.3.5 The COLL command    the number and the title of a section
//	- Text                      an item of a list, to the next item or empty line
//	    code or a table         indented by four spaces, to the next line that is neither empty nor indented
//	Text                        a paragraph, to the next empty line
//
// Its first two lines, before the first section, say what it is and where it is from. It has the words of the original
// and the tokens of its code, errors included, without typefaces. Where the copy is damaged, [illegible: ...] says what
// is missing, or from what the text after it is restored; [sic] follows what looks like damage and may be the
// original's. Drawings are missing; figures and tables stand where the text first refers to them.
package spec

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// Section is a section without its subsections. A chapter or section that only consists of subsections has no Blocks.
type Section struct {
	Number, Title string // "2.3.5", "The COLL command"
	Blocks        []Block
}

// Block is a paragraph ("p", a line of unknown length), code or a table ("pre", lines), or an item of a list ("item",
// as a paragraph).
type Block struct {
	Kind string
	Text string
}

// Part is a part of a rule: the number of a section of this specification with that Section, or text that names none.
type Part struct {
	Text, Section string
}

//go:embed impi-0.0.txt
var text string

var parsed = sync.OnceValues(func() (string, []Section) { return parse(text) })

// About says what the text is and where it is from.
func About() string {
	about, _ := parsed()
	return about
}

// Sections are all, in the order of the text. Callers share them.
func Sections() []Section {
	_, sections := parsed()
	return sections
}

// parse reads a text, and returns what stands before its first section, too.
func parse(text string) (about string, sections []Section) {
	before := Section{}
	section := &before
	var lines []string // of the block that is being read
	end := func() {
		if len(lines) > 0 {
			section.Blocks = append(section.Blocks, block(lines))
			lines = nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		heading, isHeading := strings.CutPrefix(line, "# ")
		code := len(lines) > 0 && strings.HasPrefix(lines[0], indent)
		switch {
		case isHeading:
			end()
			number, title, _ := strings.Cut(heading, " ")
			sections = append(sections, Section{Number: number, Title: title})
			section = &sections[len(sections)-1]
			continue
		case line == "" && !code:
			end()
			continue
		case line != "" && code != strings.HasPrefix(line, indent), strings.HasPrefix(line, bullet):
			end()
		}
		lines = append(lines, line)
	}
	end()
	for _, b := range before.Blocks {
		about += b.Text
	}
	return about, sections
}

const (
	indent = "    "
	bullet = "- "
)

// block is of the lines of one.
func block(lines []string) Block {
	if !strings.HasPrefix(lines[0], indent) {
		joined := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
		if item, ok := strings.CutPrefix(joined, bullet); ok {
			return Block{"item", item}
		}
		return Block{"p", joined}
	}
	var code []string
	for _, line := range lines {
		code = append(code, strings.TrimPrefix(line, indent))
	}
	return Block{"pre", strings.TrimRight(strings.Join(code, "\n"), "\n")}
}

// A rule is a list of references, after commas. Those to other texts begin with its name.
var (
	reference = regexp.MustCompile(`[^,]+|,`)
	foreign   = regexp.MustCompile(`^\s*(MPI|notes|errata|erratum)\b`)
	number    = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)+\b`)
)

// Rule cuts the rule that a case names, such as "2.3.5 C_COLL_XSIZE, erratum D-5", into parts, which joined are the
// rule.
func Rule(rule string) (parts []Part) {
	plain := 0 // where the text begins that is in no part yet
	for _, r := range reference.FindAllStringIndex(rule, -1) {
		if foreign.MatchString(rule[r[0]:r[1]]) {
			continue
		}
		for _, n := range number.FindAllStringIndex(rule[r[0]:r[1]], -1) {
			from, to := r[0]+n[0], r[0]+n[1]
			if !exists(rule[from:to]) {
				continue
			}
			if plain < from {
				parts = append(parts, Part{Text: rule[plain:from]})
			}
			parts = append(parts, Part{Text: rule[from:to], Section: rule[from:to]})
			plain = to
		}
	}
	if plain < len(rule) {
		parts = append(parts, Part{Text: rule[plain:]})
	}
	return parts
}

// exists tells whether the specification has a section of that number.
func exists(number string) bool {
	for _, s := range Sections() {
		if s.Number == number {
			return true
		}
	}
	return false
}
