package members

import (
	"errors"
	"sync"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/onesided"
)

// fakeWorld is a communicator of goroutines on some machines, in memory.
type fakeWorld struct {
	machines []int64 // by rank
	short    bool    // no memory can be mapped on machine 1

	ranks *colltest.World

	mu        sync.Mutex
	memory    map[[2]int64][]byte // that is mapped, by machine and the number of the call
	word      []int64             // of rank 0's window
	made      int                 // duplicates, of all ranks
	discarded int
}

// run calls body for each rank with the communicator, and what files find there.
func (w *fakeWorld) run(body func(c *fakeComm, s *Space) error) error {
	w.ranks = colltest.New(len(w.machines))
	w.memory = map[[2]int64][]byte{}
	return w.ranks.Run(func(c *colltest.Comm) error { return body(&fakeComm{c, w}, new(Space)) })
}

// fakeComm is the world as a rank sees it. It implements Comm.
type fakeComm struct {
	*colltest.Comm
	w *fakeWorld
}

func (c *fakeComm) String() string { return "the communicator" }

func (c *fakeComm) Allreduce(send, recv coll.Buf, op coll.Op) error {
	return coll.Allreduce(c.Comm, send, recv, op)
}

func (c *fakeComm) Duplicate() (Own, error) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.made++
	return &fakeOwn{fakeComm: c}, nil
}

// fakeOwn is a duplicate. It implements Own.
type fakeOwn struct {
	*fakeComm
	gone bool
	maps int64 // calls of Map

	loss, revoked error
}

func (o *fakeOwn) Barrier() error                      { return coll.Barrier(o.Comm) }
func (o *fakeOwn) Allgather(send, recv coll.Buf) error { return coll.Allgather(o.Comm, send, recv) }
func (o *fakeOwn) Allgatherv(send coll.Buf, recv coll.VBuf) error {
	return coll.Allgatherv(o.Comm, send, recv)
}
func (o *fakeOwn) AllWell(err error) (bool, error) { return onesided.AllWell(o.Comm, err) }

func (o *fakeOwn) Machine() int64 { return o.w.machines[o.Rank()] }

func (o *fakeOwn) Sharers() (ranks []int) {
	for r, m := range o.w.machines {
		if m == o.Machine() {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

func (o *fakeOwn) Map(bytes, align int) ([]byte, error) {
	if o.w.short && o.Machine() == 1 {
		return nil, errors.New("there is none")
	}
	o.w.mu.Lock()
	defer o.w.mu.Unlock()
	o.maps++
	key := [2]int64{o.Machine(), o.maps}
	if o.w.memory[key] == nil {
		o.w.memory[key] = make([]byte, bytes)
	}
	return o.w.memory[key], nil
}

func (o *fakeOwn) Unmap() {}

func (o *fakeOwn) Loss() error       { return o.loss }
func (o *fakeOwn) Revocation() error { return o.revoked }
func (o *fakeOwn) Leave() error      { return o.loss }

func (o *fakeOwn) Isend(b []byte, to, tag int) (coll.Req, error) {
	return o.Comm.Isend(coll.Bytes(b), to, tag)
}

func (o *fakeOwn) Irecv(b []byte, from, tag int) (coll.Req, error) {
	return o.Comm.Irecv(coll.Bytes(b), from, tag)
}

func (o *fakeOwn) Discard() {
	o.w.mu.Lock()
	defer o.w.mu.Unlock()
	if o.gone {
		panic("a communicator is discarded twice")
	}
	o.gone = true
	o.w.discarded++
}

func (o *fakeOwn) Window(config onesided.Config) (Window, error) {
	o.w.mu.Lock()
	defer o.w.mu.Unlock()
	if o.w.word == nil {
		o.w.word = make([]int64, 1)
	}
	return &fakeWindow{w: o.w, together: len(o.Sharers()) == o.Size()}, nil
}

// fakeWindow is a window of one number.
type fakeWindow struct {
	w        *fakeWorld
	together bool
	locked   bool
	pending  []func() // until Flush
}

func (f *fakeWindow) Base() datatype.Pointer { return coll.Numbers(f.w.word).Base }
func (f *fakeWindow) Together() bool         { return f.together }

func (f *fakeWindow) At(int) datatype.Pointer {
	if f.together || len(f.w.machines) == 1 {
		return f.Base()
	}
	return nil
}

func (f *fakeWindow) Lock(int, bool, int) error {
	f.locked = true
	return nil
}

// Accumulate takes effect when it is flushed.
func (f *fakeWindow) Accumulate(origin, result coll.Buf, at onesided.Place, op coll.Op, element *datatype.Type,
	_ bool) (uint64, error) {
	if !f.locked || at.Target != 0 {
		return 0, errors.New("the window is not locked")
	}
	f.pending = append(f.pending, func() {
		f.w.mu.Lock()
		defer f.w.mu.Unlock()
		*(*int64)(result.Base) = f.w.word[0]
		op.Apply(origin.Base, coll.Numbers(f.w.word).Base, 1, element)
	})
	return 0, nil
}

func (f *fakeWindow) Flush(int, bool, string) error {
	for _, do := range f.pending {
		do()
	}
	f.pending = nil
	return nil
}
