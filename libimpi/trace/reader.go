package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a trace of a process. Nothing in a file is trusted; what is whole of a damaged one is read.
type File struct {
	Header
	*Definitions
	Path     string
	Problems []string // what is wrong with the file, and what is missing

	// Threads are the numbers of threads, sorted.
	Threads []uint32
	Kernel  map[uint32]uint64 // their ids

	r      io.ReaderAt
	closer io.Closer
	order  binary.ByteOrder
	blocks []block // by number
	time   func(ticks uint64) int64
	bad    bool // an event was found that cannot be
}

// block is a block's header, and where the block is.
type block struct {
	offset       int64
	number       uint64
	thread       uint32
	used, broken int // bytes of events from its beginning on; broken: see format.go
	reading      Reading
}

// Open reads the header, the definitions and the table of blocks of a file.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	t, err := Read(f, stat.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.Path, t.closer = path, f
	return t, nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Read is Open for what is not a file. size is in bytes.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, Definitions: newDefinitions(), Kernel: map[uint32]uint64{}}
	head := make([]byte, HeaderBytes)
	n, err := r.ReadAt(head, 0)
	if err != nil && !(errors.Is(err, io.EOF)) {
		return nil, err
	}
	if f.order, err = f.Header.parse(head[:n]); err != nil {
		return nil, err
	}
	if err := f.readDefinitions(size); err != nil {
		return nil, err
	}
	f.readBlocks(size)
	last := f.Clock.End
	if n := len(f.blocks); n > 0 && last.Ticks == 0 {
		last = f.blocks[n-1].reading
	}
	f.time = f.Clock.settle(last)
	f.note()
	return f, nil
}

func (f *File) problem(format string, args ...any) {
	f.Problems = append(f.Problems, fmt.Sprintf(format, args...))
}

func (f *File) readDefinitions(size int64) error {
	used := int64(f.Used)
	if most := max(0, size-HeaderBytes); used > most {
		f.problem("the file is cut off within its definitions")
		used = most
	}
	b := make([]byte, used)
	if n, err := f.r.ReadAt(b, HeaderBytes); err != nil && n < len(b) {
		return err
	}
	if !f.Definitions.parse(b, f.order) {
		f.problem("its definitions are damaged")
	}
	return nil
}

// readBlocks finds the blocks that the file has.
func (f *File) readBlocks(size int64) {
	start := int64(HeaderBytes + f.Room)
	head := make([]byte, BlockHeader)
	for i := range min(f.Blocks, f.Begun) {
		at := start + int64(i)*BlockBytes
		if size-at < BlockHeader {
			f.problem("the file is cut off: %d of its blocks are missing", min(f.Blocks, f.Begun)-i)
			break
		}
		if n, _ := f.r.ReadAt(head, at); n < len(head) || f.order.Uint32(head) != BlockMagic {
			continue // it was taken by a thread that was killed before it wrote there
		}
		b := block{offset: at, number: f.order.Uint64(head[8:]), thread: f.order.Uint32(head[4:]),
			reading: Reading{f.order.Uint64(head[24:]), int64(f.order.Uint64(head[32:]))}}
		used := f.order.Uint64(head[16:])
		if used < BlockHeader || used > BlockBytes || used%8 != 0 {
			f.problem("block %d is damaged", i)
			continue
		}
		if most := size - at; int64(used) > most {
			f.problem("the file is cut off within block %d", i)
			used = uint64(most) / 8 * 8
		}
		b.used, b.broken = int(used), int(min(f.order.Uint64(head[48:]), BlockBytes))
		f.blocks = append(f.blocks, b)
		f.Kernel[b.thread] = f.order.Uint64(head[40:])
	}
	slices.SortFunc(f.blocks, func(a, b block) int {
		if a.number < b.number {
			return -1
		}
		return int(one(a.number > b.number))
	})
	for t := range f.Kernel {
		f.Threads = append(f.Threads, t)
	}
	slices.Sort(f.Threads)
}

// note says what is missing.
func (f *File) note() {
	if !f.Whole {
		f.problem("the process did not end MPI: it was killed, or the file was copied before")
	}
	if f.Lost > 0 {
		f.problem("%d events are lost: there was no room for them (-trace-size)", f.Lost)
	}
	if n := f.Begun; n > f.Blocks {
		f.problem("%d of %d blocks of events were used again (-trace-size)", n-f.Blocks, n)
	}
}

// First reports whether all events from the start on are there, so that messages can be counted.
func (f *File) First() bool { return f.Begun <= f.Blocks }

// Aligned reports whether the times are those of rank 0's machine, and by how many nanoseconds they may be wrong.
func (f *File) Aligned() (error int64, known bool) {
	a := f.Clock.AtStart
	return max(a.Error, f.Clock.AtEnd.Error), a.Known
}

// Events goes through all events, block by block: those of a thread in the order in which they returned. The event is
// valid until the next.
func (f *File) Events() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		b, e := make([]byte, BlockBytes), &Event{}
		for i := range f.blocks {
			if !f.eventsOf(&f.blocks[i], b, e, yield) {
				return
			}
		}
	}
}

// EventsOf goes through the events of a thread.
func (f *File) EventsOf(thread uint32) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		b, e := make([]byte, BlockBytes), &Event{}
		for i := range f.blocks {
			if f.blocks[i].thread == thread && !f.eventsOf(&f.blocks[i], b, e, yield) {
				return
			}
		}
	}
}

// eventsOf returns false if yield has.
func (f *File) eventsOf(k *block, b []byte, e *Event, yield func(*Event) bool) bool {
	n, _ := f.r.ReadAt(b[:k.used], k.offset)
	b = b[min(n, BlockHeader) : n/8*8]
	e.Thread = k.thread
	for len(b) >= EventHeader {
		w := f.event(e, b)
		if w == 0 {
			if !f.bad {
				f.bad = true
				f.problem("block %d has an event that cannot be", k.number)
			}
			return true
		}
		if !yield(e) {
			return false
		}
		b = b[w:]
	}
	return true
}

// event reads one; it returns its bytes, 0 if it is damaged.
func (f *File) event(e *Event, b []byte) int {
	w0, w1, w2 := f.order.Uint64(b), f.order.Uint64(b[8:]), f.order.Uint64(b[16:])
	n := int(w2&0xffff) * 8
	if n < EventHeader || n > len(b) {
		return 0
	}
	e.Call, e.Site = uint16(w0), w0>>16
	e.Begin, e.End = f.time(w1), f.time(w1+w2>>16)
	e.Items = e.Items[:0]
	for items := b[EventHeader:n]; len(items) > 0; {
		var i Item
		w := i.parse(items, f.order)
		if w == 0 {
			return 0
		}
		e.Items, items = append(e.Items, i), items[w:]
	}
	return n
}

// parse reads an item; it returns its bytes, 0 if it is damaged.
func (i *Item) parse(b []byte, order binary.ByteOrder) int {
	w := order.Uint64(b)
	*i = Item{Kind: Kind(w), Flags: uint8(w >> 8), ID: uint32(w >> 32)}
	if i.Kind == 0 || i.Kind >= kinds || len(b) < 8*words[i.Kind] {
		return 0
	}
	n := 8 * words[i.Kind]
	word := func(k int) uint64 { return order.Uint64(b[8*k:]) }
	switch i.Kind {
	case Send, Recv, Got, Collective, Probe, OneSided:
		i.Peer, i.Tag = int32(word(1)), int32(word(1)>>32)
	}
	switch i.Kind {
	case Send, Recv, Got, OneSided, FileAccess:
		i.Bytes, i.Request = int64(word(2)), word(3)
	case Collective:
		i.Bytes, i.In, i.Request = int64(word(2)), int64(word(3)), word(4)
	case Start:
		i.Request = word(1)
	case Rename:
		i.From, i.Request = word(1), word(2)
	}
	if i.Kind == FileAccess {
		i.In = int64(word(1))
	}
	return n
}

// Job is the files of one job, by rank.
type Job struct {
	ID    uint64
	Files []*File
	begun int64
}

// OpenFolder opens all traces of a folder, by job: that which has begun last comes first. An error is of a file.
func OpenFolder(dir string) (jobs []*Job, problems []error) {
	names, err := filepath.Glob(filepath.Join(strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(dir),
		"*"+Suffix))
	if err != nil {
		return nil, []error{err}
	}
	of := map[uint64]*Job{}
	for _, name := range names {
		f, err := Open(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		j := of[f.Job]
		if j == nil {
			j = &Job{ID: f.Job}
			of[f.Job], jobs = j, append(jobs, j)
		}
		j.Files = append(j.Files, f)
		j.begun = max(j.begun, f.time(f.Clock.Start.Ticks))
	}
	for _, j := range jobs {
		slices.SortStableFunc(j.Files, func(a, b *File) int { return int(a.Rank - b.Rank) })
	}
	slices.SortStableFunc(jobs, func(a, b *Job) int { return int(one(a.begun < b.begun) - one(a.begun > b.begun)) })
	if len(jobs) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%s: no traces (files *%s)", dir, Suffix))
	}
	return jobs, problems
}
