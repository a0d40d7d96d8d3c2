package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
)

// impiTrace runs the command and returns what it prints.
func impiTrace(t *testing.T, words ...string) string {
	t.Helper()
	stage := os.Getenv("IMPI_STAGE")
	if stage == "" {
		t.Skip("IMPI_STAGE is not set: this test runs under make test")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed")
	}
	out, err := exec.Command(stage+"/bin/impi-trace", words...).CombinedOutput()
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
func load(t *testing.T, dir string, words ...string) *tab {
	t.Helper()
	page := filepath.Join(t.TempDir(), "trace.html")
	impiTrace(t, append(words, "-html", page, dir)...)
	b := open(t, "file://"+page)
	b.until(`document.documentElement.dataset.ready === 'yes'`)
	return b
}

// colour is the colour of the timeline at a rank and a time in nanoseconds, as style.css calls it; "" if it is another.
func (b *tab) colour(rank int, at float64) string {
	b.t.Helper()
	return js[string](b, fmt.Sprintf(`(() => {
		draw();
		const g = layout(), x = g.left + (%g - view.from) / (view.to - view.from) * (g.right - g.left);
		const y = ruler + (%d - view.top + .25) * g.row, style = getComputedStyle(document.documentElement);
		const p = canvas.getContext('2d').getImageData(Math.round(x * g.scale), Math.round(y * g.scale), 1, 1).data;
		const hex = '#' + [...p.slice(0, 3)].map((v) => v.toString(16).padStart(2, '0')).join('');
		return ['computing', ...meta.classes].find((c) => style.getPropertyValue('--' + c).trim() === hex) ?? '';
	})()`, at, rank))
}

func (b *tab) view() (from, to float64) {
	b.t.Helper()
	return js[float64](b, "view.from"), js[float64](b, "view.to")
}

func TestThePageOfATrace(t *testing.T) {
	b := load(t, skewed(t))
	b.contents()
	b.shot("trace")
	b.named()
	b.byKeyboard()
	b.byMouse()
	b.tables()
	b.matrix()
	b.lightAndDark()
	b.printed()
	b.small()
	b.sound()
}

// contents looks at what the page says, and at the timeline's colours.
func (b *tab) contents() {
	b.says("h1", "Trace of solver")
	for _, want := range []string{"3.06 ms", "4 ranks", "808 calls", "200 messages", "51 % of the ranks' time in MPI",
		"96 %"} {
		b.says(".facts", want)
	}
	for rows, want := range map[string]int{"#ranks": 4, "#waits": 150, "#calls": 6, "#sizes": 12, "#pair-table": 4} {
		if got := js[int](b, "document.querySelector('"+rows+"').tBodies[0].rows.length"); got != want {
			b.t.Errorf("%s has %d rows, want %d", rows, got, want)
		}
	}
	b.says("#ranks tbody tr:nth-child(3)", "5.95 ms")
	b.says("#ranks tbody tr:nth-child(3)", "MPI_Allreduce solver+0xa")
	b.says("#waits tbody tr:first-child", "late at collective")
	b.says("#path-parts tbody tr:first-child", "computing before MPI_Waitall solver+0x5")
	b.says("#range", "From 0 µs to 3.061 ms, ranks 0 to 3")
	b.run("for (const id of ['arrows', 'critical']) view[id] = false")
	for _, c := range []struct {
		rank int
		at   float64
		want string
	}{{2, 30000, "computing"}, {0, 40000, "late-member"}, {3, 40000, "late-member"}, {0, 10000, "computing"}} {
		if got := b.colour(c.rank, c.at); got != c.want {
			b.t.Errorf("rank %d at %g ns is %s, want %s", c.rank, c.at, got, c.want)
		}
	}
	b.run("for (const id of ['arrows', 'critical']) view[id] = true; draw()")
}

// byKeyboard goes through the timeline with keys.
func (b *tab) byKeyboard() {
	b.run("canvas.focus()")
	b.press("+")
	b.press("+")
	from, to := b.view()
	if width := to - from; width < 765000 || width > 766000 {
		b.t.Errorf("two steps of zoom show %g ns", width)
	}
	b.press(kb.ArrowRight)
	if later, _ := b.view(); later-from < 190000 {
		b.t.Errorf("an arrow moves from %g to %g", from, later)
	}
	b.press(kb.Home)
	if from, _ := b.view(); from != 0 {
		b.t.Errorf("Home goes to %g", from)
	}
	b.press("n")
	from, to = b.view()
	if from < 5000 || to > 80000 {
		b.t.Errorf("the longest wait is in %g to %g", from, to)
	}
	b.says("#detail", "rank 0 on node0: MPI_Allreduce solver+0xa, 40.3 µs from 21.90 µs on, on MPI_COMM_WORLD, "+
		"waited 40.0 µs: late at collective, rank 2")
	b.shot("trace-wait")
	b.press("m")
	b.press("c")
	if js[bool](b, "view.arrows || view.critical || document.querySelector('#arrows').checked") {
		b.t.Error("messages and critical path are still drawn")
	}
	b.press("m")
	b.press("c")
	b.press("-")
	b.press("0")
	if from, to := b.view(); from != 0 || to != 3061300 {
		b.t.Errorf("0 shows %g to %g", from, to)
	}
}

// byMouse does the same with the mouse.
func (b *tab) byMouse() {
	b.run(`window.mouse = (type, x, more) => {
		const r = canvas.getBoundingClientRect(), kind = type === 'wheel' ? WheelEvent : PointerEvent;
		canvas.setPointerCapture = () => {};
		const where = {clientX: r.left + x, clientY: r.top + 40, cancelable: true, bubbles: true};
		canvas.dispatchEvent(new kind(type, {...where, ...more}));
	}`)
	b.run(`mouse('wheel', 600, {deltaY: -100}); mouse('wheel', 600, {deltaY: -100})`)
	from, to := b.view()
	if share := (to - from) / 3061300; share < .63 || share > .65 {
		b.t.Errorf("the wheel shows %g of all", share)
	}
	b.run(`mouse('pointerdown', 700); mouse('pointermove', 500); mouse('pointerup', 500)`)
	if later, _ := b.view(); later <= from {
		b.t.Errorf("dragging to the left goes from %g to %g", from, later)
	}
	b.click("#all")
	b.run(`mouse('pointerdown', 400, {shiftKey: true}); mouse('pointermove', 500); mouse('pointerup', 500)`)
	if from, to := b.view(); to-from > 400000 || from < 700000 {
		b.t.Errorf("the range is %g to %g", from, to)
	}
	b.click("#all")
	b.run(`mouse('pointermove', 700)`)
	b.says("#detail", "rank 0 on node0")
	for _, id := range []string{"in", "right", "left", "out", "next"} {
		b.click("#" + id)
	}
}

// tables searches, sorts, and follows a line of the waits.
func (b *tab) tables() {
	search := func(text string, found int) {
		b.t.Helper()
		b.run(fmt.Sprintf(`$('#search').value = %q; $('#search').dispatchEvent(new Event('input'))`, text))
		got := js[int](b, `[...$('#calls').tBodies[0].rows].filter((r) => r.offsetHeight > 0).length`)
		if got != found {
			b.t.Errorf("%q finds %d lines, want %d", text, got, found)
		}
	}
	search("mpi_i solver", 3)
	b.says("#found", "3 of 6 lines")
	b.shot("trace-search")
	search("wait", 1)
	search("nowhere", 0)
	search("", 6)
	b.click("#calls thead th:nth-child(3) button")
	b.click("#calls thead th:nth-child(3) button")
	if got := js[string](b, `document.querySelector('#calls thead th:nth-child(3)').ariaSort`); got != "ascending" {
		b.t.Errorf("sorted %s", got)
	}
	b.says("#calls tbody tr:first-child", "4")
	b.click("#ranks thead th:nth-child(6) button")
	if got := b.text("#ranks tbody tr:first-child td"); got != "2" {
		b.t.Errorf("for rank %s the others are said to have waited most", got)
	}
	b.click("#waits tbody tr:nth-child(5) a")
	if from, to := b.view(); to-from > 100000 || from > 21900 || to < 60000 {
		b.t.Errorf("a line leads to %g to %g", from, to)
	}
}

func (b *tab) matrix() {
	b.run("matrix.canvas.focus()")
	b.press(kb.ArrowDown)
	b.says("#cell", "rank 1 to rank 0: no messages")
	for range 2 {
		b.press(kb.ArrowRight)
	}
	b.says("#cell", "rank 1 to rank 2: 50 messages, 128.0 KiB")
	b.shot("trace-messages")
}

func (b *tab) lightAndDark() {
	b.run("actions.all(); scrollTo(0, 0)")
	paper := func() string { return js[string](b, "getComputedStyle(document.body).backgroundColor") }
	light := paper()
	b.media("dark", "screen")
	b.until("getComputedStyle(document.body).backgroundColor !== " + fmt.Sprintf("%q", light))
	if got := b.colour(0, 40000); got != "late-member" {
		b.t.Errorf("in the dark a wait is %q", got)
	}
	b.shot("trace-dark")
}

// printed looks at the page as a printer gets it from a reader who likes it dark.
func (b *tab) printed() {
	b.run("dispatchEvent(new Event('beforeprint'))")
	b.media("dark", "print")
	if got := js[string](b, "getComputedStyle(document.body).backgroundColor"); got != "rgb(255, 255, 255)" {
		b.t.Errorf("paper is %s", got)
	}
	if js[bool](b, `[...document.querySelectorAll('nav, .tools')].some((e) => e.offsetHeight > 0)`) {
		b.t.Error("tools are printed")
	}
	if js[bool](b, `[...document.querySelectorAll('.scroll')].some((e) => e.scrollHeight > e.clientHeight + 2)`) {
		b.t.Error("a table is cut off")
	}
	b.shot("trace-print")
	b.run("dispatchEvent(new Event('afterprint'))")
	b.media("light", "screen")
}

func (b *tab) small() {
	size := emulation.SetDeviceMetricsOverrideParams{Width: 400, Height: 800, DeviceScaleFactor: 2, Mobile: true}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		b.t.Fatal(err)
	}
	b.fits()
	b.shot("trace-small")
}

func TestNamesOfATraceAreTextOnThePage(t *testing.T) {
	hostile := `</script><img src=x onerror="hacked=1"><script>hacked=1</script>&amp;` + "\u202e" + `'"{{.}}`
	b := load(t, traced(t, jobtest.Uneven(3, 5, 1), hostile))
	if js[bool](b, "'hacked' in window || document.querySelector('main img') !== null") {
		t.Error("a name has become part of the page")
	}
	shown := strings.ReplaceAll(hostile, "\u202e", "?")
	b.says("h1", shown[strings.LastIndex(shown, "/")+1:])
	b.says("#ranks td.name", shown)
	b.says("#calls tbody tr", shown[strings.LastIndex(shown, "/")+1:]+"+0xa")
	b.run("canvas.focus()")
	b.press("n")
	b.says("#detail", "on MPI_COMM_WORLD"+shown)
	b.sound()
}

// Of more calls than it may have one by one, the page has the longest, and shares of the rest.
func TestATraceOfMoreCallsThanThePageHas(t *testing.T) {
	b := load(t, traced(t, jobtest.Uneven(100, 60, 70), ""), "-events", "6000")
	b.says("#s-timeline ~ p:last-of-type", "calls shorter than")
	if got := js[string](b, "timeline.drawn"); got != "levels" {
		t.Errorf("all is drawn by %s", got)
	}
	b.run("view.arrows = view.critical = false; view.top = 36")
	if a, z := b.colour(70, 30000), b.colour(69, 40000); a != "computing" || z != "late-member" {
		t.Errorf("rank 70 is %q, 69 %q", a, z)
	}
	b.run("view.from = 20000; view.to = 24000")
	if got := b.colour(69, 23500); got != "late-member" || js[string](b, "timeline.drawn") != "calls" {
		t.Errorf("near by rank 69 is %q, drawn by %s", got, js[string](b, "timeline.drawn"))
	}
	b.says("#range", "only calls of at least")
	b.run("canvas.focus()")
	b.press(kb.PageUp)
	if got := js[int](b, "view.top"); got != 4 {
		t.Errorf("the first rank shown is %d", got)
	}
	b.shot("trace-many")
	b.sound()
}
