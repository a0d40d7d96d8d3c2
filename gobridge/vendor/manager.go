package vendor

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/libimpi/libimpi/startup/manager"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/vendor"
)

var le = binary.LittleEndian

// maxValue bounds a value, in bytes.
const maxValue = 1 << 10

// launched is the manager of processes that the library's own launcher has started: whatever that is, the library has
// found them all. What is put is given to all by the next fence.
type launched struct {
	*Library
	mine map[string]string
	all  map[string][]string // by key, and rank
	keys []string            // put since the last fence, in order: the same in all processes
}

// Manager is the manager over a library that has been started.
func (l *Library) Manager() manager.Manager {
	return &launched{Library: l, mine: map[string]string{}, all: map[string][]string{}}
}

// Identity leaves out what only a launcher knows where there may be none: MPICH would start one to ask it.
func (m *launched) Identity() manager.Identity {
	id := manager.Identity{Rank: m.rank, Size: m.size, Job: "vendor", MaxValue: maxValue, AppNum: -1}
	if m.size > 1 {
		id.AppNum = attribute(appNum, -1)
		id.Universe = max(0, attribute(universeSize, 0))
	}
	return id
}

func (m *launched) Put(key, value string) error {
	if len(value) > maxValue {
		return fmt.Errorf("the value of %s has %d bytes, and at most %d are allowed", key, len(value), maxValue)
	}
	if _, again := m.mine[key]; !again {
		m.keys = append(m.keys, key)
	}
	m.mine[key] = value
	return nil
}

// Fence blocks in the library, and not less long than the others take: they end together anyway.
func (m *launched) Fence(context.Context) error {
	for _, key := range m.keys {
		const record = 2 + maxValue
		mine, all := make([]byte, record), make([]byte, record*m.size)
		le.PutUint16(mine, uint16(len(m.mine[key])))
		copy(mine[2:], m.mine[key])
		if err := m.allgather(mine, all); err != nil {
			return err
		}
		m.all[key] = nil
		for ; len(all) > 0; all = all[record:] {
			n := min(le.Uint16(all), maxValue)
			m.all[key] = append(m.all[key], string(all[2:2+n]))
		}
		delete(m.mine, key)
	}
	m.keys = nil
	return nil
}

// Broadcast waits without using a core: rank 0 may have to wait for other clients.
func (m *launched) Broadcast(ctx context.Context, mine []byte) ([]byte, error) {
	length := le.AppendUint64(nil, uint64(len(mine)))
	if err := m.bcast(ctx, length); err != nil {
		return nil, err
	}
	n := le.Uint64(length)
	if n > maxBroadcast {
		return nil, fmt.Errorf("rank 0 has %d bytes for all, and at most %d are allowed", n, maxBroadcast)
	}
	all := make([]byte, n)
	copy(all, mine)
	return all, m.bcast(ctx, all)
}

// maxBroadcast bounds what rank 0 tells all, in bytes.
const maxBroadcast = 1 << 30

// bcast gives all processes what rank 0 has in b.
func (m *launched) bcast(ctx context.Context, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	o := transport.Operation{Kind: transport.Bcast, Recv: b}
	r, err := m.Begin(0, &o)
	for pause := time.Microsecond; err == nil && r != vendor.Done; pause = min(2*pause, 10*time.Millisecond) {
		var over bool
		if over, err = m.Test(r); over {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	return err
}

func (m *launched) Get(_ context.Context, rank int, key string) (string, error) {
	values := m.all[key]
	if rank < 0 || rank >= len(values) {
		return "", fmt.Errorf("%s: rank %d has put no %s", m.name, rank, key)
	}
	return values[rank], nil
}

// Watch does nothing: a launcher that is lost ends its processes, or the library notices.
func (m *launched) Watch(func(error)) {}

func (m *launched) Abort(code int, _ string) error { return m.Library.Abort(code) }

func (m *launched) Finalize(context.Context) error { return m.Library.Finalize() }

func (m *launched) Close() error { return nil }
