package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// player is a process that the tester tells what to do (docs/conformance.md).
type player struct {
	*job
	rank int
	conn net.Conn
}

func (p *player) tell(format string, args ...any) { fmt.Fprintf(p.conn, format+"\n", args...) }
func (p *player) say(format string, args ...any)  { p.tell("say "+format, args...) }

// play connects to the tester, takes all steps, and comes to the barrier of MPI_Finalize.
func (j *job) play(rank int, address, token string) {
	c, err := net.Dial("tcp", address)
	check(err)
	p := &player{j, rank, c}
	p.tell("impi-conform 1 %s %d %d", token, rank, len(j.procs))
	for lines := bufio.NewScanner(c); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "text":
			_, text, _ := strings.Cut(rest, " ")
			p.tell("text %d %s", len(text), text)
		case "do":
			p.do(rest)
		case "end":
			p.tell("done 0")
		case "exit":
			j.barrier()
			return
		}
	}
	die("process %d: the tester has hung up", rank)
}

// wrong reports an error, and ends the job.
func (p *player) wrong(level, code int, format string, args ...any) {
	p.tell("wrong %d "+format, append([]any{level}, args...)...)
	fmt.Fprintf(os.Stderr, "tiny: process %d: "+format+"\n", append([]any{p.rank}, args...)...)
	os.Exit(code)
}

// pattern is what a message with a tag has.
func pattern(tag, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((tag + 7*i) % 251)
	}
	return b
}

// others reports whether a step is for other processes than this, and returns the step.
func (p *player) others(step string) (string, bool) {
	if !strings.HasPrefix(step, "@") {
		return step, false
	}
	who, step, _ := strings.Cut(step[1:], " ")
	low, high, isRange := strings.Cut(who, "-")
	if !isRange {
		high = low
	}
	a, _ := strconv.Atoi(low)
	b, _ := strconv.Atoi(high)
	return step, p.rank < a || p.rank > b
}

// do takes a step.
func (p *player) do(text string) {
	text, others := p.others(text)
	if others {
		return
	}
	w := append(strings.Fields(text), "", "", "")
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(w[i+1])
	}
	switch w[0] {
	case "barrier":
		p.barrier()
	case "send", "ssend", "rsend", "bsend":
		p.send(p.rank, n[0], int32(n[1]), 0, pattern(n[1], n[2]), w[0] == "ssend")
		p.say("%s %d %d success", w[0], n[0], n[1])
	case "buffer": // there is always room
	case "fence":
		p.send(p.rank, n[0], 32767, 0, nil, false)
	case "recv":
		p.receive(n[0], n[1], n[2])
	case "rank":
		p.say("rank %d of %d", p.rank, len(p.procs))
	case "say":
		p.say("%s", strings.TrimPrefix(text, "say "))
	case "attributes":
		p.say("tag_ub %d", p.tagUB)
	case "abort", "exit":
		os.Exit(n[0])
	default:
		p.wrong(3, 4, "there is no step %s", text)
	}
}

// receive takes a message, and looks at what is in it.
func (p *player) receive(from, tag, room int) {
	m := p.recv(p.rank, from, int32(tag), 0)
	tag = int(int32(be.Uint32(m.head[atTag:])))
	if len(m.data) > room {
		p.say("recv %d %d truncate", m.from, tag)
		return
	}
	if want := pattern(tag, len(m.data)); string(m.data) != string(want) {
		p.wrong(2, 3, "a message of %d bytes with tag %d has arrived with other bytes", len(m.data), tag)
	}
	p.say("recv %d %d %d", m.from, tag, len(m.data))
}
