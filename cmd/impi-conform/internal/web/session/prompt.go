package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Prompt is what a person must do.
type Prompt struct {
	ID          int
	What        string   // what is to be started: "client 0", "server"
	Command     string   // to be typed, ready
	Environment []string // variables of it
	Answer      string   // what has to be typed back, "" for nothing

	said chan said
}

type said struct {
	text   string
	giveUp bool
}

// Errors of prompts.
var (
	ErrGivenUp = errors.New("the person who should have started it gave up")
	ErrPrompts = errors.New("too many prompts are open")
	ErrAnswer  = errors.New("an answer is needed: one line of at most 1000 characters")
	ErrNone    = errors.New("there is no such prompt any more")
)

// maxAnswer bounds an answer in bytes.
const maxAnswer = 1000

// Ask shows a prompt on the page until ctx ends or a person has answered. Without an answer to be typed it returns as
// soon as the person says that it is done.
func (x *Session) Ask(ctx context.Context, p Prompt) (answer string, err error) {
	x.mu.Lock()
	if len(x.prompts) >= x.set.limits.Prompts || x.over {
		x.mu.Unlock()
		return "", ErrPrompts
	}
	x.prompted++
	p.ID, p.said = x.prompted, make(chan said, 1)
	x.prompts = append(x.prompts, &p)
	x.tell()
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		x.prompts = slices.DeleteFunc(x.prompts, func(q *Prompt) bool { return q.ID == p.ID })
		x.tell()
		x.mu.Unlock()
	}()
	select {
	case s := <-p.said:
		if s.giveUp {
			return "", ErrGivenUp
		}
		return s.text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Answer answers a prompt.
func (x *Session) Answer(id int, text string, giveUp bool) error {
	text = strings.TrimSpace(text)
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.IndexFunc(x.prompts, func(p *Prompt) bool { return p.ID == id })
	switch {
	case i < 0:
		return ErrNone
	case giveUp:
	case len(text) > maxAnswer || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }):
		return ErrAnswer
	case x.prompts[i].Answer != "" && text == "":
		return fmt.Errorf("%w (%s)", ErrAnswer, x.prompts[i].Answer)
	}
	select {
	case x.prompts[i].said <- said{text, giveUp}:
		return nil
	default: // somebody has been quicker
		return ErrNone
	}
}

// Prompts returns what is to be done now.
func (x *Session) Prompts() (list []Prompt) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.prompts {
		list = append(list, *p)
	}
	return list
}
