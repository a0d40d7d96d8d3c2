package observe

import (
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/libimpi/trace"
)

// Aligning clocks. Processes of one machine share its CLOCK_MONOTONIC. Of each other machine of the client the first
// process compares its clock with that of the client's first process:
//
//	first process of a machine        first process of the client
//	ping, at t1                    ->
//	                               <- its clock T
//	at t2: T is between t1 and t2, most probably in the middle
//
// The quickest of some rounds counts. In the end all learn what was found, by machine. The offsets are for the first
// process's clock in UTC as it was when that began, so that steps of UTC afterwards do not count.

// Peers is what this needs of the communicator of a client's processes. The calls block.
type Peers interface {
	Rank() int
	Size() int
	Send(to int, b []byte) error
	Recv(from int, b []byte) error
	Bcast(b []byte) error            // from process 0
	Allgather(own, all []byte) error // own has the same length at all
}

// rounds is how many pings a machine sends. The first ones wake the path.
const rounds = 24

// machines numbers the machines of a client's processes by what each says of its own, and finds the first process of
// each.
func machines(p Peers, boot uint64) (mine int, first []int, err error) {
	own, all := make([]byte, 8), make([]byte, 8*p.Size())
	binary.LittleEndian.PutUint64(own, boot)
	if err := p.Allgather(own, all); err != nil {
		return 0, nil, err
	}
	known := map[uint64]int{}
	for r := range p.Size() {
		b := binary.LittleEndian.Uint64(all[8*r:])
		if _, ok := known[b]; !ok {
			known[b] = len(first)
			first = append(first, r)
		}
	}
	return known[boot], first, nil
}

// align finds this machine's offset. All processes of the client call it. now is CLOCK_MONOTONIC in nanoseconds, and
// utc what is to be added to it for UTC: that of process 0 counts.
func align(p Peers, boot uint64, now func() int64, utc int64) (trace.Align, error) {
	mine, first, err := machines(p, boot)
	if err != nil {
		return trace.Align{}, err
	}
	found := make([]byte, 8+24*len(first)) // utc, then by machine: offset, error, when
	order := binary.LittleEndian
	put := func(machine int, a trace.Align) {
		for i, v := range []int64{a.Offset, a.Error, a.At} {
			order.PutUint64(found[8+24*machine+8*i:], uint64(v))
		}
	}
	at := now()
	switch {
	case p.Rank() == 0:
		order.PutUint64(found, uint64(utc))
		put(0, trace.Align{At: at})
		for m := 1; m < len(first) && err == nil; m++ {
			err = serve(p, first[m], now, found[8+24*m:][:24])
		}
	case p.Rank() == first[mine]:
		var a trace.Align
		if a, err = ask(p, now); err == nil {
			put(mine, a)
			err = p.Send(0, found[8+24*mine:][:24])
		}
	}
	if err != nil {
		return trace.Align{}, fmt.Errorf("comparing clocks: %w", err)
	}
	if err := p.Bcast(found); err != nil {
		return trace.Align{}, fmt.Errorf("comparing clocks: %w", err)
	}
	v := func(i int) int64 { return int64(order.Uint64(found[8+24*mine+8*i:])) }
	return trace.Align{Offset: v(0) + int64(order.Uint64(found)), Error: v(1), At: v(2), Known: true}, nil
}

// serve answers the pings of a machine, and receives what it found.
func serve(p Peers, of int, now func() int64, found []byte) error {
	b := make([]byte, 8)
	for range rounds {
		if err := p.Recv(of, b); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(b, uint64(now()))
		if err := p.Send(of, b); err != nil {
			return err
		}
	}
	return p.Recv(of, found)
}

// ask compares this machine's clock with that of process 0.
func ask(p Peers, now func() int64) (best trace.Align, err error) {
	b := make([]byte, 8)
	for i := range rounds {
		t1 := now()
		if err := p.Send(0, b); err != nil {
			return best, err
		}
		if err := p.Recv(0, b); err != nil {
			return best, err
		}
		t2 := now()
		if half := (t2 - t1) / 2; i == 0 || half < best.Error {
			best = trace.Align{Offset: int64(binary.LittleEndian.Uint64(b)) - t1 - half, Error: half, At: t1 + half}
		}
	}
	return best, nil
}
