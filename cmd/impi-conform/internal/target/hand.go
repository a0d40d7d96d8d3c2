package target

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
)

// Prompt is what a person must do.
type Prompt struct {
	What        string   // "client 0", "server"
	Command     string   // to be typed in a shell, ready: the environment stands in front
	Environment []string // the same variables, for who sets them another way
	Answer      string   // what has to be typed back, "" for nothing
}

// hand is a process that a person starts.
type hand struct {
	prompt   Prompt
	cancel   context.CancelFunc
	answered chan struct{} // closed when Ask has returned
	answer   string
	err      error // the person gives up
}

// NewByHand makes a target whose commands a person types. The player is compiled there; {prog} becomes its name and
// arguments. The tester listens at place.
func NewByHand(serverCmd, clientCmd, values, player string, place *Place,
	ask func(context.Context, Prompt) (string, error)) (*Target, error) {
	t := &Target{values: strings.Fields(values), player: player, place: place, Ask: ask}
	return t, t.setUp(serverCmd, clientCmd, "")
}

// ByHand reports whether a person starts the processes, whose output and exit codes are not seen then.
func (t *Target) ByHand() bool { return t.Ask != nil }

// byHand lets a person start a process.
func (t *Target) byHand(what string, words, env []string, answer string) *Process {
	line := make([]string, 0, len(env)+len(words))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		line = append(line, name+"="+quoted(value))
	}
	for _, w := range words {
		line = append(line, quoted(w))
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &hand{prompt: Prompt{What: what, Command: strings.Join(line, " "), Environment: env, Answer: answer},
		cancel: cancel, answered: make(chan struct{})}
	go func() {
		defer close(h.answered)
		h.answer, h.err = t.Ask(ctx, h.prompt)
		if ctx.Err() != nil {
			h.err = nil
		}
	}()
	return &Process{hand: h, Unseen: func() {}, ended: make(chan struct{}), news: make(chan struct{})}
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// ByHand reports whether a person starts the process.
func (p *Process) ByHand() bool { return p.hand != nil }

// Connected ends the prompt of a process that has shown itself.
func (p *Process) Connected() {
	if p.hand != nil {
		p.hand.cancel()
	}
}

// Answer waits for what the person types back.
func (p *Process) Answer(ctx context.Context) (string, error) {
	select {
	case <-p.hand.answered:
		return p.hand.answer, p.hand.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// GivesUp calls f if the person gives up before Connected.
func (p *Process) GivesUp(f func(error)) {
	if p.hand == nil {
		return
	}
	go func() {
		<-p.hand.answered
		if p.hand.err != nil {
			f(p.hand.err)
		}
	}()
}

// Place is where the tester listens for implementations on other machines.
type Place struct {
	Address  netip.Addr
	Low, Top uint16 // ports; 0: any
	last     atomic.Uint32
}

// port is the next one in turn: a client of an earlier case that comes too late must not meet a later case.
func (p *Place) port() uint16 {
	n := uint32(p.Top) - uint32(p.Low) + 1
	return p.Low + uint16((p.last.Add(1)-1)%n)
}

// ParsePlace reads ADDRESS or ADDRESS:PORT, and LO-HI, "" for any port. All that the tester publishes must be
// reachable, so the address has to be one.
func ParsePlace(at, ports string) (*Place, error) {
	p := new(Place)
	if ap, err := netip.ParseAddrPort(at); err == nil {
		p.Address, p.Low, p.Top = ap.Addr(), ap.Port(), ap.Port()
	} else if p.Address, err = netip.ParseAddr(strings.Trim(at, "[]")); err != nil {
		return nil, fmt.Errorf("%q is no address or address:port", at)
	}
	p.Address = p.Address.Unmap()
	if p.Address.IsUnspecified() {
		return nil, fmt.Errorf("%v is no address that others can connect to: give one of this machine's, which the machines "+
			"under test reach", p.Address)
	}
	if ports == "" {
		if p.Low != 0 {
			p.Top = 65535
		}
		return p, nil
	}
	var low, top uint16
	if n, err := fmt.Sscanf(ports, "%d-%d", &low, &top); n != 2 || err != nil || low == 0 || top < low {
		return nil, fmt.Errorf("%q is no range of ports LO-HI", ports)
	}
	if p.Low != 0 {
		return nil, fmt.Errorf("%s and ports %s: give one port, from which the tester counts up, or a range", at, ports)
	}
	p.Low, p.Top = low, top
	return p, nil
}

// Listen listens at an address of this machine's loopback or, if the tester has a place, there.
func (t *Target) Listen(at string) (net.Listener, error) {
	switch p := t.place; {
	case p == nil:
		return net.Listen("tcp", at)
	case p.Low == 0:
		return net.Listen("tcp", netip.AddrPortFrom(p.Address, 0).String())
	default:
		var err error
		for range int(p.Top) - int(p.Low) + 1 {
			var l net.Listener
			l, err = net.Listen("tcp", netip.AddrPortFrom(p.Address, p.port()).String())
			if err == nil {
				return l, nil
			}
		}
		return nil, fmt.Errorf("ports %d to %d: %w", p.Low, p.Top, err)
	}
}
