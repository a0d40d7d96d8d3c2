package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/spec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
	"github.com/libimpi/libimpi/cmd/internal/webguard"
)

// webFlag is -web or -web=ADDRESS.
type webFlag string

// anyPort is where -web without an address listens.
const anyPort = "127.0.0.1:0"

func (w *webFlag) String() string   { return string(*w) }
func (w *webFlag) IsBoolFlag() bool { return true } // it may have no value
func (w *webFlag) Set(value string) error {
	switch {
	case value == "true":
		value = anyPort
	case value == "false":
		value = ""
	case value == "":
		return errors.New("it has no address")
	}
	*w = webFlag(value)
	return nil
}

// serve shows the page until it is interrupted.
func serve(ctx context.Context, f flags, c web.Config) int {
	c.Address, c.Limits, c.Log = string(f.web), session.Defaults, os.Stderr
	c.Files, c.Sections, c.Rule = cases.Files(), spec.Sections(), spec.Rule
	if f.token != "" {
		var err error
		if c.Token, err = webguard.ReadToken(f.token); err != nil {
			complain("-token: %v", err)
			return codeUsage
		}
	}
	s, shown, err := open(c)
	if err != nil {
		complain("-web: %v", err)
		return codeUsage
	}
	s.Head = head(ctx, f)
	fmt.Println(shown)
	if err := s.Serve(ctx); err != nil {
		complain("-web: %v", err)
		return codeUsage
	}
	return 0
}

// open opens the page. shown is its address as it is printed: with the token, if one is needed and had to be made.
func open(c web.Config) (s *web.Server, shown string, err error) {
	s, err = web.Open(c)
	if !errors.Is(err, webguard.ErrToken) {
		if err != nil {
			return nil, "", err
		}
		return s, s.URL(), nil
	}
	c.Token = webguard.NewToken()
	if s, err = web.Open(c); err != nil {
		return nil, "", err
	}
	return s, s.URL() + "?token=" + c.Token, nil
}

// serveByHand is serve for an implementation that people start on other machines: each of the session's runs has a
// target of its own.
func serveByHand(ctx context.Context, f flags, chosen []conform.Case) int {
	place, err := target.ParsePlace(f.listen, f.ports)
	if err != nil {
		complain("%v", err)
		return codeUsage
	}
	template, err := f.chosen()
	if err != nil {
		complain("%v", err)
		return codeUsage
	}
	f.jobs, f.server = 1, template.Server
	if len(f.client) == 0 {
		f.client = commands{template.Client}
	}
	c := web.Config{Cases: chosen, Player: target.PlayerSource(),
		Ready: []web.Templates{{Name: "this tester", Server: f.server, Client: f.client[0]}}}
	for _, name := range slices.Sorted(maps.Keys(target.Templates)) {
		t := target.Templates[name]
		c.Ready = append(c.Ready, web.Templates{Name: name, Server: t.Server, Client: t.Client})
	}
	c.ByHand = func(t web.Templates, ask web.Ask) (conform.Options, func(), error) {
		at, err := target.NewByHand(t.Server, t.Client, f.values, "./player", place,
			func(ctx context.Context, p target.Prompt) (string, error) {
				return ask(ctx, session.Prompt{What: p.What, Command: p.Command, Answer: p.Answer})
			})
		if err != nil {
			return conform.Options{}, nil, err
		}
		for _, more := range f.client[1:] {
			if err := at.AddClient(more); err != nil {
				at.Close()
				return conform.Options{}, nil, err
			}
		}
		return options(f, at), at.Close, nil
	}
	return serve(ctx, f, c)
}
