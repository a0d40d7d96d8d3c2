package script

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"

	"go.starlark.net/starlark"
)

// setup is what job() returns: a job as a case wants it. Functions of the script are bound to the run that begins it.
type setup struct {
	peer.Setup
	contribute, around, invent starlark.Callable
}

// setting is a parameter of job().
type setting struct {
	name, about string
	in          func(s *setup) any // points to it
}

var settings = []setting{
	{"rank", "the client under test among the clients", func(s *setup) any { return &s.Rank }},
	{"procs", "its processes; 0 is 1", func(s *setup) any { return &s.Procs }},
	{"others", "the other clients in ascending rank, for each the processes of its hosts: `[[1], [2, 1]]`",
		func(s *setup) any { return &s.Others }},
	{"datalen", "what the others contribute to C_DATALEN, bytes; 0 is 65536", func(s *setup) any { return &s.DataLen }},
	{"tagub", "to C_TAGUB; 0 is the highest", func(s *setup) any { return &s.TagUB }},
	{"ackmark", "to H_ACKMARK, packets; 0 is 10", func(s *setup) any { return &s.AckMark }},
	{"hiwater", "to H_HIWATER, packets; 0 is 20", func(s *setup) any { return &s.HiWater }},
	{"xsize", "to C_COLL_XSIZE, bytes; None is -1", func(s *setup) any { return &s.XSize }},
	{"maxlinear", "to C_COLL_MAXLINEAR, clients; None is -1", func(s *setup) any { return &s.MaxLinear }},
	{"versions", "to C_VERSION: major, minor, ...; none is 0, 0", func(s *setup) any { return &s.Versions }},
	{"host_id", "the host id of the others' processes, 16 bytes; None: their hosts' addresses",
		func(s *setup) any { return &s.HostID }},
	{"told", "the client under test contributes xsize and maxlinear, too", func(s *setup) any { return &s.Told }},
	{"ipv6", "everybody listens at ::1", func(s *setup) any { return &s.IPv6 }},
	{"manual", "messages come packet by packet, and nothing is answered but by the case",
		func(s *setup) any { return &s.Manual }},
	{"no_acks", "no PROTOACK is sent but by the case", func(s *setup) any { return &s.NoAcks }},
	{"env", "the client's IMPI_AUTH_KEY=N and IMPI_AUTH_NONE=; None: the key", func(s *setup) any { return &s.Env }},
	{"swallow", "labels of the client's own are not broadcast", func(s *setup) any { return &s.Swallow }},
	{"contribute",
		"function(label, client, data) that returns what another client contributes to a label instead of data, bytes; " +
			"None: nothing", func(s *setup) any { return &s.contribute }},
	{"around", "function(label) that returns a pair of bytes, to be sent before and behind the broadcast of a label",
		func(s *setup) any { return &s.around }},
	{"invent", "function(data) that returns the mask and the data that are broadcast under a label of the client's own",
		func(s *setup) any { return &s.invent }},
}

func jobFunction() function {
	return function{"job(**settings)", "how a job is to be, for case(), begin() and start(); the settings are below",
		raw(func(r *run, _ any, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) > 0 {
				return nil, errors.New("settings are given by name: job(rank = 1)")
			}
			s := new(setup)
			for _, kv := range kwargs {
				if err := s.set(r, string(kv[0].(starlark.String)), kv[1]); err != nil {
					return nil, err
				}
			}
			if err := s.wrong(); err != nil {
				return nil, err
			}
			s.Procs = max(s.Procs, 1)
			return wrap(s), nil
		})}
}

// set is one setting.
func (s *setup) set(r *run, name string, v starlark.Value) error {
	for _, f := range settings {
		if f.name == name {
			to := reflect.ValueOf(f.in(s)).Elem()
			x, err := r.toGo(v, to.Type())
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			to.Set(x)
			if name == "env" && s.Env == nil && v != starlark.None {
				s.Env = []string{} // an empty environment is not the usual one
			}
			return nil
		}
	}
	return fmt.Errorf("job has no setting %s", name)
}

// wrong says what cannot be.
func (s *setup) wrong() error {
	const clients, procs = 32, 64
	all := 0
	for _, hosts := range s.Others {
		if len(hosts) == 0 {
			return errors.New("others: a client has at least one host")
		}
		for _, n := range hosts {
			if n < 1 || n > procs {
				return fmt.Errorf("others: a host of %d processes; it must be 1 to %d", n, procs)
			}
			all++
		}
	}
	if err := environment(s.Env); err != nil {
		return fmt.Errorf("env: %w", err)
	}
	switch {
	case len(s.Others) >= clients || all > 200:
		return fmt.Errorf("others: at most %d clients and 200 hosts", clients-1)
	case s.Procs < 0 || s.Procs > procs:
		return fmt.Errorf("procs is %d, must be at most %d", s.Procs, procs)
	case s.Rank < 0 || s.Rank > len(s.Others):
		return fmt.Errorf("rank is %d, must be 0 to %d", s.Rank, len(s.Others))
	case s.Told && (s.XSize == nil || s.MaxLinear == nil):
		return errors.New("told needs xsize and maxlinear")
	}
	return nil
}

// plain reports whether the settings are all values.
func (s *setup) plain() bool { return s.contribute == nil && s.around == nil && s.invent == nil }

// String is the settings that are not the usual ones, in one order, as in a script: jobs with the same text are alike.
func (s *setup) String() string {
	var list []string
	for _, f := range settings {
		x := reflect.ValueOf(f.in(s)).Elem()
		if x.IsZero() {
			continue
		}
		list = append(list, f.name+" = "+new(run).fromGo(x).String())
	}
	return "job(" + strings.Join(list, ", ") + ")"
}

// of is the setup for a run.
func (s *setup) of(r *run) peer.Setup {
	p := s.Setup
	r.bind(s.contribute, &p.Contribute)
	r.bind(s.around, &p.Around)
	r.bind(s.invent, &p.Invent)
	return p
}

// bind makes a function of the script, if there is one, the Go function that to points to.
func (r *run) bind(f starlark.Callable, to any) {
	if f != nil {
		at := reflect.ValueOf(to).Elem()
		at.Set(r.callback(f, at.Type()))
	}
}

func settingsKind() *kind {
	return &kind{Name: "settings", About: "What job() returns.", of: reflect.TypeFor[*setup]()}
}

func beginFunction() function {
	return function{"begin(job, steps = [])",
		"listens as server and starts the client, whose processes take the steps; returns the job, of which nothing has " +
			"happened yet",
		func(r *run, s *setup, steps []string) *peer.Job { return peer.Begin(r.starting(), s.of(r), steps...) }}
}

func startFunction() function {
	return function{"start(job, steps = [])", "begin(), and the whole start-up: join, exchange, mesh",
		func(r *run, s *setup, steps []string) *peer.Job { return peer.Start(r.starting(), s.of(r), steps...) }}
}
