// Package conform tests the page of impi-conform as a person uses it, in a browser without a window. IMPI_STAGE names
// the stage; ctest sets it. With IMPI_SCREENSHOTS, a folder, pictures of the pages are kept there.
package conform

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tester starts impi-conform and returns the address of its page.
func tester(t *testing.T, words ...string) string {
	t.Helper()
	stage := os.Getenv("IMPI_STAGE")
	if stage == "" {
		t.Skip("IMPI_STAGE is not set: this test runs under make test")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed")
	}
	cmd := exec.Command(stage+"/bin/impi-conform", append(words, "-web", "-mpicc", stage+"/bin/mpicc")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("the tester ended with %v and wrote %q", err, &stderr)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the tester says no address: %v, %s", err, &stderr)
	}
	return strings.TrimSpace(line)
}

// ours are the commands that start libimpi.
func ours() []string {
	impirun := os.Getenv("IMPI_STAGE") + "/bin/impirun"
	return []string{"-server-cmd", impirun + " -server {clients} -host 127.0.0.1",
		"-client-cmd", impirun + " -client {rank} {server} -n {n} {prog}"}
}

// ended waits until the newest run is over.
func (b *tab) ended() {
	b.t.Helper()
	b.until(`document.querySelector('#phase').textContent === 'ended'`)
}

// is waits until a case has a state.
func (b *tab) is(name, state string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelector('[data-case=%q] .%s')`, name, state))
}

func TestASessionOnThePage(t *testing.T) {
	b := open(t, tester(t, ours()...))
	b.says("h1", "Configure")
	b.shot("configure")
	b.named()
	startUpOnly(b)
	serverUnderTest(b)
	chapter(b)
	edited(b)
	records(b)
	b.byKeyboard()
	smallAndDark(b)
}

// startUpOnly configures a job, and watches its start-up.
func startUpOnly(b *tab) {
	b.fill("#f-clients", "2")
	b.fill("#f-own", "2")
	b.follow("form.configure button.main")
	b.is("start-up/only", "pass")
	if got := js[string](b, `document.querySelector('#f-clients').value`); got != "2" {
		b.t.Errorf("the form has forgotten its values: %s clients", got)
	}
	b.until(`[...document.querySelectorAll('#columns .column')].some(e => e.textContent === 'process 3')`)
	b.run(`document.querySelector('#scroll').scrollTop = 0`)
	b.until(`document.querySelector('[data-at="2"] .label')`)
	b.run(`document.querySelector('[data-at="2"]').scrollIntoView({block: 'center'})`)
	b.click(`[data-at="2"]`)
	b.until(`document.querySelector('#detail table')`)
	b.says("#detail", "AUTH")
	b.says("#detail", "mask")
	b.shot("start-up")
	b.named()
}

// serverUnderTest is the same with the implementation's server.
func serverUnderTest(b *tab) {
	b.goTo("/")
	b.click(`input[value=implementation]`)
	b.click(`input[value=none]`)
	b.follow("form.configure button.main")
	b.until(`document.querySelector('#columns').textContent.includes('server(under test)')`)
	b.is("start-up/only", "pass")
	b.follow(`p a[href^="/case/start-up"]`)
	b.until(`document.querySelector('.listing')`)
	b.says(".listing", "members = [s.dial() for _ in range(CLIENTS)]")
}

// chapter runs all cases of a chapter.
func chapter(b *tab) {
	b.goTo("/cases?by=chapter")
	b.named()
	b.click(`input[aria-label^="Pick all of 2.2 "]`)
	n := js[int](b, `document.querySelectorAll('input[name=case]:checked').length`)
	if n < 3 {
		b.t.Fatalf("the chapter has %d cases", n)
	}
	b.says("#picked", fmt.Sprintf("(%d)", n))
	b.follow("#run-picked")
	b.until(fmt.Sprintf(`document.querySelectorAll('tr[data-is=pass]').length === %d`, n))
	b.ended()
	b.says(".status", fmt.Sprintf("%d of %d", n, n))
	b.shot("cases")
	b.follow(`tr[data-case="server/one-line"] a`)
	b.until(`document.querySelector('h1').textContent === 'server/one-line'`)
	b.says("#rule", "IMPI 0.0, 2.2.1")
	b.named()
	b.follow(`a[href="/spec/2.2.1"]`)
	b.until(`document.querySelector('h1').textContent.startsWith('2.2.1 ')`)
	b.says("main", "server/one-line")
	b.shot("specification")
	b.named()
}

// edited changes a script, which has an error first, and runs it.
func edited(b *tab) {
	b.goTo("/case/client/alone")
	b.until(`[...document.querySelectorAll('.listing .here')].some(e => e.textContent.includes('name = "client/alone"'))`)
	b.follow(`a.button`)
	b.until(`document.querySelector('#text').value.includes('client/alone')`)
	own := `case(name = "mine/start", rule = "2.3", about = "a start-up of mine", job = job(others = TWO),
    steps = ["barrier"], play = lambda j: j.comm().play(barrier(j.comm())))`
	add := func(text string) {
		b.run(fmt.Sprintf(`{const t = document.querySelector('#text'); t.value += %q;
			t.dispatchEvent(new Event('input'));}`, text))
		b.fill("input[name=only]", "^mine/")
		b.follow(`button[value=run]`)
	}
	lines := js[int](b, `document.querySelector('#text').value.split('\n').length`)
	add("\nmine = )")
	b.until(`document.querySelector('.faults')`)
	b.says(".faults", fmt.Sprintf("line %d, column 8", lines+1))
	b.click(".goto")
	b.says("#position", fmt.Sprintf("line %d, column 8", lines+1))
	b.shot("script")
	b.named()
	b.run(`{const t = document.querySelector('#text'); t.value = t.value.replace('mine = )', '');}`)
	add(own)
	b.is("mine/start", "pass")
	b.follow(`tr[data-case="mine/start"] a`)
	b.until(`document.querySelector('h1').textContent === 'mine/start'`)
	b.until(`[...document.querySelectorAll('.listing .here')].some(e => e.textContent.includes('a start-up of mine'))`)
	b.until(`document.querySelector('.row')`)
}

// records downloads a record, and compares it.
func records(b *tab) {
	b.goTo("/records")
	b.named()
	b.shot("records")
	b.click(`a[href$="/record.json"]`)
	path := b.downloaded(".json")
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	worse := strings.Replace(string(text), `"verdict":"pass"`, `"verdict":"fail"`, 1)
	other := filepath.Join(b.t.TempDir(), "earlier.json")
	if err := os.WriteFile(other, []byte(worse), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles(chromedp.CSS(`input[type=file]`), []string{other}))
	b.follow(`form[enctype] button`)
	b.until(`document.querySelector('h1').textContent === 'What changed'`)
	b.says("main", "1 differ, 0 got worse")
	b.says("main", "✓ better")
	b.shot("compare")
	b.named()
}

// byKeyboard runs a case and opens an event of it with keys alone.
func (b *tab) byKeyboard() {
	b.goTo("/cases")
	at := `document.activeElement`
	b.press(kb.Tab)
	b.says("a.jump:focus", "Skip to the content")
	b.press(kb.Enter)
	for js[string](b, at+`.id`) != "filter" {
		b.press(kb.Tab)
	}
	b.press("client/smallest-job")
	b.until(`document.querySelectorAll('tr[data-case]:not([hidden])').length === 1`)
	for js[string](b, at+`.name ?? ''`) != "case" {
		b.press(kb.Tab)
	}
	b.press(" ")
	b.says("#picked", "(1)")
	for js[string](b, at+`.id`) != "run-picked" {
		b.press(kb.Shift + kb.Tab)
	}
	b.press(kb.Enter)
	b.is("client/smallest-job", "pass")
	b.ended()
	for js[string](b, at+`.textContent ?? ''`) != "client/smallest-job" {
		b.press(kb.Tab)
	}
	b.press(kb.Enter)
	b.until(`document.querySelector('#rows [data-at="0"]')`)
	for js[string](b, at+`.id`) != "rows" {
		b.press(kb.Tab)
	}
	b.press(kb.End)
	b.until(`document.querySelector('#rows').getAttribute('aria-activedescendant')`)
	b.press(kb.ArrowUp)
	b.press(kb.Home)
	b.press(kb.ArrowDown)
	b.press(kb.Enter)
	b.until(`document.querySelector('#detail h3')`)
	if got := js[string](b, `document.querySelector('.row[aria-selected=true]').dataset.at`); got != "1" {
		b.t.Errorf("row %s is active", got)
	}
	b.shot("case")
}

// smallAndDark looks at all pages in a small window, and in the dark.
func smallAndDark(b *tab) {
	b.scheme("dark")
	for _, small := range []bool{false, true} {
		kind := "-dark"
		if small {
			kind = "-small"
			b.scheme("light")
			b.size(360, 740)
		}
		for name, path := range map[string]string{"configure": "/", "cases": "/cases", "case": "/case/client/smallest-job",
			"records": "/records", "script": "/script", "hand": "/hand", "specification": "/spec/2.3.5"} {
			b.goTo(path)
			if strings.HasPrefix(name, "c") && name != "cases" {
				b.until(`document.querySelector('.row')`)
			}
			b.fits()
			b.shot(name + kind)
		}
	}
}

func TestABrokenImplementationOnThePage(t *testing.T) {
	b := open(t, tester(t, append(broken(t), "-name", "broken", "-run",
		"^(client/smallest-job|server/count-impossible)$")...))
	b.goTo("/cases")
	b.follow(`button[value=all]`)
	b.is("client/smallest-job", "fail")
	b.ended()
	b.says(`tr[data-case="client/smallest-job"]`, "✗ fail")
	b.follow(`tr[data-case="client/smallest-job"] a`)
	b.until(`document.querySelector('.problems a[data-row]')`)
	b.click(`.problems a[data-row]`)
	b.until(`document.querySelector('#detail mark')`)
	b.says("#detail tr.wrong", "pk_lsrank")
	b.says("#detail tr.wrong", "must be")
	b.says("#detail .quote", "IMPI 0.0, ")
	b.shot("broken")
	b.scheme("dark")
	b.shot("broken-dark")
	b.scheme("light")
	b.named()
	scrolls(b)
}

func TestAnImplementationThatIsStartedByHandOnThePage(t *testing.T) {
	b := open(t, tester(t, "-listen", "127.0.0.1", "-run", "^client/(smallest-job|world-ranks)$"))
	stage, dir := os.Getenv("IMPI_STAGE"), t.TempDir()
	for _, words := range [][]string{{stage + "/bin/impi-conform", "-player", dir + "/player.c"},
		{stage + "/bin/mpicc", "-o", dir + "/player", dir + "/player.c"}} {
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v, %s", words, err, out)
		}
	}
	b.goTo("/hand")
	b.fill("#t-client", stage+"/bin/impirun -client {rank} {server} -n {n} {prog}")
	b.follow(`form[action="/templates"] button.main`)
	b.until(`document.querySelector('#t-client').value.startsWith('/')`)
	b.named()
	b.goTo("/cases")
	b.follow(`button[value=all]`)
	b.until(`!document.querySelector('#todo').hidden`)
	b.follow("#todo a")
	for i := range 2 {
		b.until(fmt.Sprintf(`document.querySelector('#command-%d')`, i+1))
		b.says("h2", "Start client")
		b.shot("prompt")
		b.named()
		cmd := exec.Command("sh", "-c", js[string](b, fmt.Sprintf(`document.querySelector('#command-%d').textContent`, i+1)))
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v, %s", cmd.Args, err, out)
		}
	}
	// The page loads itself anew when there is no more to start, which would undo that we go to another.
	b.until(`document.readyState === 'complete' && !document.querySelector('[id^=command-]')`)
	b.goTo("/cases")
	b.until(`document.querySelectorAll('tr[data-is=pass]').length === 2`)
	b.ended()
}

// scrolls looks at a trace of 10^5 events.
func scrolls(b *tab) {
	b.goTo("/case/server/count-impossible")
	b.until(`document.querySelector('#trace-size').textContent === '100000 events.'`)
	for _, part := range []float64{1, 0.5, 0.25} {
		b.run(fmt.Sprintf(`document.querySelector('#scroll').scrollTop = %v * 100000 * 30`, part))
		b.until(fmt.Sprintf(`document.querySelector('[data-at="%d"] .label')`, min(int(part*100_000), 99_999)))
	}
	b.says("#rows", "of the flood")
	if n := js[int](b, `document.querySelectorAll('.row').length`); n > 100 {
		b.t.Errorf("%d rows are elements of the page", n)
	}
	b.shot("flood")
}
