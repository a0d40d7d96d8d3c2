package launcher

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The page about a running job (impirun -server -web).

// seen is what these tests look at of /view.json.
type seen struct {
	Phase    string
	Procs    int
	AllHosts int
	Clients  []struct {
		Stage   string
		Own     bool
		Traffic []row
	}
}

type row struct {
	Ours, Theirs         int
	PacketsOut, BytesOut uint64
	HighWater            uint32
	Outstanding          int64
}

// between is the row of two hosts, if there are n rows of a client.
func (v seen) between(client, n, ours, theirs int) (r row) {
	for _, x := range v.Clients[client].Traffic {
		if len(v.Clients[client].Traffic) == n && x.Ours == ours && x.Theirs == theirs {
			r = x
		}
	}
	return r
}

// awaitView calls for a view until it is as wanted.
func awaitView(t *testing.T, url, what string, is func(v seen) bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		r, err := http.Get(url + "view.json")
		if err != nil {
			t.Fatal(err)
		}
		var v seen
		err = json.NewDecoder(r.Body).Decode(&v)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if is(v) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not so: %s: %+v", what, v)
		}
	}
}

var pageAt = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)

// The ranks of client 0 are hosts themselves, and client 1 has an agent on each of two machines.
func TestAPageShowsARunningJobAndItsEnd(t *testing.T) {
	s, address := server(t, with(key), "2", "-web")
	s.stderr.await("\n", 1)
	url := pageAt.FindString(s.stderr.String())
	awaitView(t, url, "nobody has joined", func(v seen) bool {
		return v.Phase == "waiting for clients" && len(v.Clients) == 2 && v.Clients[0].Stage == "not joined"
	})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	talk := program(t, "talk")
	a := startWith(t, append(with(key), stdin(r)), words("-client 0", address, "-via direct -np 2", talk)...)
	b := startWith(t, with(key), words("-client 1", address, "-launcher fork -host n1:1,n2:1 -via agent -np 2", talk)...)
	fmt.Fprintln(w, "go on")
	awaitView(t, url, "traffic", func(v seen) bool {
		if v.Phase != "running" || v.Procs != 4 || v.AllHosts != 4 {
			return false
		}
		from, to := v.between(0, 4, 0, 3), v.between(1, 6, 3, 0)
		return v.Clients[0].Own && v.Clients[1].Own && from.PacketsOut >= 50 && from.BytesOut >= 20000 &&
			from.HighWater > 0 && from.Outstanding >= 0 && to.PacketsOut >= 50 && to.Outstanding == -1
	})
	stream, err := http.Get(url + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	in := bufio.NewReader(stream.Body)
	if line, err := in.ReadString('\n'); line != "event: page\n" {
		t.Fatalf("%q, %v", line, err)
	}
	w.Close()
	rest, err := io.ReadAll(in)
	if text := string(rest); err != nil || !strings.Contains(text, `"IMPI job: ended well"`) ||
		!strings.HasSuffix(text, "event: end\ndata: {}\n\n") {
		t.Errorf("%v: ... %q", err, text[max(0, len(text)-1000):])
	}
	a.wait().expect(t, 0, "")
	b.wait().expect(t, 0, "")
	end := s.wait()
	end.expect(t, 0, "the job is shown at http://127.0.0.1:")
	if strings.Count(end.stdout, "\n") != 1 {
		t.Errorf("the server says %q", end.stdout)
	}
}

func TestAPageThatOthersReachNeedsAToken(t *testing.T) {
	startWith(t, with(key), words("-server 2 -web=0.0.0.0:0")...).wait().expect(t, 1, "-web-token FILE")
}
