package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/names"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/startup/auth"
)

// Names is impirun -names: one line on stdout, and then a name server until a signal ends it.
func Names(plan *options.Plan) error {
	m, err := auth.FromEnv(os.LookupEnv)
	if err != nil && !errors.Is(err, auth.ErrNoMethod) {
		return err
	}
	at := netip.IPv4Unspecified()
	switch {
	case plan.Listen != "" || plan.Iface != "":
		if at, err = listenAt(plan); err != nil {
			return err
		}
	case m.Secret == "":
		at = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	l, err := net.Listen("tcp", netip.AddrPortFrom(at, uint16(plan.Port)).String())
	if err != nil {
		return fmt.Errorf("-names: %w", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer outcome.OnSignal(func(s syscall.Signal) { cancel(&outcome.Error{Cause: outcome.Interrupted(s), Quiet: true}) })()
	shown := l.Addr().String()
	if at.IsUnspecified() {
		shown = net.JoinHostPort(hosts.Hostname(), strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	if _, err := fmt.Println(strings.TrimSpace(shown)); err != nil {
		return err
	}
	if err := names.Serve(ctx, l, names.Config{Secret: m.Secret}); err != nil {
		return err
	}
	return context.Cause(ctx)
}
