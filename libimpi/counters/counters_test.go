package counters

import (
	"testing"
	"time"
)

func TestMessagesAreCountedByClass(t *testing.T) {
	var c Counters
	c.AddSent(Machine, 5, true)
	c.AddSent(Machine, 7, false)
	c.AddReceived(Abroad, 3)
	c.AddWait(time.Second)
	c.AddWait(time.Minute)
	want := Counters{Eager: 1, Rendezvous: 1, Matches: 1, Waits: 2, Waiting: 61 * time.Second}
	want.Sent[Machine], want.Received[Abroad] = Traffic{2, 12}, Traffic{1, 3}
	if c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

func TestAPeakGrowsWhileItIsFollowed(t *testing.T) {
	var p Peaks
	var a, b Peak
	p.Follow(&a, 2)
	p.Grow(5)
	p.Follow(&b, 1)
	p.Grow(3)
	if a.Most != 5 || b.Most != 3 {
		t.Errorf("peaks %d and %d", a.Most, b.Most)
	}
	p.Unfollow(&a)
	p.Unfollow(&a) // has no effect
	p.Grow(9)
	if a.Most != 5 || b.Most != 9 || len(p) != 1 {
		t.Errorf("peaks %d and %d of %d followed", a.Most, b.Most, len(p))
	}
}
