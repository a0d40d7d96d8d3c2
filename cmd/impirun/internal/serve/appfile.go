package serve

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/lines"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/server"
)

// impirun -server N -file FILE (IMPI 0.0, 2.2.3): a server, and the clients that the file says, one a line:
//
//	bar -client 0 $hostport -np 8 a.out     # on machine bar, by the remote shell
//	-np 4 b.out                             # here; without -client: the next rank
//
// A line is words for a shell, which finds the server's address in $hostport. Clients share our output, so the
// server writes none; what may join, a key if the user has not chosen, reaches other machines on standard input.

// appLine is one client.
type appLine struct {
	number  int
	client  int32  // its rank; -1: a shell has to say
	machine string // "" this one
	words   string // impirun's, for a shell
}

// readAppFile reads an application file; # begins a comment line.
func readAppFile(file string) ([]appLine, error) {
	var list []appLine
	err := lines.Each(file, func(number int, text string) error {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			return nil
		}
		l := appLine{number: number, words: text}
		if text[0] != '-' {
			end := strings.IndexFunc(text+" ", unicode.IsSpace)
			l.machine, l.words = text[:end], text[end:]
		}
		l.words = "-rmk none " + l.words // a client is where its line says, and not on all machines of our job
		words := strings.Fields(l.words)
		if i := slices.IndexFunc(words, func(w string) bool { return w == "-client" || w == "--client" }); i < 0 {
			l.client = int32(len(list))
			l.words = fmt.Sprintf(`-client %d "$hostport" %s`, l.client, l.words)
		} else if l.client = -1; i+1 < len(words) {
			if n, err := strconv.ParseInt(words[i+1], 10, 32); err == nil {
				l.client = int32(n)
			}
		}
		list = append(list, l)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("-file: %w", err)
	}
	return list, nil
}

// command starts a client.
func (l *appLine) command(rsh string, address netip.AddrPort) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var c *exec.Cmd
	if l.machine == "" || hosts.IsLocal(l.machine) {
		c = exec.Command("/bin/sh", "-c", "exec "+shells.Quote(self)+" "+l.words)
		c.Env = append(os.Environ(), "hostport="+address.String())
	} else {
		words := strings.Fields(rsh)
		if len(words) == 0 {
			return nil, errors.New("-rsh: no command")
		}
		script := `while IFS= read -r v; do export "$v"; done; export hostport=` + shells.Quote(address.String()) +
			"; p=" + shells.Quote(self) + `; [ -x "$p" ] || p=impirun; exec "$p" ` + l.words
		c = exec.Command(words[0], append(words[1:], l.machine, "exec sh -c "+shells.Quote(script))...)
		c.Stdin = strings.NewReader(secrets(os.LookupEnv))
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return c, nil
}

// secrets are the settings by which clients may join, one a line. A secret that stands in a file travels as it is,
// since the other machine may not have the file; of certificates, whose keys do not travel, the names do.
func secrets(lookup func(string) (string, bool)) string {
	var b strings.Builder
	put := func(name, value string) {
		if !strings.Contains(value, "\n") {
			b.WriteString(name + "=" + value + "\n")
		}
	}
	_, said := lookup(auth.EnvSecret)
	for _, name := range []string{auth.EnvNone, auth.EnvKey, auth.EnvSecret, auth.EnvTLS, auth.EnvTLSCert, auth.EnvTLSKey,
		auth.EnvTLSCA} {
		if value, ok := lookup(name); ok {
			put(name, value)
		}
	}
	if m, err := auth.FromEnv(lookup); err == nil && !said && m.Secret != "" {
		put(auth.EnvSecret, m.Secret)
	}
	return b.String()
}

// serveFile serves the clients of an application file and waits for all. The cause is the client that the server has
// lost first, or else the first that ends badly: others end because of it, and may be quicker.
func serveFile(ctx context.Context, plan *options.Plan, opt server.Options) error {
	lines, err := readAppFile(plan.AppFile)
	if err != nil {
		return err
	}
	if len(lines) != plan.Servers {
		return fmt.Errorf("-server %d, and %s has %d clients", plan.Servers, plan.AppFile, len(lines))
	}
	s, end, err := listen(plan, opt)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan clientEnd)
	started := 0
	for i := range lines {
		l := &lines[i]
		c, err := l.command(plan.Rsh, s.Addr())
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			cancel(fmt.Errorf("%s, line %d: %w", plan.AppFile, l.number, err))
			break
		}
		started++
		go func() {
			stop := context.AfterFunc(ctx, func() { // the others end by themselves, or are told to
				time.AfterFunc(plan.Grace, func() { c.Process.Signal(syscall.SIGTERM) })
			})
			defer stop()
			ended <- clientEnd{l, l.outcome(plan.AppFile, c.Wait())}
		}()
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	failed := map[int32]error{}
	for ; started > 0; started-- {
		if e := <-ended; e.err != nil {
			failed[e.line.client] = e.err
			cancel(e.err) // does nothing the second time
		}
	}
	cause := context.Cause(ctx)
	err = <-served
	var withdrawn *server.WithdrawnError
	if errors.As(err, &withdrawn) {
		return told(err)
	}
	var lost *server.ClientError
	if errors.As(err, &lost) && failed[lost.Rank] != nil {
		return failed[lost.Rank]
	}
	if cause != nil {
		return cause
	}
	return told(err)
}

// clientEnd is how a client has ended.
type clientEnd struct {
	line *appLine
	err  error
}

// outcome is what a client's end means.
func (l *appLine) outcome(file string, err error) error {
	var exit *exec.ExitError
	if err == nil || !errors.As(err, &exit) {
		return err
	}
	code := exit.ExitCode()
	if code < 0 {
		code = 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
	}
	return &outcome.Error{Cause: &supervise.Cause{Code: code,
		Text: fmt.Sprintf("%s, line %d: the client ended with code %d", file, l.number, code)}}
}
