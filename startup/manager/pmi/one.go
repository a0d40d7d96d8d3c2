package pmi

import (
	"context"
	"strconv"

	"github.com/libimpi/libimpi/startup/manager"
)

// one is a manager that speaks PMI-1.
type one struct {
	*conn
	id    manager.Identity
	space string // of the job's keys
}

// newOne asks what a process wants to know first.
func newOne(c *conn, p place) (manager.Manager, error) {
	c.name = "PMI-1"
	m := &one{conn: c, id: manager.Identity{Rank: p.rank, Size: p.size, AppNum: -1}}
	ctx, cancel := bounded(context.Background())
	defer cancel()
	maxes, err := c.ask(ctx, "get_maxes", "maxes")
	if err != nil {
		return nil, err
	}
	if m.id.MaxValue, err = lengths(c, maxes); err != nil {
		return nil, err
	}
	a, err := c.ask(ctx, "get_my_kvsname", "my_kvsname")
	if err != nil {
		return nil, err
	}
	if m.space, _ = a.field("kvsname"); m.space == "" {
		return nil, c.strange("get_my_kvsname", a.text)
	}
	m.id.Job = m.space
	if a, err = c.ask(ctx, "get_appnum", "appnum"); err != nil {
		return nil, err
	}
	m.id.AppNum = int32(max(-1, a.number("appnum", -1)))
	if a, err = c.ask(ctx, "get_universe_size", "universe_size"); err != nil {
		return nil, err
	}
	m.id.Universe = universe(a.number("size", 0))
	return m, nil
}

// lengths reads how long keys and values may be.
func lengths(c *conn, maxes answer) (value int, err error) {
	key, value := maxes.number("keylen_max", 0), maxes.number("vallen_max", 0)
	if key <= maxKey || value < 2 {
		return 0, c.strange("get_maxes", maxes.text)
	}
	return min(value, maxMessage/2) - 1, nil // some count the NUL behind it
}

// keyOf is a key with the rank of the process that has put it.
func keyOf(key string, rank int) string { return "impi-" + key + "-" + strconv.Itoa(rank) }

// maxKey is the length of the longest key: 30 characters of the caller, and what keyOf adds.
const maxKey = 5 + 30 + 1 + 8

func (m *one) Name() string               { return m.name }
func (m *one) Identity() manager.Identity { return m.id }

func (m *one) Put(key, value string) error {
	_, err := m.soon(context.Background(), "put", "put_result", "kvsname", m.space, "key", keyOf(key, m.id.Rank),
		"value", value)
	return err
}

func (m *one) Fence(ctx context.Context) error {
	_, err := m.ask(ctx, "barrier_in", "barrier_out")
	return err
}

func (m *one) Get(ctx context.Context, rank int, key string) (string, error) {
	a, err := m.soon(ctx, "get", "get_result", "kvsname", m.space, "key", keyOf(key, rank))
	if err != nil {
		return "", err
	}
	return m.value("get", a)
}

// value is what was asked for.
func (c *conn) value(cmd string, a answer) (string, error) {
	found, said := a.field("found")
	v, ok := a.field("value")
	if !ok || said && found != "TRUE" {
		return "", c.strange(cmd, a.text)
	}
	return v, nil
}

func (m *one) Watch(gone func(error)) { m.watch(gone) }

// Abort says the code alone: what a text may have in it differs from manager to manager.
func (m *one) Abort(code int, _ string) error {
	return m.say("abort", "exitcode", strconv.Itoa(code))
}

func (m *one) Finalize(ctx context.Context) error {
	m.end()
	_, err := m.ask(ctx, "finalize", "finalize_ack")
	return err
}
