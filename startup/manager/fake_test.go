package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// board is a manager in memory, of a job of any size. Each process has its end of it (member).
type board struct {
	size int

	mu      sync.Mutex
	values  map[string]string
	fenced  int
	open    chan struct{} // closed when all have fenced
	forge   func(rank int, key, value string) string
	watched []func(error)
}

func newBoard(size int) *board {
	return &board{size: size, values: map[string]string{}, open: make(chan struct{})}
}

// member is a process's end of a board.
type member struct {
	*board
	rank   int
	diesAt string // "put", "fence", "get", "watch": the call at which the process ends
	max    int    // of a value; 0: 1023
}

var errDead = errors.New("this process is dead")

func (m *member) Name() string { return "a board" }

func (m *member) Identity() Identity {
	id := Identity{Rank: m.rank, Size: m.size, Job: "board-1", AppNum: -1, Universe: 9, MaxValue: 1023}
	if m.max > 0 {
		id.MaxValue = m.max
	}
	return id
}

func (m *member) Put(key, value string) error {
	if m.diesAt == "put" {
		return errDead
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.forge != nil {
		value = m.forge(m.rank, key, value)
	}
	m.values[fmt.Sprint(key, m.rank)] = value
	return nil
}

func (m *member) Fence(ctx context.Context) error {
	if m.diesAt == "fence" {
		return errDead
	}
	m.mu.Lock()
	open := m.open
	if m.fenced++; m.fenced == m.size {
		close(open)
		m.fenced, m.open = 0, make(chan struct{})
	}
	m.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *member) Get(_ context.Context, rank int, key string) (string, error) {
	if m.diesAt == "get" {
		return "", errDead
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.values[fmt.Sprint(key, rank)]
	if !ok {
		return "", fmt.Errorf("rank %d has put no %s", rank, key)
	}
	return v, nil
}

func (m *member) Watch(gone func(error)) {
	if m.diesAt == "watch" {
		gone(errDead)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = append(m.watched, gone)
}

func (m *member) Abort(int, string) error        { return nil }
func (m *member) Finalize(context.Context) error { return nil }
func (m *member) Close() error                   { return nil }
