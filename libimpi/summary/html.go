package summary

import (
	"fmt"
	"html"
	"strings"
)

// The page as HTML: one file that needs nothing else, without scripts.

const style = `
:root { color-scheme: light dark; --line: #8884; --bar: #4a8fd055; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 78em; padding: 0 1em; }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin: 1.6em 0 .3em } p.note { margin: 0 0 .4em; opacity: .7 }
div.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .15em .7em; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
td.word, th.word { text-align: left }
th { position: sticky; top: 0; font-weight: 600 }
td.bar { background: linear-gradient(to right, var(--bar) var(--share), transparent var(--share)) }
@media print { body { margin: 0; font-size: 10px } div.wide { overflow: visible } }
`

// HTML is the page.
func (s *Summary) HTML() string {
	var b strings.Builder
	title := html.EscapeString(s.title())
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n<style>%s</style></head><body>\n"+
		"<h1>%s</h1>\n<ul>\n", title, style, title)
	for _, f := range s.Findings() {
		fmt.Fprintf(&b, "<li>%s</li>\n", html.EscapeString(f))
	}
	b.WriteString("</ul>\n")
	for _, t := range s.tables() {
		s.section(&b, &t)
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

func (s *Summary) section(b *strings.Builder, t *table) {
	if len(t.rows) == 0 {
		return
	}
	fmt.Fprintf(b, "<h2>%s</h2>\n", html.EscapeString(t.title))
	if t.note != "" {
		fmt.Fprintf(b, "<p class=\"note\">%s</p>\n", html.EscapeString(t.note))
	}
	b.WriteString("<div class=\"wide\"><table><thead><tr>")
	for i, h := range t.head {
		fmt.Fprintf(b, "<th%s>%s</th>", t.class(i, ""), html.EscapeString(h))
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, row := range t.rows {
		b.WriteString("<tr>")
		for i, c := range row {
			fmt.Fprintf(b, "<td%s>%s</td>", t.class(i, c), html.EscapeString(c))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
}

// class is how a cell looks: a share of the whole has a bar.
func (t *table) class(column int, cell string) string {
	share := 0.0
	switch {
	case column < t.words:
		return ` class="word"`
	case strings.HasSuffix(cell, " %"):
		fmt.Sscanf(cell, "%f", &share)
		return fmt.Sprintf(` class="bar" style="--share:%.1f%%"`, min(share, 100))
	}
	return ""
}
