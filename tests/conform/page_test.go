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
	"github.com/libimpi/libimpi/tests/browser"
)

// tester starts impi-conform and returns the address of its page.
func tester(t *testing.T, words ...string) string {
	t.Helper()
	cmd := exec.Command(browser.Program(t, "impi-conform"), append(words, "-web", "-mpicc",
		browser.Program(t, "mpicc"))...)
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
func ended(b *browser.Tab) {
	b.T.Helper()
	b.Until(`document.querySelector('#phase').textContent === 'ended'`)
}

// is waits until a case has a state.
func is(b *browser.Tab, name, state string) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`document.querySelector('[data-case=%q] .%s')`, name, state))
}

func TestASessionOnThePage(t *testing.T) {
	b := browser.Open(t, tester(t, ours()...))
	b.Says("h1", "Configure")
	b.Shot("configure")
	b.Named(8)
	startUpOnly(b)
	serverUnderTest(b)
	chapter(b)
	edited(b)
	records(b)
	byKeyboard(b)
	smallAndDark(b)
}

// startUpOnly configures a job, and watches its start-up.
func startUpOnly(b *browser.Tab) {
	b.Fill("#f-clients", "2")
	b.Fill("#f-own", "2")
	b.Follow("form.configure button.main")
	is(b, "start-up/only", "pass")
	if got := browser.JS[string](b, `document.querySelector('#f-clients').value`); got != "2" {
		b.T.Errorf("the form has forgotten its values: %s clients", got)
	}
	b.Until(`[...document.querySelectorAll('#columns .column')].some(e => e.textContent === 'process 3')`)
	b.Run(`document.querySelector('#scroll').scrollTop = 0`)
	b.Until(`document.querySelector('[data-at="2"] .label')`)
	b.Run(`document.querySelector('[data-at="2"]').scrollIntoView({block: 'center'})`)
	b.Click(`[data-at="2"]`)
	b.Until(`document.querySelector('#detail table')`)
	b.Says("#detail", "AUTH")
	b.Says("#detail", "mask")
	b.Shot("start-up")
	b.Named(8)
}

// serverUnderTest is the same with the implementation's server.
func serverUnderTest(b *browser.Tab) {
	b.GoTo("/")
	b.Click(`input[value=implementation]`)
	b.Click(`input[value=none]`)
	b.Follow("form.configure button.main")
	b.Until(`document.querySelector('#columns').textContent.includes('server(under test)')`)
	is(b, "start-up/only", "pass")
	b.Follow(`p a[href^="/case/start-up"]`)
	b.Until(`document.querySelector('.listing')`)
	b.Says(".listing", "members = [s.dial() for _ in range(CLIENTS)]")
}

// chapter runs all cases of a chapter.
func chapter(b *browser.Tab) {
	b.GoTo("/cases?by=chapter")
	b.Named(8)
	b.Click(`input[aria-label^="Pick all of 2.2 "]`)
	n := browser.JS[int](b, `document.querySelectorAll('input[name=case]:checked').length`)
	if n < 3 {
		b.T.Fatalf("the chapter has %d cases", n)
	}
	b.Says("#picked", fmt.Sprintf("(%d)", n))
	b.Follow("#run-picked")
	b.Until(fmt.Sprintf(`document.querySelectorAll('tr[data-is=pass]').length === %d`, n))
	ended(b)
	b.Says(".status", fmt.Sprintf("%d of %d", n, n))
	b.Shot("cases")
	b.Follow(`tr[data-case="server/one-line"] a`)
	b.Until(`document.querySelector('h1').textContent === 'server/one-line'`)
	b.Says("#rule", "IMPI 0.0, 2.2.1")
	b.Named(8)
	b.Follow(`a[href="/spec/2.2.1"]`)
	b.Until(`document.querySelector('h1').textContent.startsWith('2.2.1 ')`)
	b.Says("main", "server/one-line")
	b.Shot("specification")
	b.Named(8)
}

// edited changes a script, which has an error first, and runs it.
func edited(b *browser.Tab) {
	b.GoTo("/case/client/alone")
	b.Until(`[...document.querySelectorAll('.listing .here')].some(e => e.textContent.includes('name = "client/alone"'))`)
	b.Follow(`a.button`)
	b.Until(`document.querySelector('#text').value.includes('client/alone')`)
	own := `case(name = "mine/start", rule = "2.3", about = "a start-up of mine", job = job(others = TWO),
    steps = ["barrier"], play = lambda j: j.comm().play(barrier(j.comm())))`
	add := func(text string) {
		b.Run(fmt.Sprintf(`{const t = document.querySelector('#text'); t.value += %q;
			t.dispatchEvent(new Event('input'));}`, text))
		b.Fill("input[name=only]", "^mine/")
		b.Follow(`button[value=run]`)
	}
	lines := browser.JS[int](b, `document.querySelector('#text').value.split('\n').length`)
	add("\nmine = )")
	b.Until(`document.querySelector('.faults')`)
	b.Says(".faults", fmt.Sprintf("line %d, column 8", lines+1))
	b.Click(".goto")
	b.Says("#position", fmt.Sprintf("line %d, column 8", lines+1))
	b.Shot("script")
	b.Named(8)
	b.Run(`{const t = document.querySelector('#text'); t.value = t.value.replace('mine = )', '');}`)
	add(own)
	is(b, "mine/start", "pass")
	b.Follow(`tr[data-case="mine/start"] a`)
	b.Until(`document.querySelector('h1').textContent === 'mine/start'`)
	b.Until(`[...document.querySelectorAll('.listing .here')].some(e => e.textContent.includes('a start-up of mine'))`)
	b.Until(`document.querySelector('.row')`)
}

// records downloads a record, and compares it.
func records(b *browser.Tab) {
	b.GoTo("/records")
	b.Named(8)
	b.Shot("records")
	b.Click(`a[href$="/record.json"]`)
	path := b.Downloaded(".json")
	text, err := os.ReadFile(path)
	if err != nil {
		b.T.Fatal(err)
	}
	worse := strings.Replace(string(text), `"verdict":"pass"`, `"verdict":"fail"`, 1)
	other := filepath.Join(b.T.TempDir(), "earlier.json")
	if err := os.WriteFile(other, []byte(worse), 0o644); err != nil {
		b.T.Fatal(err)
	}
	b.Do(chromedp.SetUploadFiles(chromedp.CSS(`input[type=file]`), []string{other}))
	b.Follow(`form[enctype] button`)
	b.Until(`document.querySelector('h1').textContent === 'What changed'`)
	b.Says("main", "1 differ, 0 got worse")
	b.Says("main", "✓ better")
	b.Shot("compare")
	b.Named(8)
}

// byKeyboard runs a case and opens an event of it with keys alone.
func byKeyboard(b *browser.Tab) {
	b.GoTo("/cases")
	at := `document.activeElement`
	b.Press(kb.Tab)
	b.Says("a.jump:focus", "Skip to the content")
	b.Press(kb.Enter)
	for browser.JS[string](b, at+`.id`) != "filter" {
		b.Press(kb.Tab)
	}
	b.Press("client/smallest-job")
	b.Until(`document.querySelectorAll('tr[data-case]:not([hidden])').length === 1`)
	for browser.JS[string](b, at+`.name ?? ''`) != "case" {
		b.Press(kb.Tab)
	}
	b.Press(" ")
	b.Says("#picked", "(1)")
	for browser.JS[string](b, at+`.id`) != "run-picked" {
		b.Press(kb.Shift + kb.Tab)
	}
	b.Press(kb.Enter)
	is(b, "client/smallest-job", "pass")
	ended(b)
	for browser.JS[string](b, at+`.textContent ?? ''`) != "client/smallest-job" {
		b.Press(kb.Tab)
	}
	b.Press(kb.Enter)
	b.Until(`document.querySelector('#rows [data-at="0"]')`)
	for browser.JS[string](b, at+`.id`) != "rows" {
		b.Press(kb.Tab)
	}
	b.Press(kb.End)
	b.Until(`document.querySelector('#rows').getAttribute('aria-activedescendant')`)
	b.Press(kb.ArrowUp)
	b.Press(kb.Home)
	b.Press(kb.ArrowDown)
	b.Press(kb.Enter)
	b.Until(`document.querySelector('#detail h3')`)
	if got := browser.JS[string](b, `document.querySelector('.row[aria-selected=true]').dataset.at`); got != "1" {
		b.T.Errorf("row %s is active", got)
	}
	b.Shot("case")
}

// smallAndDark looks at all pages in a small window, and in the dark.
func smallAndDark(b *browser.Tab) {
	b.Media("dark", "")
	for _, small := range []bool{false, true} {
		kind := "-dark"
		if small {
			kind = "-small"
			b.Media("light", "")
			b.Size(360, 740)
		}
		for name, path := range map[string]string{"configure": "/", "cases": "/cases", "case": "/case/client/smallest-job",
			"records": "/records", "script": "/script", "hand": "/hand", "specification": "/spec/2.3.5"} {
			b.GoTo(path)
			if strings.HasPrefix(name, "c") && name != "cases" {
				b.Until(`document.querySelector('.row')`)
			}
			b.Fits()
			b.Shot(name + kind)
		}
	}
}

func TestABrokenImplementationOnThePage(t *testing.T) {
	b := browser.Open(t, tester(t, append(broken(t), "-name", "broken", "-run",
		"^(client/smallest-job|server/count-impossible)$")...))
	b.GoTo("/cases")
	b.Follow(`button[value=all]`)
	is(b, "client/smallest-job", "fail")
	ended(b)
	b.Says(`tr[data-case="client/smallest-job"]`, "✗ fail")
	b.Follow(`tr[data-case="client/smallest-job"] a`)
	b.Until(`document.querySelector('.problems a[data-row]')`)
	b.Click(`.problems a[data-row]`)
	b.Until(`document.querySelector('#detail mark')`)
	b.Says("#detail tr.wrong", "pk_lsrank")
	b.Says("#detail tr.wrong", "must be")
	b.Says("#detail .quote", "IMPI 0.0, ")
	b.Shot("broken")
	b.Media("dark", "")
	b.Shot("broken-dark")
	b.Media("light", "")
	b.Named(8)
	scrolls(b)
}

func TestAnImplementationThatIsStartedByHandOnThePage(t *testing.T) {
	b := browser.Open(t, tester(t, "-listen", "127.0.0.1", "-run", "^client/(smallest-job|world-ranks)$"))
	stage, dir := os.Getenv("IMPI_STAGE"), t.TempDir()
	for _, words := range [][]string{{stage + "/bin/impi-conform", "-player", dir + "/player.c"},
		{stage + "/bin/mpicc", "-o", dir + "/player", dir + "/player.c"}} {
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v, %s", words, err, out)
		}
	}
	b.GoTo("/hand")
	b.Fill("#t-client", stage+"/bin/impirun -client {rank} {server} -n {n} {prog}")
	b.Follow(`form[action="/templates"] button.main`)
	b.Until(`document.querySelector('#t-client').value.startsWith('/')`)
	b.Named(8)
	b.GoTo("/cases")
	b.Follow(`button[value=all]`)
	b.Until(`!document.querySelector('#todo').hidden`)
	b.Follow("#todo a")
	for i := range 2 {
		b.Until(fmt.Sprintf(`document.querySelector('#command-%d')`, i+1))
		b.Says("h2", "Start client")
		b.Shot("prompt")
		b.Named(8)
		command := fmt.Sprintf(`document.querySelector('#command-%d').textContent`, i+1)
		cmd := exec.Command("sh", "-c", browser.JS[string](b, command))
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v, %s", cmd.Args, err, out)
		}
	}
	// The page loads itself anew when there is no more to start, which would undo that we go to another.
	b.Until(`document.readyState === 'complete' && !document.querySelector('[id^=command-]')`)
	b.GoTo("/cases")
	b.Until(`document.querySelectorAll('tr[data-is=pass]').length === 2`)
	ended(b)
}

// scrolls looks at a trace of 10^5 events.
func scrolls(b *browser.Tab) {
	b.GoTo("/case/server/count-impossible")
	b.Until(`document.querySelector('#trace-size').textContent === '100000 events.'`)
	for _, part := range []float64{1, 0.5, 0.25} {
		b.Run(fmt.Sprintf(`document.querySelector('#scroll').scrollTop = %v * 100000 * 30`, part))
		b.Until(fmt.Sprintf(`document.querySelector('[data-at="%d"] .label')`, min(int(part*100_000), 99_999)))
	}
	b.Says("#rows", "of the flood")
	if n := browser.JS[int](b, `document.querySelectorAll('.row').length`); n > 100 {
		b.T.Errorf("%d rows are elements of the page", n)
	}
	b.Shot("flood")
}
