package summary

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write the golden page anew")

// own is what rank r of n has counted: each waits for rank 0, which computes, and sends to the right.
func own(r, n int32) *Summary {
	s := &Summary{Program: "/home/me/solver", Begin: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Size: int(n), Clients: 1,
		Width: WidthFor(int(n))}
	wait := int64(4e9)
	if r == 0 {
		wait = 1e8
	}
	call := func(name, place string, count uint64, time, sent, received int64) {
		s.Sites = append(s.Sites, Call{Name: name, Place: place, Ranks: 1, Count: count, Time: time, Longest: time / 2,
			Sent: sent, Received: received, Least: Extreme{r, time}, Most: Extreme{r, time}})
	}
	call("MPI_Barrier", "solver+0x10", 100, wait, 0, 0)
	call("MPI_Send", "solver+0x20", 2000, 5e7, 16000, 0)
	call("MPI_Recv", "solver+0x30", 1000, 8e8, 0, 8000)
	call("MPI_Recv", "solver+0x34", 1000, 1e8, 0, 8000)
	s.Complete()
	s.Ranks = []Rank{{Rank: r, Machine: "node" + string('a'+r/2), PID: 100, Time: 10e9, MPI: wait + 95e7, Asleep: wait / 2,
		Memory: int64(r+1) << 26, Calls: 4100, Threads: 1, Sent: 16000, Received: 16000}}
	s.Sizes[Machine][Bucket(8)] = Traffic{2000, 16000}
	s.Pairs = []Pair{{r, (r + 1) % n, Traffic{2000, 16000}}}
	s.Waited = []Waited{{(r + n - 1) % n, 9e8}}
	s.Algorithms = []Algorithm{{"barrier", "dissemination", 100}}
	return s
}

func merged(n int32) *Summary {
	s := own(n-1, n)
	for r := range n - 1 {
		s.Merge(own(r, n))
	}
	return s
}

func TestThePageIsAsInTheGoldenFile(t *testing.T) {
	s := merged(4)
	s.Resolve(func(place string) (string, bool) {
		if strings.HasPrefix(place, "solver+0x3") {
			return "solver.c:97", true // both receives stand in one line
		}
		return "", false
	})
	got := s.Text()
	if *rewrite {
		os.WriteFile("testdata/page.txt", []byte(got), 0o644)
	}
	if want, err := os.ReadFile("testdata/page.txt"); err != nil || got != string(want) {
		t.Errorf("%v; the page is\n%s", err, got)
	}
}

func TestMergingIsIndependentOfTheOrder(t *testing.T) {
	a, b := own(0, 3), own(2, 3)
	a.Merge(own(1, 3))
	a.Merge(own(2, 3))
	b.Merge(own(0, 3))
	b.Merge(own(1, 3))
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a.Calls, b.Calls)
	}
	for _, c := range a.Calls {
		if c.Name == "MPI_Barrier" && (c.Ranks != 3 || c.Time != 81e8 || c.Least.Rank != 0 || c.Most.Time != 4e9) {
			t.Errorf("%+v", c)
		}
		if c.Name == "MPI_Recv" && (c.Ranks != 3 || c.Count != 6000 || c.Most.Time != 9e8) {
			t.Errorf("%+v", c)
		}
	}
}

func TestASummaryThatIsSentIsTheSame(t *testing.T) {
	s := merged(3)
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(text)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v; %+v", err, got.Calls)
	}
	var again Summary
	if err := json.Unmarshal([]byte(s.JSON()), &again); err != nil || !reflect.DeepEqual(&again, s) {
		t.Errorf("%v; %+v", err, again.Calls)
	}
}

func TestBadSummariesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(s *Summary){
		"no ranks":     func(s *Summary) { s.Ranks = nil },
		"no size":      func(s *Summary) { s.Size = 0 },
		"another step": func(s *Summary) { s.Width = 7 },
		"a stranger":   func(s *Summary) { s.Pairs[0].To = 3 },
		"less than 0":  func(s *Summary) { s.Pairs[0].From = -1 },
	} {
		s := own(0, 3)
		spoil(s)
		text, _ := s.Encode()
		if _, err := Parse(text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Parse([]byte("{")); err == nil {
		t.Error("half an object is accepted")
	}
}

func TestLargeJobsHaveBlocksAndFewPlaces(t *testing.T) {
	s := own(0, 1000)
	for i := range 2 * MostSites {
		c := s.Sites[0]
		c.Place, c.Time = "x+"+strings.Repeat("1", i), int64(i)
		s.Sites = append(s.Sites, c)
	}
	s.Complete()
	if len(s.Sites) > MostSites+4 || s.Width != 8 {
		t.Errorf("%d places, width %d", len(s.Sites), s.Width)
	}
	count := uint64(0)
	for _, c := range s.Sites {
		count += c.Count
	}
	if want := uint64(4100 + 2*MostSites*100); count != want {
		t.Errorf("%d calls, want %d", count, want)
	}
	if s.block(124) != "ranks 992-999" {
		t.Error(s.block(124))
	}
	if text := s.Text(); strings.Contains(text, "from row to column") {
		t.Error("there is a matrix of 125 blocks")
	}
}

func TestHostileNamesAreShownAsText(t *testing.T) {
	s := own(0, 2)
	s.Program, s.Ranks[0].Machine, s.Sites[0].Place = "/x/<script>alert(1)</script>", "a\x1b[2J\"'&", "<b>+\n0"
	page := s.HTML()
	for _, bad := range []string{"<script", "<b>", "\x1b"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in %s", bad, page)
		}
	}
	if text := s.Text(); strings.ContainsAny(text, "\x1b") || strings.Contains(text, "+\n0") {
		t.Error(text)
	}
}

func TestAnEmptySummaryIsAPage(t *testing.T) {
	s := &Summary{Size: 1, Width: 1}
	if s.Text() == "" || s.HTML() == "" || s.JSON() == "" {
		t.Error("nothing")
	}
}

func FuzzParse(f *testing.F) {
	text, _ := own(0, 3).Encode()
	f.Add(text)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err != nil {
			return
		}
		s.Merge(own(1, 3))
		if s.Size <= 1<<16 {
			s.Text()
			s.HTML()
		}
	})
}
