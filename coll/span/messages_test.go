package span_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/coll/span"
)

// Two ranks a client, dealt out in turn: with M clients rank i is master i, and rank M+i its companion.
func turns(m int) []int32 {
	var c []int32
	for r := range 2 * m {
		c = append(c, int32(r%m))
	}
	return c
}

// crossing runs f and answers what went between clients, sorted: "src>dst tag bytes".
func crossing(t *testing.T, client []int32, xsize, maxLinear int64,
	f func(c *colltest.Comm, l *span.Layout) error) []string {
	t.Helper()
	w := colltest.New(len(client))
	w.Client, w.Log = client, true
	l, err := span.NewLayout(client, xsize, maxLinear)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(func(c *colltest.Comm) error { return f(c, l) }); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range w.Messages() {
		if client[m.Src] != client[m.Dst] {
			got = append(got, fmt.Sprintf("%d>%d %d %d", m.Src, m.Dst, m.Tag, m.Bytes))
		}
	}
	slices.Sort(got)
	return got
}

// wanted expands "1>0 2>0 / 110 0": the edges before the slash, all with this tag and so many bytes.
func wanted(lines ...string) []string {
	var want []string
	for _, line := range lines {
		edges, rest, _ := strings.Cut(line, " / ")
		for _, e := range strings.Fields(edges) {
			want = append(want, e+" "+rest)
		}
	}
	slices.Sort(want)
	return want
}

// zeros are longs of value 0: others might not have the 4 bytes that a long has in external32.
func zeros(n int64) *colltest.Mem {
	m := colltest.NewMem(n, colltest.Long)
	m.Put(0, make([]byte, 8*n))
	return m
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: messages between clients (-want +got):\n%s", what, d)
	}
}

func TestBarrierMessages(t *testing.T) {
	barrier := func(c *colltest.Comm, l *span.Layout) error { return span.Barrier(c, l) }
	for _, tt := range []struct {
		m         int
		maxLinear int64
		want      string
	}{
		{3, -1, "1>0 2>0 0>1 0>2 / 110 0"},
		{4, -1, "1>0 2>0 3>0 0>1 0>2 0>3 / 110 0"},
		{4, 3, "1>0 2>0 3>1 0>1 0>2 1>3 / 110 0"},
		{5, -1, "1>0 2>0 4>0 3>1 0>1 0>2 0>4 1>3 / 110 0"},
		{6, -1, "1>0 2>0 4>0 3>1 5>1 0>1 0>2 0>4 1>3 1>5 / 110 0"},
		{6, 6, "1>0 2>0 3>0 4>0 5>0 0>1 0>2 0>3 0>4 0>5 / 110 0"},
		{3, 0, "1>0 2>0 0>1 0>2 / 110 0"},
	} {
		same(t, fmt.Sprintf("M=%d LIN=%d", tt.m, tt.maxLinear), crossing(t, turns(tt.m), -1, tt.maxLinear, barrier),
			wanted(tt.want))
	}
}

// The root of a test is a master (0), or the companion of master 2, or the last rank.
func TestBcastMessages(t *testing.T) {
	for _, tt := range []struct {
		m, root int
		want    string
	}{
		{3, 0, "0>1 0>2 / 120 40"},
		{4, 6, "6>0 6>1 6>3 / 120 40"},
		{5, 0, "0>1 0>2 0>4 1>3 / 120 40"},
		{5, 7, "7>3 7>4 7>1 3>0 / 120 40"},
		{5, 9, "9>0 9>1 9>3 0>2 / 120 40"},
		{6, 0, "0>1 0>2 0>4 1>3 1>5 / 120 40"},
		{6, 8, "8>3 8>4 8>0 3>5 3>1 / 120 40"},
	} {
		got := crossing(t, turns(tt.m), -1, -1, func(c *colltest.Comm, l *span.Layout) error {
			return span.Bcast(c, l, zeros(10).Buf, tt.root) // a long has 4 bytes in external32
		})
		same(t, fmt.Sprintf("M=%d root=%d", tt.m, tt.root), got, wanted(tt.want))
	}
}

func TestGatherMessages(t *testing.T) {
	for _, tt := range []struct {
		m, root      int
		count, xsize int64
		want         []string
	}{
		{3, 0, 10, -1, []string{"1>0 2>0 / 130 80"}},
		{4, 6, 10, -1, []string{"0>6 1>6 3>6 / 130 80"}},
		{5, 0, 10, -1, []string{"1>0 4>0 3>2 / 130 80", "2>0 / 130 160"}},
		{5, 7, 10, -1, []string{"3>7 1>7 0>4 / 130 80", "4>7 / 130 160"}},
		{6, 0, 10, -1, []string{"1>0 3>2 5>4 / 130 80", "2>0 4>0 / 130 160"}},
		{6, 8, 10, -1, []string{"3>8 5>4 1>0 / 130 80", "4>8 0>8 / 130 160"}},
		{6, 11, 0, -1, []string{"0>11 2>1 4>3 1>11 3>11 / 130 0"}},
		// Short is less than XSIZE: 39 is not more, nor is 40.
		{3, 0, 10, 41, []string{"1>0 2>0 / 130 80"}},
		{3, 0, 10, 40, []string{"1>0 2>0 4>0 5>0 / 130 40"}},
		{3, 5, 0, 0, []string{"0>5 1>5 3>5 4>5 / 130 0"}},
	} {
		got := crossing(t, turns(tt.m), tt.xsize, -1, func(c *colltest.Comm, l *span.Layout) error {
			send, recv := zeros(tt.count), zeros(tt.count*int64(2*tt.m))
			return span.Gather(c, l, send.Buf, recv.Of(tt.count), tt.root)
		})
		same(t, fmt.Sprintf("M=%d root=%d count=%d X=%d", tt.m, tt.root, tt.count, tt.xsize), got, wanted(tt.want...))
	}
}

// Rank r sends r+1 ints (but none if there is no such count); the broadcast of the longest comes first.
func TestGathervAndScattervMessages(t *testing.T) {
	const m = 5
	p := 2 * m
	counts, displs := make([]int64, p), make([]int64, p)
	for i := range counts {
		counts[i], displs[i] = int64(i+1), int64(20*i)
	}
	gatherv := func(counts []int64, root int) func(c *colltest.Comm, l *span.Layout) error {
		return func(c *colltest.Comm, l *span.Layout) error {
			return span.Gatherv(c, l, colltest.NewMem(counts[c.Rank()], colltest.Int).Buf,
				colltest.NewMem(200, colltest.Int).V(counts, displs), root)
		}
	}
	scatterv := func(counts []int64, root int) func(c *colltest.Comm, l *span.Layout) error {
		return func(c *colltest.Comm, l *span.Layout) error {
			return span.Scatterv(c, l, colltest.NewMem(200, colltest.Int).V(counts, displs),
				colltest.NewMem(counts[c.Rank()], colltest.Int).Buf, root)
		}
	}
	longest := "7>3 7>4 7>1 3>0 / 120 4"
	// Client i has ranks i and i+5, that is i+1 and i+6 ints: 4*(2i+7) bytes.
	same(t, "gatherv short", crossing(t, turns(m), 40, -1, gatherv(counts, 7)),
		wanted(longest, "3>7 / 140 52", "0>4 / 140 28", "4>7 / 140 88", "1>7 / 140 36"))
	same(t, "scatterv short", crossing(t, turns(m), 40, -1, scatterv(counts, 7)),
		wanted(longest, "7>0 / 160 28", "7>1 / 160 36", "7>3 / 160 52", "7>4 / 160 60"))
	// Short is not more than XSIZE: the longest block has 40 bytes.
	same(t, "gatherv long", crossing(t, turns(m), 39, -1, gatherv(counts, 7)), wanted(longest,
		"0>7 / 140 4", "1>7 / 140 8", "3>7 / 140 16", "4>7 / 140 20", "5>7 / 140 24", "6>7 / 140 28", "8>7 / 140 36",
		"9>7 / 140 40"))
	same(t, "scatterv long", crossing(t, turns(m), 39, -1, scatterv(counts, 7)), wanted(longest,
		"7>0 / 160 4", "7>1 / 160 8", "7>3 / 160 16", "7>4 / 160 20", "7>5 / 160 24", "7>6 / 160 28", "7>8 / 160 36",
		"7>9 / 160 40"))
	// All counts 0 is long, too.
	none := make([]int64, p)
	same(t, "gatherv of nothing", crossing(t, turns(m), -1, -1, gatherv(none, 7)),
		wanted(longest, "0>7 1>7 3>7 4>7 5>7 6>7 8>7 9>7 / 140 0"))
	// One rank has data: the masters of the others send empty blocks.
	one := make([]int64, p)
	one[0] = 3
	same(t, "gatherv of one block", crossing(t, turns(m), -1, -1, gatherv(one, 7)),
		wanted(longest, "3>7 1>7 / 140 0", "0>4 4>7 / 140 12"))
}

func TestScatterMessages(t *testing.T) {
	scatter := func(count int64, root int) func(c *colltest.Comm, l *span.Layout) error {
		return func(c *colltest.Comm, l *span.Layout) error {
			return span.Scatter(c, l, zeros(200).Of(count), zeros(count).Buf, root)
		}
	}
	same(t, "short", crossing(t, turns(6), 41, -1, scatter(10, 8)), wanted("8>0 8>1 8>3 8>4 8>5 / 150 80"))
	same(t, "long", crossing(t, turns(3), 40, -1, scatter(10, 1)), wanted("1>0 1>2 1>3 1>5 / 150 40"))
}

func TestReduceMessages(t *testing.T) {
	for _, tt := range []struct {
		m, root int
		want    string
	}{
		{3, 0, "1>0 2>0 / 190 16"},
		{4, 6, "0>6 1>6 3>6 / 190 16"},
		{5, 0, "1>0 2>0 4>0 3>2 / 190 16"},
		{5, 7, "3>7 4>7 1>7 0>4 / 190 16"},
		{6, 0, "1>0 2>0 4>0 3>2 5>4 / 190 16"},
		{6, 11, "0>11 1>11 3>11 2>1 4>3 / 190 16"},
	} {
		sum := op.Predefined(abi.MPI_SUM)
		got := crossing(t, turns(tt.m), -1, -1, func(c *colltest.Comm, l *span.Layout) error {
			return span.Reduce(c, l, colltest.NewMem(2, colltest.Double).Buf, colltest.NewMem(2, colltest.Double).Buf, sum,
				tt.root)
		})
		same(t, fmt.Sprintf("M=%d root=%d", tt.m, tt.root), got, wanted(tt.want))
		got = crossing(t, turns(tt.m), -1, -1, func(c *colltest.Comm, l *span.Layout) error {
			return span.Allreduce(c, l, coll.InPlace(), colltest.NewMem(0, colltest.Double).Buf, sum)
		})
		if want := 2 * (tt.m - 1); len(got) != want {
			t.Errorf("M=%d: Allreduce of nothing sends %d messages between clients, want %d", tt.m, len(got), want)
		}
	}
	// In rank order: every rank of other clients sends to root.
	got := crossing(t, turns(3), -1, -1, func(c *colltest.Comm, l *span.Layout) error {
		return span.Reduce(c, l, colltest.NewMem(2, colltest.Map).Buf, colltest.NewMem(2, colltest.Map).Buf,
			colltest.Affine{}, 4)
	})
	same(t, "in rank order", got, wanted("0>4 2>4 3>4 5>4 / 190 16"))
}

func TestCompositeCollectivesSendTheMessagesOfIMPI(t *testing.T) {
	client := []int32{0, 0, 1, 2, 1} // masters 0, 2, 3
	sum := op.Predefined(abi.MPI_SUM)
	ints := func(n int64) coll.Buf { return colltest.NewMem(n, colltest.Int).Buf }
	run := func(what string, f func(c *colltest.Comm, l *span.Layout) error, want ...string) {
		t.Helper()
		same(t, what, crossing(t, client, -1, -1, f), wanted(want...))
	}
	run("allgather", func(c *colltest.Comm, l *span.Layout) error {
		return span.Allgather(c, l, ints(3), colltest.NewMem(15, colltest.Int).Of(3))
	}, "2>0 / 130 24", "3>0 / 130 12", "0>2 0>3 / 120 60")
	run("allgatherv", func(c *colltest.Comm, l *span.Layout) error {
		return span.Allgatherv(c, l, ints(int64(c.Rank())),
			colltest.NewMem(30, colltest.Int).V([]int64{0, 1, 2, 3, 4}, []int64{0, 5, 10, 15, 20}))
	}, "0>2 0>3 / 120 4", "2>0 / 140 24", "3>0 / 140 12", "0>2 0>3 / 120 40")
	run("allreduce", func(c *colltest.Comm, l *span.Layout) error { return span.Allreduce(c, l, ints(2), ints(2), sum) },
		"2>0 3>0 / 190 8", "0>2 0>3 / 120 8")
	run("reduce_scatter", func(c *colltest.Comm, l *span.Layout) error {
		counts := []int64{1, 2, 3, 0, 4}
		return span.ReduceScatter(c, l, ints(10), ints(counts[c.Rank()]), counts, sum)
	}, "2>0 3>0 / 190 40", "0>2 0>3 / 120 4", "0>2 / 160 28", "0>3 / 160 0")
	run("scan", func(c *colltest.Comm, l *span.Layout) error { return span.Scan(c, l, ints(2), ints(2), sum) },
		"1>2 2>3 3>4 / 200 8")
	run("alltoall, short", func(c *colltest.Comm, l *span.Layout) error {
		return span.Alltoall(c, l, colltest.NewMem(10, colltest.Int).Of(2), colltest.NewMem(10, colltest.Int).Of(2))
	}, "0>2 2>0 / 170 32", "0>3 3>0 2>3 3>2 / 170 16")
	pairs := "0>2 0>3 0>4 1>2 1>3 1>4 2>0 2>1 2>3 3>0 3>1 3>2 3>4 4>0 4>1 4>3 / "
	run("alltoall, long", func(c *colltest.Comm, l *span.Layout) error {
		return span.Alltoall(c, l, colltest.NewMem(1280, colltest.Int).Of(256), colltest.NewMem(1280, colltest.Int).Of(256))
	}, pairs+"170 1024")
	run("alltoallv of nothing", func(c *colltest.Comm, l *span.Layout) error {
		v := colltest.NewMem(0, colltest.Int).V(make([]int64, 5), make([]int64, 5))
		return span.Alltoallv(c, l, v, v)
	}, pairs+"180 0")
}

// The bytes of packed messages, written by hand: ranks 0, 3 | 1, 4 | 2, 5, each block one int.
func TestBlocksArePackedInTheOrderOfIMPI(t *testing.T) {
	client := turns(3)
	payload := func(f func(c *colltest.Comm, l *span.Layout) error) map[string]string {
		w := colltest.New(6)
		w.Client, w.Log, w.KeepData = client, true, true
		l, err := span.NewLayout(client, -1, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(func(c *colltest.Comm) error { return f(c, l) }); err != nil {
			t.Fatal(err)
		}
		got, data := map[string]string{}, w.Data()
		for i, m := range w.Messages() {
			if client[m.Src] != client[m.Dst] {
				got[fmt.Sprintf("%d>%d", m.Src, m.Dst)] = fmt.Sprintf("%x", data[i])
			}
		}
		return got
	}
	number := func(x int) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(x)) } // a native int
	// Gather to rank 5, along the tree: client 0 has v = 1, client 1 has v = 2.
	got := payload(func(c *colltest.Comm, l *span.Layout) error {
		send := colltest.NewMem(1, colltest.Int)
		send.Put(0, number(0x10+c.Rank()))
		return span.Gather(c, l, send.Buf, colltest.NewMem(6, colltest.Int).Of(1), 5)
	})
	if d := cmp.Diff(map[string]string{"0>5": "0000001000000013", "1>5": "0000001100000014"}, got); d != "" {
		t.Error(d)
	}
	// The block from rank p to rank q is 0xpq: sender outer, receiver inner.
	got = payload(func(c *colltest.Comm, l *span.Layout) error {
		send := colltest.NewMem(6, colltest.Int)
		for q := range 6 {
			send.Put(int64(q), number(16*c.Rank()+q))
		}
		return span.Alltoall(c, l, send.Of(1), colltest.NewMem(6, colltest.Int).Of(1))
	})
	if d := cmp.Diff(map[string]string{
		"0>1": "00000001000000040000003100000034", "0>2": "00000002000000050000003200000035",
		"1>0": "00000010000000130000004000000043", "1>2": "00000012000000150000004200000045",
		"2>0": "00000020000000230000005000000053", "2>1": "00000021000000240000005100000054",
	}, got); d != "" {
		t.Error(d)
	}
	// A child's blocks come after its parent's own: M = 4 clients of one rank, root 0, v = 2 passes on v = 3.
	w := colltest.New(4)
	w.Client, w.Log, w.KeepData = []int32{0, 1, 2, 3}, true, true
	l, err := span.NewLayout(w.Client, -1, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(func(c *colltest.Comm) error {
		send := colltest.NewMem(1, colltest.Int)
		send.Put(0, number(c.Rank()))
		return span.Gather(c, l, send.Buf, colltest.NewMem(4, colltest.Int).Of(1), 0)
	}); err != nil {
		t.Fatal(err)
	}
	passed, data := "", w.Data()
	for i, m := range w.Messages() {
		if m.Src == 2 && m.Dst == 0 {
			passed = fmt.Sprintf("%x", data[i])
		}
	}
	if passed != "0000000200000003" {
		t.Errorf("2>0 carries %s", passed)
	}
}

// A peer that follows the text of 4.13 to the letter sends its long blocks with the tag of Gather.
func TestLongGathervFromAPeerThatUsesTheTagOfGather(t *testing.T) {
	client := []int32{0, 1, 0}
	w := colltest.New(3)
	w.Client = client
	l, err := span.NewLayout(client, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	l.AnyGatherTag = true
	if err := w.Run(func(c *colltest.Comm) error {
		send, recv := colltest.NewMem(1, colltest.Int), colltest.NewMem(3, colltest.Int)
		send.Put(0, colltest.Pattern(1, colltest.Int, c.Rank(), 0))
		if c.Rank() == 1 {
			longest := colltest.NewMem(1, colltest.Int)
			return colltest.First(c.Recv(longest.Buf, 0, 120), c.Send(send.Buf, 0, 130))
		}
		err := span.Gatherv(c, l, send.Buf, recv.V([]int64{1, 1, 1}, []int64{0, 1, 2}), 0)
		if c.Rank() != 0 {
			return err
		}
		return colltest.First(err, recv.Expect("block", 1, colltest.Pattern(1, colltest.Int, 1, 0)))
	}); err != nil {
		t.Fatal(err)
	}
}

func TestABrokenPeerIsAnErrorAndNoCrash(t *testing.T) {
	client := []int32{0, 1, 1}
	l, err := span.NewLayout(client, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	run := func(what string, me, peer func(c *colltest.Comm) error) {
		t.Helper()
		w := colltest.New(3)
		w.Client, w.Eager = client, 1<<20
		var got error
		_ = w.Run(func(c *colltest.Comm) error {
			switch c.Rank() {
			case 0:
				got = me(c)
			case 1:
				return peer(c)
			}
			return nil
		})
		if got == nil {
			t.Errorf("%s: no error", what)
		}
	}
	gather := func(c *colltest.Comm) error {
		return span.Gather(c, l, colltest.NewMem(1, colltest.Int).Buf, colltest.NewMem(3, colltest.Int).Of(1), 0)
	}
	run("a gathered message too short", gather, func(c *colltest.Comm) error {
		return c.Send(coll.Bytes(make([]byte, 7)), 0, 130)
	})
	run("a gathered message too long", gather, func(c *colltest.Comm) error {
		return c.Send(coll.Bytes(make([]byte, 9)), 0, 130)
	})
	for _, longest := range []byte{0x80, 0x7f} {
		run("an absurd longest block", func(c *colltest.Comm) error {
			return span.Scatterv(c, layoutOf(t, 1, 0, 1), coll.VBuf{}, colltest.NewMem(1, colltest.Int).Buf, 1)
		}, func(c *colltest.Comm) error { return c.Send(coll.Bytes([]byte{longest, 0xff, 0xff, 0xff}), 0, 120) })
	}
	if _, err := span.NewLayout(nil, -1, -1); err == nil {
		t.Error("a layout of no ranks")
	}
	if _, err := span.NewLayout(client, -2, -1); err == nil {
		t.Error("a negative XSIZE")
	}
}

func layoutOf(t *testing.T, client ...int32) *span.Layout {
	l, err := span.NewLayout(client, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
