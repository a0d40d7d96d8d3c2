package watch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/server"
)

// fake is a job that goes on by a step when somebody asks.
type fake struct {
	mu    sync.Mutex
	asked int
	view  server.View
	tune  func(v *server.View, asked int)
}

func (f *fake) Ask() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
}

func (f *fake) View() server.View {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.view
	v.Clients = append([]server.ClientView(nil), v.Clients...)
	v.Now = start.Add(time.Duration(10+f.asked) * time.Second)
	if f.tune != nil {
		f.tune(&v, f.asked)
	}
	return v
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const evil = `<script>alert("x")</script>'&` + "\u2028"

// running is a job of two clients, of which the second is foreign.
func running() *fake {
	f := &fake{view: server.View{Began: start, Phase: "running", Since: start.Add(2 * time.Second),
		Waiting: "running: client 0, 1 missing", Met: start.Add(time.Second), Started: start.Add(2 * time.Second),
		Clients: []server.ClientView{
			{Rank: 0, Peer: "10.0.0.1:7", Auth: "TLS", Stage: "running", Joined: start, Since: start, Own: true, Rows: 1},
			{Rank: 1, Peer: evil, Auth: evil, Stage: "lost", Joined: start, Since: start.Add(3 * time.Second), Why: evil}},
		Tables: server.Tables{AllHosts: 3, Procs: 6, Values: []server.Value{{Name: "C_DATALEN", Text: "65536"}},
			Hosts: []server.HostView{{Client: 0, Addr: "10.0.0.1:5000", Procs: 4, PIDs: []int64{11, 12, 13}},
				{Client: 1, Addr: "10.0.0.2:5000", First: 4, Procs: 1, PIDs: []int64{21}}}},
		Log: []server.Line{{At: start, Text: "old"}, {At: start, Text: evil}}, Dropped: 3}}
	f.tune = func(v *server.View, asked int) {
		c := &v.Clients[0]
		c.Heard = start.Add(time.Duration(asked) * time.Second)
		c.Traffic = []server.Row{{Ours: 0, Theirs: 1, PacketsOut: uint64(1000 * asked), BytesOut: uint64(4096 * asked),
			Outstanding: 3, HighWater: 20, Silence: 1500, Waits: true}}
	}
	return f
}

// open serves a page on a free port.
func open(t *testing.T, job Job) *Watch {
	t.Helper()
	w, err := Open(job, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.End)
	return w
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(b)
}

func TestThePageShowsTheJobAndEscapesEverything(t *testing.T) {
	w := open(t, running())
	r, text := get(t, w.URL())
	if r.StatusCode != 200 || !strings.Contains(r.Header.Get("Content-Security-Policy"), "script-src 'self'") {
		t.Fatalf("%d %v", r.StatusCode, r.Header)
	}
	for _, part := range []string{"<h1 id=\"title\">IMPI job: running</h1>", "10.0.0.1:5000", "0 to 3", "11 12 13 ...",
		"C_DATALEN", "65536",
		"<dt>Waiting for</dt><dd>client 0, 1</dd>", "client 0 to client 1", "3 of 20", "window full", "1.5 s",
		"never: it is not libimpi",
		"host 0 with host 1", "The first 2 of 3 are shown.", "The first 2 of 5 are shown.", "alert(&#34;x&#34;)"} {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
	for _, bad := range []string{"<script>alert", "onclick", "style=", "javascript:"} {
		if strings.Contains(text, bad) {
			t.Errorf("there is %q", bad)
		}
	}
	if n := strings.Count(text, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
}

func TestOnlyWhatIsThereIsServed(t *testing.T) {
	w := open(t, running())
	for path, want := range map[string]int{"": 200, "page.css": 200, "page.js": 200, "view.json": 200, "page.html": 404,
		"../watch.go": 404, "%2e%2e/watch.go": 404, "events/x": 404, "debug/pprof/": 404} {
		if r, _ := get(t, w.URL()+path); r.StatusCode != want {
			t.Errorf("/%s: %d, want %d", path, r.StatusCode, want)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		r, _ := http.NewRequest(method, w.URL(), strings.NewReader("x=1"))
		if a, err := http.DefaultClient.Do(r); err != nil || a.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %v, %v", method, a, err)
		}
	}
	r, _ := http.NewRequest("GET", w.URL(), nil)
	r.Host = "evil.example"
	if a, err := http.DefaultClient.Do(r); err != nil || a.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another site's name: %v, %v", a, err)
	}
}

func TestThePageWithATokenIsForThoseWhoHaveIt(t *testing.T) {
	const token = "0123456789abcdef"
	told := make(chan string, 10)
	w, err := Open(running(), "", token, func(line string) { told <- line })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.End)
	for _, path := range []string{"", "page.js", "view.json", "events", "?token=" + token + "x"} {
		r, text := get(t, w.URL()+path)
		if r.StatusCode != http.StatusUnauthorized || strings.Contains(text, "10.0.0.1") {
			t.Errorf("/%s without the token: %d", path, r.StatusCode)
		}
		if line := <-told; !strings.Contains(line, "the token is missing") || strings.Contains(line, token) {
			t.Errorf("/%s: %s", path, line)
		}
	}
	for origin, want := range map[string]int{"": 200, strings.TrimSuffix(w.URL(), "/"): 200, "http://evil.example": 403} {
		r, _ := http.NewRequest("GET", w.URL()+"view.json", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Origin", origin)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body.Close(); a.StatusCode != want {
			t.Errorf("with the token, Origin %q: %d, want %d", origin, a.StatusCode, want)
		}
	}
}

func TestTheViewIsThereForPrograms(t *testing.T) {
	w := open(t, running())
	r, text := get(t, w.URL()+"view.json")
	var v server.View
	if err := json.Unmarshal([]byte(text), &v); err != nil || r.Header.Get("Content-Type") != "application/json" ||
		len(v.Clients) != 2 || v.Clients[0].Traffic[0].HighWater != 20 || v.AllHosts != 3 || v.Clients[1].Why != evil {
		t.Errorf("%v: %s", err, text)
	}
}

// events reads a stream.
type events struct{ in *bufio.Reader }

func follow(t *testing.T, w *Watch) events {
	t.Helper()
	r, err := http.Get(w.URL() + "events")
	if err != nil || r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", r, err)
	}
	t.Cleanup(func() { r.Body.Close() })
	return events{bufio.NewReader(r.Body)}
}

// next returns the next event; its name is "" at the end.
func (e events) next(t *testing.T) (name string, parts map[string]json.RawMessage) {
	t.Helper()
	var data string
	for {
		line, err := e.in.ReadString('\n')
		switch {
		case err == io.EOF:
			return "", nil
		case err != nil:
			t.Fatal(err)
		case line == "\n":
			if err := json.Unmarshal([]byte(data), &parts); err != nil {
				t.Fatalf("%v: %q", err, data)
			}
			return name, parts
		}
		if value, ok := strings.CutPrefix(line, "event: "); ok {
			name = strings.TrimSpace(value)
		} else if value, ok := strings.CutPrefix(line, "data: "); ok {
			data += value
		}
	}
}

func TestAStreamSendsWhatChangesAndTheEnd(t *testing.T) {
	job := running()
	w, err := Open(job, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := follow(t, w)
	name, parts := s.next(t)
	if name != "page" || len(parts) != 9 {
		t.Errorf("at first %s, %d parts", name, len(parts))
	}
	name, parts = s.next(t)
	if name != "page" || parts["between-clients"] == nil || parts["log"] != nil || parts["values"] != nil {
		t.Errorf("then %s, %v", name, parts)
	}
	var table Table
	if err := json.Unmarshal(parts["between-clients"], &table); err != nil || table.Rows[0][3] != "4.0 KiB" {
		t.Errorf("a rate: %v, %+v", err, table)
	}
	job.mu.Lock()
	job.view.Over, job.view.Failed, job.view.Phase, job.view.Outcome = true, true, "over", "client 1 was lost"
	job.mu.Unlock()
	go w.End()
	var title string
	for name != "end" {
		if name, parts = s.next(t); name == "" {
			t.Fatal("the stream has ended without a word")
		}
		if parts["title"] != nil {
			title = string(parts["title"])
			if !strings.Contains(string(parts["status"]), "client 1 was lost") {
				t.Errorf("%s", parts["status"])
			}
		}
	}
	if title != `"IMPI job: ended badly"` {
		t.Error(title)
	}
	if name, _ = s.next(t); name != "" {
		t.Errorf("after the end %s", name)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	w := open(t, running())
	for range 16 {
		follow(t, w)
	}
	if r, _ := get(t, w.URL()+"events"); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%d", r.StatusCode)
	}
	if r, _ := get(t, w.URL()); r.StatusCode != 200 {
		t.Errorf("the page itself: %d", r.StatusCode)
	}
}

func TestNobodyIsAskedWhileNobodyLooks(t *testing.T) {
	job := running()
	w := newWatch(job, nil)
	if job.asked != 0 {
		t.Error("asked at once")
	}
	for range 10 {
		out := httptest.NewRecorder()
		w.Handler().ServeHTTP(out, httptest.NewRequest("GET", "/", nil))
		if out.Code != 200 {
			t.Fatal(out.Code)
		}
	}
	if job.asked < 1 || job.asked > 9 {
		t.Errorf("asked %d times for 10 pages in a row", job.asked)
	}
}

func TestTheScriptWritesTextOnly(t *testing.T) {
	b, err := files.ReadFile("page.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(",
		"http:", "https:", ".style", "srcdoc"} {
		text := strings.ReplaceAll(string(b), "http://www.w3.org/2000/svg", "")
		if strings.Contains(text, bad) {
			t.Errorf("there is %s in the script", bad)
		}
	}
}

func TestSeriesCoverAllTimeWithBoundedMemory(t *testing.T) {
	var of series
	at := start
	for i := range 10 * maxSamples {
		of = of.add(sample{at, at.Add(time.Second), 7, i == 3})
		at = at.Add(time.Second)
	}
	total, full := uint64(0), 0
	for i, x := range of {
		total += x.bytes
		if x.full {
			full++
		}
		if i > 0 && !x.from.Equal(of[i-1].to) {
			t.Errorf("sample %d begins at %v, and the one before ends at %v", i, x.from, of[i-1].to)
		}
	}
	if len(of) > maxSamples || total != 70*maxSamples || full != 1 || of[0].from != start || !of[len(of)-1].to.Equal(at) {
		t.Errorf("%d samples, %d bytes, %d full", len(of), total, full)
	}
}

func TestTheDiagramHasARowForEachClientAndHost(t *testing.T) {
	f := running()
	var h history
	for range 3 {
		f.Ask()
		h.take(f.View())
	}
	d := h.take(f.View()).Diagram
	count := map[string]int{}
	for _, s := range d.Shapes {
		count[s.Class]++
		if s.X < 0 || s.X+s.W > d.Width || s.Y < 0 || s.Y+s.H > d.Height {
			t.Errorf("%+v is outside of %d x %d", s, d.Width, d.Height)
		}
	}
	for class, n := range map[string]int{"label": 4, "joined": 2, "exchanging": 2, "running": 2, "lost": 1, "traffic": 2,
		"full": 2} {
		if count[class] != n {
			t.Errorf("%d shapes of %s, want %d", count[class], class, n)
		}
	}
	v := f.View()
	for i := range 200 {
		v.Hosts = append(v.Hosts, server.HostView{Client: i % 2})
	}
	if d = diagramOf(&v, nil); !strings.Contains(d.Note, "156 more rows") || d.Height > 2000 {
		t.Errorf("%d high: %s", d.Height, d.Note)
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for _, tt := range [][2]string{{number(0), "0"}, {number(999), "999"}, {number(1234567), "1 234 567"},
		{amount(1023), "1023 B"}, {amount(1536), "1.5 KiB"}, {amount(1 << 63), "8.0 EiB"}, {span(-1), "0 s"},
		{span(12 * time.Millisecond), "12 ms"}, {span(90 * time.Second), "1 min 30 s"}, {span(25 * time.Hour), "25 h 0 min"},
		{silence(-1), "?"}, {window(-1, 5), "? of 5"}, {stateOf(0, 0, 2, 2), "open"},
		{stateOf(1, 2, 2, 3), "socket full (1 of 3), window full (2 of 3), closed (1 of 3)"}} {
		if tt[0] != tt[1] {
			t.Errorf("%q, want %q", tt[0], tt[1])
		}
	}
}

func TestTablesAreBounded(t *testing.T) {
	f := running()
	v := f.View()
	for range 2 * maxRows {
		v.Hosts = append(v.Hosts, server.HostView{})
		v.Clients[0].Traffic = append(v.Clients[0].Traffic, server.Row{Ours: 0, Theirs: 1})
	}
	v.AllHosts, v.Clients[0].Rows = len(v.Hosts), len(v.Clients[0].Traffic)
	for _, table := range pageOf(&v, nil, Diagram{}).Tables {
		if len(table.Rows) > maxRows || len(table.Rows) == maxRows &&
			!strings.Contains(table.Note, fmt.Sprintf("The first %d of ", maxRows)) {
			t.Errorf("%s: %d rows, %q", table.ID, len(table.Rows), table.Note)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Head) || len(row) != len(table.Numbers) {
				t.Errorf("%s: %d cells of %d", table.ID, len(row), len(table.Head))
			}
		}
	}
}
