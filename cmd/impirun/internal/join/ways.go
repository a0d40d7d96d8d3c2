package join

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
	"github.com/libimpi/libimpi/transport/tcp"
)

// Plans returns how each client joins the others: not at all (nil), through the server that the user named, or through
// a server of our own. farewell waits until our own server has finished.
func Plans(ctx context.Context, plan *options.Plan, bind netip.Addr) (list []*Plan, farewell func(), err error) {
	farewell = func() {}
	switch {
	case plan.Mode == options.Client:
		m := &Plan{Address: plan.Address, Rank: int32(plan.Rank), Values: plan.Values, Verbose: plan.Verbose,
			outbound: plan.Outbound, survives: plan.Recovery, Bind: bind, join: plan.Limits.Join}
		m.Ctx, m.cancel = context.WithCancelCause(ctx)
		if err := reachable(plan.Address); err != nil {
			return nil, nil, err
		}
		if m.Silence, err = tcp.ParseSilence(os.Getenv("IMPI_SILENCE")); err != nil {
			return nil, nil, err
		}
		if m.methods, err = auth.FromEnv(os.LookupEnv); err == nil && !bind.IsValid() {
			m.Bind, err = client.AddressTowards(plan.Address)
		}
		if m.Port, m.PortTo = plan.Port, plan.PortTo; err == nil {
			m.choose(plan.Via)
		}
		return []*Plan{m}, farewell, err
	case plan.Clients > 0:
		return ownServer(ctx, plan)
	}
	return []*Plan{nil}, farewell, nil
}

// reachable is an error if a server is on this machine, and no process of the machine can be reached. Names are looked
// up only where that may be so.
func reachable(at string) error {
	if address.Loopback() == nil {
		return nil
	}
	tcp, err := net.ResolveTCPAddr("tcp", at)
	if err != nil { // connecting to it will fail, and say so
		return nil
	}
	if err := address.Reachable(tcp.AddrPort().Addr()); err != nil {
		return fmt.Errorf("the server at %s is on this machine: %w", at, err)
	}
	return nil
}

// ownServer starts a server for the plan's clients on this machine. Its errors are not reported: they show in a client
// or in a rank, which reports them.
func ownServer(ctx context.Context, plan *options.Plan) ([]*Plan, func(), error) {
	methods, err := ownMethods()
	if err != nil {
		return nil, nil, err
	}
	silence, err := tcp.ParseSilence(os.Getenv("IMPI_SILENCE"))
	if err != nil {
		return nil, nil, err
	}
	if err := address.Loopback(); err != nil {
		return nil, nil, err
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	s, err := server.Listen(server.Options{Clients: plan.Clients, Bind: loopback, Auth: methods,
		// No deadlines: our own ranks, whose ends we see, may take their time before MPI_Init.
		GatherTimeout: math.MaxInt64, RemindTime: math.MaxInt64})
	if err != nil {
		return nil, nil, err
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(ctx)
	}()
	list := make([]*Plan, plan.Clients)
	for i := range list {
		list[i] = &Plan{Ctx: ctx, Address: s.Addr().String(), Rank: int32(i), methods: methods, Bind: loopback,
			survives: plan.Recovery, Values: plan.Values, Agent: plan.Via == client.ViaAgent, Verbose: plan.Verbose,
			Silence: silence}
	}
	return list, func() { <-served }, nil
}

// ownMethods are the methods that the user enabled, and, unless there is one already, a secret that nobody knows.
func ownMethods() (auth.Methods, error) {
	return auth.FromEnv(func(name string) (string, bool) {
		value, set := os.LookupEnv(name)
		if name == auth.EnvSecret && value == "" && os.Getenv(auth.EnvSecretFile) == "" {
			return rand.Text(), true
		}
		return value, set
	})
}
