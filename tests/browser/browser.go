// Package browser opens a page in a browser without a window, for tests that use it as a person does. With
// IMPI_SCREENSHOTS, a folder, pictures are kept there.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Patience ends a wait that would last for ever.
const Patience = 60 * time.Second

// Tab is a page of a browser without a window.
type Tab struct {
	T         *testing.T
	ctx       context.Context
	url       string // of the first page
	downloads string

	mu     sync.Mutex // guards what follows
	faults []string   // what the page has thrown, or was not allowed
}

// Program is a program of the stage (IMPI_STAGE). The test is skipped if there is no stage, or no browser.
func Program(t *testing.T, name string) string {
	t.Helper()
	stage := os.Getenv("IMPI_STAGE")
	if stage == "" {
		t.Skip("IMPI_STAGE is not set: this test runs under make test")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed")
	}
	return filepath.Join(stage, "bin", name)
}

// Open starts a browser with a page.
func Open(t *testing.T, url string) *Tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*Patience)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 1000), chromedp.UserDataDir(t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &Tab{T: t, ctx: ctx, url: url, downloads: t.TempDir()}
	allow := browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: b.downloads}
	b.Do(chromedp.Navigate("about:blank"))
	if _, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, allow); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.Navigate(url))
	return b
}

// listen notes what goes wrong in the page.
func (b *Tab) listen(event any) {
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

// Sound fails if the page has thrown an exception, or wanted what its policy forbids.
func (b *Tab) Sound() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.T.Errorf("the page: %s", f)
	}
}

func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	if chromedp.FromContext(b.ctx).Target == nil { // the first step starts the browser, which ends with its context
		ctx, cancel = b.ctx, func() {}
	}
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Shot("failure")
		b.T.Fatalf("%v; the page says: %.2000s", err, b.Text("main"))
	}
}

func (b *Tab) GoTo(path string) {
	b.T.Helper()
	b.Do(chromedp.Navigate(strings.TrimSuffix(b.url, "/") + path))
}
func (b *Tab) Click(css string) { b.T.Helper(); b.Do(chromedp.Click(chromedp.CSS(css))) }

// Follow clicks what leads to another page, and waits for that.
func (b *Tab) Follow(css string) {
	b.T.Helper()
	b.Run(`window.left = true`)
	b.Click(css)
	b.Until(`!window.left && document.readyState === 'complete'`)
}

func (b *Tab) Press(keys string)     { b.T.Helper(); b.Do(chromedp.KeyEvent(keys)) }
func (b *Tab) Fill(css, text string) { b.T.Helper(); b.Do(chromedp.SetValue(chromedp.CSS(css), text)) }

// JS evaluates an expression.
func JS[T any](b *Tab, expression string) T {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.T.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Run carries a statement out.
func (b *Tab) Run(statement string) { b.T.Helper(); b.Do(chromedp.Evaluate[chromedp.Void](statement)) }

// Until waits until an expression is true.
func (b *Tab) Until(expression string) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && ok {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond): // between two looks; a page that is being left cannot answer
		case <-ctx.Done():
			b.Shot("failure")
			b.T.Fatalf("never true: %s (%v); the page says: %.2000s", expression, err, b.Text("main"))
		}
	}
}

// Text is the text of an element as it is seen.
func (b *Tab) Text(css string) string {
	v, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", css)))
	return v
}

// Says fails unless an element has a text.
func (b *Tab) Says(css, want string) {
	b.T.Helper()
	if got := b.Text(css); !strings.Contains(got, want) {
		b.Shot("failure")
		b.T.Fatalf("%s says %.500q, must have %q", css, got, want)
	}
}

// Shot keeps a picture of the window, where there is a folder for it.
func (b *Tab) Shot(name string) {
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
		b.T.Errorf("no picture %s: %v", name, err)
	}
}

// Size changes the window.
func (b *Tab) Size(width, height int64) { b.T.Helper(); b.Do(chromedp.EmulateViewport(width, height)) }

// Telephone makes the window that of a telephone.
func (b *Tab) Telephone() {
	b.T.Helper()
	size := emulation.SetDeviceMetricsOverrideParams{Width: 400, Height: 800, DeviceScaleFactor: 2, Mobile: true}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		b.T.Fatal(err)
	}
}

// Media is what the reader prefers, "dark" or "light", and what the page is shown on: "screen" or "print".
func (b *Tab) Media(scheme, medium string) {
	b.T.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium,
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		b.T.Fatal(err)
	}
}

// Fits fails if the page is wider than the window.
func (b *Tab) Fits() {
	b.T.Helper()
	if over := JS[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.Shot("failure")
		b.T.Errorf("%s is %d pixels wider than its window: %s", JS[string](b, "location.pathname"), over, JS[string](b,
			"[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth)"+
				".slice(0, 5).map(e => e.outerHTML.slice(0, 100)).join('\\n')"))
	}
}

// Named fails if a control of the page has no name for who does not see it, or if there are too few of them.
func (b *Tab) Named(least int) {
	b.T.Helper()
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.T.Fatal(err)
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
			"progressbar", "navigation", "table", "region", "group", "application", "image", "toolbar":
			controls++
			if strings.TrimSpace(name) == "" && role != "group" {
				b.T.Errorf("%s: a %s has no name (node %v)", JS[string](b, "location.pathname"), role, n.BackendDOMNodeID)
			}
		}
	}
	if controls < least {
		b.T.Errorf("%s: only %d controls are found", JS[string](b, "location.pathname"), controls)
	}
}

// Downloaded waits for a file and returns its path.
func (b *Tab) Downloaded(ending string) string {
	b.T.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list, err := filepath.Glob(filepath.Join(b.downloads, "*"+ending))
		if err != nil {
			b.T.Fatal(err)
		}
		if len(list) > 0 {
			return list[0]
		}
	}
	b.T.Fatalf("no file %s was downloaded", ending)
	return ""
}
