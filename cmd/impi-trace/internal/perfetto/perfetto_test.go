package perfetto

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
)

// field is a field of a message of protobuf.
type field struct {
	number int
	v      uint64
	b      []byte
}

// fieldsOf reads a message.
func fieldsOf(t *testing.T, b []byte) (all []field) {
	t.Helper()
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("no tag in % x", b)
		}
		b = b[n:]
		f := field{number: int(tag >> 3)}
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				t.Fatal("no number")
			}
			f.v, b = v, b[n:]
		case 1:
			f.v, b = binary.LittleEndian.Uint64(b), b[8:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || uint64(len(b)-n) < size {
				t.Fatal("no bytes")
			}
			f.b, b = b[n:n+int(size)], b[n+int(size):]
		default:
			t.Fatalf("wire type %d", tag&7)
		}
		all = append(all, f)
	}
	return all
}

func get(all []field, number int) (v uint64) {
	for _, f := range all {
		if f.number == number {
			v = f.v
		}
	}
	return v
}

// slice is what Perfetto shows as one.
type slice struct {
	name       string
	from, to   uint64
	depth      int
	out, in    []uint64
	arguments  map[string]string
	track      string
	hasEnd     bool
	parentName string
}

// read reads a file as Perfetto's trace processor does, as far as it is used: tracks, interned names, slices, flows.
func read(t *testing.T, b []byte) (slices []*slice) {
	t.Helper()
	type sequence struct {
		track     uint64
		names     map[uint64]string
		arguments map[uint64]string
		strings   map[uint64]string
	}
	tracks, sequences, stacks := map[uint64]string{}, map[uint64]*sequence{}, map[uint64][]*slice{}
	for _, p := range fieldsOf(t, b) {
		if p.number != 1 {
			t.Fatalf("field %d of a trace", p.number)
		}
		packet := fieldsOf(t, p.b)
		number := get(packet, 10)
		s := sequences[number]
		for _, f := range packet {
			switch f.number {
			case 60:
				d := fieldsOf(t, f.b)
				for _, x := range d {
					if x.number == 2 {
						tracks[get(d, 1)] = string(x.b)
					}
				}
			case 59:
				s = &sequence{names: map[uint64]string{}, arguments: map[uint64]string{}, strings: map[uint64]string{}}
				sequences[number] = s
				s.track = get(fieldsOf(t, fieldsOf(t, f.b)[0].b), 11)
			case 12:
				for _, entry := range fieldsOf(t, f.b) {
					to := map[int]map[uint64]string{2: s.names, 3: s.arguments, 29: s.strings, 1: {}}[entry.number]
					e := fieldsOf(t, entry.b)
					to[get(e, 1)] = string(e[1].b)
				}
			case 11:
				e := fieldsOf(t, f.b)
				track := s.track
				if v := get(e, 11); v != 0 {
					track = v
				}
				if _, known := tracks[track]; !known || get(packet, 13) != 2 {
					t.Fatalf("an event of an unknown track %d", track)
				}
				stack := stacks[track]
				if get(e, 9) == 2 {
					if len(stack) == 0 {
						t.Fatal("an end without a begin")
					}
					last := stack[len(stack)-1]
					last.to, last.hasEnd = get(packet, 8), true
					stacks[track] = stack[:len(stack)-1]
					continue
				}
				now := &slice{name: s.names[get(e, 10)], from: get(packet, 8), depth: len(stack), track: tracks[track],
					arguments: map[string]string{}}
				for _, x := range e {
					switch x.number {
					case 23:
						now.name = string(x.b)
					case 47:
						now.out = append(now.out, x.v)
					case 48:
						now.in = append(now.in, x.v)
					case 4:
						a := fieldsOf(t, x.b)
						now.arguments[s.arguments[get(a, 1)]] = fmt.Sprint(get(a, 4))
						if iid := get(a, 17); iid != 0 {
							now.arguments[s.arguments[get(a, 1)]] = s.strings[iid]
						}
					}
				}
				if len(stack) > 0 {
					now.parentName = stack[len(stack)-1].name
				}
				slices = append(slices, now)
				stacks[track] = append(stack, now)
			}
		}
	}
	for _, s := range slices {
		if !s.hasEnd || s.to < s.from {
			t.Fatalf("%+v does not end", s)
		}
	}
	return slices
}

func written(t *testing.T, r *analysis.Result) []*slice {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return read(t, b.Bytes())
}

func TestCallsWaitsAndMessagesAreInTheFile(t *testing.T) {
	for seed := range int64(20) {
		source := rand.New(rand.NewSource(seed))
		j := jobtest.Random(source, 1+source.Intn(6), source.Intn(100)).Job
		r := analysis.Analyze(j)
		slices := written(t, r)
		calls, waits, path, flows, ends := 0, 0, 0, map[uint64]*slice{}, map[uint64]*slice{}
		for _, s := range slices {
			switch {
			case s.track == "critical path":
				path++
			case s.depth == 0:
				calls++
			default:
				waits++
			}
			for _, f := range s.out {
				flows[f] = s
			}
			for _, f := range s.in {
				ends[f] = s
			}
		}
		want := 0
		for _, list := range r.Waits {
			want += len(list)
		}
		if calls != j.Count() || waits != want || path != len(r.Path) || len(flows) != len(r.Messages) ||
			len(ends) != len(r.Messages) {
			t.Fatalf("job %d: %d calls of %d, %d waits of %d, %d segments of %d, %d and %d flows of %d", seed, calls, j.Count(),
				waits, want, path, len(r.Path), len(flows), len(ends), len(r.Messages))
		}
		for i, m := range r.Messages {
			a, b := flows[uint64(i)+1], ends[uint64(i)+1]
			send := j.Ranks[m.From].Calls[j.Ranks[m.From].Sends[m.Send].Call]
			done := j.Ranks[m.To].Calls[j.Ranks[m.To].Receives[m.Receive].Done]
			if a.from != uint64(send.Start) || a.name != j.Name(&send) || b.from != uint64(done.Start) ||
				b.name != j.Name(&done) {
				t.Fatalf("message %d goes from %+v to %+v", i, a, b)
			}
		}
	}
}

func TestASliceTellsWhatItsCallWas(t *testing.T) {
	s := jobtest.New(2)
	s.Compute(0, 9000)
	s.Message(0, 1, 4096, 7, false)
	list := written(t, analysis.Analyze(s.Finish()))
	at := slices.IndexFunc(list, func(s *slice) bool { return s.name == "MPI_Recv" })
	got := list[at].arguments
	for name, want := range map[string]string{"bytes": "4096", "tag": "7", "communicator": "MPI_COMM_WORLD",
		"line": "solver.c:12", "peer": "0"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	wait := list[at+1]
	if wait.name != "late sender" || wait.parentName != "MPI_Recv" || wait.to-wait.from != 9000 ||
		wait.arguments["waits for rank"] != "0" || wait.track != "rank 1 on node0" {
		t.Errorf("the wait is %+v", wait)
	}
}

func TestCallsWithinCallsAndOfThreadsNest(t *testing.T) {
	j := jobtest.New(1).Finish()
	j.Ranks[0].Calls = []job.Call{
		{Start: 0, End: 100, Function: jobtest.Recv, Site: -1, Comm: -1, Peer: -1, Tag: -1},
		{Start: 10, End: 30, Function: jobtest.Send, Site: -1, Comm: -1, Peer: -1, Tag: -1},
		{Start: 20, End: 200, Function: jobtest.Bcast, Thread: 1, Site: -1, Comm: -1, Peer: -1, Tag: -1},
		// Damaged: it is longer than what it is in.
		{Start: 40, End: 150, Function: jobtest.Send, Site: -1, Comm: -1, Peer: -1, Tag: -1},
		{Start: 160, End: 170, Function: jobtest.Barrier, Site: -1, Comm: -1, Peer: -1, Tag: -1},
	}
	got := ""
	for _, s := range written(t, analysis.Analyze(j)) {
		if s.track != "critical path" {
			got += fmt.Sprintf("%s %d %d-%d\n", s.name, s.depth, s.from, s.to)
		}
	}
	want := "MPI_Recv 0 0-100\nMPI_Send 1 10-30\nMPI_Bcast 0 20-200\nMPI_Send 1 40-100\nMPI_Barrier 0 160-170\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestSlicesOfADamagedTraceNest(t *testing.T) {
	for seed := range int64(40) {
		random := rand.New(rand.NewSource(seed))
		j := jobtest.Random(random, 1+random.Intn(5), random.Intn(100)).Job
		jobtest.Damage(random, j)
		open := map[string][]*slice{}
		for _, s := range written(t, analysis.Analyze(j)) {
			stack := open[s.track]
			for len(stack) > 0 && stack[len(stack)-1].to <= s.from {
				stack = stack[:len(stack)-1]
			}
			if n := len(stack); n > 0 && s.to > stack[n-1].to {
				t.Fatalf("job %d: %+v is longer than %+v, which it is in", seed, s, stack[n-1])
			}
			open[s.track] = append(stack, s)
		}
	}
}
