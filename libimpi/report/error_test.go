package report

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAnErrorIsItsCallArgumentsPeerAndHint(t *testing.T) {
	peer := 5
	e := Error{Call: "MPI_Send", Class: "MPI_ERR_RANK", Text: "argument dest is 9, and MPI_COMM_WORLD has ranks 0 to 3",
		Arguments: []Arg{{"buf", "0x7ffd12345678"}, {"count", "1"}, {"datatype", "MPI_INT"}, {"dest", "9"}},
		On:        "MPI_COMM_WORLD: 4 processes, this is rank 1", Peer: &peer, File: "/home/u/solver.c", Line: 118,
		Hint: "ranks begin at 0"}
	for machine, want := range map[string]string{
		"": `MPI_Send(buf=0x7ffd12345678, count=1, datatype=MPI_INT, dest=9)
on MPI_COMM_WORLD: 4 processes, this is rank 1
hint: ranks begin at 0`,
		"ws2": `MPI_Send(buf=0x7ffd12345678, count=1, datatype=MPI_INT, dest=9)
on MPI_COMM_WORLD: 4 processes, this is rank 1
the peer is rank 5 of MPI_COMM_WORLD, on ws2
hint: ranks begin at 0`,
	} {
		if got := strings.Join(e.Lines(machine), "\n"); got != want {
			t.Errorf("%q:\n%s", machine, got)
		}
	}
	if got := e.Where(); got != " at solver.c:118" {
		t.Error(got)
	}
	crash := Error{Signal: 11, Function: "compute", File: "solver.c", Line: 7, Call: "MPI_Isend", Text: "address 0x10"}
	if got := crash.Where() + ": " + strings.Join(crash.Lines(""), "; "); got !=
		" in compute at solver.c:7: address 0x10; the last call of MPI was MPI_Isend" {
		t.Error(got)
	}
}

func TestMPIAbortTakesOneLineUnlessThereIsMoreToSay(t *testing.T) {
	e := Error{Call: "MPI_Abort", Arguments: []Arg{{"comm", "MPI_COMM_WORLD"}}, On: "MPI_COMM_WORLD: 4 processes"}
	if lines := e.Lines(""); len(lines) != 0 {
		t.Errorf("%q", lines)
	}
	e.On, e.Text = "rows: 2 processes", "the code is that of MPI_Send: no"
	if lines := e.Lines(""); len(lines) != 2 || lines[0] != e.Text || lines[1] != "on rows: 2 processes" {
		t.Errorf("%q", lines)
	}
}

func TestLongArgumentsTakeSeveralLines(t *testing.T) {
	e := Error{Call: "MPI_Alltoallv"}
	for range 4 {
		e.Arguments = append(e.Arguments, Arg{"recvcounts", "[" + strings.Repeat("1000, ", 4) + "...]"})
	}
	lines := e.Lines("")
	if len(lines) != 2 || !strings.HasPrefix(lines[1], "              recvcounts=") || !strings.HasSuffix(lines[1], ")") {
		t.Errorf("%q", lines)
	}
	for _, l := range lines {
		if len(l) > widest {
			t.Errorf("%d bytes: %s", len(l), l)
		}
	}
}

func TestTheSameErrorMayDifferInNumbers(t *testing.T) {
	e := Error{Call: "MPI_Send", File: "a.c", Line: 3, Text: "argument buf is 0x7fe0, 12 bytes"}
	for _, c := range []struct {
		other Error
		same  bool
	}{
		{Error{Call: "MPI_Send", File: "a.c", Line: 3, Text: "argument buf is 0x51ab, 7 bytes", Hint: "any"}, true},
		{Error{Call: "MPI_Send", File: "a.c", Line: 4, Text: e.Text}, false},
		{Error{Call: "MPI_Recv", File: "a.c", Line: 3, Text: e.Text}, false},
		{Error{Call: "MPI_Send", File: "a.c", Line: 3, Text: "argument tag is 0x51ab, 7 bytes"}, false},
		{Error{Call: "MPI_Send", File: "a.c", Line: 3, Text: e.Text, Signal: 11}, false},
	} {
		if e.Same(&c.other) != c.same {
			t.Errorf("%+v", c.other)
		}
	}
	if (*Error)(nil).Same(nil) || e.Same(nil) {
		t.Error("nothing is an error")
	}
}

func TestAnErrorOfAnotherProcessIsBounded(t *testing.T) {
	e := Error{Call: "MPI_\x1b[2JSend\n", Text: strings.Repeat("é", mostErrorText), Line: -3, Signal: 1 << 20}
	for range 100 {
		e.Arguments = append(e.Arguments, Arg{"a\x00", "b\r\n"})
	}
	b := e.Bounded()
	if b.Call != "MPI_ [2JSend " || len(b.Text) > mostErrorText+3 || b.Line != 0 || b.Signal != 0 ||
		len(b.Arguments) != mostArguments || b.Arguments[0] != (Arg{"a ", "b  "}) {
		t.Errorf("%+v", b)
	}
	if len(e.Arguments) != 100 || (*Error)(nil).Bounded() != nil {
		t.Error("the original has changed")
	}
	if text, err := json.Marshal(b); err != nil || len(text) > 8<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
