package trace

import (
	"encoding/binary"
	"strings"
)

// Definitions are records that are appended while the process runs:
//
//	u32 kind   u32 bytes of what follows, without padding   these bytes, padded to 8
//
// A later definition of the same number replaces an earlier one. Strings take the rest of a record; Runs are
// u32 how many, and of each i32 first, i32 count, i32 step.
const (
	defMachine = 1 + iota // name of the machine
	defBoot               // what tells this start of this machine's system from all others: clocks are shared within it
	defProgram            // path
	defCalls              // names of calls from number 0 on, each with its 0
	defComm               // u32 id  u32 0  u64 context id  i32 own rank  Runs local  Runs remote  name
	defWindow             // u32 id  u32 id of its communicator  name
	defFile               // the same
	defOp                 // u32 number  name
	defMapping            // u64 start  u64 end  u64 offset in the file  path
	defThread             // u32 number of the thread  name
	defRemark             // text
)

const (
	mostDefinitions = 64 << 20
)

// Run is a sequence of ranks: First, First+Step ...
type Run struct{ First, Count, Step int32 }

// Runs is a list of ranks in MPI_COMM_WORLD; those from its size on are processes of other jobs.
type Runs []Run

// RunsOf packs a list.
func RunsOf(ranks []int32) (runs Runs) {
	for i := 0; i < len(ranks); {
		r := Run{ranks[i], 1, 1}
		if i+1 < len(ranks) {
			r.Step = ranks[i+1] - ranks[i]
		}
		for i += 1; i < len(ranks) && ranks[i] == r.First+r.Count*r.Step; i++ {
			r.Count++
		}
		runs = append(runs, r)
	}
	return runs
}

// Size is how many ranks there are.
func (r Runs) Size() (n int) {
	for _, one := range r {
		n += int(one.Count)
	}
	return n
}

// At is the i-th rank, -1 if there is none.
func (r Runs) At(i int) int32 {
	if i < 0 {
		return -1
	}
	for _, one := range r {
		if i < int(one.Count) {
			return one.First + int32(i)*one.Step
		}
		i -= int(one.Count)
	}
	return -1
}

// List is the list.
func (r Runs) List() []int32 {
	all := make([]int32, 0, r.Size())
	for _, one := range r {
		for i := range one.Count {
			all = append(all, one.First+i*one.Step)
		}
	}
	return all
}

// Comm is a communicator. Those of several processes are the same one if Context and the members are; a context may be
// used again after the communicator was freed.
type Comm struct {
	ID      uint32
	Context uint64
	Rank    int32
	Local   Runs
	Remote  Runs // of an intercommunicator; nil: it is none
	Name    string
}

// Peers are the ranks that messages on the communicator go to.
func (c *Comm) Peers() Runs {
	if len(c.Remote) > 0 {
		return c.Remote
	}
	return c.Local
}

// Named is a window or a file.
type Named struct {
	ID, Comm uint32 // Comm: the communicator that it was made of, 0: not known
	Name     string
}

// Mapping is a file in the process's memory, whose code may run: sites are in there.
type Mapping struct {
	Start, End, Offset uint64
	File               string
}

// Definitions is what numbers in a file stand for.
type Definitions struct {
	Machine, Boot, Program string
	Calls                  []string // names by Event.Call
	Comms                  map[uint32]*Comm
	Windows, Files         map[uint32]*Named
	Ops                    map[uint32]string
	Mappings               []Mapping
	ThreadNames            map[uint32]string
	Remarks                []string
}

// Call is the name of a call.
func (d *Definitions) Call(number uint16) string {
	if int(number) < len(d.Calls) {
		return d.Calls[number]
	}
	return "an unknown call"
}

// Place finds the file of a site, and the offset of the call in there: the call lies before the address it returns to.
func (d *Definitions) Place(site uint64) (file string, offset uint64, ok bool) {
	for i := len(d.Mappings) - 1; i >= 0; i-- {
		if m := &d.Mappings[i]; site > m.Start && site <= m.End {
			return m.File, site - 1 - m.Start + m.Offset, true
		}
	}
	return "", 0, false
}

// cursor reads the fields of a record. After its end it reads zeros, and short is set.
type cursor struct {
	b     []byte
	order binary.ByteOrder
	short bool
}

func (c *cursor) take(n int) []byte {
	if len(c.b) < n {
		c.short = true
		return make([]byte, n)
	}
	got := c.b[:n]
	c.b = c.b[n:]
	return got
}

func (c *cursor) u32() uint32  { return c.order.Uint32(c.take(4)) }
func (c *cursor) u64() uint64  { return c.order.Uint64(c.take(8)) }
func (c *cursor) text() string { return string(c.take(len(c.b))) }

func (c *cursor) runs() (runs Runs) {
	total := int64(0)
	for n := c.u32(); n > 0 && !c.short; n-- {
		r := Run{int32(c.u32()), int32(c.u32()), int32(c.u32())}
		total += int64(r.Count)
		last := int64(r.First) + int64(r.Count-1)*int64(r.Step)
		if r.First < 0 || r.Count < 1 || total > mostRanks || last < 0 || last > 1<<31-1 {
			c.short = true
			return nil
		}
		runs = append(runs, r)
	}
	return runs
}

func newDefinitions() *Definitions {
	return &Definitions{Comms: map[uint32]*Comm{}, Windows: map[uint32]*Named{}, Files: map[uint32]*Named{},
		Ops: map[uint32]string{}, ThreadNames: map[uint32]string{}}
}

// parse reads the records. It returns false if one of them is not as it should be; those that follow are read.
func (d *Definitions) parse(b []byte, order binary.ByteOrder) bool {
	sound := true
	for len(b) >= 8 {
		kind, n := order.Uint32(b), uint64(order.Uint32(b[4:]))
		if n > uint64(len(b)-8) {
			return false
		}
		c := cursor{b: b[8 : 8+n], order: order}
		d.record(kind, &c)
		sound = sound && !c.short
		b = b[min(uint64(len(b)), 8+(n+7)/8*8):]
	}
	return sound && len(b) == 0
}

func (d *Definitions) record(kind uint32, c *cursor) {
	switch kind {
	case defMachine:
		d.Machine = c.text()
	case defBoot:
		d.Boot = c.text()
	case defProgram:
		d.Program = c.text()
	case defCalls:
		d.Calls = strings.Split(strings.TrimSuffix(c.text(), "\x00"), "\x00")
	case defComm:
		m := &Comm{ID: c.u32()}
		c.u32()
		m.Context, m.Rank = c.u64(), int32(c.u32())
		m.Local, m.Remote, m.Name = c.runs(), c.runs(), c.text()
		if !c.short {
			d.Comms[m.ID] = m
		}
	case defWindow, defFile:
		n := &Named{ID: c.u32(), Comm: c.u32(), Name: c.text()}
		if kind == defWindow && !c.short {
			d.Windows[n.ID] = n
		} else if !c.short {
			d.Files[n.ID] = n
		}
	case defOp:
		if n := c.u32(); !c.short {
			d.Ops[n] = c.text()
		}
	case defMapping:
		if m := (Mapping{c.u64(), c.u64(), c.u64(), c.text()}); !c.short {
			d.Mappings = append(d.Mappings, m)
		}
	case defThread:
		if n := c.u32(); !c.short {
			d.ThreadNames[n] = c.text()
		}
	case defRemark:
		d.Remarks = append(d.Remarks, c.text())
	}
}
