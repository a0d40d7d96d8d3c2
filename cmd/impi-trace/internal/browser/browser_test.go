package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience ends a wait that would last for ever.
const patience = 60 * time.Second

// tab is a page of a browser without a window.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex // guards what follows
	faults []string   // what the page has thrown, or was not allowed
}

// open starts a browser with a page.
func open(t *testing.T, url string) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 1000), chromedp.UserDataDir(t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	b.do(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(url))
	return b
}

// listen notes what goes wrong in the page.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			b.faults = append(b.faults, e.Entry.Text)
		}
	}
}

// sound fails if the page has thrown an exception, or wanted what its policy forbids.
func (b *tab) sound() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.t.Errorf("the page: %s", f)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	if chromedp.FromContext(b.ctx).Target == nil { // the first step starts the browser, which ends with its context
		ctx, cancel = b.ctx, func() {}
	}
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.shot("trace-failure")
		b.t.Fatalf("%v; the page says: %.2000s", err, b.text("main"))
	}
}

func (b *tab) click(css string)     { b.t.Helper(); b.do(chromedp.Click(chromedp.CSS(css))) }
func (b *tab) press(keys string)    { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }
func (b *tab) run(statement string) { b.t.Helper(); b.do(chromedp.Evaluate[chromedp.Void](statement)) }

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

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if js[bool](b, "!!("+expression+")") {
			return
		}
		if time.Now().After(end) {
			b.shot("trace-failure")
			b.t.Fatalf("never true: %s; the page says: %.2000s", expression, b.text("main"))
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
		b.shot("trace-failure")
		b.t.Errorf("%s says %.500q, must have %q", css, got, want)
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

// media is what the reader's browser prefers, and what it shows the page on: "screen" or "print".
func (b *tab) media(scheme, medium string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium,
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// fits fails if the page is wider than the window.
func (b *tab) fits() {
	b.t.Helper()
	if over := js[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.shot("trace-failure")
		b.t.Errorf("the page is %d pixels wider than its window", over)
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
		case "button", "link", "checkbox", "searchbox", "navigation", "table", "region", "application", "image", "toolbar":
			controls++
			if strings.TrimSpace(name) == "" {
				b.t.Errorf("a %s has no name (node %v)", role, n.BackendDOMNodeID)
			}
		}
	}
	if controls < 30 {
		b.t.Errorf("only %d controls are found", controls)
	}
}
