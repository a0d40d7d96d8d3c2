package ports

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
)

// All who are not on one machine, or cannot share memory there, form a mesh (transport/tcp): a job in which each
// participant is a host of its own, with its place as its rank. All numbers in it are the same everywhere: nothing has
// to be agreed on. Each two hosts have a key of their own, made of the meeting's secret.

const farPurpose = "connections"

// connect makes connections with all with whom no memory is shared. It returns nil if there are none.
func (a *assembly) connect(ctx context.Context, r transport.Receiver, wake func()) (transport.Transport, error) {
	number, addrs := make([]int32, len(a.ways)), make([]netip.AddrPort, len(a.ways))
	apart := make([]bool, len(a.ways))
	none := true
	for i, w := range a.ways {
		number[i] = -1
		if w == far {
			number[i], addrs[i], apart[i], none = a.Number[i], a.cards[i].tcp, true, false
		}
	}
	if none {
		return nil, nil
	}
	g := newGuests(&a.conf, r, a.Me, number, addrs)
	host, err := tcp.Connect(ctx, a.job(), int32(a.Me), a.tcp, g, wake, tcp.Options{Silence: a.conf.Silence,
		Warn: a.conf.Warn, Apart: apart, Finished: g.hasGone})
	if err != nil {
		return nil, a.notConnected(err)
	}
	g.host = host
	return g, nil
}

// job is the mesh's. Those whom this process does not connect with have neither address nor key.
func (a *assembly) job() *transport.Job {
	j := &transport.Job{Me: int32(a.Me), Clients: 1, MaxDataLen: wire.DefaultDataLen, TagUB: 1<<31 - 1,
		AckMark: wire.DefaultAckMark, HiWater: max(wire.DefaultHiWater, wire.DefaultAckMark),
		Hosts: make([]transport.Host, len(a.ways)), Procs: make([]transport.Proc, len(a.ways))}
	me := &a.cards[a.Me]
	for i, w := range a.ways {
		h := transport.Host{First: int32(i), NProcs: 1, SameImpl: true}
		if c := &a.cards[i]; w == far || i == a.Me {
			h.Addr, h.Native, h.Short = c.tcp, c.native(me), c.short && me.short
			h.Stream = wire.Mine().Stream
			h.Key, h.Sealed = a.key(i, farPurpose), c.sealed && me.sealed
		}
		j.Hosts[i] = h
		j.Procs[i] = transport.Proc{PID: int64(i) + 1, Host: int32(i)}
	}
	return j
}

// notConnected says of an error of the mesh whom it is about.
func (a *assembly) notConnected(err error) error {
	var gone *tcp.HostGone
	if errors.As(err, &gone) {
		return fmt.Errorf("%s has gone before all were connected", a.called(int(gone.Host)))
	}
	var errs []error
	for _, missing := range missingHosts(err) {
		if missing.Why == nil {
			errs = append(errs, fmt.Errorf("%s has not connected to this process", a.called(int(missing.Host))))
		} else {
			errs = append(errs, fmt.Errorf("%s: %w", a.called(int(missing.Host)), missing.Why))
		}
	}
	if len(errs) == 0 {
		return err
	}
	return fmt.Errorf("processes of other jobs cannot be reached: %w", errors.Join(errs...))
}

// missingHosts are all of them in a tree of errors.
func missingHosts(err error) (list []*tcp.HostMissing) {
	switch e := err.(type) {
	case *tcp.HostMissing:
		list = append(list, e)
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			list = append(list, missingHosts(err)...)
		}
	case interface{ Unwrap() error }:
		list = missingHosts(e.Unwrap())
	}
	return list
}
