package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/script"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/spec"
)

func TestPagesAreThereBeforeAnythingWasDone(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Files = []cases.File{{Name: "a.star"}} })
	c := s.client()
	for path, want := range map[string]string{
		"/": "Run start-up only", "/cases": `value="toy/passes"`, "/cases?by=chapter": "other rules",
		"/case/toy/passes": "not run yet", "/script?file=a.star": "<textarea", "/hand": "-listen", "/records": "no runs yet",
		"/spec/": "does not have the text",
	} {
		has(t, c.get(path, http.StatusOK), want, "<h1>", `lang="en"`)
	}
	if n := len(s.sessions.All()); n != 0 {
		t.Errorf("looking at pages makes %d sessions", n)
	}
	for _, path := range []string{"/nothing", "/case/nothing", "/spec/9.9", "/run/1/rows/toy/passes",
		"/run/x/record/record.json",
		"/static/none", "/compare?a=1&b=2"} {
		c.get(path, http.StatusNotFound)
	}
	if s.log.String() != "" {
		t.Errorf("the log has %q", s.log)
	}
}

func TestCasesAreRunAndTheirVerdictsShown(t *testing.T) {
	s := newSite(t)
	c := s.client()
	c.post("/run", http.StatusOK, "case", "toy/passes", "case", "toy/fails", "case", "toy/fails", "case", "none")
	r := s.ran()
	if n := len(r.List()); n != 2 {
		t.Errorf("%d cases were run", n)
	}
	page := c.get("/cases", http.StatusOK)
	has(t, page, `data-case="toy/passes" data-is="pass"`, `data-case="toy/fails" data-is="fail"`,
		`data-case="other/says" data-is=""`, `<b aria-hidden="true">✗</b> fail`)
	page = c.get("/case/toy/fails", http.StatusOK)
	has(t, page, "event 2", `data-row="1"`, "&lt;script&gt;alert(1)", `data-run="1"`, "What the implementation wrote")
	hasNot(t, page, "<script>alert", "<img")
	c.post("/run", http.StatusOK, "what", "failed")
	if r := s.ran(); r.ID != 2 || len(r.List()) != 1 || r.List()[0].Name != "toy/fails" {
		t.Errorf("of what failed %v are run again", r.List())
	}
	c.post("/run", http.StatusOK, "what", "all")
	if n := len(s.ran().List()); n != len(toys) {
		t.Errorf("all are %d", n)
	}
	c.post("/run", http.StatusUnprocessableEntity, "what", "picked")
	c.post("/clear", http.StatusOK, "back", "/cases")
	hasNot(t, c.get("/cases", http.StatusOK), `data-is="pass"`)
}

func TestChaptersAreInTheOrderOfTheSpecification(t *testing.T) {
	s := newSite(t, func(c *Config) {
		c.Sections = []spec.Section{{Number: "2.3", Title: "Startup"}, {Number: "3.5", Title: "Packets",
			Blocks: []spec.Block{{Kind: "p", Text: "A <b>packet</b>."}, {Kind: "pre", Text: "x"}, {Kind: "item", Text: "y"}}}}
		c.Rule = spec.Rule
	})
	c := s.client()
	page := c.get("/cases?by=chapter", http.StatusOK)
	a, b, d := strings.Index(page, "2.3 Startup"), strings.Index(page, "3.5 Packets"), strings.Index(page, "other rules")
	if a < 0 || b < a || d < b {
		t.Errorf("they are at %d, %d, %d", a, b, d)
	}
	has(t, c.get("/spec/3.5", http.StatusOK), "A &lt;b&gt;packet&lt;/b&gt;.", "<pre>x</pre>", `href="/case/toy/fails"`,
		"← 2.3 Startup")
	has(t, c.get("/spec/", http.StatusOK), `href="/spec/2.3"`)
	has(t, c.get("/case/toy/fails", http.StatusOK), "IMPI 0.0, 3.5 Packets", `<a href="/spec/3.5">3.5</a>`)
}

// decode reads an answer.
func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return v
}

func TestATraceComesInPieces(t *testing.T) {
	s := newSite(t)
	c := s.client()
	c.post("/run", http.StatusOK, "case", "other/says")
	s.ran()
	p := decode[rows](t, c.get("/run/1/rows/other/says?from=990&count=1000", http.StatusOK))
	if p.Total != 1000 || len(p.Rows) != 10 || p.Rows[0].N != 991 || p.Rows[0].Label != "stdout: line 991" ||
		p.Rows[0].Gap != 0 || len(p.Columns) != 1 || !p.Columns[0].Tested || p.State != "pass" {
		t.Errorf("got %+v", p)
	}
	p = decode[rows](t, c.get("/run/1/rows/other/says?from=-5&count=10000000", http.StatusOK))
	if len(p.Rows) != maxRows {
		t.Errorf("a piece has %d rows", len(p.Rows))
	}
	if p := decode[rows](t, c.get("/run/1/rows/other/says?from=5000&count=5", http.StatusOK)); len(p.Rows) != 0 {
		t.Errorf("behind the end there are %+v", p.Rows)
	}
	c.get("/run/1/event/other/says?at=1000", http.StatusNotFound)
	c.get("/run/1/event/other/says?at=-1", http.StatusNotFound)
	c.get("/run/1/event/other/says?at=x", http.StatusNotFound)
	c.get("/run/1/rows/none", http.StatusNotFound)
	s.client().get("/run/1/rows/other/says", http.StatusNotFound) // of another session
}

func TestAPacketIsShownWithWhatItMustBe(t *testing.T) {
	s := newSite(t)
	c := s.client()
	c.post("/run", http.StatusOK, "case", "other/packet")
	s.ran()
	p := decode[rows](t, c.get("/run/1/rows/other/packet?count=100", http.StatusOK))
	if len(p.Marks) != 1 || p.Marks[0].Row < 0 || !p.Rows[p.Marks[0].Row].Wrong || !p.Rows[p.Marks[0].Row].Fields {
		t.Fatalf("got %+v", p)
	}
	text := c.get(fmt.Sprintf("/run/1/event/other/packet?at=%d", p.Marks[0].Row), http.StatusOK)
	has(t, text, `{"name":"pk_tag","offset":84,"length":4,"raw":"00000102","value":"258","must":"00000103",`+
		`"must_value":"259"}`)
	e := decode[packet](t, text)
	if len(e.Fields) != 16 || len(e.Wrong) != 1 || !strings.Contains(e.Title, "this is wrong") {
		t.Errorf("got %+v", e)
	}
}

// sendRecord sends a record as a file.
func (c *client) sendRecord(name, text, with string, code int) string {
	c.s.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	if with != "" {
		m.WriteField("with", with)
	}
	f, err := m.CreateFormFile("record", name)
	if err != nil {
		c.s.t.Fatal(err)
	}
	f.Write([]byte(text))
	m.Close()
	r, err := http.NewRequest("POST", c.s.url+"/compare", &b)
	if err != nil {
		c.s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.Header.Set("Origin", c.s.url)
	a, body := c.do(r)
	if a.StatusCode != code {
		c.s.t.Fatalf("%d, must be %d: %s", a.StatusCode, code, body)
	}
	return body
}

func TestRecordsAreSentAndCompared(t *testing.T) {
	s := newSite(t)
	c := s.client()
	c.post("/run", http.StatusOK, "case", "toy/passes", "case", "toy/fails")
	s.ran()
	page := c.get("/run/1/record/record.html", http.StatusOK)
	has(t, page, "Content-Security-Policy", "toy/fails")
	text := c.get("/run/1/record/record.json", http.StatusOK)
	r, err := record.Read(strings.NewReader(text))
	if err != nil || len(r.Cases) != 2 || r.Cases[0].Trace == nil {
		t.Fatalf("%v, %+v", err, r)
	}
	has(t, c.get("/run/1/record/record.xml", http.StatusOK), `<property name="implementation" value="toy">`,
		`failures="1"`)
	for _, file := range []string{"record.exe", "other.json", "..%2f..%2fpasswd"} {
		c.get("/run/1/record/"+file, http.StatusNotFound)
	}
	before := strings.Replace(text, `"verdict":"fail"`, `"verdict":"pass"`, 1)
	page = c.sendRecord("before.json", before, "1", http.StatusOK)
	has(t, page, "1 differ, 1 got worse, 1 are the same", "toy/fails", "✗ worse", "before.json")
	has(t, c.get("/records", http.StatusOK), "sent: before.json", "Compare two runs")
	has(t, c.get("/compare?a=1&b=1", http.StatusOK), "Nothing changed")
	page = c.sendRecord(evil+".json", `{"format":1,"cases":[{"name":"<script>alert(2)</script>","verdict":"pass"}]}`, "1",
		http.StatusOK)
	has(t, page, "&lt;script&gt;alert(2)", "appeared", "vanished")
	hasNot(t, page, "<script>alert", "<img")
	for _, bad := range []string{"", "{}", "[]", `{"format":2,"cases":[]}`, strings.Repeat("[", 1e6)} {
		c.sendRecord("bad.json", bad, "1", http.StatusUnprocessableEntity)
	}
	if n := len(s.only().Runs()); n != 3 {
		t.Errorf("%d runs are kept", n)
	}
}

// scripted is a site with scripts.
func scripted(t *testing.T) *site {
	text := `case(name = "a/one", rule = "3.5", about = "one", run = lambda: check(True, ""))
case(name = "a/two", rule = "3.5", about = "two", run = lambda: fail("two"))
`
	list, err := script.Parse("a.star", text)
	if err != nil {
		t.Fatal(err)
	}
	return newSite(t, func(c *Config) {
		c.Cases, c.Files = list, []cases.File{{Name: "a.star", Text: text}, {Name: "b.star", Text: "b = 1\n"}}
	})
}

// mine is a script of a person.
const mine = `def play():
    print("hello")

case(name = "a/mine", rule = "3.5", about = "mine", run = play)
case(name = "a/other", rule = "3.5", about = "other", run = play)
`

func TestAScriptIsEditedAndRun(t *testing.T) {
	s := scripted(t)
	c := s.client()
	has(t, c.get("/script", http.StatusOK), "<option selected>a.star</option>", "check(True, &#34;&#34;))\ncase(")
	has(t, c.get("/script?file=b.star&case=b/one", http.StatusOK), `value="^b/one$"`)
	page := c.get("/case/a/two", http.StatusOK)
	has(t, page, `<div class="here"><span class="n">2</span><code>case(name = &#34;a/two&#34;`,
		`href="/script?file=a.star&amp;case=a%2ftwo"`)
	hasNot(t, page, `<div class="here"><span class="n">1</span>`)
	page = c.post("/script", http.StatusUnprocessableEntity, "file", "a.star", "text", "x = 1\r\n y = '"+evil, "do", "run")
	has(t, page, `data-line="2"`, "line 2, column", "&lt;script&gt;")
	hasNot(t, page, "<script>alert", "<img")
	page = c.post("/script", http.StatusOK, "file", "a.star", "text", mine, "do", "check", "only", "mine")
	has(t, page, "No error is found; 1 cases are chosen", "(yours)")
	c.post("/script", http.StatusOK, "file", "a.star", "text", mine, "do", "run", "only", "mine")
	if r := s.ran(); r.Kind != "script" || len(r.List()) != 1 || r.List()[0].Name != "a/mine" {
		t.Errorf("got %+v", r)
	}
	has(t, c.get("/script?file=a.star", http.StatusOK), "def play():", `href="/case/a/mine?run=1"`, "✓")
	page = c.get("/case/a/mine", http.StatusOK)
	has(t, page, "<h1>a/mine</h1>", `<div class="here"><span class="n">4</span>`, "hello")
	hasNot(t, page, "Run this case")
	hasNot(t, s.client().get("/script?file=a.star", http.StatusOK), "def play") // another's session
	has(t, c.post("/script", http.StatusOK, "file", "a.star", "text", "x", "do", "revert"), "name = &#34;a/one&#34;")
}

func TestScriptsThatCannotBeAreRefused(t *testing.T) {
	s := scripted(t)
	c := s.client()
	twice := strings.Repeat(`case(name = "a/x", rule = "3.5", about = "x", run = lambda: None)`+"\n", 2)
	for want, form := range map[string][]string{
		"there is another case a/x": {"text", twice}, "none of its 2 cases matches": {"text", mine, "only", "y"},
		"the expression": {"text", mine, "only", "("}, "more than 1000000 steps": {"text", "while True:\n    pass\n"},
		"no such file": {"text", `load("/etc/passwd", "x")`}, "undefined: open": {"text", `open("/etc/passwd")`},
	} {
		has(t, c.post("/script", http.StatusUnprocessableEntity, append(form, "file", "a.star", "do", "run")...), want)
	}
	c.post("/script", http.StatusNotFound, "file", "../../etc/passwd", "text", "x")
	c.get("/script?file=../../etc/passwd", http.StatusNotFound)
	c.post("/script", http.StatusRequestEntityTooLarge, "file", "a.star", "text", strings.Repeat("x", maxScript+1))
}

func TestAStartUpIsConfigured(t *testing.T) {
	s := newSite(t)
	c := s.client()
	page := c.post("/start-up", http.StatusUnprocessableEntity, "clients", "1", "rank", "2", "own", evil, "ackmark", "30")
	has(t, page, `aria-invalid="true"`, "the rank must be below the number of all clients, 2",
		"Processes of the client under test must be a number from 1 to 64", "H_ACKMARK must be at most H_HIWATER, 20")
	hasNot(t, page, "<script>alert", "<img")
	if len(s.only().Runs()) != 0 {
		t.Error("a form with errors is run")
	}
	page = c.post("/start-up", http.StatusOK, "clients", "3", "server", "implementation", "auth", "none")
	r := s.ran()
	has(t, page, `data-name="start-up/only"`,
		`id="f-clients" name="clients" type="number" inputmode="numeric" min="0" max="32" value="3"`)
	if r.Kind != "start-up" || r.List()[0].Needs != conform.Server {
		t.Errorf("got %+v", r.List())
	}
	has(t, c.get("/script?file=start-up.star", http.StatusOK), "CLIENTS, HOSTS, PROCS = 3, 1, 1")
	has(t, c.get("/case/start-up/only", http.StatusOK), "def start_up():", "file=start-up.star")
}
