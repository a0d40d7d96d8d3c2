package coll

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// Gatherv and Scatterv along a binomial tree that adapts to the sizes of the blocks, which only root knows all.
//
// Node v, counted from root, has the children v+1, v+2, v+4, ... below its lowest bit. A bundle is what a node has of
// its subtree: its own block if that is not long, and the bundles of its children, in this order. A bundle travels
// between a node and its parent, or if it is long, between the node and root, and so do long blocks: so no node keeps
// more than a bundle of its own and of each child, and with growing blocks the tree becomes a star.
//
// The nodes have to learn the sizes of bundles from each other. On the way up a node tells its parent how long its
// bundle is, on the way down it tells each child the sizes of the blocks of its subtree.
//
// Among several machines the nodes are in their order, so that few edges of the tree are between machines.
//
// Source: Traff, Hierarchical gather/scatter algorithms with graceful degradation, 2004, whose trees root builds and
// hands out (Traff 2010, 9.5); here the ranks alone say who is above whom.

// bundleLong is from where on a bundle or a block goes directly to root, or comes from there.
const bundleLong = 16 << 10

// subtree is the number of nodes at and below v, and degree the number of v's children.
func subtree(v, p int) int { return min(lowBit(v, p), p-v) }

func degree(v, p int) (n int) {
	for d := 1; d < subtree(v, p); d <<= 1 {
		n++
	}
	return n
}

// bundles computes the length of the bundle of each node from v to v+len(size)-1 of which size has the block sizes.
// They are all nodes at and below v.
func bundles(v, p int, size, bundle []int64) {
	for i := len(size) - 1; i >= 0; i-- {
		bundle[i] = short(size[i])
		for d := 1; d < subtree(v+i, p); d <<= 1 {
			bundle[i] += short(bundle[i+d])
		}
	}
}

// short is n if it is short, else 0: what of n travels between a node and its parent.
func short(n int64) int64 {
	if n >= bundleLong {
		return 0
	}
	return n
}

// sane checks sizes that another rank has sent.
func sane(sizes []int64) error {
	for _, n := range sizes {
		if n < 0 || n > maxAlloc {
			return &Error{Class: abi.MPI_ERR_INTERN, Msg: fmt.Sprintf("another rank says that its blocks have %d bytes", n)}
		}
	}
	return nil
}

// gathervTree: 2 ceil(log2 p) rounds and n bytes at root if all blocks are short, p-1 messages more if all are long.
func (s *Scratch) gathervTree(c Comm, send Buf, recv VBuf, root int) error {
	c, m := s.inOrder(c)
	p, root := c.Size(), m.inOrder(root)
	v := (c.Rank() - root + p) % p
	if v == 0 {
		return s.gatherBundles(c, send, Blocks{v: recv, kind: varying, machines: m})
	}
	n := degree(v, p)
	g := bundleUp{s: s, c: c, send: send, v: v, root: root}
	mem, err := s.Alloc(short(send.Size()) + int64(n)*bundleLong)
	if err != nil {
		return err
	}
	g.mem = mem
	if g.sizes, err = s.Counts(n + 1); err != nil {
		return err
	}
	for i := range n {
		if err := s.Add(c.Irecv(Numbers(g.sizes[i:i+1]), g.rank(v+1<<i), tagGather)); err != nil {
			return err
		}
	}
	if err := c.Pack(mem[:short(send.Size())], shortBuf(send), 0); err != nil {
		return err
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	if s.Kept() {
		return g.later()
	}
	return g.pass()
}

// shortBuf is b if it is short, else nothing.
func shortBuf(b Buf) Buf {
	if b.Size() >= bundleLong {
		return Buf{Type: b.Type}
	}
	return b
}

// bundleUp is a node on the way up.
type bundleUp struct {
	s       *Scratch
	c       Comm
	send    Buf
	v, root int
	mem     []byte
	sizes   []int64 // of the children's bundles; then of the own one
}

func (g *bundleUp) rank(v int) int { return (v + g.root) % g.c.Size() }

// later passes the bundle on when the sizes are known, of a recorded operation.
func (g *bundleUp) later() error {
	h := *g
	return h.c.Then(func() error { return h.pass() })
}

// pass collects the bundles of the children and passes all on.
func (g *bundleUp) pass() error {
	s, c, n := g.s, g.c, len(g.sizes)-1
	if err := sane(g.sizes[:n]); err != nil {
		return err
	}
	at := short(g.send.Size())
	for i, size := range g.sizes[:n] {
		if size = short(size); size > 0 {
			if err := s.Add(c.Irecv(Bytes(g.mem[at:at+size]), g.rank(g.v+1<<i), tagGather)); err != nil {
				return err
			}
		}
		at += short(size)
	}
	parent := g.v & (g.v - 1)
	g.sizes[n] = at
	if parent != 0 {
		if err := c.Send(Numbers(g.sizes[n:]), g.rank(parent), tagGather); err != nil {
			return err
		}
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	if short(at) == 0 {
		parent = 0
	}
	if at > 0 {
		if err := c.Send(Bytes(g.mem[:at]), g.rank(parent), tagGather); err != nil {
			return err
		}
	}
	if g.send.Size() < bundleLong {
		return nil
	}
	return c.Send(g.send, g.root, tagGather)
}

// plan is what root knows: by node, the size of the block and of the bundle, and where the bundle lies if it travels
// between the node and root.
func (s *Scratch) plan(c Comm, b *Blocks) (size, bundle, at []int64, mem []byte, err error) {
	p, root := c.Size(), c.Rank()
	if size, err = s.Counts(p); err != nil {
		return nil, nil, nil, nil, err
	}
	if bundle, err = s.Counts(p); err != nil {
		return nil, nil, nil, nil, err
	}
	if at, err = s.Counts(p + 1); err != nil {
		return nil, nil, nil, nil, err
	}
	for v := range p {
		block := b.At((v + root) % p)
		size[v] = block.Size()
	}
	size[0] = 0 // stays where it is
	bundles(0, p, size, bundle)
	at[1] = 0
	for v := 1; v < p; v++ {
		at[v+1] = at[v]
		if v&(v-1) == 0 || bundle[v] >= bundleLong {
			at[v+1] += bundle[v]
		}
	}
	mem, err = s.Alloc(at[p])
	return size, bundle, at, mem, err
}

// gatherBundles is root's part of gathervTree.
func (s *Scratch) gatherBundles(c Comm, send Buf, b Blocks) error {
	size, bundle, at, mem, err := s.plan(c, &b)
	if err != nil {
		return err
	}
	p, root := c.Size(), c.Rank()
	for v := 1; v < p; v++ {
		rank := (v + root) % p
		if at[v+1] > at[v] {
			if err := s.Add(c.Irecv(Bytes(mem[at[v]:at[v+1]]), rank, tagGather)); err != nil {
				return err
			}
		}
		if size[v] >= bundleLong {
			if err := s.Add(c.Irecv(b.At(rank), rank, tagGather)); err != nil {
				return err
			}
		}
	}
	if err := copyOwn(c, b.At(root), send); err != nil {
		return err
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	for v := 1; v < p; v++ {
		if at[v+1] > at[v] {
			if err := unbundle(c, &b, v, size, bundle, mem[at[v]:at[v+1]], false); err != nil {
				return err
			}
		}
	}
	return nil
}

// unbundle moves the blocks of the bundle of node v from its memory to their places, or packs them from there.
func unbundle(c Comm, b *Blocks, v int, size, bundle []int64, mem []byte, pack bool) (err error) {
	p, n := c.Size(), short(size[v])
	block := b.At((v + c.Rank()) % p)
	if n > 0 && pack {
		err = c.Pack(mem[:n], block, 0)
	} else if n > 0 {
		err = c.Unpack(block, mem[:n], 0)
	}
	for d := 1; err == nil && d < subtree(v, p); d <<= 1 {
		if m := short(bundle[v+d]); m > 0 {
			err = unbundle(c, b, v+d, size, bundle, mem[n:n+m], pack)
			n += m
		}
	}
	return err
}

// scattervTree: 2 ceil(log2 p) rounds and n bytes at root if all blocks are short, p-1 messages more if all are long.
func (s *Scratch) scattervTree(c Comm, send VBuf, recv Buf, root int) error {
	c, m := s.inOrder(c)
	p, root := c.Size(), m.inOrder(root)
	v := (c.Rank() - root + p) % p
	if v == 0 {
		return s.scatterBundles(c, Blocks{v: send, kind: varying, machines: m}, recv)
	}
	n := subtree(v, p)
	g := bundleDown{s: s, c: c, recv: recv, v: v, root: root}
	var err error
	if g.size, err = s.Counts(n); err != nil {
		return err
	}
	if g.bundle, err = s.Counts(n); err != nil {
		return err
	}
	if g.mem, err = s.Alloc(int64(degree(v, p)+1) * bundleLong); err != nil {
		return err
	}
	if err := c.Recv(Numbers(g.size), g.rank(v&(v-1)), tagScatter); err != nil {
		return err
	}
	if s.Kept() {
		return g.later()
	}
	return g.pass()
}

// bundleDown is a node on the way down.
type bundleDown struct {
	s            *Scratch
	c            Comm
	recv         Buf
	v, root      int
	mem          []byte
	size, bundle []int64 // of its subtree
}

func (g *bundleDown) rank(v int) int { return (v + g.root) % g.c.Size() }

func (g *bundleDown) later() error {
	h := *g
	return h.c.Then(func() error { return h.pass() })
}

// pass gets the bundle and hands it out.
func (g *bundleDown) pass() error {
	s, c, p := g.s, g.c, g.c.Size()
	if err := sane(g.size); err != nil {
		return err
	}
	if room := g.recv.Size(); g.size[0] > room {
		err := Truncated(c, "recvcount", fmt.Sprintf("root sends %d bytes, and there is room for %d", g.size[0], room))
		if err != nil {
			return err
		}
	}
	bundles(g.v, p, g.size, g.bundle)
	from := g.v & (g.v - 1)
	if g.bundle[0] >= bundleLong {
		from = 0
	}
	if g.bundle[0] > 0 {
		if err := s.Add(c.Irecv(Bytes(g.mem[:g.bundle[0]]), g.rank(from), tagScatter)); err != nil {
			return err
		}
	}
	if g.size[0] >= bundleLong {
		if err := s.Add(c.Irecv(g.recv, g.root, tagScatter)); err != nil {
			return err
		}
	}
	for d := 1; d < len(g.size); d <<= 1 {
		if err := c.Send(Numbers(g.size[d:d+subtree(g.v+d, p)]), g.rank(g.v+d), tagScatter); err != nil {
			return err
		}
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	at := short(g.size[0])
	for d := 1; d < len(g.size); d <<= 1 {
		if n := short(g.bundle[d]); n > 0 {
			if err := s.Add(c.Isend(Bytes(g.mem[at:at+n]), g.rank(g.v+d), tagScatter)); err != nil {
				return err
			}
			at += n
		}
	}
	if err := c.Unpack(g.recv, g.mem[:min(short(g.size[0]), g.recv.Size())], 0); err != nil {
		return err
	}
	return s.Wait(c)
}

// scatterBundles is root's part of scattervTree.
func (s *Scratch) scatterBundles(c Comm, b Blocks, recv Buf) error {
	size, bundle, at, mem, err := s.plan(c, &b)
	if err != nil {
		return err
	}
	p, root := c.Size(), c.Rank()
	top := lowBit(0, p) >> 1
	for v := top; v > 0; v >>= 1 { // the largest subtree first
		if err := s.Add(c.Isend(Numbers(size[v:v+subtree(v, p)]), (v+root)%p, tagScatter)); err != nil {
			return err
		}
	}
	for v := p - 1; v > 0; v-- {
		rank := (v + root) % p
		if part := mem[at[v]:at[v+1]]; len(part) > 0 {
			if err := unbundle(c, &b, v, size, bundle, part, true); err != nil {
				return err
			}
			if err := s.Add(c.Isend(Bytes(part), rank, tagScatter)); err != nil {
				return err
			}
		}
		if size[v] >= bundleLong {
			if err := s.Add(c.Isend(b.At(rank), rank, tagScatter)); err != nil {
				return err
			}
		}
	}
	if !recv.IsInPlace() {
		if err := c.Copy(recv, b.At(root)); err != nil {
			return err
		}
	}
	return s.Wait(c)
}
