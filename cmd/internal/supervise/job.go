// Package supervise starts the processes of a job on this machine and answers for them until the last one,
// and everything that they started, is gone.
//
// Flow: Start forks the ranks (a Set, set.go, to which others may be added) -> Wait sleeps until something happens: a
// child ends (reap.go), a signal comes,
// a rank's link says something (Initialized, Finalized, Aborted), a time is over -> the fact goes into the
// job table (job_table.go), which says whether the job is doomed -> the living get SIGTERM, and SIGKILL after the
// grace -> when nobody is left, the table's cause is the job's outcome.
//
// Nothing here polls: one goroutine waits for children in the kernel, and everything else comes through channels.
//
// Locking: mu guards the job table and the table of living processes. A process is reaped under mu, and a signal
// is sent under mu to processes not yet reaped, so that a signal can never hit a recycled pid.
package supervise

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Config is what a job needs beside its processes.
type Config struct {
	Host    string // this machine's name, for messages
	Ranks   []int  // the processes' ranks in messages, until Job.First says what to add to them; nil: from 0 on
	Part    string // follows a rank in messages until then, such as " of client 1"
	Name    string // follows it in all messages, such as " of spawned job 2"
	Grace   time.Duration
	Timeout time.Duration // 0: none
	// Late, if not nil, is called when that is over, before the ranks are ended. It may take some seconds.
	Late func()
	// Kept is a signal that is not sent on to the ranks; 0: none.
	Kept     syscall.Signal
	Recovery bool // the job is fault tolerant (lost.go)
	// Lost is that of SetConfig, for the initial set.
	Lost func(rank int, l Loss)
	// Streams, if not nil, says where what a rank writes to "stdout" or "stderr" goes.
	Streams func(rank int, name string) Stream
	// Output is where lines with a stamp go, for stdout and stderr; nil: the launcher's own. A call of Write gets
	// whole lines.
	Output [2]io.Writer
	// Guard, if not nil, is a command that runs beside the ranks and is killed at the end of the job. If its standard
	// input ends before that, the launcher has been killed, and the guard kills what ranks have started.
	Guard []string
	// Drain, if not nil, returns when everything has been read that the ended rank had sent on its link.
	Drain func(rank int)
	// Attend is the parent of this process if that is to be the one rank of the job; else 0, and processes are. Set.Left
	// says when it has ended.
	Attend int
	// Doomed, if not nil, is called once when the job is to end, with the cause so far.
	Doomed func(Cause)
}

// Job is a set of running processes.
type Job struct {
	config Config

	mu         sync.Mutex
	initial    *Set
	table      *jobTable      // of the initial set
	sets       []*Set         // those that are not over; the first stays
	living     map[int]member // by pid
	companions map[int]*Companion
	attended   int      // descriptor of a process that runs already (Config.Attend); 0: there is none
	staying    []int    // children that are not the job's, and stay (Leave)
	outcomes   outcomes // ends and aborts that are not in the job table yet
	guard      int      // its pid; 0: there is none, or none any more

	pipe    *os.File        // whose other end the guard reads; it stays open
	changed chan struct{}   // the job table may have changed
	work    chan func()     // what only the thread that stays may do: start processes
	waited  chan struct{}   // closed when Wait has returned
	signals chan os.Signal  // to the launcher
	reaped  chan batch      // children that ended
	relays  sync.WaitGroup  // the output that is still under way
	outputs [2]*sink        // stdout, stderr, if relayed
	opened  []*sink         // files to which output is relayed
	created map[string]bool // files for output, by name
	look    func() error    // returns when a child is dead, or ECHILD if there is none
}

// batch is what was found dead at one moment.
type batch struct {
	endings []ending
	last    bool  // no child is left
	err     error // children cannot be waited for any more
}

// ending is a rank that was found dead.
type ending struct {
	member // no set: a descendant
	status syscall.WaitStatus
}

var forwarded = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT,
}

// Start runs all processes, in rank order. If one of them cannot be run, those before it are killed and the
// error (a *StartError) says which. The caller must stand on the launcher's main thread (LockOSThread in
// init): ranks die when the thread that started them does.
func Start(config Config, processes []Process) (*Job, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("cannot adopt orphans (PR_SET_CHILD_SUBREAPER): %w", err)
	}
	j := &Job{
		config: config,
		living: map[int]member{}, companions: map[int]*Companion{},
		changed: make(chan struct{}, 1),
		work:    make(chan func()),
		waited:  make(chan struct{}),
		signals: make(chan os.Signal, 16),
		reaped:  make(chan batch, 1),
		outputs: [2]*sink{{name: "standard output", out: os.Stdout}, {name: "standard error", out: os.Stderr}},
		look:    look,
	}
	for i, w := range config.Output {
		if w != nil {
			j.outputs[i].out = w
		}
	}
	ranks := len(processes)
	if config.Attend != 0 {
		ranks = 1
	}
	j.table = newJobTable(config.Host, ranks, config.Recovery)
	j.table.of, j.table.name = config.Part, config.Name
	for i, r := range config.Ranks {
		j.table.entries[i].number = r
	}
	first := &Set{job: j, table: j.table, config: SetConfig{Streams: config.Streams, Drain: config.Drain}}
	first.table.lost = config.Lost
	j.initial, j.sets = first, []*Set{first}
	j.listen()
	j.startGuard() // before the ranks: we may be killed as soon as one of them runs
	err := j.startAll(first, processes)
	if config.Attend != 0 {
		err = j.attend(config.Attend)
	}
	if err != nil && j.guard != 0 {
		syscall.Kill(j.guard, syscall.SIGKILL)
	}
	go j.reap()
	if err != nil {
		j.abandon()
		return nil, err
	}
	return j, nil
}

// abandon kills the ranks that were started before one could not be.
func (j *Job) abandon() {
	defer signal.Stop(j.signals)
	s := shutdown{job: j, force: true}
	j.kill(syscall.SIGKILL)
	for range j.reaped {
		s.sweep()
	}
}

// listen asks for the signals that are forwarded, but not for those that our caller had switched off.
func (j *Job) listen() {
	for _, s := range forwarded {
		if s != j.config.Kept && !signal.Ignored(s) {
			signal.Notify(j.signals, s)
		}
	}
}

func (j *Job) startAll(set *Set, processes []Process) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	var copies []*os.File
	for rank := range processes {
		copied, err := j.startOne(set, rank, &processes[rank], null)
		if err != nil {
			return err
		}
		if copied != nil {
			copies = append(copies, copied)
		}
	}
	if copies != nil {
		go spread(Foreground(os.Stdin), copies)
	}
	return nil
}

// startOne starts a process of a set. If that is to read a copy of our standard input, copied is where to write it.
func (j *Job) startOne(set *Set, rank int, p *Process, null *os.File) (copied *os.File, err error) {
	var closing []*os.File
	defer func() {
		for _, f := range closing {
			f.Close()
		}
	}()
	defer p.close()
	files, own := [3]uintptr{null.Fd(), 1, 2}, true
	switch p.Stdin {
	case StdinInherit:
		files[0] = 0
		own = !isTerminal(0) // a background group may not read the terminal
	case StdinRelay:
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		files[0], copied, closing = r.Fd(), w, append(closing, r)
	}
	writers, err := j.connect(set, rank, &files)
	if closing = append(closing, writers...); err != nil {
		return nil, err
	}
	for i, f := range p.Files {
		if f != nil {
			files[i] = f.Fd()
		}
	}
	j.mu.Lock() // the process is not reaped before it is known
	defer j.mu.Unlock()
	pid, err := p.start(files, own)
	if err != nil {
		return nil, err
	}
	j.living[pid] = member{set, rank}
	set.table.entries[rank].own, set.table.entries[rank].talked = own, p.Talked
	set.table.started(rank, pid)
	return copied, nil
}

// startGuard starts the guard in a session of its own, without our terminal. If that fails the job goes on: the guard
// only helps when we are killed.
func (j *Job) startGuard() {
	if len(j.config.Guard) == 0 {
		return
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	pid, err := syscall.ForkExec(j.config.Guard[0], j.config.Guard, &syscall.ProcAttr{
		Dir: "/", Files: []uintptr{r.Fd(), null.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return
	}
	j.guard, j.pipe = pid, w
}

// Lost ends the job because another client's ranks cannot be reached any more. It is a consequence: the cause may still
// be heard.
func (j *Job) Lost(c Cause) {
	j.note(func(*jobTable) {
		j.add(outcome{aborted: true, answer: true, code: c.Code, text: c.Text, blamed: c.Blamed})
	})
}

// First says which world rank the launcher's rank 0 has, once that is known: messages name world ranks.
func (j *Job) First(rank int) { j.note(func(l *jobTable) { l.first, l.of = rank, "" }) }

// Fail ends the job for a reason that is not a rank's, such as a server that does not answer.
func (j *Job) Fail(c Cause) { j.note(func(l *jobTable) { l.failed(c) }) }

// PeerLost ends the job because another client is lost, for which the n ranks from first on may be waiting. It does
// nothing if all of these have finalized.
func (j *Job) PeerLost(first, n int, c Cause) {
	j.note(func(l *jobTable) {
		if slices.ContainsFunc(l.entries[first:first+n], func(e entry) bool { return e.phase != finalized }) {
			c.Answer = true
			l.failed(c)
		}
	})
}

func (j *Job) note(fact func(*jobTable)) {
	j.mu.Lock()
	fact(j.table)
	j.mu.Unlock()
	select {
	case j.changed <- struct{}{}:
	default:
	}
}

// Wait returns when no process of the job is left: nil if every rank ended well.
func (j *Job) Wait() *Cause {
	defer close(j.waited)
	defer signal.Stop(j.signals)
	end := shutdown{job: j}
	var timeout <-chan time.Time
	if j.config.Timeout > 0 {
		timeout = time.After(j.config.Timeout)
	}
	interrupts := 0
	for {
		select {
		case dead := <-j.reaped:
			j.enter(dead.endings)
			if dead.err != nil {
				j.note(func(l *jobTable) {
					l.failed(Cause{Code: 1, Text: fmt.Sprintf("cannot wait for the ranks: %v", dead.err)})
				})
				j.kill(syscall.SIGKILL)
				return j.table.cause
			}
			if dead.last {
				return j.outcome()
			}
		case <-j.changed:
		case do := <-j.work:
			do()
		case s := <-j.signals:
			if (s == syscall.SIGINT || s == syscall.SIGQUIT) && j.talks() {
				continue
			}
			if s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGQUIT {
				interrupts++
				j.note(func(l *jobTable) { l.signalled = true })
			}
			if interrupts > 1 {
				j.note(func(l *jobTable) { l.interrupted(s.(syscall.Signal)) })
				end.now()
			} else {
				j.forward(s.(syscall.Signal))
			}
		case <-timeout:
			go j.late()
		case <-end.grace:
			end.now()
		case <-j.outcomes.limit:
		case <-end.gather:
		}
		j.judge(false)
		if end.advance() {
			return j.outcome()
		}
	}
}

// late ends the job because its time is over.
func (j *Job) late() {
	if j.config.Late != nil {
		j.config.Late()
	}
	j.note(func(l *jobTable) { l.timedOut(j.config.Timeout) })
}

// outcome is the cause when nothing is left.
func (j *Job) outcome() *Cause {
	j.judge(true)
	j.relays.Wait()
	return cmp.Or(j.table.finalCause(), j.lostOutput())
}

// enter adds the ends of ranks to the outcomes, after what they had said.
func (j *Job) enter(dead []ending) {
	for _, e := range dead {
		if e.set == nil {
			continue
		}
		if drain := e.set.config.Drain; drain != nil {
			drain(e.rank)
		}
		e.set.ended(e.rank, e.status)
	}
}

// forward passes a signal on to the ranks. A signal from the terminal has reached the ranks in our process group
// already. SIGTSTP stops us too, after the ranks. A stopped rank gets SIGCONT behind a signal that ends it.
func (j *Job) forward(s syscall.Signal) {
	byTerminal := s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGTSTP
	j.mu.Lock()
	for pid, m := range j.living {
		if m.entry().own || !byTerminal {
			m.send(pid, s)
		}
		if s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP || s == syscall.SIGQUIT {
			m.send(pid, syscall.SIGCONT)
		}
	}
	j.mu.Unlock()
	if s == syscall.SIGTSTP {
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
}

// kill sends s to every living rank, with its process group. A process that has started us, and has aborted, ends by
// itself, with its own code: unless it takes too long.
func (j *Job) kill(s syscall.Signal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for pid, m := range j.living {
		m.kill(pid, s)
	}
	if leaves := j.table.entries[0].aborted && s == syscall.SIGTERM; j.attended != 0 && !leaves {
		unix.PidfdSendSignal(j.attended, unix.Signal(s), nil, 0)
	}
}
