package conform

import (
	"context"
	"sync"
	"time"
)

// clock ends a case when its time is over, and may be stopped meanwhile.
type clock struct {
	over context.CancelCauseFunc

	mu    sync.Mutex // guards what follows
	left  time.Duration
	at    time.Time   // when the time is over; zero while stopped
	timer *time.Timer // nil while stopped
}

// newClock starts a clock.
func newClock(ctx context.Context, left time.Duration) (context.Context, *clock) {
	ctx, over := context.WithCancelCause(ctx)
	c := &clock{over: over, left: left}
	c.start()
	return ctx, c
}

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		return
	}
	c.at = time.Now().Add(c.left)
	c.timer = time.AfterFunc(c.left, func() { c.over(context.DeadlineExceeded) })
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil && c.timer.Stop() { // else it is over
		c.left, c.at, c.timer = time.Until(c.at), time.Time{}, nil
	}
}

func (c *clock) deadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// end ends the case's context in any case.
func (c *clock) end() {
	c.stop()
	c.over(context.Canceled)
}
