package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/libimpi/libimpi/settings"
	"github.com/libimpi/libimpi/tools/roff"
)

// libraryPage is libimpi(7), of docs/libimpi.md. Of Markdown that page has a title "# NAME - PURPOSE", sections,
// paragraphs and items "- `TERM`, `TERM`: MEANING", whose further lines are indented. What stands before the first
// section is for readers of the page alone. The section Environment gets the table of settings, and See also is a list
// of pages.
func libraryPage(markdown string, of roff.Software) (string, error) {
	title, sections, _ := strings.Cut(markdown, "\n## ")
	title, _, _ = strings.Cut(strings.TrimPrefix(title, "# "), "\n")
	name, purpose, found := strings.Cut(title, " - ")
	if !found || sections == "" {
		return "", fmt.Errorf("the page of the library has no title or no sections: %q", title)
	}
	p := roff.New(name, "7", of, "MPI")
	p.Names([]string{name}, purpose)
	for section := range strings.SplitSeq(sections, "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		switch text = strings.TrimSpace(text); title {
		case "Environment":
			p.Section(title)
			p.Paragraph(settings.Plain(text))
			for _, s := range settings.All {
				p.Item(roff.Bold(s.Name)+defaultOf(s), s.Plain())
			}
		case "See also":
			p.SeeAlso(strings.Split(strings.Join(strings.Fields(text), " "), ", "))
		default:
			p.Section(title)
			for block := range strings.SplitSeq(text, "\n\n") {
				blockOf(p, block)
			}
		}
	}
	return p.String(), nil
}

func defaultOf(s settings.Setting) string {
	if s.Default == "" {
		return ""
	}
	return " (" + settings.Plain(s.Default) + ")"
}

// blockOf writes a paragraph, or a list.
func blockOf(p *roff.Page, block string) {
	if !strings.HasPrefix(block, "- ") {
		p.Paragraph(settings.Plain(block))
		return
	}
	for item := range strings.SplitSeq(strings.TrimPrefix(block, "- "), "\n- ") {
		term, meaning, _ := strings.Cut(item, ": ")
		p.Item(code.ReplaceAllString(term, roff.Bold("$1")), settings.Plain(meaning))
	}
}

var code = regexp.MustCompile("`([^`]*)`")
