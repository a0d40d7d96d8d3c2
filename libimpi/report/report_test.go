package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestAReportIsTheSameAfterItsJourney(t *testing.T) {
	p := &Process{Rank: 3, PID: 77, Machine: "a", Moves: 4, Sent: 5, Received: 6,
		Threads: []Thread{{Call: "MPI_Recv", Args: []Arg{{"tag", "7"}}, For: ForRequests, Comm: NameOf(0), Peer: 4, World: 4,
			Tag: 7, Waits: []Message{{Kind: "recv", Peer: 4, World: 4, Tag: 7, Bytes: 8}}, Since: 9,
			Returns: []Address{{"a.out", 12}}}}, ThreadCount: 1,
		Comms: []Comm{{ID: 0, Name: "MPI_COMM_WORLD", Rank: 3, Size: 5, Members: []Run{{0, 5}}}}}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(b)
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v, %v", got, err)
	}
	if c := got.Find(got.Threads[0].Comm); c == nil || c.World(4) != 4 || c.World(5) != None || c.World(-1) != None {
		t.Errorf("the communicator is %+v", c)
	}
	if got.Find(0) != nil || got.Find(NameOf(9)) != nil {
		t.Error("found a communicator that there is not")
	}
}

func TestALongReportIsCut(t *testing.T) {
	p := &Process{Rank: 1, SendCount: 1000}
	for range Most {
		p.Sends = append(p.Sends, Message{Type: strings.Repeat("x", MostBytes/Most)})
	}
	b, err := p.Encode()
	if err != nil || len(b) > MostBytes {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	got, err := Parse(b)
	if err != nil || len(got.Sends) != Most/2 || got.SendCount != 1000 || len(p.Sends) != Most {
		t.Errorf("%d sends of %d, %v", len(got.Sends), got.SendCount, err)
	}
}

func TestAReportThatBreaksTheBoundsIsRefused(t *testing.T) {
	many := "[" + strings.Repeat("{},", Most) + "{}]"
	for _, text := range []string{
		"", "7", `{"rank":"x"}`, `{"sends":` + many + `}`, `{"threads":[{"waits":` + many + `}]}`,
		`{"threads":[{"args":` + many + `}]}`, `{"comms":[{"members":[{"First":-1,"Count":1}]}]}`,
		`{"comms":[{"members":[{"First":0,"Count":0}]}]}`, `{"comms":[{"members":[{"First":0,"Count":9999999999}]}]}`,
		string(bytes.Repeat([]byte(" "), MostBytes+1)),
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.60q is taken for a report", text)
		}
	}
}

func TestRunsAreAsShortAsCanBe(t *testing.T) {
	numbers := []int{0, 1, 2, 7, 8, 5, 3}
	got := Runs(len(numbers), func(i int) int { return numbers[i] })
	want := []Run{{0, 3}, {7, 2}, {5, 1}, {3, 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	c := Comm{Members: got}
	for i, n := range numbers {
		if c.World(i) != n {
			t.Errorf("rank %d is %d in the world", i, c.World(i))
		}
	}
	if got := Runs(3*mostRuns, func(i int) int { return 2 * i }); len(got) != mostRuns {
		t.Errorf("%d runs", len(got))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"rank":1,"comms":[{"id":0,"members":[{"First":0,"Count":5}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err != nil {
			return
		}
		for i := range p.Comms {
			p.Comms[i].World(1 << 40)
		}
		if again, err := p.Encode(); err != nil || len(again) > MostBytes {
			t.Errorf("%d bytes, %v", len(again), err)
		}
	})
}
