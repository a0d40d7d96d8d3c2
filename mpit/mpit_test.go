package mpit

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/quick"

	"github.com/libimpi/libimpi/abi"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of docs/tools.md anew")

func TestNamesAreUniqueAndPlain(t *testing.T) {
	plain := regexp.MustCompile(`^[a-z0-9_-]+$`)
	seen := map[string]bool{}
	once := func(kind, name string) {
		if seen[kind+" "+name] || !plain.MatchString(name) {
			t.Errorf("%s %q stands there twice, or is no plain name", kind, name)
		}
		seen[kind+" "+name] = true
	}
	for _, v := range Variables {
		once("variable", v.Name+"-"+ClassName(v.Class))
		if v.Continuous == v.Counted {
			t.Errorf("%s: it is counted from its start, or continuous", v.Name)
		}
	}
	for _, e := range Events {
		once("event", e.Name)
	}
	for _, c := range Categories {
		once("category", c.Name)
	}
}

func TestAWatermarkHasTheNameOfItsLevel(t *testing.T) {
	for _, class := range []int{abi.MPI_T_PVAR_CLASS_LEVEL, abi.MPI_T_PVAR_CLASS_HIGHWATERMARK} {
		if i := FindVariable("unexpected_length", class); i < 0 || Variables[i].Class != class {
			t.Errorf("class %d: %d", class, i)
		}
	}
}

func TestElementsOfAnEventDoNotOverlap(t *testing.T) {
	for _, e := range Events {
		end := int64(0)
		for _, element := range e.Elements {
			size := SizeOf(element.Type)
			if size == 0 || element.At < end || element.At%size != 0 {
				t.Errorf("%s: %s of %d bytes is at %d, behind %d", e.Name, element.Name, size, element.At, end)
			}
			end = element.At + size
		}
		if len(e.Elements) > mostElements || len(e.Enum.Items) != len(e.Elements) {
			t.Errorf("%s has %d elements and %d names", e.Name, len(e.Elements), len(e.Enum.Items))
		}
	}
}

func TestCategoriesHaveEverythingOnceAndAreATree(t *testing.T) {
	parents, variables := make([]int, len(Categories)), make([]int, len(Variables))
	for i, c := range Categories {
		for _, v := range c.Variables {
			variables[v]++
		}
		for _, child := range c.Categories {
			parents[child]++
			if int(child) <= i {
				t.Errorf("%s has %s, which is before it", c.Name, Categories[child].Name)
			}
		}
	}
	if slices.ContainsFunc(variables, func(n int) bool { return n != 1 }) {
		t.Errorf("categories of variables: %v", variables)
	}
	if parents[0] != 0 || slices.ContainsFunc(parents[1:], func(n int) bool { return n != 1 }) {
		t.Errorf("parents of categories: %v", parents)
	}
}

// Handles of one number are independent: each shows what was added while it was started, since its last write.
func TestAMeasureShowsWhatWasAddedWhileItWasStarted(t *testing.T) {
	type step struct{ Do, By uint8 }
	law := func(steps []step) bool {
		var m Measure
		var raw, want uint64
		started := false
		for _, s := range steps {
			switch s.Do % 5 {
			case 0:
				m.Start(raw)
				started = true
			case 1:
				m.Stop(raw)
				started = false
			case 2:
				m.Write(raw, uint64(s.By))
				want = uint64(s.By)
			default:
				raw += uint64(s.By)
				if started {
					want += uint64(s.By)
				}
			}
			if m.Read(raw) != want || m.Running() != started {
				return false
			}
		}
		return true
	}
	if err := quick.Check(law, nil); err != nil {
		t.Error(err)
	}
}

// newDispatcher has a clock that counts its readings, and notes whether calls wait.
func newDispatcher() (d *Dispatcher, waiting *bool) {
	now := int64(0)
	waiting = new(bool)
	return &Dispatcher{Clock: func() int64 { now++; return now }, Alert: func(on bool) { *waiting = on }}, waiting
}

func register(d *Dispatcher, event string, of any) *Registration {
	r := &Registration{Event: &Events[FindEvent(event)], Of: of}
	d.Add(r)
	d.Set(r, 0, Function{1, 2})
	return r
}

// run makes all calls that wait, and returns them as text.
func run(t *testing.T, d *Dispatcher) (log []string) {
	t.Helper()
	end, ok := d.Begin()
	if !ok {
		t.Fatal("somebody else makes the calls")
	}
	defer d.End()
	for {
		c, ok := d.Next(end)
		if !ok {
			return log
		}
		if c.Event != nil {
			log = append(log, fmt.Sprint(c.Event.Values[0], "@", c.Event.Time))
		} else {
			log = append(log, fmt.Sprint("lost ", c.Lost))
		}
		if last := d.Done(c); last.Call != 0 {
			log = append(log, "freed")
		}
	}
}

func TestEventsAreToldInOrderToThoseWhoWantThem(t *testing.T) {
	d, waiting := newDispatcher()
	one, other := new(int), new(int)
	register(d, "unexpected_message", nil)
	register(d, "comm_unexpected_message", one)
	d.Note(UnexpectedMessage, other, Values{7})
	d.Note(UnexpectedMessage, one, Values{8})
	d.Note(PeerLost, nil, Values{9})
	if !*waiting || !d.Wants(UnexpectedMessage) || d.Wants(PeerLost) {
		t.Error("who waits, or what is wanted, is wrong")
	}
	if got := strings.Join(run(t, d), " "); got != "7@1 8@2 8@3" {
		t.Error(got)
	}
	if *waiting {
		t.Error("nothing waits any more")
	}
}

func TestDroppedEventsAreToldBeforeLaterOnesAndAfterEarlierOnes(t *testing.T) {
	d, _ := newDispatcher()
	r := register(d, "peer_lost", nil)
	for i := range Room + 3 {
		d.Note(PeerLost, nil, Values{int64(i)}) // nobody counts what is dropped
	}
	d.SetDropped(r, 5)
	d.Note(PeerLost, nil, Values{-1})
	d.Note(PeerLost, nil, Values{-2})
	end, _ := d.Begin()
	c, _ := d.Next(end)
	d.Done(c)
	d.End()
	d.Note(PeerLost, nil, Values{-3}) // there is room again
	log := run(t, d)
	if n := len(log); n != Room+1 || log[n-2] != "lost 2" || !strings.HasPrefix(log[n-1], "-3@") {
		t.Errorf("%d calls, the last of them %v", n, log[max(n-3, 0):])
	}
}

func TestAFreedRegistrationHearsNoMoreAndIsToldSoWhenItsCallIsOver(t *testing.T) {
	d, _ := newDispatcher()
	r := register(d, "peer_lost", nil)
	d.Note(PeerLost, nil, Values{1})
	d.Note(PeerLost, nil, Values{2})
	end, _ := d.Begin()
	c, _ := d.Next(end)
	if last := d.Free(r, Function{3, 4}); last.Call != 0 {
		t.Error("freed while a call is under way")
	}
	if last := d.Done(c); last != (Function{3, 4}) {
		t.Error(last)
	}
	if c, ok := d.Next(end); ok {
		t.Errorf("%v after the end", c)
	}
	d.End()
	idle := register(d, "peer_lost", nil)
	if last := d.Free(idle, Function{3, 4}); last != (Function{3, 4}) {
		t.Error(last)
	}
}

func TestOneThreadAtATimeMakesCallsAndStopsAtWhatWasThere(t *testing.T) {
	d, waiting := newDispatcher()
	register(d, "peer_lost", nil)
	d.Note(PeerLost, nil, Values{1})
	end, _ := d.Begin()
	if _, ok := d.Begin(); ok {
		t.Error("two at a time")
	}
	c, _ := d.Next(end)
	d.Note(PeerLost, nil, Values{2}) // from the function
	d.Done(c)
	if _, ok := d.Next(end); ok {
		t.Error("an event of the function itself")
	}
	d.End()
	if !*waiting || len(run(t, d)) != 1 {
		t.Error("the event of the function is not told later")
	}
}

func TestTheFunctionWithTheLowestLevelIsCalled(t *testing.T) {
	d, _ := newDispatcher()
	r := register(d, "peer_lost", nil)
	d.Set(r, 2, Function{9, 9})
	d.Note(PeerLost, nil, Values{})
	end, _ := d.Begin()
	c, _ := d.Next(end)
	d.Done(c)
	d.End()
	if c.Call != 1 {
		t.Error(c.Call)
	}
	d.Set(r, 0, Function{})
	d.Note(PeerLost, nil, Values{})
	end, _ = d.Begin()
	if c, _ = d.Next(end); c.Call != 9 || d.Function(r, 2).Call != 9 {
		t.Error(c.Call)
	}
}

func TestThreadsMayNoteAndCallAtTheSameTime(t *testing.T) {
	d := &Dispatcher{Clock: func() int64 { return 0 }, Alert: func(bool) {}}
	r := register(d, "peer_lost", nil)
	d.SetDropped(r, 1)
	var notes, told sync.WaitGroup
	const each, threads = 5000, 4
	total := int64(0)
	for range threads {
		notes.Go(func() {
			for range each {
				d.Note(PeerLost, nil, Values{})
			}
		})
	}
	stop := make(chan struct{})
	call := func() {
		end, ok := d.Begin()
		if !ok {
			return
		}
		for c, ok := d.Next(end); ok; c, ok = d.Next(end) {
			if c.Event == nil {
				total += c.Lost
			} else {
				total++
			}
			d.Done(c)
		}
		d.End()
	}
	for range 2 {
		told.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					call()
				}
			}
		})
	}
	notes.Wait()
	close(stop)
	told.Wait()
	call()
	if total != each*threads {
		t.Errorf("%d of %d events were told or counted", total, each*threads)
	}
}

// variableRows are the table of performance variables. Those of algorithms are one row.
func variableRows() []string {
	rows := []string{"| variable | class | counts | bound to | is |", "|---|---|---|---|---|"}
	algorithms := false
	for i := range Variables {
		v := &Variables[i]
		name, about := v.Name, v.About
		if v.Quantity == Taken {
			if algorithms {
				continue
			}
			algorithms = true
			name, about = "algorithm_OPERATION_NAME", "calls that were carried out by an algorithm; "+
				"`impi-info` lists operations and algorithms"
		}
		object := ""
		if v.OfComm {
			object = "communicator"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", name, ClassName(v.Class), v.When(), object, about))
	}
	return rows
}

// eventRows are the table of event types.
func eventRows() []string {
	rows := []string{"| event | elements | bound to | is |", "|---|---|---|---|"}
	for _, e := range Events {
		var names []string
		for _, element := range e.Elements {
			names = append(names, "`"+element.Name+"`")
		}
		object := ""
		if e.OfComm {
			object = "communicator"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", e.Name, strings.Join(names, ", "), object, e.About))
	}
	return rows
}

// categoryRows are the table of categories.
func categoryRows() []string {
	rows := []string{"| category | has | is |", "|---|---|---|"}
	for _, c := range Categories {
		var has []string
		for _, n := range []struct {
			of   int
			what string
		}{{len(c.Categories), "categories"}, {len(c.Controls), "control variables"},
			{len(c.Variables), "performance variables"}, {len(c.Events), "events"}} {
			if n.of > 0 {
				has = append(has, fmt.Sprintf("%d %s", n.of, n.what))
			}
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", c.Name, strings.Join(has, ", "), c.About))
	}
	return rows
}

// TestThePageIsMadeOfTheTables holds docs/tools.md against the tables, or writes its own anew (-rewrite).
func TestThePageIsMadeOfTheTables(t *testing.T) {
	const page = "../docs/tools.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	made := string(text)
	for mark, rows := range map[string][]string{"variables": variableRows(), "events": eventRows(),
		"categories": categoryRows()} {
		begin := "<!-- " + mark + " -->\n"
		from := strings.Index(made, begin)
		if from < 0 {
			t.Fatalf("%s has no place for %s", page, mark)
		}
		from += len(begin)
		to := from + strings.Index(made[from:], "<!-- end -->")
		made = made[:from] + strings.Join(rows, "\n") + "\n" + made[to:]
	}
	if made == string(text) {
		return
	}
	if !*rewrite {
		t.Fatalf("%s is not what the tables say: go test ./mpit -rewrite", page)
	}
	if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
		t.Fatal(err)
	}
}
