package span

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
)

// Where all clients are libimpi's, and data looks the same at all ranks, an operation needs no master for each client.
// It goes by machine, as those of one client do, and the clients are the level above machines (coll/machines.go):
// masters are one for each machine, or where vectors are long, all ranks, each with a slice. Between clients, which may
// be far from each other, data goes directly to where it belongs (coll/direct.go).
//
// Messages are those of package coll with tags from tagExtension on.

// Place says which machines the ranks are on, by a number for each that is equal for the ranks of one machine of one
// client; nil: each client is on one.
func (l *Layout) Place(machine []int32) {
	if machine == nil {
		machine = l.client
	}
	client := make([]int32, 0, len(machine)) // of each machine, numbered by first rank
	known := map[int32]bool{}
	for r, n := range machine {
		if !known[n] {
			known[n] = true
			client = append(client, l.client[r])
		}
	}
	l.all = coll.NewMachines(machine)
	clients := coll.NewMachines(client)
	switch {
	case l.all == nil: // one rank on each machine
		l.all = clients
	default:
		l.all.Outer = clients
	}
	switch {
	case clients != nil:
		clients.Distant = true
	case l.all != nil:
		l.all.Distant = true
	}
}

// together reports whether operations go by machine, whatever the clients.
func (l *Layout) together() bool { return l.Own && l.Native }

// everybody shows the communicator to package coll. Where data does not look the same everywhere, that gets reductions
// only, which send typed messages: so the engine can convert them.
func (k *call) everybody() coll.Comm {
	var machines *coll.Machines
	if k.together() {
		machines = k.all
	}
	k.local = coll.NewView(k.Comm, nil, k.me, tagExtension, machines)
	k.local.Distant = k.together() && machines == nil
	return &k.local
}

// between shows the masters as a communicator, to a master. In an operation with a root, it takes the place of its
// client's.
func (k *call) between() *coll.View {
	k.global = coll.NewView(k.Comm, k.masters, k.mine, tagExtension, nil)
	k.global.Distant = true
	return &k.global
}

// together carries an operation out among all ranks.
func together(c Comm, l *Layout, operation func(c coll.Comm) error) (err error) {
	k := enter(c, l, 0)
	defer k.leave(&err)
	return operation(k.everybody())
}

// bcastTogether leaves the part within the client to another MPI library, if that carries it out.
func (k *call) bcastTogether(b coll.Buf) error {
	if chosen := choose.Bcast.Chosen(); chosen != "" && chosen != vendor || !coll.ByVendor(&k.local) {
		return coll.Bcast(k.everybody(), b, k.root)
	}
	if k.speaks() {
		if err := coll.Bcast(k.between().Standing(k.rooted, k.root), b, k.rooted); err != nil {
			return err
		}
	}
	return coll.Bcast(&k.local, b, k.localRoot())
}

const vendor = "vendor"
