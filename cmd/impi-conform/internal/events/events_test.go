package events

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

// ticking is a recorder whose clock goes a millisecond with every event.
func ticking() *Recorder {
	now := time.Unix(0, 0)
	return NewAt(func() time.Time { now = now.Add(time.Millisecond); return now })
}

// pair is a connection: the tester's end of it, and the implementation's.
func pair(t *testing.T) (ours, theirs *net.TCPConn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return b.(*net.TCPConn), a.(*net.TCPConn)
}

// told is a trace in lines.
func told(t *Trace) (list []string) {
	for _, e := range t.Events {
		line := fmt.Sprintf("%d %s > %s: %s %s %s", e.N, e.From, e.To, e.Kind, e.Name, e.Text)
		if e.Window != nil {
			line += fmt.Sprintf(" window %d", *e.Window)
		}
		list = append(list, strings.TrimRight(line, " "))
	}
	return list
}

func TestAConnectionRecordsWhatGoesEitherWay(t *testing.T) {
	r := ticking()
	ours, theirs := pair(t)
	c := r.FromClient(ours, "client 1")
	theirs.Write(append(codec.Auth(2), codec.U64(5678)...))
	theirs.Close()
	b := make([]byte, 12)
	io.ReadFull(c, b)
	c.Write(codec.I32(1, 0))
	io.ReadAll(c)
	c.Write(codec.Impi(2)[:5])
	c.Close()
	c.Close()
	want := []string{"1 client 1 > server: connection made", "2 client 1 > server: command to the server AUTH",
		"3 server > client 1: choice choice", "4 client 1 > server: key key", "5 client 1 > server: connection closed",
		"6 server > client 1: command of the server IMPI", "7 server > client 1: connection closed"}
	got := r.Trace()
	if !reflect.DeepEqual(told(got), want) || !r.Seen() {
		t.Errorf("got\n%s", strings.Join(told(got), "\n"))
	}
	if e := got.Events[5]; e.Total != 5 || e.Whole != 8 {
		t.Errorf("of IMPI %d bytes of %d are said to have gone", e.Total, e.Whole)
	}
	if !reflect.DeepEqual(got.Columns, []Column{{"server", false}, {"client 1", true}}) {
		t.Errorf("the columns are %v", got.Columns)
	}
}

func TestPacketsAreBetweenProcessesAndKeepTheWindow(t *testing.T) {
	r := ticking()
	ids := []codec.ID{{PID: 1}, {PID: 2}}
	r.Processes(ids, func(rank int) bool { return rank == 0 })
	r.Negotiated(2, 4)
	ours, theirs := pair(t)
	c := r.FromHost(ours, "host 0.0", func(rank int) string { return fmt.Sprintf("host %d.0", rank) })
	theirs.Write(codec.U32(1))
	io.ReadFull(c, make([]byte, 4))
	send := func(h codec.Header) { c.Write(codec.Packet{Header: h}.Bytes()) }
	send(codec.Header{Src: ids[1], Dst: ids[0]})
	send(codec.Header{Src: ids[1], Dst: ids[0], Type: wire.PkCancel})
	send(codec.Header{Src: ids[0], Dst: ids[1], Type: wire.PkProtoAck})
	send(codec.Header{Type: wire.PkFini})
	send(codec.Header{Src: codec.ID{PID: 9}, Dst: ids[0]})
	want := []string{"1 host 1.0 > host 0.0: connection made", "2 host 1.0 > host 0.0: host's rank host 1",
		"3 process 1 > process 0: packet DATA  window 1", "4 process 1 > process 0: packet CANCEL  window 2",
		"5 process 0 > process 1: packet PROTOACK  window 0", "6 host 0.0 > host 1.0: packet FINI",
		"7 host 0.0 > process 0: packet DATA"}
	if got := r.Trace(); !reflect.DeepEqual(told(got), want) {
		t.Errorf("got\n%s", strings.Join(told(got), "\n"))
	}
	if c.LastIn() != 2 {
		t.Errorf("the last event that came is %d", c.LastIn())
	}
}

func TestTwoConnectionsThatSayTheyAreTheSameClientStayApart(t *testing.T) {
	r := ticking()
	for range 2 {
		ours, _ := pair(t)
		c := r.ToServer(ours)
		c.Write(codec.Auth(2))
		c.Write(append(codec.U64(1), codec.Impi(0)...))
	}
	a, b := r.Trace().Events[0], r.Trace().Events[4]
	if a.From != "client 0" || !strings.HasPrefix(b.From, "client 0, connection ") {
		t.Errorf("they are %q and %q", a.From, b.From)
	}
	if r.Seen() {
		t.Error("the server is said to have been seen")
	}
}

func TestProgramsAreRecordedToTheirEnds(t *testing.T) {
	r := ticking()
	r.Processes([]codec.ID{{PID: 1}}, func(int) bool { return true })
	p := r.Party("client 0", true)
	r.Started(p, []string{"run", "it"})
	r.Line(p, "stdout", "[0] recv", 8)
	r.Line(p, "stderr", "[5] no rank of its", 18)
	r.Problem("a line\x00")
	r.Freeze()
	r.Line(p, "stderr", "killed", 6)
	r.Ended(p, 143)
	want := []string{"1  > client 0: program started  run it", "2 process 0 > : line stdout [0] recv",
		"3 client 0 > : line stderr [5] no rank of its", `4  > : problem  a line\x00`,
		"5 client 0 > : program ended  ended by the tester"}
	if got := told(r.Trace()); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestATraceKeepsItsFirstAndLastEvents(t *testing.T) {
	r := ticking()
	p := r.Party("server", true)
	const n = first + last + 1234
	for i := range n {
		r.Line(p, "stdout", fmt.Sprint(i+1), 1)
	}
	got := r.Trace()
	if len(got.Events) != first+last || got.Left != 1234 {
		t.Fatalf("%d events are kept, %d left out", len(got.Events), got.Left)
	}
	for i, e := range got.Events {
		want := i + 1
		if i >= first {
			want += 1234
		}
		if e.N != want || e.Text != fmt.Sprint(want) {
			t.Fatalf("event %d is %d, %q", i, e.N, e.Text)
		}
	}
	short := got.Shorten(10)
	if len(short.Events) != 10 || short.Left != n-10 || short.Events[9].N != n || short.Events[4].N != 5 {
		t.Errorf("shortened it is %v", told(short))
	}
}

func TestAnEventIsReadBackWithoutItsFields(t *testing.T) {
	two := 2
	e := Event{N: 3, At: time.Second, From: "a", To: "b", Kind: codec.Packets, Name: "DATA",
		Bytes: codec.Packet{Header: codec.Header{Tag: 7}}.Bytes(), Total: 128, Window: &two}
	b, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(b),
		`{"name":"pk_tag","offset":84,"length":4,"raw":"00000007","value":"7"}`) {
		t.Fatalf("%s, %v", b, err)
	}
	var back Event
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestTextOfOthersIsMadeHarmlessAndShort(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":         "plain\ttext\n",
		"\x1b[31m\x00\x7f":      `\x1b[31m\x00\x7f`,
		"bad \xff\xc3(":         `bad \xff\xc3(`,
		"\u202eevil\u200b":      `\u{202e}evil\u{200b}`,
		"\ufffd is a character": "\ufffd is a character",
	} {
		if got := Clean(text, 100); got != want {
			t.Errorf("%q becomes %q, must be %q", text, got, want)
		}
	}
	long := Clean(strings.Repeat("ü", 1<<19), 255)
	end := fmt.Sprintf(" ... (%d more bytes)", 1<<20-254)
	if len(long) > 300 || !utf8.ValidString(long) || !strings.HasSuffix(long, end) {
		t.Errorf("a long text becomes %q", long)
	}
}

func TestATraceCanBeReadInPiecesWhileItGrows(t *testing.T) {
	r := ticking()
	r.Keep(10)
	calls := 0
	r.Notify(func() { calls++ })
	p := r.Party("server", true)
	r.Party("client 0", false) // says nothing
	for i := range 25 {
		r.Line(p, "stdout", fmt.Sprint(i+1), 1)
		whole := r.Trace()
		for from := range len(whole.Events) + 1 {
			piece, kept := r.Piece(from, 4)
			if kept != len(whole.Events) || piece.Left != whole.Left || len(piece.Columns) != 1 ||
				!reflect.DeepEqual(told(piece), told(&Trace{Events: whole.Events[from:min(from+4, kept)]})) {
				t.Fatalf("after %d events, from %d: %d kept, %v of %v", i+1, from, kept, told(piece), told(whole))
			}
		}
	}
	if piece, kept := r.Piece(-1, 1000); kept != 10 || len(piece.Events) != 10 || piece.Events[8].N != 24 {
		t.Errorf("%d kept, %v", kept, told(piece))
	}
	if calls != 25 {
		t.Errorf("%d calls", calls)
	}
}
