package pmi

import (
	"context"
	"strconv"

	"github.com/libimpi/libimpi/startup/manager"
)

// two is a manager that speaks PMI-2.
type two struct {
	*conn
	id manager.Identity
}

// maxValue is the length of the longest value, in bytes; all managers that are known have it, and do not say it.
const maxValue = 1023

// newTwo returns who we are, and asks what a process wants to know first. job is the manager's word for the job.
func newTwo(c *conn, p place, job string) (manager.Manager, error) {
	c.name, c.format = "PMI-2", frames
	m := &two{conn: c, id: manager.Identity{Rank: p.rank, Size: p.size, MaxValue: maxValue}}
	ctx, cancel := bounded(context.Background())
	defer cancel()
	a, err := c.ask(ctx, "fullinit", "fullinit-response", "pmijobid", job, "pmirank", strconv.Itoa(p.rank), "threaded",
		"FALSE")
	if err != nil {
		return nil, err
	}
	if a.number("rank", -1) != p.rank || a.number("size", -1) != p.size {
		return nil, c.strange("fullinit", a.text)
	}
	m.id.AppNum = int32(max(-1, a.number("appnum", -1)))
	if a, err = c.ask(ctx, "job-getid", "job-getid-response"); err != nil {
		return nil, err
	}
	if m.id.Job, _ = a.field("jobid"); m.id.Job == "" {
		return nil, c.strange("job-getid", a.text)
	}
	if a, err = c.ask(ctx, "info-getjobattr", "info-getjobattr-response", "key", "universeSize"); err != nil {
		return nil, err
	}
	m.id.Universe = universe(a.number("value", 0))
	return m, nil
}

func (m *two) Name() string               { return m.name }
func (m *two) Identity() manager.Identity { return m.id }

func (m *two) Put(key, value string) error {
	_, err := m.soon(context.Background(), "kvs-put", "kvs-put-response", "key", keyOf(key, m.id.Rank), "value", value)
	return err
}

func (m *two) Fence(ctx context.Context) error {
	_, err := m.ask(ctx, "kvs-fence", "kvs-fence-response")
	return err
}

func (m *two) Get(ctx context.Context, rank int, key string) (string, error) {
	a, err := m.soon(ctx, "kvs-get", "kvs-get-response", "jobid", m.id.Job, "srcid", strconv.Itoa(rank), "key",
		keyOf(key, rank))
	if err != nil {
		return "", err
	}
	return m.value("kvs-get", a)
}

func (m *two) Watch(gone func(error)) { m.watch(gone) }

// Abort says the code alone: what a text may have in it differs from manager to manager.
func (m *two) Abort(code int, _ string) error {
	return m.say("abort", "isworld", "TRUE", "exitcode", strconv.Itoa(code))
}

func (m *two) Finalize(ctx context.Context) error {
	m.end()
	_, err := m.ask(ctx, "finalize", "finalize-response")
	return err
}
