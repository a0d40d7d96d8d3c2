// Package roff writes manual pages: text in the language of man(7), which man and mandoc show.
package roff

import (
	"fmt"
	"strings"
)

// Page is a manual page in the making.
type Page struct{ text strings.Builder }

// Software is whose manual a page belongs to: its name and version, and the date of that, as in 2026-01-31.
type Software struct{ Name, Date string }

// New begins a page. section is 1 for commands, 3 for functions; manual names the whole.
func New(name, section string, of Software, manual string) *Page {
	p := new(Page)
	fmt.Fprintf(&p.text, ".TH %s %s %q %q %q\n", Escape(name), section, of.Date, of.Name, manual)
	return p
}

// Section begins one of the page's sections.
func (p *Page) Section(title string) {
	fmt.Fprintf(&p.text, ".SH %s\n", quoted(strings.ToUpper(title)))
}

// Names is the section that apropos reads: names and what they are for.
func (p *Page) Names(names []string, purpose string) {
	p.Section("Name")
	fmt.Fprintf(&p.text, "%s \\- %s\n", Escape(strings.Join(names, ", ")), Escape(purpose))
}

// Paragraph is running text. The first one of a section needs no mark.
func (p *Page) Paragraph(text string) {
	if last := p.lastLine(); !strings.HasPrefix(last, ".SH ") {
		p.text.WriteString(".PP\n")
	}
	p.text.WriteString(filled(text))
}

// Item is a term and what it means. Bold and Italic mark parts of the term.
func (p *Page) Item(term, meaning string) {
	fmt.Fprintf(&p.text, ".TP\n%s%s", line(term), filled(meaning))
}

// Lines is text whose lines stay as they are, in a typewriter's letters.
func (p *Page) Lines(text string) {
	if last := p.lastLine(); !strings.HasPrefix(last, ".SH ") {
		p.text.WriteString(".PP\n")
	}
	p.text.WriteString(".nf\n")
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.text.WriteString(line(l))
	}
	p.text.WriteString(".fi\n")
}

// SeeAlso lists other pages, as in "mpirun(1)".
func (p *Page) SeeAlso(pages []string) {
	if len(pages) == 0 {
		return
	}
	p.Section("See also")
	for i, page := range pages {
		name, section, _ := strings.Cut(strings.TrimSuffix(page, ")"), "(")
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		fmt.Fprintf(&p.text, ".BR %s (%s)%s\n", Escape(name), section, comma)
	}
}

// String is the page.
func (p *Page) String() string { return p.text.String() }

func (p *Page) lastLine() string {
	text := strings.TrimSuffix(p.text.String(), "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// Bold and Italic mark a part of a line.
func Bold(text string) string   { return "\x02" + text + "\x01" }
func Italic(text string) string { return "\x03" + text + "\x01" }

var marks = strings.NewReplacer("\x01", `\fR`, "\x02", `\fB`, "\x03", `\fI`)

// Escape makes text of any characters one that the formatter shows as it is.
func Escape(text string) string {
	return marks.Replace(strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`,
		"\"", `\(dq`).Replace(text))
}

// line is text on a line of its own.
func line(text string) string { return harmless(Escape(strings.TrimRight(text, " "))) + "\n" }

// filled is text in lines of at most 78 characters, as far as its words allow.
func filled(text string) string {
	var b strings.Builder
	row := ""
	for word := range strings.FieldsSeq(text) {
		switch word = Escape(word); {
		case row == "":
			row = word
		case len(row)+1+len(word) <= 78:
			row += " " + word
		default:
			b.WriteString(harmless(row) + "\n")
			row = word
		}
	}
	return b.String() + harmless(row) + "\n"
}

// harmless keeps a full stop at the beginning of a line from being a request.
func harmless(row string) string {
	if strings.HasPrefix(row, ".") {
		return `\&` + row
	}
	return row
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\(dq`) + `"` }
