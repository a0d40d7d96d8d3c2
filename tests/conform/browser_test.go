package conform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// patience ends a wait that would last for ever.
const patience = 60 * time.Second

// tab is a page of a browser without a window.
type tab struct {
	t         *testing.T
	ctx       context.Context
	url       string // of the first page
	downloads string
}

// open starts a browser.
func open(t *testing.T, url string) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 900), chromedp.UserDataDir(t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx, url: url, downloads: t.TempDir()}
	allow := browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: b.downloads}
	b.do(chromedp.Navigate(url))
	if _, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, allow); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	if chromedp.FromContext(b.ctx).Target == nil { // the first step starts the browser, which ends with its context
		ctx, cancel = b.ctx, func() {}
	}
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.shot("failure")
		b.t.Fatalf("%v; the page says: %.2000s", err, b.text("main"))
	}
}

func (b *tab) goTo(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(strings.TrimSuffix(b.url, "/") + path))
}
func (b *tab) click(css string) { b.t.Helper(); b.do(chromedp.Click(chromedp.CSS(css))) }

// follow clicks what leads to another page, and waits for that.
func (b *tab) follow(css string) {
	b.t.Helper()
	b.run(`window.left = true`)
	b.click(css)
	b.until(`!window.left && document.readyState === 'complete'`)
}

func (b *tab) press(keys string)     { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }
func (b *tab) fill(css, text string) { b.t.Helper(); b.do(chromedp.SetValue(chromedp.CSS(css), text)) }

// js evaluates an expression.
func js[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// run carries a statement out.
func (b *tab) run(statement string) { b.t.Helper(); b.do(chromedp.Evaluate[chromedp.Void](statement)) }

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && ok {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond): // between two looks; a page that is being left cannot answer
		case <-ctx.Done():
			b.shot("failure")
			b.t.Fatalf("never true: %s (%v); the page says: %.2000s", expression, err, b.text("main"))
		}
	}
}

// text is the text of an element as it is seen.
func (b *tab) text(css string) string {
	v, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", css)))
	return v
}

// says fails unless an element has a text.
func (b *tab) says(css, want string) {
	b.t.Helper()
	if got := b.text(css); !strings.Contains(got, want) {
		b.shot("failure")
		b.t.Fatalf("%s says %.500q, must have %q", css, got, want)
	}
}

// shot keeps a picture of the window, where there is a folder for it.
func (b *tab) shot(name string) {
	dir := os.Getenv("IMPI_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Errorf("no picture %s: %v", name, err)
	}
}

// size changes the window.
func (b *tab) size(width, height int64) { b.t.Helper(); b.do(chromedp.EmulateViewport(width, height)) }

// dark and light are what the reader prefers.
func (b *tab) scheme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// fits fails if the page is wider than the window.
func (b *tab) fits() {
	b.t.Helper()
	if over := js[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.shot("failure")
		b.t.Errorf("%s is %d pixels wider than its window: %s", js[string](b, "location.pathname"), over, js[string](b,
			"[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth)"+
				".slice(0, 5).map(e => e.outerHTML.slice(0, 100)).join('\\n')"))
	}
}

// named fails if a control of the page has no name for who does not see it.
func (b *tab) named() {
	b.t.Helper()
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	controls := 0
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		var role, name string
		fmt.Sscanf(string(n.Role.Value), "%q", &role)
		if n.Name != nil {
			fmt.Sscanf(string(n.Name.Value), "%q", &name)
		}
		switch role {
		case "button", "link", "checkbox", "radio", "textbox", "searchbox", "spinbutton", "combobox", "listbox", "option",
			"progressbar", "navigation", "table", "region", "group":
			controls++
			if strings.TrimSpace(name) == "" && role != "group" {
				b.t.Errorf("%s: a %s has no name (node %v)", js[string](b, "location.pathname"), role, n.BackendDOMNodeID)
			}
		}
	}
	if controls < 8 {
		b.t.Errorf("%s: only %d controls are found", js[string](b, "location.pathname"), controls)
	}
}

// downloaded waits for a file and returns its path.
func (b *tab) downloaded(ending string) string {
	b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list, err := filepath.Glob(filepath.Join(b.downloads, "*"+ending))
		if err != nil {
			b.t.Fatal(err)
		}
		if len(list) > 0 {
			return list[0]
		}
	}
	b.t.Fatalf("no file %s was downloaded", ending)
	return ""
}
