package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Header is the beginning of a file. Offsets of its fields are in parentheses.
//
//	  0 magic      8 mark u32       12 version u32    16 HeaderBytes u32   20 BlockBytes u32
//	 24 room of definitions, bytes  32 bytes of definitions used, written after them
//	 40 blocks of room              48 blocks begun so far                 56 events lost
//	 64 keep u32   68 rank i32      72 size i32       76 client i32        80 pid i64    88 job u64
//	 96 whole u64  104 ticks/s f64  112 ticks u64     120 monotonic i64
//	128 ticks u64 at the end, 0: it has not come      136 monotonic i64
//	144 Align at the start          176 Align at the end
type Header struct {
	Room       uint64 // of definitions, in bytes
	Used       uint64 // of these
	Blocks     uint64 // that there is room for
	Begun      uint64 // blocks
	Lost       uint64 // events that there was no room for; blocks that were used again are Begun - Blocks
	Keep       Keep
	Rank, Size int32 // in MPI_COMM_WORLD
	Client     int32
	PID        int64
	Job        uint64 // the same in all files of a job, and most probably in no other
	Whole      bool   // the process has ended MPI: nothing is missing but what was lost
	Clock      Clock
}

// Clock makes times of a clock's ticks.
type Clock struct {
	PerSecond  float64 // ticks, as measured at the start
	Start, End Reading // End: zero if it has not come
	AtStart    Align
	AtEnd      Align
}

// Reading is a moment by two clocks.
type Reading struct {
	Ticks     uint64
	Monotonic int64 // CLOCK_MONOTONIC, in nanoseconds
}

// Align says what to add to a machine's CLOCK_MONOTONIC for UTC as rank 0's machine has it.
type Align struct {
	Offset int64 // nanoseconds
	Error  int64 // it may be wrong by so much: half of the quickest round trip
	At     int64 // when it was measured, by CLOCK_MONOTONIC
	Known  bool  // false: Offset is for UTC as this machine has it, since nothing was measured
}

const (
	atDefinitions, atUsed, atBlocks, atBegun, atLost = 24, 32, 40, 48, 56
	atKeep, atRank, atSize, atClient                 = 64, 68, 72, 76
	atPID, atJob, atWhole, atPerSecond               = 80, 88, 96, 104
	atStart, atEnd, atAlignStart, atAlignEnd         = 112, 128, 144, 176
)

// Offsets that C writes to.
const (
	AtBegun = atBegun
	AtLost  = atLost
)

var native = binary.NativeEndian

// put writes the header in this machine's byte order.
func (h *Header) put(b []byte) {
	copy(b, Magic)
	for i, v := range []uint32{mark, Version, HeaderBytes, BlockBytes} {
		native.PutUint32(b[8+4*i:], v)
	}
	for i, v := range []uint64{h.Room, h.Used, h.Blocks, h.Begun, h.Lost} {
		native.PutUint64(b[atDefinitions+8*i:], v)
	}
	for i, v := range []int32{int32(h.Keep), h.Rank, h.Size, h.Client} {
		native.PutUint32(b[atKeep+4*i:], uint32(v))
	}
	native.PutUint64(b[atPID:], uint64(h.PID))
	native.PutUint64(b[atJob:], h.Job)
	native.PutUint64(b[atWhole:], uint64(one(h.Whole)))
	native.PutUint64(b[atPerSecond:], math.Float64bits(h.Clock.PerSecond))
	h.Clock.Start.put(b[atStart:])
	h.Clock.End.put(b[atEnd:])
	h.Clock.AtStart.put(b[atAlignStart:])
	h.Clock.AtEnd.put(b[atAlignEnd:])
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (r Reading) put(b []byte) {
	native.PutUint64(b, r.Ticks)
	native.PutUint64(b[8:], uint64(r.Monotonic))
}

func (a Align) put(b []byte) {
	for i, v := range []int64{a.Offset, a.Error, a.At, one(a.Known)} {
		native.PutUint64(b[8*i:], uint64(v))
	}
}

// ErrNoTrace is the error of a file that is something else.
var ErrNoTrace = errors.New("not a trace of libimpi")

// parse reads a header, and finds out the byte order.
func (h *Header) parse(b []byte) (binary.ByteOrder, error) {
	if len(b) < HeaderBytes || string(b[:8]) != Magic {
		return nil, ErrNoTrace
	}
	var o binary.ByteOrder = binary.LittleEndian
	if o.Uint32(b[8:]) != mark {
		o = binary.BigEndian
	}
	if o.Uint32(b[8:]) != mark {
		return nil, ErrNoTrace
	}
	if v := o.Uint32(b[12:]); v != Version {
		return nil, fmt.Errorf("a trace of version %d; this program reads version %d", v, Version)
	}
	if o.Uint32(b[16:]) != HeaderBytes || o.Uint32(b[20:]) != BlockBytes {
		return nil, errors.New("a trace with other sizes than its version has")
	}
	signed := func(at int) int64 { return int64(o.Uint64(b[at:])) }
	reading := func(at int) Reading { return Reading{o.Uint64(b[at:]), signed(at + 8)} }
	align := func(at int) Align { return Align{signed(at), signed(at + 8), signed(at + 16), signed(at+24) == 1} }
	*h = Header{Room: o.Uint64(b[atDefinitions:]), Used: o.Uint64(b[atUsed:]), Blocks: o.Uint64(b[atBlocks:]),
		Begun: o.Uint64(b[atBegun:]), Lost: o.Uint64(b[atLost:]), Keep: Keep(o.Uint32(b[atKeep:])),
		Rank: int32(o.Uint32(b[atRank:])), Size: int32(o.Uint32(b[atSize:])), Client: int32(o.Uint32(b[atClient:])),
		PID: signed(atPID), Job: o.Uint64(b[atJob:]), Whole: o.Uint64(b[atWhole:]) == 1,
		Clock: Clock{PerSecond: math.Float64frombits(o.Uint64(b[atPerSecond:])), Start: reading(atStart),
			End: reading(atEnd), AtStart: align(atAlignStart), AtEnd: align(atAlignEnd)}}
	return o, h.check()
}

// mostRanks bounds the size of a job that is believed.
const mostRanks = 1 << 24

func (h *Header) check() error {
	c := &h.Clock
	switch {
	case h.Size < 1 || h.Size > mostRanks || h.Rank < 0 || h.Rank >= h.Size:
		return fmt.Errorf("a trace of rank %d of %d", h.Rank, h.Size)
	case h.Room > mostDefinitions || h.Used > h.Room || h.Blocks > 1<<32:
		return errors.New("a trace with impossible sizes")
	case !(c.PerSecond >= 1e3 && c.PerSecond <= 1e12):
		return fmt.Errorf("a trace whose clock has %g ticks a second", c.PerSecond)
	}
	return nil
}

// settle prepares Time. last is the last moment for which both clocks are known.
func (c *Clock) settle(last Reading) (time func(ticks uint64) int64) {
	scale := 1e9 / c.PerSecond
	start, a, b := c.Start, c.AtStart, c.AtEnd
	if last.Ticks > start.Ticks && last.Monotonic > start.Monotonic {
		// A clock whose rate changed by more than a thousandth is none: the start's measurement is better.
		s := float64(last.Monotonic-start.Monotonic) / float64(last.Ticks-start.Ticks)
		if math.Abs(s/scale-1) < 1e-3 {
			scale = s
		}
	}
	drift := 0.0
	if a.Known && b.Known && b.At > a.At {
		drift = float64(b.Offset-a.Offset) / float64(b.At-a.At)
	}
	if math.Abs(drift) > 1e-3 {
		drift = 0
	}
	return func(ticks uint64) int64 {
		mono := start.Monotonic + int64(float64(int64(ticks-start.Ticks))*scale)
		return mono + a.Offset + int64(float64(mono-a.At)*drift)
	}
}
