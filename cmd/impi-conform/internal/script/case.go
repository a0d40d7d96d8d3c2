package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"

	"go.starlark.net/starlark"
)

// run is one run of a script: of a file's top level, or of a case.
type run struct {
	file   *file      // nil in a case
	t      *conform.T // nil at the top level of a file
	thread *starlark.Thread
	starts int // programs that the case has started
}

// testing is the running case; at the top level of a file there is none, which ends the file.
func (r *run) testing() *conform.T {
	if r.t == nil {
		panic(errors.New("is for a case that runs, not for the top level of a file"))
	}
	return r.t
}

// invoke lets a case do something with the interpreter. An error of the script is the tester's, and no failure.
func invoke(t *conform.T, name string, do func(r *run) error) {
	r := &run{t: t}
	thread := r.start(name, maxSteps)
	// What waits ends at the deadline with a verdict of its own; what still computes after that is the script's fault.
	stop := context.AfterFunc(t.Context(), func() {
		time.AfterFunc(afterDeadline, func() { thread.Cancel("the case's deadline has passed") })
	})
	defer stop()
	err := do(r)
	var end unwound
	switch {
	case err == nil:
	case errors.As(err, &end):
		panic(end.value)
	default:
		e := fault(name, err)
		t.Disturbed(errors.New("its script is at fault"))
		t.Errorf("%v", e)
	}
}

// attempt calls f, whose panics become errors.
func attempt(f func()) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = caught(x)
		}
	}()
	f()
	return nil
}

// definition is what case() is given.
type definition struct {
	name, rule, about, needs string
	job                      *setup
	steps                    []string
	play, run                starlark.Callable
	fresh                    bool
}

var needs = map[string]conform.Needs{"server": conform.Server, "client": conform.Client, "values": conform.Values,
	"ipv6": conform.IPv6, "both": conform.Both}

func caseFunction() function {
	return function{
		Signature: "case(name, rule, about, job = None, steps = [], play = None, fresh = False, run = None, needs = None)",
		About: "defines a case, with a name of the form group/what and the rule's section. It has one of two forms. With " +
			"`job`, the client starts, its processes take `steps`, `play(j)` is called, and the job ends in order (3.8). A " +
			"job with `fresh` serves this case alone: for cases that assume its first context ids, or count from its start. " +
			"With `run`, `run()` does everything. `needs` is what is tested: \"client\" (the default), \"server\" (the " +
			"tester plays all clients), \"values\" (a client that can be told values), \"both\" (server " +
			"and client) or \"ipv6\" (a client, with IPv6)",
		call: func(r *run, name, rule, about string, job *setup, steps []string, play starlark.Callable, fresh bool,
			runs starlark.Callable, needs *string) {
			d := definition{name: name, rule: rule, about: about, job: job, steps: steps, play: play, run: runs, fresh: fresh}
			switch {
			case needs != nil:
				d.needs = *needs
			case job != nil && job.Told:
				d.needs = "values"
			default:
				d.needs = "client"
			}
			r.define(d)
		},
	}
}

// define adds a case to its file.
func (r *run) define(d definition) {
	if r.file == nil {
		panic(errors.New("is for the top level of a file, not for a case that runs"))
	}
	if err := d.wrong(); err != nil {
		panic(err)
	}
	if len(r.file.cases) >= maxCases {
		panic(fmt.Errorf("a file has at most %d cases", maxCases))
	}
	for _, c := range r.file.cases {
		if c.Name == d.name {
			panic(fmt.Errorf("there is another case %s", d.name))
		}
	}
	pos := r.thread.CallFrame(1).Pos
	c := conform.Case{Name: d.name, Rule: d.rule, About: d.about, Needs: needs[d.needs], File: pos.Filename(),
		Line: int(pos.Line), Run: func(t *conform.T) { invoke(t, d.name, d.whole) }}
	if d.job != nil && !d.fresh {
		c.Job = d.job.text()
	}
	if c.Job != "" {
		c.Steps = d.steps
		c.Within = func(t *conform.T, job any) {
			invoke(t, d.name, func(r *run) error { return d.within(r, job.(*peer.Job)) })
		}
	}
	r.file.cases = append(r.file.cases, c)
}

// wrong says what a definition lacks.
func (d *definition) wrong() error {
	group, what, _ := strings.Cut(d.name, "/")
	_, known := needs[d.needs]
	switch {
	case group == "" || what == "" || strings.ContainsAny(d.name, " \t\n|"):
		return fmt.Errorf("name: %q is not of the form group/what", d.name)
	case d.rule == "" || d.about == "" || strings.ContainsAny(d.rule+d.about, "|\n"):
		return errors.New("rule and about must be one line each, without |")
	case !known:
		return fmt.Errorf("needs: %q is none of client, server, both, values, ipv6", d.needs)
	case (d.job == nil) == (d.run == nil):
		return errors.New("a case has either job or run")
	case d.run != nil && (d.play != nil || d.steps != nil || d.fresh):
		return errors.New("steps, play and fresh are for a case with job")
	}
	return nil
}

// whole is a case from its start to its end.
func (d *definition) whole(r *run) error {
	if d.run != nil {
		_, err := starlark.Call(r.thread, d.run, nil, nil)
		return err
	}
	var j *peer.Job
	if err := attempt(func() { j = peer.Start(r.starting(), d.job.of(r), d.steps...) }); err != nil {
		return err
	}
	if err := d.within(r, j); err != nil {
		return err
	}
	return attempt(j.Finish)
}

// within is its part in a job that runs.
func (d *definition) within(r *run, j *peer.Job) error {
	if d.play == nil {
		return nil
	}
	_, err := starlark.Call(r.thread, d.play, starlark.Tuple{wrap(j)}, nil)
	return err
}
