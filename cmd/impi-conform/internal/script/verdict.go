package script

import (
	"errors"
	"fmt"
	"net"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// sentence is a text with its arguments, and the event that the first of them which is a packet shows.
func sentence(text string, args starlark.Tuple) (string, conform.Recorded) {
	var shows conform.Recorded
	for _, a := range args {
		if p, ok := a.(*packet); ok && p.came != nil && shows == nil {
			shows = *p.came
		}
	}
	if len(args) == 0 {
		return text, shows
	}
	if err := weigh(append(starlark.Tuple{starlark.String(text)}, args...)); err != nil {
		panic(err)
	}
	v, err := starlark.Binary(syntax.PERCENT, starlark.String(text), args)
	if err != nil {
		panic(err)
	}
	return string(v.(starlark.String)), shows
}

// wrong notes a problem.
func (r *run) wrong(text string, args starlark.Tuple) {
	t := r.testing()
	if text, shows := sentence(text, args); shows != nil {
		t.Wrong(shows, nil, "%s", text)
	} else {
		t.Errorf("%s", text)
	}
}

func verdictFunctions() []function {
	return []function{
		{"check(ok, text, *args)",
			"a problem of the implementation, unless ok; the case goes on. `text % args` says what is wrong; if one of args " +
				"is a packet that has come, the problem is shown at it",
			func(r *run, ok bool, text string, args ...starlark.Value) {
				if !ok {
					r.wrong(text, args)
				}
			}},
		{"wrong(text, *args)", "a problem; the case goes on",
			func(r *run, text string, args ...starlark.Value) { r.wrong(text, args) }},
		{"fail(text, *args)", "a problem that ends the case", func(r *run, text string, args ...starlark.Value) {
			if r.t == nil {
				text, _ := sentence(text, args)
				panic(errors.New(text))
			}
			r.wrong(text, args)
			r.t.Stop()
		}},
		{"stop()", "ends the case if there was a problem", func(r *run) { r.testing().Stop() }},
		{"failed()", "whether there was a problem", func(r *run) bool { return r.testing().Failed() }},
		{"must(p, **fields)",
			"these fields of a packet that has come must have these values: `must(p, type = DATA, tag = 7)`. A problem names " +
				"those that have not; the case goes on", raw(must)},
		{"must_be(p, packet)", "all header fields of a packet that has come must be those of another; the case goes on",
			func(r *run, p *packet, want codec.Packet) error { return r.must(p, want.Header) }},
		{"hex(b)", "bytes in hexadecimal, the first 64 of them", func(b []byte) string {
			if len(b) > 64 {
				return fmt.Sprintf("%x... (%d bytes)", b[:64], len(b))
			}
			return fmt.Sprintf("%x", b)
		}},
		{"free_port()", "a port that nobody listens at, int", freePort},
	}
}

// must is the builtin of that name.
func must(r *run, _ any, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("must(p, **fields) has one packet and fields by name")
	}
	p, ok := args[0].(*packet)
	if !ok {
		return nil, fmt.Errorf("got %s, want packet", kindOf(args[0]))
	}
	want, err := changed(p.Packet, kwargs)
	if err != nil {
		return nil, err
	}
	return starlark.None, r.must(p, want.Header)
}

func (r *run) must(p *packet, want codec.Header) error {
	if p.came == nil {
		return errors.New("is for a packet that has come")
	}
	r.testing().Must(*p.came, p.Header, want)
	return nil
}

func freePort(r *run) int {
	t := r.testing()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Disturbed(err)
		t.Fatalf("the tester cannot listen: %v", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
