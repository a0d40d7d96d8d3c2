package checks

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

func TestAListOfChecksIsRead(t *testing.T) {
	for _, c := range []struct {
		list string
		want Set
	}{
		{"", 0}, {"0", 0}, {"1", Calls | Types}, {"all", All}, {"leaks", Leaks}, {"calls,types", Agreement},
		{" buffers , threads", Buffers | Threads}, {"1,leaks", Calls | Types | Leaks}, {"0,all", All},
	} {
		if s, err := Parse(c.list); s != c.want || err != nil {
			t.Errorf("%q: %b, %v", c.list, s, err)
		}
	}
	for _, list := range []string{"2", "leek", "all,", ",", "Calls", "calls types", "-1"} {
		if s, err := Parse(list); err == nil {
			t.Errorf("%q: %b", list, s)
		} else if !strings.Contains(err.Error(), "calls, types, buffers, leaks, threads, all, 0 and 1") {
			t.Error(err)
		}
	}
}

var integer = datatype.Named(abi.MPI_INT)

// column is every nth of count integers.
func column(t *testing.T, count, n int64) *datatype.Type {
	t.Helper()
	v, err := datatype.Vector(count, 1, n, integer)
	if err != nil {
		t.Fatal(err)
	}
	v.Commit()
	return v
}

// memory is so many integers.
func memory(n int) func(i int) datatype.Pointer {
	m := make([]int32, n)
	return func(i int) datatype.Pointer { return unsafe.Pointer(&m[i]) }
}

func TestMemoryThatIsReceivedIntoBelongsToOneOperation(t *testing.T) {
	at := memory(100)
	for _, c := range []struct {
		name        string
		first, then *Use
		want        string
	}{
		{"two receives", New("A", nil).Writes("buf", at(0), 4, integer), New("B", nil).Writes("buf", at(3), 4, integer),
			"argument buf has 4 bytes in common with argument buf of A, which is not complete"},
		{"beside each other", New("A", nil).Writes("buf", at(0), 4, integer),
			New("B", nil).Writes("buf", at(4), 4, integer), ""},
		{"a send from a receive's", New("A", nil).Writes("buf", at(0), 4, integer),
			New("B", nil).Reads("buf", at(1), 2, integer),
			"argument buf has 8 bytes in common with argument buf of A, which is not complete"},
		{"two sends", New("A", nil).Reads("buf", at(0), 4, integer), New("B", nil).Reads("buf", at(0), 4, integer), ""},
		{"a receive into a send's", New("A", nil).Reads("x", at(0), 4, integer), New("B", nil).Writes("y", at(3), 1, integer),
			"argument y has 4 bytes in common with argument x of A, which is not complete"},
		{"columns side by side", New("A", nil).Writes("buf", at(0), 1, column(t, 5, 3)),
			New("B", nil).Writes("buf", at(1), 1, column(t, 5, 3)), ""},
		{"the same column", New("A", nil).Writes("buf", at(0), 1, column(t, 5, 3)),
			New("B", nil).Writes("buf", at(3), 1, column(t, 5, 3)),
			"argument buf has 16 bytes in common with argument buf of A, which is not complete"},
		{"nothing", New("A", nil).Writes("buf", at(0), 0, integer), New("B", nil).Writes("buf", at(0), 4, integer), ""},
		{"both sides of one", New("A", nil),
			New("B", nil).Reads("sendbuf", at(0), 4, integer).Writes("recvbuf", at(2), 4, integer),
			"arguments sendbuf and recvbuf have 8 bytes in common"},
	} {
		q := NewRequests(All)
		if text := q.Begin(c.first, true); text != "" {
			t.Errorf("%s: %s", c.name, text)
		}
		if text := q.Begin(c.then, true); text != c.want {
			t.Errorf("%s: %q, not %q", c.name, text, c.want)
		}
	}
}

// Operations of random extents, against one that compares each with all.
func TestWhatIsUnderWayIsFoundAmongMany(t *testing.T) {
	r := rand.New(rand.NewSource(39))
	const room = 400
	at := memory(room)
	q := NewRequests(Buffers)
	taken := map[uint64][2]int{}
	for id := uint64(1); id < 3000; id++ {
		low := r.Intn(room - 40)
		n := 1 + r.Intn(1+r.Intn(40))
		free := true
		for _, o := range taken {
			free = free && (low+n <= o[0] || o[1] <= low)
		}
		u := New("MPI_Irecv", nil).Writes("buf", at(low), int64(n), integer)
		if text := q.Begin(u, false); (text == "") != free {
			t.Fatalf("%d integers from %d on: %q, among %v", n, low, text, taken)
		}
		if free {
			q.Track(id, u)
			taken[id] = [2]int{low, low + n}
		}
		for other := range taken {
			if r.Intn(4) == 0 {
				q.End(other)
				delete(taken, other)
			}
		}
	}
}

func TestWhatIsSentMustNotChange(t *testing.T) {
	at := memory(100)
	q := NewRequests(All)
	q.Where = func(returns []uintptr) string { return fmt.Sprintf(" at line %d", returns[0]) }
	u := New("MPI_Isend", []uintptr{7}).Reads("buf", at(0), 1, column(t, 5, 3))
	q.Begin(u, true)
	q.Track(1, u)
	*(*int32)(at(1)) = 5 // between the elements
	if text := q.End(1); text != "" {
		t.Error(text)
	}
	u = New("MPI_Send_init", []uintptr{8}).Reads("buf", at(0), 1, column(t, 5, 3)).Keeps()
	q.Track(2, u)
	*(*int32)(at(3)) = 5 // before it starts
	for i := range 2 {
		if text := q.Start(2); text != "" {
			t.Error(text)
		}
		want := ""
		if i == 1 {
			*(*int32)(at(3)) = 6
			want = "argument buf of MPI_Send_init at line 8 has changed while the operation was under way"
		}
		if text := q.End(2); text != want {
			t.Errorf("%q", text)
		}
	}
	q.Start(2)
	q.Seen(2)
	*(*int32)(at(3)) = 7
	if text := q.End(2); text != "" {
		t.Errorf("after the program knows that it is over: %s", text)
	}
}

func TestAFreedRequestIsUnderWayUntilItIsOver(t *testing.T) {
	at, over := memory(8), false
	q := NewRequests(All)
	q.Over = func(id uint64) bool {
		if over {
			q.Forget(id)
		}
		return over
	}
	begin := func() string { return q.Begin(New("MPI_Recv", nil).Writes("buf", at(0), 8, integer), false) }
	u := New("MPI_Irecv", nil).Writes("buf", at(2), 2, integer)
	q.Begin(u, true)
	q.Track(1, u)
	q.Free(1, true)
	const want = "argument buf has 8 bytes in common with argument buf of MPI_Irecv, which is not complete, though its " +
		"request has been freed"
	if text := begin(); text != want {
		t.Errorf("%q", text)
	}
	if over = true; begin() != "" {
		t.Error("it is over")
	}
}

func TestTwoThreadsMayNotWaitForOneRequest(t *testing.T) {
	q := NewRequests(Threads)
	u := New("MPI_Irecv", nil)
	q.Begin(u, true)
	q.Track(1, u)
	if text := q.Wait([]uint64{1, 9, 1}); text != "" {
		t.Error(text)
	}
	if text := q.Wait([]uint64{9, 1}); text != "another thread is waiting for the request of MPI_Irecv" {
		t.Errorf("%q", text)
	}
	if q.Waited([]uint64{1, 9, 1}); q.Wait([]uint64{1}) != "" {
		t.Error("nobody waits any more")
	}
}

func TestRequestsAreLeftUntilTheyAreCompletedAndFreed(t *testing.T) {
	q := NewRequests(Leaks)
	for id, u := range []*Use{New("A", nil), New("B", nil), New("C", nil).Keeps(), New("D", nil).Keeps(), New("E", nil)} {
		if !u.persistent {
			q.Begin(u, true)
		}
		q.Track(uint64(id+1), u)
	}
	q.End(1)
	q.Start(3)
	q.End(3)
	q.Start(4)
	q.Free(5, false)
	var said []string
	for _, l := range q.Left() {
		said = append(said, l.Made+" "+l.Fate)
	}
	slices.Sort(said)
	if got := strings.Join(said, ", "); got != "B never completed, C never freed, D never completed" {
		t.Error(got)
	}
}

func TestLeaksOfManyRanksAreOneLine(t *testing.T) {
	dup := Leak{One: "communicator", Made: "MPI_Comm_dup at a.c:5", Fate: "never freed", Count: 1}
	copy := Leak{One: "copy", Fate: "never freed", Count: 1}
	message := Leak{One: "message of 8 bytes from rank 0", Fate: "never received", Count: 1}
	told := [][]byte{Encode(Gather([]Leak{dup, dup})), Encode(Gather([]Leak{dup, message, message})), nil,
		Encode(Gather([]Leak{dup, copy, copy})), []byte("{"), Encode([]Leak{{One: "a\x1b[1m", Fate: "b", Count: 1}})}
	want := []string{
		"ranks 0-1,3: 1 to 2 communicators each, from MPI_Comm_dup at a.c:5: never freed",
		"rank 1: 2 messages of 8 bytes from rank 0: never received",
		"rank 3: 2 copies: never freed",
		"rank 5: 1 a[1m: b",
	}
	if got := Fold(told, nil); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var many []Leak
	for i := range 2 * mostLeaks {
		many = append(many, Leak{One: fmt.Sprint(i), Count: 1})
	}
	if n := len(Gather(many)); n != mostLeaks {
		t.Error(n)
	}
	if Encode(nil) != nil || Fold(make([][]byte, 3), nil) != nil {
		t.Error("nothing is left")
	}
}

func TestSendersSayWhatTheyHaveSent(t *testing.T) {
	sent := Message{From: 1, To: 0, Comm: 5, Tag: 7}
	unknown := Message{From: 1, To: 0, Comm: 5, Tag: 8}
	told := [][]byte{Encode([]Leak{{One: "message of 8 bytes with tag 7", Fate: "never received", Message: sent, Count: 2},
		{One: "message of 8 bytes with tag 8", Fate: "never received", Message: unknown, Count: 1}}), nil}
	question := Question(told)
	answers := make([][]byte, 2)
	for rank := range answers {
		answers[rank] = Answer(question, rank, func(m Message) string {
			if m == sent {
				return fmt.Sprintf("MPI_Send at a.c:%d", rank)
			}
			return ""
		})
	}
	want := []string{"rank 0: 2 messages of 8 bytes with tag 7, from MPI_Send at a.c:1: never received",
		"rank 0: 1 message of 8 bytes with tag 8: never received"}
	if got := Fold(told, answers); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if Question([][]byte{Encode([]Leak{{One: "info", Count: 1}}), []byte("[{")}) != nil || Answer(nil, 0, nil) != nil ||
		Answer([]byte("x"), 0, nil) != nil {
		t.Error("there is nothing to ask or to answer")
	}
}
