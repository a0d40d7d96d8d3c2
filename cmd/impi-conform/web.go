package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/spec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
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
	case !strings.Contains(value, ":"):
		return fmt.Errorf("%q is no address:port", value)
	}
	*w = webFlag(value)
	return nil
}

// serve shows the page until it is interrupted.
func serve(ctx context.Context, f flags, c web.Config) int {
	l, err := net.Listen("tcp", string(f.web))
	if err != nil {
		complain("-web: %v", err)
		return codeUsage
	}
	defer l.Close()
	token, shown, err := tokenOf(f, l.Addr())
	if err != nil {
		complain("-token: %v", err)
		return codeUsage
	}
	c.Head, c.Limits, c.Token, c.Log = head(ctx, f), session.Defaults, token, os.Stderr
	c.Files, c.Sections, c.Rule = cases.Files(), spec.Sections(), spec.Rule
	s := web.New(c, l.Addr())
	fmt.Println(web.Address(l, shown))
	if err := s.Serve(ctx, l); err != nil {
		complain("-web: %v", err)
		return codeUsage
	}
	return 0
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

// tokenOf is the token of the page, and as it is printed: one that is in a file is not.
func tokenOf(f flags, at net.Addr) (token, shown string, err error) {
	switch {
	case f.token != "":
		b, err := os.ReadFile(f.token)
		if token = strings.TrimSpace(string(b)); err == nil && len(token) < 16 {
			err = fmt.Errorf("%s has fewer than 16 characters", f.token)
		}
		return token, "", err
	case !web.Loopback(at):
		token = web.NewToken()
	}
	return token, token, nil
}
