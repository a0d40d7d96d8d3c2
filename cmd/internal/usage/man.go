package usage

import (
	"regexp"
	"strings"

	"github.com/libimpi/libimpi/tools/roff"
)

// Man is the command's page of the manual.
func (c *Command) Man(of roff.Software) string {
	p := roff.New(c.Name, "1", of, "libimpi")
	p.Names(append([]string{c.Name}, c.Also...), c.Purpose)
	p.Section("Synopsis")
	p.Lines(strings.Join(c.Usage, "\n"))
	if c.About != "" {
		p.Section("Description")
		flow(p, c.About)
	}
	p.Section("Options")
	for i := range c.Options {
		o := &c.Options[i]
		if o.Help == "" {
			continue
		}
		names := c.shown(o)
		for i, name := range names {
			names[i] = roff.Bold(name)
		}
		values := make([]string, len(o.Values))
		for i, v := range o.Values {
			values[i] = roff.Italic(v)
		}
		gap := " "
		if o.Joined {
			gap = "="
		}
		term := strings.Join(names, ", ")
		if o.Optional {
			term += "[=" + values[0] + "]"
		} else if len(values) > 0 {
			term += gap + strings.Join(values, " ")
		}
		p.Item(term, strings.ToUpper(o.Help[:1])+o.Help[1:]+".")
	}
	for _, n := range c.Notes {
		p.Section(n.Title)
		flow(p, n.Text)
	}
	p.SeeAlso(c.See)
	return p.String()
}

var blocks = regexp.MustCompile(`\n\n+`)

// flow writes text of --help: paragraphs, and among them lines that begin with blanks and stay as they are.
func flow(p *roff.Page, text string) {
	for _, block := range blocks.Split(text, -1) {
		var paragraph, fixed []string
		end := func() {
			if len(paragraph) > 0 {
				p.Paragraph(strings.Join(paragraph, " "))
			}
			if len(fixed) > 0 {
				p.Lines(strings.Join(fixed, "\n"))
			}
			paragraph, fixed = nil, nil
		}
		for line := range strings.SplitSeq(block, "\n") {
			if strings.HasPrefix(line, "  ") {
				fixed = append(fixed, line)
				continue
			}
			if len(fixed) > 0 {
				end()
			}
			paragraph = append(paragraph, line)
		}
		end()
	}
}
