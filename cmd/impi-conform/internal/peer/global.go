package peer

import (
	"math/bits"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

// Msg is a message that crosses clients in a collective. Ranks are those of the communicator.
type Msg struct {
	Src, Dst int
	Tag      int32
	Alt      int32 // another tag that must be accepted (errata D-48), 0: none
	Data     []byte
	After    []int // messages, by index in the plan, without which it cannot be sent
}

// Comm is a communicator as the algorithms of chapter 4 see it: the clients, and the negotiated values.
type Comm struct {
	XSize     int // bytes
	MaxLinear int
	masters   []int // rank of each client's master, ascending
	num       []int // master number of each rank's client
}

// newComm numbers the masters: the lowest rank of each client, in ascending order (4.2).
func newComm(client []int, xsize, maxLinear int) *Comm {
	c := &Comm{XSize: xsize, MaxLinear: maxLinear, num: make([]int, len(client))}
	seen := map[int]int{}
	for r, cl := range client {
		m, ok := seen[cl]
		if !ok {
			m = len(c.masters)
			seen[cl] = m
			c.masters = append(c.masters, r)
		}
		c.num[r] = m
	}
	return c
}

// Comm is a communicator of these world ranks in this job.
func (j *Job) Comm(ranks []int) *Comm {
	client := make([]int, len(ranks))
	for i, w := range ranks {
		client[i] = j.Procs[w].Client
	}
	return newComm(client, j.XSize, j.MaxLinear)
}

func (c *Comm) linear() bool { return len(c.masters) <= c.MaxLinear }

// members are the ranks of the client with this master number, ascending.
func (c *Comm) members(m int) (ranks []int) {
	for r, n := range c.num {
		if n == m {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// speaker is the rank that stands for a client in a rooted algorithm: its master, or root for the client of root.
func (c *Comm) speaker(m, root int) int {
	if m == c.num[root] {
		return root
	}
	return c.masters[m]
}

// of is the speaker of the client whose master number stands v places behind that of root's client.
func (c *Comm) of(v, root int) int { return c.speaker((v+c.num[root])%len(c.masters), root) }

// plan gathers messages.
type plan []Msg

func (p *plan) add(m Msg) int {
	*p = append(*p, m)
	return len(*p) - 1
}

// then appends a second phase: what a client sends in it comes after all that it received in the first.
func (c *Comm) then(first, second plan) plan {
	n := len(first)
	for _, m := range second {
		after := []int(nil)
		for _, a := range m.After {
			after = append(after, a+n)
		}
		for i, f := range first[:n] {
			if c.num[f.Dst] == c.num[m.Src] {
				after = append(after, i)
			}
		}
		m.After = after
		first = append(first, m)
	}
	return first
}

// The two trees (notes C.1). high: a node's parent has its highest bit cleared; low: its lowest.

func high(v int) (parent int) { return v &^ (1 << (bits.Len(uint(v)) - 1)) }

func low(v int) (parent int) { return v & (v - 1) }

// highChildren and lowChildren of v among m nodes, ascending.
func highChildren(v, m int) (list []int) {
	for bit := 1; v+bit < m; bit <<= 1 {
		if bit > v {
			list = append(list, v+bit)
		}
	}
	return list
}

func lowChildren(v, m int) (list []int) {
	for bit := 1; v+bit < m && v&bit == 0; bit <<= 1 {
		list = append(list, v+bit)
	}
	return list
}

// Barrier is 4.10.
func Barrier(c *Comm) []Msg {
	var p plan
	n := len(c.masters)
	up := make([]int, n)
	if c.linear() {
		var all []int
		for i := 1; i < n; i++ {
			all = append(all, p.add(Msg{Src: c.masters[i], Dst: c.masters[0], Tag: wire.TagBarrier}))
		}
		for i := 1; i < n; i++ {
			p.add(Msg{Src: c.masters[0], Dst: c.masters[i], Tag: wire.TagBarrier, After: all})
		}
		return p
	}
	for v := n - 1; v > 0; v-- {
		var after []int
		for _, child := range highChildren(v, n) {
			after = append(after, up[child])
		}
		up[v] = p.add(Msg{Src: c.masters[v], Dst: c.masters[high(v)], Tag: wire.TagBarrier, After: after})
	}
	down := make([]int, n)
	for v := range n {
		after := []int{down[v]}
		if v == 0 {
			after = nil
			for _, child := range highChildren(0, n) {
				after = append(after, up[child])
			}
		}
		for _, child := range highChildren(v, n) {
			down[child] = p.add(Msg{Src: c.masters[v], Dst: c.masters[child], Tag: wire.TagBarrier, After: after})
		}
	}
	return p
}

// Bcast is 4.11.
func Bcast(c *Comm, root int, data []byte) []Msg {
	var p plan
	n := len(c.masters)
	if c.linear() {
		for i := range n {
			if i != c.num[root] {
				p.add(Msg{Src: root, Dst: c.masters[i], Tag: wire.TagBcast, Data: data})
			}
		}
		return p
	}
	got := make([]int, n)
	for v := range n {
		for _, child := range highChildren(v, n) {
			m := Msg{Src: c.of(v, root), Dst: c.of(child, root), Tag: wire.TagBcast, Data: data}
			if v > 0 {
				m.After = []int{got[v]}
			}
			got[child] = p.add(m)
		}
	}
	return p
}

// gather is the global phase of 4.12 and 4.13, short: blocks of whole clients, in a line or up the tree.
func gather(c *Comm, root int, tag int32, block func(rank int) []byte) plan {
	var p plan
	n := len(c.masters)
	client := func(m int) (b []byte) {
		for _, r := range c.members(m) {
			b = append(b, block(r)...)
		}
		return b
	}
	if c.linear() {
		for i := range n {
			if i != c.num[root] {
				p.add(Msg{Src: c.masters[i], Dst: root, Tag: tag, Data: client(i)})
			}
		}
		return p
	}
	up, data := make([]int, n), make([][]byte, n)
	for v := n - 1; v > 0; v-- {
		data[v] = client((v + c.num[root]) % n)
		var after []int
		for _, child := range lowChildren(v, n) {
			after = append(after, up[child])
			data[v] = append(data[v], data[child]...)
		}
		up[v] = p.add(Msg{Src: c.of(v, root), Dst: c.of(low(v), root), Tag: tag, Data: data[v], After: after})
	}
	return p
}

// direct is the long form: every rank of another client to the root.
func direct(c *Comm, root int, tag, alt int32, block func(rank int) []byte) plan {
	var p plan
	for r := range c.num {
		if c.num[r] != c.num[root] {
			p.add(Msg{Src: r, Dst: root, Tag: tag, Alt: alt, Data: block(r)})
		}
	}
	return p
}

// Gather is 4.12, of size bytes a rank.
func Gather(c *Comm, root, size int, block func(rank int) []byte) []Msg {
	if size < c.XSize {
		return gather(c, root, wire.TagGather, block)
	}
	return direct(c, root, wire.TagGather, 0, block)
}

// vShort is what the root of a v variant broadcasts (4.13, 4.15): the largest block in bytes, 0 for the long form.
func vShort(c *Comm, block func(rank int) []byte) int {
	size := 0
	for r := range c.num {
		size = max(size, len(block(r)))
	}
	if size > c.XSize {
		return 0
	}
	return size
}

// Gatherv is 4.13.
func Gatherv(c *Comm, root int, block func(rank int) []byte) []Msg {
	size := vShort(c, block)
	p := plan(Bcast(c, root, codec.U32(uint32(size))))
	if size > 0 {
		return c.then(p, gather(c, root, wire.TagGatherv, block))
	}
	return c.then(p, direct(c, root, wire.TagGatherv, wire.TagGather, block))
}

// scatter is the global phase of 4.14 and 4.15.
func scatter(c *Comm, root int, tag int32, short bool, block func(rank int) []byte) plan {
	var p plan
	for m := range c.masters {
		if m == c.num[root] {
			continue
		}
		var all []byte
		for _, r := range c.members(m) {
			if !short {
				p.add(Msg{Src: root, Dst: r, Tag: tag, Data: block(r)})
			}
			all = append(all, block(r)...)
		}
		if short {
			p.add(Msg{Src: root, Dst: c.masters[m], Tag: tag, Data: all})
		}
	}
	return p
}

// Scatter is 4.14, of size bytes a rank.
func Scatter(c *Comm, root, size int, block func(rank int) []byte) []Msg {
	return scatter(c, root, wire.TagScatter, size < c.XSize, block)
}

// Scatterv is 4.15.
func Scatterv(c *Comm, root int, block func(rank int) []byte) []Msg {
	size := vShort(c, block)
	return c.then(plan(Bcast(c, root, codec.U32(uint32(size)))), scatter(c, root, wire.TagScatterv, size > 0, block))
}

// Reduce is 4.16 with a commutative operation; value is the result over a set of ranks.
func Reduce(c *Comm, root int, value func(ranks []int) []byte) []Msg {
	var p plan
	n := len(c.masters)
	if c.linear() {
		for i := range n {
			if i != c.num[root] {
				p.add(Msg{Src: c.masters[i], Dst: root, Tag: wire.TagReduce, Data: value(c.members(i))})
			}
		}
		return p
	}
	up, ranks := make([]int, n), make([][]int, n)
	for v := n - 1; v > 0; v-- {
		ranks[v] = c.members((v + c.num[root]) % n)
		var after []int
		for _, child := range lowChildren(v, n) {
			after = append(after, up[child])
			ranks[v] = append(ranks[v], ranks[child]...)
		}
		up[v] = p.add(Msg{Src: c.of(v, root), Dst: c.of(low(v), root),
			Tag: wire.TagReduce, Data: value(ranks[v]), After: after})
	}
	return p
}

// ReduceOrdered is 4.16 with an operation that does not commute.
func ReduceOrdered(c *Comm, root int, value func(rank int) []byte) []Msg {
	return direct(c, root, wire.TagReduce, 0, value)
}

// Allreduce is 4.21.
func Allreduce(c *Comm, value func(ranks []int) []byte) []Msg {
	return c.then(Reduce(c, 0, value), Bcast(c, 0, value(c.All())))
}

// All are all ranks.
func (c *Comm) All() []int {
	ranks := make([]int, len(c.num))
	for r := range ranks {
		ranks[r] = r
	}
	return ranks
}

// ReduceScatter is 4.17: value is the whole vector, block the part of a rank.
func ReduceScatter(c *Comm, value func(ranks []int) []byte, block func(rank int) []byte) []Msg {
	return c.then(Reduce(c, 0, value), Scatterv(c, 0, block))
}

// Allgather is 4.19.
func Allgather(c *Comm, size int, block func(rank int) []byte) []Msg {
	return c.then(Gather(c, 0, size, block), Bcast(c, 0, c.join(block)))
}

// Allgatherv is 4.20.
func Allgatherv(c *Comm, block func(rank int) []byte) []Msg {
	return c.then(Gatherv(c, 0, block), Bcast(c, 0, c.join(block)))
}

func (c *Comm) join(block func(rank int) []byte) (b []byte) {
	for r := range c.num {
		b = append(b, block(r)...)
	}
	return b
}

// Scan is 4.18: value is the result over ranks 0 to r.
func Scan(c *Comm, value func(rank int) []byte) []Msg {
	var p plan
	last := -1 // the message that the chain continues
	for r := 0; r+1 < len(c.num); r++ {
		if c.num[r] == c.num[r+1] {
			continue
		}
		m := Msg{Src: r, Dst: r + 1, Tag: wire.TagScan, Data: value(r)}
		if last >= 0 {
			m.After = []int{last}
		}
		last = p.add(m)
	}
	return p
}

// Alltoall is 4.22, of size bytes a pair.
func Alltoall(c *Comm, size int, block func(from, to int) []byte) []Msg {
	if size >= c.XSize {
		return pairwise(c, wire.TagAlltoall, block)
	}
	var p plan
	for i := range c.masters {
		for k := range c.masters {
			if i == k {
				continue
			}
			var b []byte
			for _, from := range c.members(i) {
				for _, to := range c.members(k) {
					b = append(b, block(from, to)...)
				}
			}
			p.add(Msg{Src: c.masters[i], Dst: c.masters[k], Tag: wire.TagAlltoall, Data: b})
		}
	}
	return p
}

// Alltoallv is 4.23.
func Alltoallv(c *Comm, block func(from, to int) []byte) []Msg {
	return pairwise(c, wire.TagAlltoallv, block)
}

func pairwise(c *Comm, tag int32, block func(from, to int) []byte) []Msg {
	var p plan
	for from := range c.num {
		for to := range c.num {
			if c.num[from] != c.num[to] {
				p.add(Msg{Src: from, Dst: to, Tag: tag, Data: block(from, to)})
			}
		}
	}
	return p
}

// Agree is how a new context id is found (4.3.1): an allreduce of every rank's max_cid.
func Agree(c *Comm, maxCID func(rank int) uint64) []Msg {
	return Allreduce(c, func(ranks []int) []byte {
		most := uint64(0)
		for _, r := range ranks {
			most = max(most, maxCID(r)|1)
		}
		return codec.U64(most)
	})
}

// Split is 4.7: the agreement, then everybody's color, key and rank.
func Split(c *Comm, maxCID func(rank int) uint64, row func(rank int) []byte) []Msg {
	return c.then(Agree(c, maxCID), Allgather(c, 12, row))
}
