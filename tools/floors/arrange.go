package main

import (
	"math"
	"slices"
	"strings"
)

// Sizes, in pixels.
const (
	width      = 1000
	margin     = 24
	rowGap     = 46 // between floors, for arrows
	boxGap     = 28 // between boxes of a floor
	padding    = 12 // in a box
	titleLine  = 22
	textLine   = 17
	letter     = 7.2 // the width of a letter of a box's text, on average, in a wide typeface
	titleWidth = 10.5
	mostWidth  = 430
	leastWidth = 190
	laneWidth  = 20 // of an arrow that passes a floor
)

// box is a folder in the picture, or, without one, a place where an arrow passes a floor.
type box struct {
	of         *folder
	lines      []string
	x, y, w, h float64
	bottom     float64 // of its floor
	row        int
	up, down   []*box // at the ends of arrows and their pieces
}

func (b *box) center() float64 { return b.x + b.w/2 }

// plan is the picture: floors from the top, and arrows as the boxes that they pass.
type plan struct {
	rows   [][]*box
	arrows [][]*box
	height float64
}

// arrange gives each folder a floor, as low as its imports allow, but the top one to those that nobody imports. Then it
// orders the boxes of each floor so that arrows are short and seldom cross.
func arrange(all []*folder) *plan {
	boxes := map[*folder]*box{}
	rows := floorsOf(all)
	p := &plan{rows: make([][]*box, slices.Max(rows)+1)}
	for i, f := range all {
		b := newBox(f)
		b.row = rows[i]
		boxes[f] = b
		p.rows[b.row] = append(p.rows[b.row], b)
	}
	for _, f := range all {
		for _, to := range f.imports {
			p.lead(boxes[f], boxes[to])
		}
	}
	p.order()
	p.place()
	return p
}

// floorsOf is the number of each folder's floor, from the top.
func floorsOf(all []*folder) []int {
	depth := map[*folder]int{}
	var measure func(f *folder) int
	measure = func(f *folder) int {
		if d, known := depth[f]; known {
			return d
		}
		d := 0
		for _, to := range f.imports {
			d = max(d, 1+measure(to))
		}
		depth[f] = d
		return d
	}
	imported, deepest := map[*folder]bool{}, 0
	for _, f := range all {
		deepest = max(deepest, measure(f))
		for _, to := range f.imports {
			imported[to] = true
		}
	}
	rows := make([]int, len(all))
	for i, f := range all {
		if imported[f] {
			rows[i] = deepest - depth[f]
		}
	}
	return rows
}

// newBox sets the text of a folder.
func newBox(f *folder) *box {
	words := strings.Join(f.packages, ", ")
	w := max(leastWidth, 2*padding+titleWidth*float64(len(f.name)), 2*padding+letter*float64(len(f.purpose)))
	// Wide enough for three lines, and a little, since words are not cut.
	w = min(mostWidth, max(w, 2*padding+letter*(float64(len(words))/3+12)))
	b := &box{of: f, w: math.Ceil(w), lines: wrap(words, int((w-2*padding)/letter))}
	b.h = 2*padding + titleLine + textLine*float64(1+len(b.lines)) - 4
	return b
}

// wrap cuts a list into lines.
func wrap(list string, most int) (lines []string) {
	line := ""
	for _, item := range strings.SplitAfter(list, ", ") {
		if item == "" {
			continue
		}
		if line != "" && len(line)+len(strings.TrimSpace(item)) > most {
			lines, line = append(lines, strings.TrimSpace(line)), ""
		}
		line += item
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// lead makes an arrow, which passes each floor in between.
func (p *plan) lead(from, to *box) {
	way := []*box{from}
	for row := from.row + 1; row < to.row; row++ {
		lane := &box{w: laneWidth, row: row}
		p.rows[row] = append(p.rows[row], lane)
		way = append(way, lane)
	}
	way = append(way, to)
	for i := range way[1:] {
		way[i].down, way[i+1].up = append(way[i].down, way[i+1]), append(way[i+1].up, way[i])
	}
	p.arrows = append(p.arrows, way)
}

// order sorts the boxes of each floor by where their arrows lead, going down and up several times, and keeps the order
// with the fewest crossings.
func (p *plan) order() {
	best, least := p.copyRows(), p.crossings()
	for round := range 40 {
		for i := range p.rows {
			row, ends := i, func(b *box) []*box { return b.up }
			if round%2 == 1 {
				row, ends = len(p.rows)-1-i, func(b *box) []*box { return b.down }
			}
			p.sort(row, ends)
		}
		if n := p.crossings(); n < least {
			best, least = p.copyRows(), n
		}
	}
	p.rows = best
}

func (p *plan) copyRows() [][]*box {
	rows := make([][]*box, len(p.rows))
	for i, row := range p.rows {
		rows[i] = slices.Clone(row)
	}
	return rows
}

// sort orders a floor by the mean position of the ends of arrows on the floor next to it.
func (p *plan) sort(row int, ends func(*box) []*box) {
	mean := map[*box]float64{}
	for i, b := range p.rows[row] {
		mean[b] = float64(i) / float64(len(p.rows[row]))
		if list := ends(b); len(list) > 0 {
			sum := 0.0
			for _, end := range list {
				floor := p.rows[end.row]
				sum += (float64(slices.Index(floor, end)) + 0.5) / float64(len(floor))
			}
			mean[b] = sum / float64(len(list))
		}
	}
	slices.SortStableFunc(p.rows[row], func(a, b *box) int {
		switch {
		case mean[a] < mean[b]:
			return -1
		case mean[a] > mean[b]:
			return 1
		}
		return 0
	})
}

// crossings is how many pairs of arrows cross between two floors.
func (p *plan) crossings() (n int) {
	for row := range p.rows[1:] {
		var ends [][2]int
		for i, b := range p.rows[row] {
			for _, to := range b.down {
				ends = append(ends, [2]int{i, slices.Index(p.rows[row+1], to)})
			}
		}
		for i, a := range ends {
			for _, b := range ends[:i] {
				if (a[0]-b[0])*(a[1]-b[1]) < 0 {
					n++
				}
			}
		}
	}
	return n
}

// place gives each box its coordinates.
func (p *plan) place() {
	y := float64(margin)
	for _, row := range p.rows {
		most := 0.0
		for _, b := range row {
			most = max(most, b.h)
		}
		x := float64(margin)
		for _, b := range row {
			if b.y = y; b.of == nil {
				b.h = most
			}
			b.x, b.bottom = x, y+most
			x += b.w + boxGap
		}
		y += most + rowGap
	}
	p.height = y - rowGap + margin
	for round := range 200 {
		for i := range p.rows {
			if round%2 == 1 {
				i = len(p.rows) - 1 - i
			}
			settle(p.rows[i])
		}
	}
	p.middle()
}

// middle moves everything to the middle of the picture.
func (p *plan) middle() {
	left, right := float64(width), 0.0
	for _, row := range p.rows {
		left, right = min(left, row[0].x), max(right, row[len(row)-1].x+row[len(row)-1].w)
	}
	for _, row := range p.rows {
		for _, b := range row {
			b.x += (width - left - right) / 2
		}
	}
}

// settle moves the boxes of a floor towards the middle of what their arrows lead to, and keeps them apart.
func settle(row []*box) {
	for _, b := range row {
		sum, n := 0.0, 0.0
		for _, end := range slices.Concat(b.up, b.down) {
			weight := 1.0
			if b.of == nil && end.of == nil {
				weight = 8 // arrows are straight where they pass floors
			}
			sum, n = sum+weight*end.center(), n+weight
		}
		if n > 0 {
			b.x = b.x/2 + (sum/n-b.w/2)/2
		}
	}
	at := float64(margin)
	for _, b := range row {
		b.x = max(b.x, at)
		at = b.x + b.w + boxGap
	}
	at = width - margin
	for _, b := range slices.Backward(row) {
		b.x = min(b.x, at-b.w)
		at = b.x - boxGap
	}
}
