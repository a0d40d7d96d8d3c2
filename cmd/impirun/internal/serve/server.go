// Package serve is impirun as a server, without ranks of its own: the meeting point of the clients of a job (-server),
// with the clients of an application file if there is one (-file), and a name server (-names).
//
// Flow: options -> where to listen, and what those who connect have to prove -> one line on stdout, with the address ->
// clients are served until all have finished, one is lost, or a signal comes -> an error with the cause, nil if all
// went well.
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport/tcp"
)

// Clients is impirun -server: one line on stdout, then the meeting point of the clients until all have finished.
func Clients(plan *options.Plan) error {
	opt := server.Options{Clients: plan.Servers, Port: plan.Port, Log: func(line string) { outcome.Complain("%s", line) },
		JoinTimeout: plan.Limits.Join, GatherTimeout: plan.Limits.Gather, ExchangeTimeout: plan.Limits.Exchange,
		RunTimeout: plan.Limits.Run, Watch: plan.Web}
	var err error
	if opt.Silence, err = tcp.ParseSilence(os.Getenv("IMPI_SILENCE")); err != nil {
		return err
	}
	opt.Auth, err = auth.FromEnv(os.LookupEnv)
	if plan.AppFile != "" && errors.Is(err, auth.ErrNoMethod) { // all clients are ours: nobody else need know
		os.Setenv(auth.EnvSecret, rand.Text())
		opt.Auth, err = auth.FromEnv(os.LookupEnv)
	}
	if err != nil {
		return err
	}
	if plan.Auth != "" {
		if opt.Preference, err = auth.ParsePreference(plan.Auth); err != nil {
			return err
		}
	}
	if opt.Bind, err = listenAt(plan); err != nil {
		return err
	}
	if opt.Bind.IsLoopback() {
		if err := address.Loopback(); err != nil {
			return err
		}
	}
	// A reader that takes the first line and leaves must not end us: writing to a closed pipe is an error, not
	// a signal.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer outcome.OnSignal(func(s syscall.Signal) { cancel(&outcome.Error{Cause: outcome.Interrupted(s)}) })()
	if plan.AppFile != "" {
		return serveFile(ctx, plan, opt)
	}
	return serve(ctx, plan, opt)
}

// serve serves a job whose clients others start.
func serve(ctx context.Context, plan *options.Plan, opt server.Options) error {
	s, end, err := listen(plan, opt)
	if err != nil {
		return err
	}
	defer end()
	s.Announce(os.Stdout)
	return told(s.Serve(ctx))
}

// listen opens the server, and its page if one is wanted, which end ends.
func listen(plan *options.Plan, opt server.Options) (s *server.Server, end func(), err error) {
	if s, err = server.Listen(opt); err != nil {
		return nil, nil, err
	}
	if end, err = withPage(plan, s); err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, end, nil
}

// told is a server's error without what it has said already: one line is enough.
func told(err error) error {
	var job *server.JobError
	if !errors.As(err, &job) {
		return err
	}
	code := 1
	var ended *outcome.Error
	if errors.As(err, &ended) {
		code = ended.Cause.Code
	}
	return &outcome.Error{Cause: &supervise.Cause{Code: code, Text: err.Error()}, Quiet: true}
}

// listenAt is where a server listens; the zero address is anywhere.
func listenAt(plan *options.Plan) (netip.Addr, error) {
	switch {
	case plan.Listen != "":
		return addressOf(plan.Listen)
	case plan.Iface != "":
		return address.On(plan.Iface)
	}
	return netip.Addr{}, nil
}

// addressOf is what -host names: an address, or a name that has one.
func addressOf(name string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return a, nil
	}
	found, err := net.ResolveIPAddr("ip", name)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("-host %s: %v", name, err)
	}
	a, _ := netip.AddrFromSlice(found.IP)
	return a.Unmap(), nil
}
