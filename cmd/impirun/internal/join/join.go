// Package join is how a client joins the other clients of its job: through the server that the user names, through one
// that is started for all clients of this machine, or as one machine of several, for which the first launcher does it.
//
// Flow: options -> a Plan for each client (Plans), with a server of our own if need be, and the choice whether an agent
// carries the client's traffic (choose.go) -> when all ranks have said where they listen, the client goes to the server
// with what it contributes (Connect), and has the tables of the job. A client that ends without having joined tells the
// server so (GiveUp, Withdraw).
package join

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/wire"
)

// Plan says where and how a client joins the other clients of its job.
type Plan struct {
	Ctx     context.Context
	cancel  context.CancelCauseFunc // ends ctx for this client alone; nil in a node
	Address string
	Rank    int32
	methods auth.Methods
	Bind    netip.Addr
	Values  client.Values
	Agent   bool // the launcher's process is the host of all ranks
	Port    int  // where the agent, or each rank, listens: this port, or up to PortTo the first that is free
	PortTo  int
	Verbose bool
	Silence time.Duration // after which a server of which nothing is heard is lost
	join    time.Duration // for a server to answer; 0: the default

	conn    net.Conn // to the server, if it was needed before: connection
	dialled time.Time

	outbound bool // nobody can connect to us
	survives bool // it goes on without ranks that are lost

	// ViaHead, if not nil, joins the others in our place, as one machine of several. first is our first world rank.
	ViaHead func(hosts []client.Host) (tables *transport.Job, first int, err error)

	Peers Peers // not of one machine of several
}

// Connect joins the other clients through the server, with these hosts, and returns the tables of the job. It blocks
// until all clients have come.
func (j *Plan) Connect(hosts []client.Host) (*transport.Job, *client.Session, error) {
	return client.Connect(j.Ctx, j.Address, j.Rank, j.methods, j.contribution(hosts), j.options())
}

// Alone reports whether this client speaks with a server that others have started: it is told if the client does not
// join.
func (j *Plan) Alone() bool { return j.cancel != nil }

// Abandon ends the attempt to join the others.
func (j *Plan) Abandon(why error) { j.cancel(why) }

// Streams returns how many connections there are to be between two hosts.
func (j *Plan) Streams() int { return j.Values.Connections() }

// options are those of the conversation with the server.
func (j *Plan) options() client.Options {
	opt := client.Options{Conn: j.connection(), Silence: j.Silence, ConnectTimeout: j.join}
	opt.Absent = func(limit time.Duration) {
		patience := fmt.Sprintf("for up to %v", limit)
		if limit == math.MaxInt64 {
			patience = "for as long as it takes"
		}
		outcome.Complain("client %d is waiting for an IMPI server at %s %s (-deadline join)", j.Rank, j.Address, patience)
	}
	if j.Verbose {
		opt.Waiting = func() { outcome.Complain("client %d is waiting for the others", j.Rank) }
	}
	return opt
}

// contribution is what this client tells the others: the user's values, and the defaults for the rest.
func (j *Plan) contribution(hosts []client.Host) client.Contribution {
	if plainIMPI() {
		return j.Values.Contribution(nil, hosts...)
	}
	own := wire.Mine()
	if j.Agent {
		own.Stream, own.Flags = agent.Stream, own.Flags&^wire.FlagShort // it relays packets of IMPI's
	}
	if j.outbound {
		own.Flags |= wire.FlagOutbound
	}
	if j.survives {
		own.Flags |= wire.FlagSurvives
	}
	return j.Values.Contribution(&own, hosts...)
}

// GiveUp tells the other clients that this one has ended. If the attempt to join them has begun (joining, which is
// closed when it is over) that attempt says so; otherwise a connection to the server is made for this alone.
func (j *Plan) GiveUp(cause *supervise.Cause, joining <-chan struct{}) {
	why := errors.New(cause.Text)
	if joining != nil {
		j.cancel(why)
		<-joining
		return
	}
	if !plainIMPI() {
		j.Report(client.Decline(j.Ctx, j.Address, j.Rank, j.methods, why, j.options()))
	}
}

// Withdraw tells the server that this client has ended well, and will not join the others.
func (j *Plan) Withdraw() {
	if !plainIMPI() {
		why := errors.New("it has ended, and none of its processes has called MPI_Init")
		j.Report(client.Withdraw(j.Ctx, j.Address, j.Rank, j.methods, why, j.options()))
	}
}

// Report writes what is wrong with the server, which a job can do without (IMPI 0.0, 2.4), if the user wants to know.
func (j *Plan) Report(err error) {
	if err != nil && j.Verbose {
		outcome.Complain("warning: %v", err)
	}
}

// plainIMPI reports whether this client is to say nothing beyond IMPI 0.0.
func plainIMPI() bool { return os.Getenv("IMPI_PLAIN") == "1" }

// FirstRank returns the lowest world rank of a client.
func FirstRank(tables *transport.Job, rank int32) int {
	for r, proc := range tables.Procs {
		if proc.Client == rank {
			return r
		}
	}
	return 0
}
