package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
)

// Handler is told what players do. Its functions are called one at a time for each process.
type Handler struct {
	Said  func(rank int, text string) // a process has said something
	Wrong func(text string)           // a wrong value has come, or a player breaks the rules
	// Undelivered says that the test of delivery has failed: no case can be tried.
	Undelivered func(text string)
}

// Job is the players of a client under test.
type Job struct {
	control *Control
	token   string
	n       int // processes

	mu      sync.Mutex // guards what follows, and the players
	to      Handler
	script  []string // what all players are told, in order
	gates   int      // how many gates of it are open
	players map[int]*player
	ranks   []int // that the processes may have; nil: not known yet
	size    int   // of MPI_COMM_WORLD; 0: not known yet
	news    chan struct{}
	broken  *breach // what ends all waiting; nil: nothing
	closed  bool
}

// breach is how a player has broken the rules.
type breach struct {
	why         string
	undelivered bool
	told        bool // the handler knows
}

// ErrEnded is what waiting for players ends with when they have hung up.
var ErrEnded = errors.New("the player has hung up")

// Arguments are those of the player.
func (j *Job) Arguments() []string { return []string{j.control.Addr(), j.token} }

// Watch tells another handler what happens from now on.
func (j *Job) Watch(to Handler) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.to = to
}

// Expect says which ranks the processes have, and the size of MPI_COMM_WORLD.
func (j *Job) Expect(ranks []int, size int) {
	defer j.report()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ranks, j.size = ranks, size
	for _, p := range j.players {
		if why := j.unexpected(p); why != "" {
			j.fail(p, breach{why: why})
		}
	}
}

// unexpected says what is wrong with who a player says it is, "" if nothing is. The lock is held.
func (j *Job) unexpected(p *player) string {
	switch {
	case p.rank < 0 || p.size < 1 || p.rank >= p.size:
		return fmt.Sprintf("a player says it is rank %d of %d", p.rank, p.size)
	case j.ranks != nil && (!slices.Contains(j.ranks, p.rank) || p.size != j.size):
		return fmt.Sprintf("a player says it is rank %d of %d, must be one of the ranks %v of %d", p.rank, p.size, j.ranks,
			j.size)
	}
	return ""
}

// join takes a connection that has said the job's token.
func (j *Job) join(conn net.Conn, r *bufio.Reader, rank, size int) {
	p := &player{job: j, conn: conn, rank: rank, size: size, level: -1, said: map[string]int{}}
	defer j.report()
	j.mu.Lock()
	defer j.mu.Unlock()
	why := j.unexpected(p)
	switch {
	case j.closed:
		conn.Close()
		return
	case why != "":
	case j.players[rank] != nil:
		why = fmt.Sprintf("a second player says it is rank %d", rank)
	case len(j.players) == j.n:
		why = fmt.Sprintf("more than %d players come", j.n)
	}
	if why != "" {
		j.fail(p, breach{why: why})
		return
	}
	j.players[rank] = p
	j.changed()
	go p.write()
	go p.read(r)
}

// fail hangs up on a player that breaks the rules. The lock is held; report follows without it.
func (j *Job) fail(p *player, b breach) {
	p.conn.Close()
	if j.broken == nil && !j.closed {
		j.broken = &b
	}
	j.changed()
}

// report tells the handler of a breach, once.
func (j *Job) report() {
	j.mu.Lock()
	b, to := j.broken, j.to
	if b == nil || b.told {
		j.mu.Unlock()
		return
	}
	b.told = true
	j.mu.Unlock()
	if b.undelivered {
		to.Undelivered(b.why)
	} else {
		to.Wrong(b.why)
	}
}

// changed wakes all who wait. The lock is held.
func (j *Job) changed() {
	close(j.news)
	j.news = make(chan struct{})
}

// Begin begins a case: what was said before is forgotten.
func (j *Job) Begin(name string) {
	j.mu.Lock()
	for _, p := range j.players {
		p.said, p.lines, p.bytes, p.level = map[string]int{}, 0, 0, -1
	}
	j.mu.Unlock()
	j.tell("begin " + name)
}

// Do lets every process take steps, each of which says itself whom it is for.
func (j *Job) Do(steps ...string) {
	for i := range steps {
		if len(steps[i])+len("do \n") > MaxLine || strings.Contains(steps[i], "\n") {
			panic(fmt.Sprintf("the step %q cannot be told to a player", steps[i]))
		}
	}
	var lines []string
	for _, s := range steps {
		lines = append(lines, "do "+s)
		if strings.HasSuffix(s, "compute") {
			lines = append(lines, gate)
		}
	}
	j.tell(lines...)
}

// gate ends the step compute. It waits in the script, and all that follows with it, until Go.
const gate = "go"

// Go ends the next step compute of all processes.
func (j *Job) Go() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gates++
	j.changed()
}

// End ends a case; Done waits for the answers.
func (j *Job) End() { j.tell("end") }

// Exit lets the players finish.
func (j *Job) Exit() { j.tell("exit") }

func (j *Job) tell(lines ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.script = append(j.script, lines...)
	j.changed()
}

// Count is how often a process has said this in the case.
func (j *Job) Count(rank int, text string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.players[rank]; p != nil {
		return p.said[text]
	}
	return 0
}

// Await waits until a process has said this.
func (j *Job) Await(ctx context.Context, rank int, text string) error {
	return j.await(ctx, func() (bool, error) {
		p := j.players[rank]
		switch {
		case p == nil:
			return false, nil
		case p.said[text] > 0:
			return true, nil
		case p.over:
			return false, ErrEnded
		}
		return false, nil
	})
}

// Done waits for the end of the case at all processes, and returns the worst level.
func (j *Job) Done(ctx context.Context) (level int, err error) {
	err = j.await(ctx, func() (bool, error) {
		done := 0
		for _, p := range j.players {
			if p.level >= 0 {
				done++
				level = max(level, p.level)
			} else if p.over {
				return false, ErrEnded
			}
		}
		return done == j.n, nil
	})
	return level, err
}

// Over waits until all players that have come have hung up.
func (j *Job) Over(ctx context.Context) error {
	return j.await(ctx, func() (bool, error) {
		for _, p := range j.players {
			if !p.over {
				return false, nil
			}
		}
		return true, nil
	})
}

// await waits until cond holds, or fails. The lock is held in it.
func (j *Job) await(ctx context.Context, cond func() (bool, error)) error {
	for {
		j.mu.Lock()
		ok, err := cond()
		if !ok && err == nil && j.broken != nil {
			err = errors.New(j.broken.why)
		}
		news := j.news
		j.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends the job: a player that has not been told to exit aborts.
func (j *Job) Close() {
	j.control.mu.Lock()
	delete(j.control.jobs, j.token)
	j.control.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	for _, p := range j.players {
		p.conn.Close()
	}
	j.changed()
}
