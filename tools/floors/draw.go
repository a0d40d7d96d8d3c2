package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// style has colors for light and for dark pages.
const style = `text{font-family:Helvetica,Arial,sans-serif;fill:#1f2328}
.name{font-size:17px;font-weight:bold}
.purpose{font-size:13px}
.packages{font-size:13px;fill:#57606a}
.page{fill:#ffffff}
.box{fill:#f3f6fa;stroke:#57606a;stroke-width:1.2}
.way{fill:none;stroke:#0969da;stroke-width:1.6}
.head{fill:#0969da}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.packages{fill:#9da7b3}.page{fill:#0d1117}.box{fill:#1b222c;stroke:#8b949e}
.way{stroke:#58a6ff}.head{fill:#58a6ff}}`

// draw writes a plan as SVG.
func draw(p *plan) []byte {
	const caption = "An arrow leads from a folder to one that it imports. Arrows that follow from others are left out."
	var out bytes.Buffer
	height := p.height + textLine
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" height="%.0f" role="img">
<title>The folders of libimpi, and their imports</title>
<style>%s</style>
`, width, height, width, height, style)
	out.WriteString(`<defs><marker id="head" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto" ` +
		`markerUnits="userSpaceOnUse"><path class="head" d="M0,0 L9,4 L0,8 z"/></marker></defs>` + "\n")
	fmt.Fprintf(&out, "<rect class=\"page\" width=\"%d\" height=\"%.0f\"/>\n", width, height)
	for _, way := range p.arrows {
		fmt.Fprintf(&out, "<path class=\"way\" marker-end=\"url(#head)\" d=\"%s\"/>\n", curve(way))
	}
	for _, row := range p.rows {
		for _, b := range row {
			if b.of != nil {
				b.draw(&out)
			}
		}
	}
	fmt.Fprintf(&out, "<text class=\"packages\" x=\"%d\" y=\"%.0f\">%s</text>\n</svg>\n", margin, height-margin/2, caption)
	return out.Bytes()
}

func (b *box) draw(out *bytes.Buffer) {
	fmt.Fprintf(out, "<rect class=\"box\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"6\"/>\n",
		b.x, b.y, b.w, b.h)
	y := b.y + padding + 14
	text := func(class, words string) {
		var escaped strings.Builder
		xml.EscapeText(&escaped, []byte(words))
		fmt.Fprintf(out, "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", class, b.x+padding, y, escaped.String())
	}
	text("name", b.of.name)
	y += titleLine - 3
	text("purpose", b.of.purpose)
	for _, line := range b.lines {
		y += textLine
		text("packages", line)
	}
}

// curve is the way of an arrow, straight down through the floors that it passes.
func curve(way []*box) string {
	from, to := way[0], way[len(way)-1]
	x, y := gate(from, way[1], from.down), from.y+from.h
	d := fmt.Sprintf("M%.0f,%.0f L%.0f,%.0f", x, y, x, from.bottom)
	y = from.bottom
	bend := func(toX, toY float64) {
		half := (toY - y) / 2
		d += fmt.Sprintf(" C%.0f,%.0f %.0f,%.0f %.0f,%.0f", x, y+half, toX, toY-half, toX, toY)
		x, y = toX, toY
	}
	for _, lane := range way[1 : len(way)-1] {
		bend(lane.center(), lane.y)
		y = lane.y + lane.h
		d += fmt.Sprintf(" L%.0f,%.0f", x, y)
	}
	bend(gate(to, way[len(way)-2], to.up), to.y)
	return d
}

// gate is where on its edge a box has the end of an arrow that leads to another: its arrows stand in the order of what
// they lead to.
func gate(b, to *box, ends []*box) float64 {
	ends = slices.Clone(ends)
	slices.SortStableFunc(ends, func(a, b *box) int { return int(a.center() - b.center()) })
	return b.x + b.w*float64(1+slices.Index(ends, to))/float64(1+len(ends))
}
