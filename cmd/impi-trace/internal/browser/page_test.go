package browser

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
	"github.com/libimpi/libimpi/tests/browser"
)

// impiTrace runs the command and returns what it prints.
func impiTrace(t *testing.T, words ...string) string {
	t.Helper()
	out, err := exec.Command(browser.Program(t, "impi-trace"), words...).CombinedOutput()
	if err != nil {
		t.Fatalf("impi-trace %q: %v, %s", words, err, out)
	}
	return string(out)
}

// traced is a folder with the trace of a job. All names in it end in hostile.
func traced(t *testing.T, j *job.Job, hostile string) string {
	t.Helper()
	dir := t.TempDir()
	if err := jobtest.Write(dir, j, 1, hostile); err != nil {
		t.Fatal(err)
	}
	return dir
}

// skewed is the trace of a job of 4 ranks, of which rank 2 computes longer, in 50 rounds.
func skewed(t *testing.T) string { return traced(t, jobtest.Uneven(4, 50, 2), "") }

// load opens the page of a trace.
func load(t *testing.T, dir string, words ...string) *browser.Tab {
	t.Helper()
	page := filepath.Join(t.TempDir(), "trace.html")
	impiTrace(t, append(words, "-html", page, dir)...)
	b := browser.Open(t, "file://"+page)
	b.Until(`document.documentElement.dataset.ready === 'yes'`)
	return b
}

// colour is the colour of the timeline at a rank and a time in nanoseconds, as style.css calls it; "" if it is another.
func colour(b *browser.Tab, rank int, at float64) string {
	b.T.Helper()
	return browser.JS[string](b, fmt.Sprintf(`(() => {
		draw();
		const g = layout(), x = g.left + (%g - view.from) / (view.to - view.from) * (g.right - g.left);
		const y = ruler + (%d - view.top + .25) * g.row, style = getComputedStyle(document.documentElement);
		const p = canvas.getContext('2d').getImageData(Math.round(x * g.scale), Math.round(y * g.scale), 1, 1).data;
		const hex = '#' + [...p.slice(0, 3)].map((v) => v.toString(16).padStart(2, '0')).join('');
		return ['computing', ...meta.classes].find((c) => style.getPropertyValue('--' + c).trim() === hex) ?? '';
	})()`, at, rank))
}

func view(b *browser.Tab) (from, to float64) {
	b.T.Helper()
	return browser.JS[float64](b, "view.from"), browser.JS[float64](b, "view.to")
}

func TestThePageOfATrace(t *testing.T) {
	b := load(t, skewed(t))
	contents(b)
	b.Shot("trace")
	b.Named(30)
	byKeyboard(b)
	byMouse(b)
	tables(b)
	matrix(b)
	lightAndDark(b)
	printed(b)
	small(b)
	b.Sound()
}

// contents looks at what the page says, and at the timeline's colours.
func contents(b *browser.Tab) {
	b.Says("h1", "Trace of solver")
	for _, want := range []string{"3.06 ms", "4 ranks", "808 calls", "200 messages", "51 % of the ranks' time in MPI",
		"96 %"} {
		b.Says(".facts", want)
	}
	for rows, want := range map[string]int{"#ranks": 4, "#waits": 150, "#calls": 6, "#sizes": 12, "#pair-table": 4} {
		if got := browser.JS[int](b, "document.querySelector('"+rows+"').tBodies[0].rows.length"); got != want {
			b.T.Errorf("%s has %d rows, want %d", rows, got, want)
		}
	}
	b.Says("#ranks tbody tr:nth-child(3)", "5.95 ms")
	b.Says("#ranks tbody tr:nth-child(3)", "MPI_Allreduce solver+0xa")
	b.Says("#waits tbody tr:first-child", "late at collective")
	b.Says("#path-parts tbody tr:first-child", "computing before MPI_Waitall solver+0x5")
	b.Says("#range", "From 0 µs to 3.061 ms, ranks 0 to 3")
	b.Run("for (const id of ['arrows', 'critical']) view[id] = false")
	for _, c := range []struct {
		rank int
		at   float64
		want string
	}{{2, 30000, "computing"}, {0, 40000, "late-member"}, {3, 40000, "late-member"}, {0, 10000, "computing"}} {
		if got := colour(b, c.rank, c.at); got != c.want {
			b.T.Errorf("rank %d at %g ns is %s, want %s", c.rank, c.at, got, c.want)
		}
	}
	b.Run("for (const id of ['arrows', 'critical']) view[id] = true; draw()")
}

// byKeyboard goes through the timeline with keys.
func byKeyboard(b *browser.Tab) {
	b.Run("canvas.focus()")
	b.Press("+")
	b.Press("+")
	from, to := view(b)
	if width := to - from; width < 765000 || width > 766000 {
		b.T.Errorf("two steps of zoom show %g ns", width)
	}
	b.Press(kb.ArrowRight)
	if later, _ := view(b); later-from < 190000 {
		b.T.Errorf("an arrow moves from %g to %g", from, later)
	}
	b.Press(kb.Home)
	if from, _ := view(b); from != 0 {
		b.T.Errorf("Home goes to %g", from)
	}
	b.Press("n")
	from, to = view(b)
	if from < 5000 || to > 80000 {
		b.T.Errorf("the longest wait is in %g to %g", from, to)
	}
	b.Says("#detail", "rank 0 on node0: MPI_Allreduce solver+0xa, 40.3 µs from 21.90 µs on, on MPI_COMM_WORLD, "+
		"waited 40.0 µs: late at collective, rank 2")
	b.Shot("trace-wait")
	b.Press("m")
	b.Press("c")
	if browser.JS[bool](b, "view.arrows || view.critical || document.querySelector('#arrows').checked") {
		b.T.Error("messages and critical path are still drawn")
	}
	b.Press("m")
	b.Press("c")
	b.Press("-")
	b.Press("0")
	if from, to := view(b); from != 0 || to != 3061300 {
		b.T.Errorf("0 shows %g to %g", from, to)
	}
}

// byMouse does the same with the mouse.
func byMouse(b *browser.Tab) {
	b.Run(`window.mouse = (type, x, more) => {
		const r = canvas.getBoundingClientRect(), kind = type === 'wheel' ? WheelEvent : PointerEvent;
		canvas.setPointerCapture = () => {};
		const where = {clientX: r.left + x, clientY: r.top + 40, cancelable: true, bubbles: true};
		canvas.dispatchEvent(new kind(type, {...where, ...more}));
	}`)
	b.Run(`mouse('wheel', 600, {deltaY: -100}); mouse('wheel', 600, {deltaY: -100})`)
	from, to := view(b)
	if share := (to - from) / 3061300; share < .63 || share > .65 {
		b.T.Errorf("the wheel shows %g of all", share)
	}
	b.Run(`mouse('pointerdown', 700); mouse('pointermove', 500); mouse('pointerup', 500)`)
	if later, _ := view(b); later <= from {
		b.T.Errorf("dragging to the left goes from %g to %g", from, later)
	}
	b.Click("#all")
	b.Run(`mouse('pointerdown', 400, {shiftKey: true}); mouse('pointermove', 500); mouse('pointerup', 500)`)
	if from, to := view(b); to-from > 400000 || from < 700000 {
		b.T.Errorf("the range is %g to %g", from, to)
	}
	b.Click("#all")
	b.Run(`mouse('pointermove', 700)`)
	b.Says("#detail", "rank 0 on node0")
	for _, id := range []string{"in", "right", "left", "out", "next"} {
		b.Click("#" + id)
	}
}

// tables searches, sorts, and follows a line of the waits.
func tables(b *browser.Tab) {
	search := func(text string, found int) {
		b.T.Helper()
		b.Run(fmt.Sprintf(`$('#search').value = %q; $('#search').dispatchEvent(new Event('input'))`, text))
		got := browser.JS[int](b, `[...$('#calls').tBodies[0].rows].filter((r) => r.offsetHeight > 0).length`)
		if got != found {
			b.T.Errorf("%q finds %d lines, want %d", text, got, found)
		}
	}
	search("mpi_i solver", 3)
	b.Says("#found", "3 of 6 lines")
	b.Shot("trace-search")
	search("wait", 1)
	search("nowhere", 0)
	search("", 6)
	b.Click("#calls thead th:nth-child(3) button")
	b.Click("#calls thead th:nth-child(3) button")
	sorted := browser.JS[string](b, `document.querySelector('#calls thead th:nth-child(3)').ariaSort`)
	if sorted != "ascending" {
		b.T.Errorf("sorted %s", sorted)
	}
	b.Says("#calls tbody tr:first-child", "4")
	b.Click("#ranks thead th:nth-child(6) button")
	if got := b.Text("#ranks tbody tr:first-child td"); got != "2" {
		b.T.Errorf("for rank %s the others are said to have waited most", got)
	}
	b.Click("#waits tbody tr:nth-child(5) a")
	if from, to := view(b); to-from > 100000 || from > 21900 || to < 60000 {
		b.T.Errorf("a line leads to %g to %g", from, to)
	}
}

func matrix(b *browser.Tab) {
	b.Run("matrix.canvas.focus()")
	b.Press(kb.ArrowDown)
	b.Says("#cell", "rank 1 to rank 0: no messages")
	for range 2 {
		b.Press(kb.ArrowRight)
	}
	b.Says("#cell", "rank 1 to rank 2: 50 messages, 128.0 KiB")
	b.Shot("trace-messages")
}

func lightAndDark(b *browser.Tab) {
	b.Run("actions.all(); scrollTo(0, 0)")
	paper := func() string { return browser.JS[string](b, "getComputedStyle(document.body).backgroundColor") }
	light := paper()
	b.Media("dark", "screen")
	b.Until("getComputedStyle(document.body).backgroundColor !== " + fmt.Sprintf("%q", light))
	if got := colour(b, 0, 40000); got != "late-member" {
		b.T.Errorf("in the dark a wait is %q", got)
	}
	b.Shot("trace-dark")
}

// printed looks at the page as a printer gets it from a reader who likes it dark.
func printed(b *browser.Tab) {
	b.Run("dispatchEvent(new Event('beforeprint'))")
	b.Media("dark", "print")
	if got := browser.JS[string](b, "getComputedStyle(document.body).backgroundColor"); got != "rgb(255, 255, 255)" {
		b.T.Errorf("paper is %s", got)
	}
	if browser.JS[bool](b, `[...document.querySelectorAll('nav, .tools')].some((e) => e.offsetHeight > 0)`) {
		b.T.Error("tools are printed")
	}
	if browser.JS[bool](b, `[...document.querySelectorAll('.scroll')].some((e) => e.scrollHeight > e.clientHeight + 2)`) {
		b.T.Error("a table is cut off")
	}
	b.Shot("trace-print")
	b.Run("dispatchEvent(new Event('afterprint'))")
	b.Media("light", "screen")
}

func small(b *browser.Tab) {
	b.Telephone()
	b.Fits()
	b.Shot("trace-small")
}

func TestNamesOfATraceAreTextOnThePage(t *testing.T) {
	hostile := `</script><img src=x onerror="hacked=1"><script>hacked=1</script>&amp;` + "\u202e" + `'"{{.}}`
	b := load(t, traced(t, jobtest.Uneven(3, 5, 1), hostile))
	if browser.JS[bool](b, "'hacked' in window || document.querySelector('main img') !== null") {
		t.Error("a name has become part of the page")
	}
	shown := strings.ReplaceAll(hostile, "\u202e", "?")
	b.Says("h1", shown[strings.LastIndex(shown, "/")+1:])
	b.Says("#ranks td.name", shown)
	b.Says("#calls tbody tr", shown[strings.LastIndex(shown, "/")+1:]+"+0xa")
	b.Run("canvas.focus()")
	b.Press("n")
	b.Says("#detail", "on MPI_COMM_WORLD"+shown)
	b.Sound()
}

// Of more calls than it may have one by one, the page has the longest, and shares of the rest.
func TestATraceOfMoreCallsThanThePageHas(t *testing.T) {
	b := load(t, traced(t, jobtest.Uneven(100, 60, 70), ""), "-events", "6000")
	b.Says("#s-timeline ~ p:last-of-type", "calls shorter than")
	if got := browser.JS[string](b, "timeline.drawn"); got != "levels" {
		t.Errorf("all is drawn by %s", got)
	}
	b.Run("view.arrows = view.critical = false; view.top = 36")
	if a, z := colour(b, 70, 30000), colour(b, 69, 40000); a != "computing" || z != "late-member" {
		t.Errorf("rank 70 is %q, 69 %q", a, z)
	}
	b.Run("view.from = 20000; view.to = 24000")
	if got := colour(b, 69, 23500); got != "late-member" || browser.JS[string](b, "timeline.drawn") != "calls" {
		t.Errorf("near by rank 69 is %q, drawn by %s", got, browser.JS[string](b, "timeline.drawn"))
	}
	b.Says("#range", "only calls of at least")
	b.Run("canvas.focus()")
	b.Press(kb.PageUp)
	if got := browser.JS[int](b, "view.top"); got != 4 {
		t.Errorf("the first rank shown is %d", got)
	}
	b.Shot("trace-many")
	b.Sound()
}
