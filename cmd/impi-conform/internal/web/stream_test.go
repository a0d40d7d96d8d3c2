package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
	"github.com/libimpi/libimpi/cmd/internal/webguard"
)

// listen opens a stream and returns what it tells.
func (c *client) listen() (told func() news, stop func()) {
	c.s.t.Helper()
	ctx, cancel := context.WithCancel(c.s.t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", c.s.url+"/events", nil)
	if err != nil {
		c.s.t.Fatal(err)
	}
	a, err := c.Do(r)
	if err != nil {
		c.s.t.Fatal(err)
	}
	c.s.t.Cleanup(func() { cancel(); a.Body.Close() })
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "text/event-stream" {
		c.s.t.Fatalf("got %d, %v", a.StatusCode, a.Header)
	}
	in := bufio.NewReader(a.Body)
	return func() (n news) {
		c.s.t.Helper()
		line, err := in.ReadString('\n')
		if err == nil {
			in.ReadString('\n')
			err = json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &n)
		}
		if err != nil {
			c.s.t.Fatalf("%v: %q", err, line)
		}
		return n
	}, cancel
}

func TestAStreamTellsWhatChanges(t *testing.T) {
	goOn := make(chan bool)
	s := newSite(t, func(c *Config) {
		c.Cases = append(c.Cases[:len(c.Cases):len(c.Cases)], conform.Case{Name: "toy/waits",
			Run: func(*conform.T) { <-goOn }})
	})
	c := s.client()
	c.get("/events", http.StatusNoContent) // no session: nothing to tell
	c.post("/stop", http.StatusOK)
	told, _ := c.listen()
	if n := told(); n.Run != 0 || n.Phase != "" {
		t.Errorf("before the first run: %+v", n)
	}
	c.post("/run", http.StatusOK, "case", "toy/passes", "case", "toy/waits")
	seen := map[string]session.State{}
	next := func() (n news) {
		n = told()
		for _, x := range n.Cases {
			seen[x.Name] = x.State
		}
		return n
	}
	for seen["toy/passes"] != "pass" || seen["toy/waits"] != session.Going {
		next()
	}
	close(goOn)
	n := next()
	for n.Phase != session.Ended {
		n = next()
	}
	if n.Done != 2 || n.Total != 2 || n.Count["pass"] != 2 || seen["toy/waits"] != "pass" {
		t.Errorf("at the end: %+v, %v", n, seen)
	}
}

func TestWhatWasNotBegunIsNotDone(t *testing.T) {
	began := make(chan bool)
	s := newSite(t, func(c *Config) {
		c.Options.Jobs = 1
		c.Cases = []conform.Case{{Name: "toy/waits", Run: func(t *conform.T) { close(began); <-t.Context().Done() }}, toys[0]}
	})
	c := s.client()
	c.post("/run", http.StatusOK, "what", "all")
	<-began
	c.post("/stop", http.StatusOK, "back", "/cases")
	s.ran()
	has(t, c.get("/cases", http.StatusOK), `<span id="phase">stopped</span>`, `<span id="done">1 of 2</span>`, "○")
}

func TestStreamsAreFew(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Limits.Streams = 2 })
	c := s.client()
	c.post("/stop", http.StatusOK)
	_, stop := c.listen()
	c.listen()
	has(t, c.get("/events", http.StatusServiceUnavailable), "no more streams")
	stop()
	c.awaitPlace()
}

// awaitPlace waits until the server has noticed that a stream was left.
func (c *client) awaitPlace() {
	c.s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		r, _ := http.NewRequest("GET", c.s.url+"/events", nil)
		a, err := c.Do(r)
		if err != nil {
			c.s.t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			c.s.t.Fatal("the place is not free again")
		}
	}
}

func TestStreamsOfAllSessionsAreFew(t *testing.T) {
	s := guardedSite(t, func(g *webguard.Config) { g.Streams = 2 })
	for range 2 {
		c := s.client()
		c.post("/stop", http.StatusOK)
		c.listen()
	}
	c := s.client()
	c.post("/stop", http.StatusOK)
	has(t, c.get("/events", http.StatusServiceUnavailable), "too many look at this page")
	has(t, s.log.String(), "too many streams")
}

func TestAStreamThatIsNotReadIsLeft(t *testing.T) {
	s := guardedSite(t, func(g *webguard.Config) { g.Streams = 1 })
	c := s.client()
	c.post("/stop", http.StatusOK)
	x := s.only()
	raw, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(raw, "GET /events HTTP/1.1\r\nHost: %s\r\nCookie: impi-session-%d=%s\r\n\r\n",
		strings.TrimPrefix(s.url, "http://"), s.guard.Addr().Port(), x.ID)
	if line, err := bufio.NewReader(raw).ReadString('\n'); !strings.Contains(line, "200") {
		t.Fatalf("%q, %v", line, err)
	}
	raw.Close()
	c.awaitPlace()
}

func TestPromptsAreOnThePage(t *testing.T) {
	var shown Templates
	over := make(chan bool, 1)
	s := newSite(t, func(c *Config) {
		c.Player = []byte("main")
		c.Ready = []Templates{{"one", "serve {clients}", "join {rank}"}, {"two", "s {clients}", "j {rank}"}}
		c.ByHand = func(templates Templates, ask Ask) (conform.Options, func(), error) {
			shown = templates
			return conform.Options{Target: ask, Timeout: time.Minute}, func() { over <- true }, nil
		}
		c.Cases = []conform.Case{{Name: "hand/asks", Run: func(t *conform.T) {
			got, err := t.Target().(Ask)(t.Context(), session.Prompt{What: "server " + evil, Command: shown.Server + evil,
				Environment: []string{"A=" + evil}, Answer: "its address"})
			t.Check(err == nil && got == "10.0.0.1:7", "got %q, %v", got, err)
		}}, {Name: "hand/gives-up", Run: func(t *conform.T) {
			_, err := t.Target().(Ask)(t.Context(), session.Prompt{What: "client 0"})
			t.Check(err == session.ErrGivenUp, "got %v", err)
		}}}
	})
	c := s.client()
	if got := c.get("/player.c", http.StatusOK); got != "main" {
		t.Errorf("the player is %q", got)
	}
	has(t, c.get("/hand", http.StatusOK), `value="serve {clients}"`, "Nothing has to be started now", "As for two")
	c.post("/templates", http.StatusUnprocessableEntity, "server", "a\nb")
	has(t, c.post("/templates", http.StatusOK, "ready", "two"), `value="s {clients}"`)
	has(t, c.post("/templates", http.StatusOK, "server", "mine "+evil, "client", "x"), "mine &#34;")
	c.post("/run", http.StatusOK, "what", "all")
	x := s.only()
	told, _ := c.listen()
	for len(x.Prompts()) == 0 {
		told()
	}
	page := c.get("/hand", http.StatusOK)
	has(t, page, "Start server", "mine &#34;", "its address", `name="id" value="1"`, "something has to be started"[10:])
	hasNot(t, page, "<script>alert", "<img")
	c.post("/answer", http.StatusConflict, "id", "1", "answer", "")
	c.post("/answer", http.StatusConflict, "id", "77", "answer", "x")
	c.post("/answer", http.StatusOK, "id", "1", "answer", "10.0.0.1:7", "do", "done")
	for len(x.Prompts()) == 0 || x.Prompts()[0].ID != 2 {
		told()
	}
	has(t, c.get("/cases", http.StatusOK), "Something has to be started by hand")
	c.post("/answer", http.StatusOK, "id", "2", "do", "give-up")
	if snap := s.ran().Snapshot(0); snap.Count["pass"] != 2 {
		t.Errorf("got %+v", snap)
	}
	<-over
}
