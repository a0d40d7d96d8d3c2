// Package fake is a whole job in one process, for tests: its processes are goroutines, its transports are queues in
// memory. There may be several jobs, which can meet.
//
//	world.go      the jobs and their processes; who runs next
//	meeting.go    lines and meetings of processes of several jobs
//	flow.go       packets from one process to another: late, refused, cut, forged, lost
//	transports.go the transports of a process: Local and Network, each with all it can do, or plain
//	collective.go collective operations of a transport
//	bell.go       where a process sleeps
//
// Only one process runs at a time (Run): it gives the turn to another when it sleeps in its bell, and who has the
// next turn, how late each packet is, and what is refused, is drawn from a generator with a seed. So a run is the
// same each time. A packet stays behind those sent before it to the same process and overtakes all others. Time is
// counted in turns.
//
// A job in which all sleep and nothing is under way is stuck: its processes lose each other, and Run says so.
package fake

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// Options say what job it is. The zero value of each is a good one, but for Machines.
type Options struct {
	Machines []int   // processes of each machine; those of one are Local each other
	Clients  []int32 // client of each machine; nil: one client has all
	Jobs     []int   // job of each machine, from 0 on, ascending; nil: there is one. Clients are the same in all jobs
	Near     bool    // all machines are one, so that processes of several jobs meet in shared memory
	Seed     uint64
	Late     int  // the most turns that a packet takes beyond those before it
	Room     int  // the most packets under way from one process to another; 0: 16
	Eager    int  // bytes, see transport.Limits; 0: 256
	Packet   int  // bytes; 0: 1024
	Stream   int  // bytes, the longest continuation between machines; 0: 3000
	NoRead   bool // no process may read another's memory
	Quick    bool // reading it is about as quick as copying
	Sealed   bool // it turns out that memory can neither be read nor written, as that of devices
	Plain    bool // transports can do nothing but carry packets

	// Combine combines the vectors of a collective operation of Network, into inout.
	Combine func(o *transport.Operation, in, inout []byte)
}

// World is a job.
type World struct {
	o    Options
	jobs []transport.Job

	mu      sync.Mutex
	rng     *rand.Rand
	now     int     // turns
	procs   []*proc // of all jobs, one after the other
	flows   []*flow // by source * number of processes + destination
	joined  map[joint]bool
	faults  map[fault]error
	running bool // Run is under way
	left    int  // processes that have not come to their end
	ends    int  // processes that have
	ended   chan struct{}
	stuck   error
	trace   trace
	memory  memory

	together [][Lines][]*together // by job: the operations of each line
}

// proc is one process.
type proc struct {
	w       *World
	index   int32 // among all processes
	job     int
	rank    int32   // in its job
	names   []int32 // by index: what the process calls another; unknown: nothing
	machine int
	world   []int32 // world ranks of its machine
	local   int
	lock    uint32
	bell    uint32
	asleep  bool   // in Wait
	slept   uint32 // the bell's value that it sleeps on
	over    bool   // its body has ended
	ends    int    // World.ends as it has last looked for them
	turn    chan struct{}
	looks   int // at the clock

	dead   bool
	lost   []error // by index: why it is lost to this one
	told   []bool
	inside bool
	left   map[int32]*proc // who was called so before a link ended
	guests *Guests
	near   transport.Transport // Local
	begun  [Lines]int          // collective operations
	shares []share             // those under way
	rx     transport.Receiver
	placer transport.Placer
}

// What a trace notes.
const (
	turned = iota
	taken
	lost
)

// trace is a digest of all that has been drawn and delivered.
type trace struct{ sum uint64 }

func (t *trace) note(words ...uint64) {
	for _, x := range words {
		t.sum = (bits.RotateLeft64(t.sum, 23) ^ x) * 0x9e3779b97f4a7c15
	}
}

// New makes a job.
func New(o Options) *World {
	o.Room, o.Eager, o.Packet, o.Stream = or(o.Room, 16), or(o.Eager, 256), or(o.Packet, 1024), or(o.Stream, 3000)
	w := &World{o: o, rng: rand.New(rand.NewPCG(o.Seed, 0x696d7069))}
	w.joined, w.faults = map[joint]bool{}, map[fault]error{}
	for m, n := range o.Machines {
		client, job := int32(0), 0
		if o.Clients != nil {
			client = o.Clients[m]
		}
		if o.Jobs != nil {
			job = o.Jobs[m]
		}
		if job == len(w.jobs) {
			w.together = append(w.together, [Lines][]*together{})
			w.jobs = append(w.jobs, transport.Job{MaxDataLen: uint32(o.Packet), TagUB: 1<<31 - 1, AckMark: 1, HiWater: 1,
				XSize: 1024, MaxLinear: 4})
		}
		w.jobs[job].Clients = max(w.jobs[job].Clients, client+1)
		first := len(w.procs)
		var world []int32
		for range n {
			world = append(world, int32(len(w.jobs[job].Procs)))
			w.add(client, m, len(world)-1, job)
		}
		for _, p := range w.procs[first:] {
			p.world = world
		}
	}
	for range len(w.procs) * len(w.procs) {
		w.flows = append(w.flows, &flow{})
	}
	for _, p := range w.procs {
		p.lost, p.told = make([]error, len(w.procs)), make([]bool, len(w.procs))
		for _, q := range w.procs {
			if q.job == p.job {
				p.names = append(p.names, q.rank)
			} else {
				p.names = append(p.names, unknown)
			}
		}
	}
	return w
}

func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// unknown is what a process calls one of another job that it has no link with.
const unknown = -1

func (w *World) add(client int32, machine, local, job int) {
	j := &w.jobs[job]
	r := int32(len(j.Procs))
	w.procs = append(w.procs, &proc{w: w, index: int32(len(w.procs)), job: job, rank: r, machine: machine, local: local,
		turn: make(chan struct{}, 1)})
	j.Hosts = append(j.Hosts, transport.Host{Client: client, First: r, NProcs: 1,
		SameImpl: true, Exchange: true, Machine: uint64(machine) + 1})
	j.Procs = append(j.Procs, transport.Proc{HostID: [16]byte{15: byte(machine)}, PID: int64(len(w.procs)), Host: r,
		Client: client})
}

// named finds the process that p calls so; nil: none.
func (p *proc) named(number int32) *proc {
	for i, name := range p.names {
		if name == number && number != unknown {
			return p.w.procs[i]
		}
	}
	return nil
}

// Size is the number of processes.
func (w *World) Size() int { return len(w.procs) }

// Job is what a process knows of its job. Processes are given by their rank among those of all jobs.
func (w *World) Job(rank int) *transport.Job {
	p := w.procs[rank]
	job := w.jobs[p.job]
	job.Me = p.rank
	return &job
}

// Home is what process rank has to itself.
func (w *World) Home(rank int) transport.Home {
	p := w.procs[rank]
	return transport.Home{World: p.world, Rank: p.local, Cores: len(p.world), Lock: &p.lock, Bell: p,
		Memory: p, InTurn: true, Now: p.clock}
}

// clock is the time of a process that looks at it: a turn takes 10 us, and each look 5.
func (p *proc) clock() time.Time {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.looks++
	return time.Unix(0, int64(p.w.now)*10_000+int64(p.looks)*5_000)
}

// Open makes the transports of process rank.
func (w *World) Open(rank int) transport.Open {
	return func(_ context.Context, r transport.Receiver, _ func()) (transport.Links, error) {
		p := w.procs[rank]
		p.rx, p.guests, p.left = r, &Guests{link{p: p, way: toGuests}}, map[int32]*proc{}
		p.placer, _ = r.(transport.Placer)
		local, network := link{p: p}, link{p: p, way: overNetwork}
		var links transport.Links
		if w.o.Plain {
			links.Local, links.Network = &local, &network
		} else {
			links.Local, links.Network = &Local{local}, &Network{network}
		}
		links.Meet, p.near = p.begin, links.Local
		if len(p.world) == len(w.jobs[p.job].Procs) {
			links.Network = nil
		}
		return links, nil
	}
}

// ErrStuck is why processes lose each other, and what Run answers, if all sleep and nothing is under way.
var ErrStuck = errors.New("fake: stuck")

// Run runs body for each process on a goroutine of its own, one at a time, and returns when all have ended. Runs may
// follow each other; in between, and before, the caller has all processes for itself, and each Poll is a turn. Errors:
// ErrStuck.
func (w *World) Run(body func(rank int)) error {
	w.mu.Lock()
	w.running, w.ends, w.left, w.ended = true, 0, len(w.procs), make(chan struct{})
	for _, p := range w.procs {
		p.over, p.asleep, p.ends = false, false, 0
		go func() {
			<-p.turn
			defer p.end()
			body(int(p.index))
		}()
	}
	w.next()
	w.mu.Unlock()
	<-w.ended
	return w.stuck
}

func (p *proc) end() {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	p.over = true
	w.ends++
	if w.left--; w.left > 0 {
		w.next()
		return
	}
	w.running = false
	close(w.ended)
}

// Yield lets process rank, the caller, wait for nothing while others have their turns: for loops that look again and
// again.
func (w *World) Yield(rank int) {
	w.mu.Lock()
	w.next()
	w.mu.Unlock()
	<-w.procs[rank].turn
}

// next gives the turn to a process that can use it. Lock held.
func (w *World) next() {
	w.now++
	ready := w.ready()
	if len(ready) == 0 && w.skip() {
		ready = w.ready()
	}
	if len(ready) == 0 {
		ready = w.awaken()
	}
	if len(ready) == 0 {
		w.giveUp()
		if ready = w.ready(); len(ready) == 0 {
			panic("fake: processes that have lost each other sleep")
		}
	}
	p := ready[w.rng.IntN(len(ready))]
	p.asleep, p.ends = false, w.ends
	w.trace.note(turned, uint64(p.index))
	p.turn <- struct{}{}
}

func (w *World) ready() (ready []*proc) {
	for _, p := range w.procs {
		if !p.over && (!p.asleep || p.bell != p.slept || p.due() || p.bereft()) {
			ready = append(ready, p)
		}
	}
	return ready
}

// awaken returns sleepers that have not looked since a process came to its end: nobody sleeps for ever, and who looks
// again may see that it has departed.
func (w *World) awaken() (awake []*proc) {
	for _, p := range w.procs {
		if !p.over && p.ends < w.ends {
			awake = append(awake, p)
		}
	}
	return awake
}

// skip lets time pass until the first packet is there for somebody.
func (w *World) skip() bool {
	first := -1
	for _, p := range w.procs {
		for src := range w.procs {
			f := w.flow(int32(src), p.index)
			if !p.over && f.whole() && (first < 0 || f.queue[0].due < first) {
				first = f.queue[0].due
			}
		}
	}
	w.now = max(w.now, first)
	return first >= 0
}

// giveUp ends a job that is stuck.
func (w *World) giveUp() {
	var asleep []string
	for _, p := range w.procs {
		if !p.over {
			asleep = append(asleep, fmt.Sprint(p.index))
		}
	}
	w.stuck = fmt.Errorf("%w: processes %s sleep, and nothing is under way", ErrStuck, strings.Join(asleep, " "))
	for _, p := range w.procs {
		for peer := range w.procs {
			if int32(peer) != p.index && p.lost[peer] == nil {
				p.lost[peer] = w.stuck
			}
		}
	}
}

// Kill ends process rank: nothing it sends arrives any more, of what is under way perhaps the first, and the others
// lose it. It loses all others, so that its calls end.
func (w *World) Kill(rank int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.procs[rank]
	if p.dead {
		return
	}
	p.dead = true
	for peer, q := range w.procs {
		if peer == rank {
			continue
		}
		f := w.flow(int32(rank), q.index)
		if k := len(f.queue); k > 0 {
			f.queue = f.queue[:w.rng.IntN(k+1)]
		}
		if k := len(f.queue); k > 0 && f.queue[k-1].missing > 0 {
			f.queue = f.queue[:k-1]
		}
		q.lose(p.index, fmt.Errorf("fake: process %d has been killed", rank))
		p.lose(q.index, fmt.Errorf("fake: this process, %d, has been killed", rank))
	}
}

// lose notes that a peer is gone: what it has sent is still delivered, and then the loss reported. Lock held.
func (p *proc) lose(peer int32, err error) {
	if p.lost[peer] == nil {
		p.lost[peer] = err
		p.w.flow(p.index, peer).queue = nil
	}
}

// bereft reports whether there is a loss to report. Lock held.
func (p *proc) bereft() bool {
	for peer, err := range p.lost {
		if err != nil && !p.told[peer] && p.names[peer] != unknown && !p.w.flow(int32(peer), p.index).whole() {
			return true
		}
	}
	return false
}

// Digest tells two runs apart: it is the same exactly if all turns and all packets delivered were the same.
func (w *World) Digest() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trace.sum
}
