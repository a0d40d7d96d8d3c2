package main

import (
	"context"
	"fmt"
	"net"
	"os"
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
func serve(ctx context.Context, f flags, at *target.Target, chosen []conform.Case) int {
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
	s := web.New(web.Config{Head: head(ctx, f), Cases: chosen, Options: options(f, at), Limits: session.Defaults,
		Token: token, Log: os.Stderr, Commands: f.server + f.client, Files: cases.Files(), Sections: spec.Sections(),
		Rule: spec.Rule}, l.Addr())
	fmt.Println(web.Address(l, shown))
	if err := s.Serve(ctx, l); err != nil {
		complain("-web: %v", err)
		return codeUsage
	}
	return 0
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
