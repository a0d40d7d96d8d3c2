package board

import (
	"github.com/libimpi/libimpi/coll/buffer"
)

// chain is an operation in which each rank combines what the rank below it shows with its own vector, and shows the
// result to the rank above.
type chain struct {
	contribution
	to    Buf // gets the result, or if apart, what the rank below has shown
	op    Op
	apart bool
}

// Chain is a Scan, or an Exscan if apart, from rank to rank.
func (o *Operation) Chain(b Seats, own, out Buf, op Op, apart bool) *Operation {
	o.kind, o.chain = chains, chain{to: out, op: op, apart: apart}
	o.chain.most, o.chain.own, o.chain.shows = own.Size(), own, b.Rank() < b.Size()-1
	return o
}

// Run implements operation.
func (c *chain) Run(b Board) (over bool, err error) {
	below, came, sum := b.Rank()-1, c.own, c.to
	if below >= 0 {
		part, err := b.Get(below)
		if part == nil || err != nil {
			return err != nil, err
		}
		if err := c.expect(below, part, c.most); err != nil {
			return true, err
		}
		came = elements(part, c.own)
	}
	if c.shows { // the result arises there
		mem, err := c.put(b, c.most)
		if mem == nil || err != nil {
			return err != nil, err
		}
		sum = elements(mem, c.own)
	}
	if c.shows || !c.apart {
		err = buffer.Copy(sum, c.own)
		if err == nil && below >= 0 {
			err = buffer.Combine(c.op, came, sum)
		}
		if err != nil {
			return true, err
		}
	}
	if c.shows {
		b.Publish(c.most)
		c.shows = false
	}
	switch {
	case !c.apart:
		return true, buffer.Copy(c.to, sum)
	case below >= 0:
		return true, buffer.Copy(c.to, came)
	}
	return true, nil
}
