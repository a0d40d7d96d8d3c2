package control

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// player is the connection of one process.
type player struct {
	job        *Job
	conn       net.Conn
	rank, size int

	// guarded by job.mu
	delivered bool           // it has returned the first text
	said      map[string]int // in this case: how often
	lines     int
	bytes     int
	level     int // its worst error in this case; -1: it has not ended it
	over      bool
}

// write tells the player what is in the job's script. Nothing goes before the text has come back: if that does not
// work, neither would anything else.
func (p *player) write() {
	j := p.job
	if _, err := p.conn.Write([]byte(delivery() + "\n")); err != nil {
		return // the reader will find out
	}
	next, passed := 0, 0
	for {
		j.mu.Lock()
		lines, news := []string(nil), j.news
		for ; p.delivered && next < len(j.script); next++ {
			if j.script[next] == gate {
				if passed == j.gates {
					break
				}
				passed++
			}
			lines = append(lines, j.script[next])
		}
		over := p.over || j.closed
		j.mu.Unlock()
		if len(lines) > 0 {
			if _, err := p.conn.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
				return
			}
			continue
		}
		if over {
			return
		}
		<-news
	}
}

// read takes what the player says, until it hangs up.
func (p *player) read(r *bufio.Reader) {
	j := p.job
	var b breach
	for b.why == "" {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			b.why = fmt.Sprintf("a line has more than %d bytes", MaxLine)
		} else if err != nil {
			break
		} else {
			b = p.take(string(line[:len(line)-1]))
		}
	}
	j.mu.Lock()
	p.over = true
	if b.why != "" {
		b.why = fmt.Sprintf("the player of process %d: %s", p.rank, b.why)
		j.fail(p, b)
	}
	j.changed()
	j.mu.Unlock()
	j.report()
	p.conn.Close()
}

// take takes a line, and returns what is wrong with it. The handler knows what was said before others see it.
func (p *player) take(line string) breach {
	j := p.job
	j.mu.Lock()
	to, delivered, why := j.to, p.delivered, p.count(line)
	j.mu.Unlock()
	if why != "" {
		return breach{why: why}
	}
	word, rest, _ := strings.Cut(line, " ")
	level, text, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(level)
	switch {
	case !delivered && line != delivery():
		return breach{undelivered: true, why: fmt.Sprintf("the test of delivery has failed, so no case is tried: it has "+
			"returned %.200q, must be %q", line, delivery())}
	case !delivered:
	case word == "say":
		to.Said(p.rank, rest)
	case word == "wrong" && err == nil && n >= 0 && n <= MaxLevel:
		to.Wrong(fmt.Sprintf("process %d: %.800s", p.rank, text))
	case word == "done" && err == nil && n >= 0 && n <= MaxLevel:
	default:
		return breach{why: fmt.Sprintf("it says %.200q", line)}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case !delivered:
		p.delivered = true
	case word == "say":
		p.said[rest]++
	case word == "done":
		p.level = n
	}
	j.changed()
	return breach{}
}

// Levels of errors.
const (
	Good     = 0
	Error    = 1 // a call of MPI has returned an error, which a case may want
	WrongOne = 2 // a wrong value has come
	MaxLevel = 3 // a step is not known
)

// count bounds what a process says in a case. The lock is held.
func (p *player) count(line string) (why string) {
	p.lines++
	p.bytes += len(line) + 1
	if p.lines > MaxLines || p.bytes > MaxBytes {
		return fmt.Sprintf("it says more than %d lines or %d bytes in a case", MaxLines, MaxBytes)
	}
	return ""
}
