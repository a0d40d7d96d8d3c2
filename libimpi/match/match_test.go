package match

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden traces anew")

// matcher drives a space by the lines of a trace:
//
//	post NAME SOURCE TAG    a receive; answers the message it takes, or waits
//	arrive NAME SOURCE TAG  a message; answers the receive it takes, or is kept
//	probe SOURCE TAG        answers the message a receive would take, or none
//	take NAME               a matched probe takes a message out
//	cancel NAME             a receive or a message is taken back; answers whether it was there
//	cancelid PEER ID        the newest message of a process with that request id is taken back
type matcher struct {
	ctx      *Space[request, message]
	receives map[string]*request
	messages map[string]*message
	names    map[any]string
}

// request and message are what an engine keeps, as far as these tests need it.
type request struct {
	source, tag int32
	waits       Receive[request]
}

type message struct {
	source, tag int32
	id          uint64
	waits       Message[message]
}

func space(sources int) *Space[request, message] {
	s := new(Space[request, message])
	s.Open(sources)
	return s
}

func (m *matcher) take(x *message) { m.ctx.Take(&x.waits) }

func newMatcher(sources int) *matcher {
	return &matcher{
		ctx:      space(sources),
		receives: map[string]*request{}, messages: map[string]*message{}, names: map[any]string{},
	}
}

func (m *matcher) run(line string) string {
	f := strings.Fields(line)
	word := func(i int) int32 {
		if f[i] == "any" {
			return map[bool]int32{true: AnySource, false: AnyTag}[i == len(f)-2]
		}
		n, err := strconv.Atoi(f[i])
		if err != nil {
			panic(line)
		}
		return int32(n)
	}
	switch f[0] {
	case "post":
		return m.post(f[1], word(2), word(3))
	case "arrive":
		return m.arrive(f[1], word(2), word(3))
	case "probe":
		return m.nameOf(m.ctx.Find(word(1), word(2)))
	case "take":
		m.take(m.messages[f[1]])
		delete(m.messages, f[1])
		return "taken"
	case "cancel":
		return m.cancel(f[1])
	case "cancelid":
		x := m.ctx.Newest(func(x *message) bool { return x.source == word(1) && x.id == uint64(word(2)) })
		if x != nil {
			m.take(x)
		}
		return m.nameOf(x)
	}
	panic(line)
}

func (m *matcher) nameOf(x *message) string {
	if x == nil {
		return "none"
	}
	return m.names[x]
}

func (m *matcher) post(name string, source, tag int32) string {
	r := &request{source: source, tag: tag}
	r.waits.Of = r
	if x := m.ctx.Find(source, tag); x != nil {
		m.take(x)
		delete(m.messages, m.names[x])
		return m.names[x]
	}
	m.ctx.Post(&r.waits, source, tag)
	m.receives[name], m.names[r] = r, name
	return "waits"
}

// arrive uses the digits of a message's name as its request id.
func (m *matcher) arrive(name string, source, tag int32) string {
	if r := m.ctx.Arrive(source, tag); r != nil {
		delete(m.receives, m.names[r])
		return m.names[r]
	}
	id, _ := strconv.Atoi(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))
	x := &message{source: source, tag: tag, id: uint64(id)}
	x.waits.Of = x
	m.ctx.Keep(&x.waits, source, tag)
	m.messages[name], m.names[x] = x, name
	return "kept"
}

func (m *matcher) cancel(name string) string {
	if r := m.receives[name]; r != nil {
		m.ctx.Withdraw(&r.waits)
		delete(m.receives, name)
		return "yes"
	}
	if x := m.messages[name]; x != nil {
		m.take(x)
		delete(m.messages, name)
		return "yes"
	}
	return "no"
}

func TestTracesMatchAsTheyAlwaysDid(t *testing.T) {
	files, err := filepath.Glob("testdata/match_*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m := newMatcher(4)
			lines := strings.Split(string(content), "\n")
			for i, line := range lines {
				call, want, _ := strings.Cut(line, "=>")
				if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
					continue
				}
				got := m.run(call)
				lines[i] = fmt.Sprintf("%-22s => %s", strings.TrimSpace(call), got)
				if want = strings.TrimSpace(want); got != want && !*update {
					t.Errorf("line %d: %s => %s, want %s", i+1, strings.TrimSpace(call), got, want)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// oracle is MPI's rule in its plainest form: two lists in order of time (MPI 5.0, 3.5).
type oracle struct{ receives, messages []item }

type item struct {
	name        string
	source, tag int32
}

func fits(recv, msg item) bool {
	return (recv.source == AnySource || recv.source == msg.source) && (recv.tag == AnyTag || recv.tag == msg.tag)
}

func (o *oracle) post(r item) string {
	for i, m := range o.messages {
		if fits(r, m) {
			o.messages = slices.Delete(o.messages, i, i+1)
			return m.name
		}
	}
	o.receives = append(o.receives, r)
	return "waits"
}

func (o *oracle) arrive(m item) string {
	for i, r := range o.receives {
		if fits(r, m) {
			o.receives = slices.Delete(o.receives, i, i+1)
			return r.name
		}
	}
	o.messages = append(o.messages, m)
	return "kept"
}

func (o *oracle) probe(r item) string {
	for _, m := range o.messages {
		if fits(r, m) {
			return m.name
		}
	}
	return "none"
}

func (o *oracle) cancel(name string) string {
	for _, list := range []*[]item{&o.receives, &o.messages} {
		for i, x := range *list {
			if x.name == name {
				*list = slices.Delete(*list, i, i+1)
				return "yes"
			}
		}
	}
	return "no"
}

func TestMatchingIsThatOfTheOracle(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		compareWithOracle(t, rng, 1+rng.Int32N(4), 1+rng.Int32N(3), 400, 3)
	}
}

// With many tags and few wildcards the queues grow long, and are indexed, emptied and indexed again.
func TestMatchingByIndexIsThatOfTheOracle(t *testing.T) {
	indexed := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		indexed += compareWithOracle(t, rng, 1+rng.Int32N(4), 40+rng.Int32N(200), 2000, 8+rng.IntN(30))
	}
	if indexed < 20 {
		t.Errorf("an index was made in %d runs of 40", indexed)
	}
}

// compareWithOracle takes random steps, one in every wild of the choices a wildcard, and returns 1 if an index was in
// use.
func compareWithOracle(t *testing.T, rng *rand.Rand, sources, tags int32, steps, wild int) (indexed int) {
	t.Helper()
	m, o := newMatcher(int(sources)), &oracle{}
	var trace []string
	for i := range steps {
		x := item{name: fmt.Sprint("x", i), source: rng.Int32N(sources), tag: rng.Int32N(tags)}
		r := x
		if rng.IntN(wild) == 0 {
			r.source = AnySource
		}
		if rng.IntN(wild) == 0 {
			r.tag = AnyTag
		}
		var got, want, line string
		switch k := rng.IntN(10); {
		case k < 4:
			line, got, want = fmt.Sprint("post ", r), m.post(r.name, r.source, r.tag), o.post(r)
		case k < 8:
			line, got, want = fmt.Sprint("arrive ", x), m.arrive(x.name, x.source, x.tag), o.arrive(x)
		case k == 8:
			line, got, want = fmt.Sprint("probe ", r), m.nameOf(m.ctx.Find(r.source, r.tag)), o.probe(r)
		default:
			name := fmt.Sprint("x", rng.IntN(i+1))
			line, got, want = "cancel "+name, m.cancel(name), o.cancel(name)
		}
		trace = append(trace, line+" => "+got)
		if got != want {
			t.Fatalf("want %s\n%s", want, strings.Join(trace, "\n"))
		}
		if m.ctx.receives.on || m.ctx.messages.on {
			indexed = 1
		}
	}
	if n := len(o.receives) + len(o.messages); m.ctx.Waiting() != uint32(n) {
		t.Fatalf("%d receives and messages are counted as %d", n, m.ctx.Waiting())
	}
	return indexed
}

// A receive or message that has left its queues points at none that has stayed.
func TestWhatLeavesAQueueIsForgotten(t *testing.T) {
	for _, middle := range []int{0, 1, 2} {
		m := newMatcher(1)
		var rs []*request
		var ms []*message
		for i := range 3 {
			m.post(fmt.Sprint("r", i), 0, int32(10+i))
			m.arrive(fmt.Sprint("m", i), 0, int32(i))
			rs, ms = append(rs, m.receives[fmt.Sprint("r", i)]), append(ms, m.messages[fmt.Sprint("m", i)])
		}
		m.ctx.Withdraw(&rs[middle].waits)
		m.take(ms[middle])
		r, x := &rs[middle].waits, &ms[middle].waits
		if r.next != nil || r.prev != nil || x.nextAll != nil || x.prevAll != nil || x.nextSame != nil || x.prevSame != nil {
			t.Errorf("number %d still points into its queues", middle)
		}
		for i, r := range rs {
			if in := &r.waits == m.ctx.bySource[0].posted.head || r.waits.prev != nil; in == (i == middle) {
				t.Errorf("without %d: receive %d in the queue: %t", middle, i, in)
			}
		}
	}
}

// A hundred thousand receives with tags of their own, taken in an order of which the space knows nothing, and as many
// messages: every search is short, and once the pools have grown nothing is allocated.
func TestMAnyTagsAreFoundBySource(t *testing.T) {
	const n, sources = 100000, 3
	c := space(sources)
	receives, messages := make([]request, n), make([]message, n)
	for i := range n {
		receives[i].waits.Of, messages[i].waits.Of = &receives[i], &messages[i]
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(n)
	rounds := func(n int) {
		for i := range n {
			receives[i].source, receives[i].tag = int32(i%sources), int32(i)
			c.Post(&receives[i].waits, receives[i].source, receives[i].tag)
		}
		for _, i := range order {
			if i >= n {
				continue
			}
			if r := c.Arrive(int32(i%sources), int32(i)); r != &receives[i] {
				t.Fatalf("message %d takes %v", i, r)
			}
		}
		for i := range n {
			messages[i].source, messages[i].tag = int32(i%sources), int32(i)
			c.Keep(&messages[i].waits, messages[i].source, messages[i].tag)
		}
		for k, i := range order {
			if i >= n {
				continue
			}
			source := int32(i % sources)
			if k%2 == 0 {
				source = AnySource
			}
			m := c.Find(source, int32(i))
			if m != &messages[i] {
				t.Fatalf("receive %d takes %v", i, m)
			}
			c.Take(&m.waits)
		}
		if c.receives.on || c.messages.on || c.Waiting() != 0 {
			t.Fatal("an empty space is indexed")
		}
	}
	rounds(n)
	const few = 16000
	rounds(few)
	if allocs := testing.AllocsPerRun(3, func() { rounds(few) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	for i := range n {
		receives[i].source, receives[i].tag = int32(i%sources), int32(i)
		c.Post(&receives[i].waits, receives[i].source, receives[i].tag)
	}
	c.indexReceives()
	longest := 0
	for _, q := range c.receives.buckets {
		length := 0
		for ; q != nil; q = q.next {
			length++
		}
		longest = max(longest, length)
	}
	if longest > 12 {
		t.Errorf("%d keys share a bucket", longest)
	}
}
