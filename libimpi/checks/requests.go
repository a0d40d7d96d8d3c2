package checks

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sort"
)

// Requests are the operations of the program that are under way, and the requests that it has not freed. The caller has
// a lock that guards them.
type Requests struct {
	Set Set
	// Where is the place of a call, "" or " at solver.c:118".
	Where func(returns []uintptr) string
	// Over reports whether a request that the program has freed has ended. It may call Forget.
	Over func(id uint64) bool

	of      map[uint64]*Use
	busy    []*Use  // in the order of their first bytes
	longest uintptr // of them, from the first to the last byte
	waits   map[uint64]int
	seed    maphash.Seed
}

// NewRequests are none.
func NewRequests(s Set) *Requests {
	return &Requests{Set: s, of: map[uint64]*Use{}, waits: map[uint64]int{}, seed: maphash.MakeSeed()}
}

// Begin notes that an operation is about to begin; "": it may. Otherwise the text says what it must not do, and nothing
// is noted. sums: what it sends must not change before End.
func (q *Requests) Begin(u *Use, sums bool) string {
	if !q.Set.Has(Buffers) {
		u.active = true
		return ""
	}
	if text := u.withItself(); text != "" {
		return text
	}
	low, high, some := u.span()
	if some {
		if text := q.conflict(u, low, high); text != "" {
			return text
		}
		q.insert(u, low, high)
	}
	if u.active = true; sums {
		u.sum(q.seed)
	}
	return ""
}

// withItself says what is wrong with the two buffers of an operation.
func (u *Use) withItself() string {
	if u.n < 2 || !u.buffers[0].writes && !u.buffers[1].writes {
		return ""
	}
	n := common(u.buffers[0].runs, u.buffers[1].runs)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("arguments %s and %s have %s in common", u.buffers[0].name, u.buffers[1].name, bytes(n))
}

// conflict looks for an operation that uses memory of u, which begins and ends so.
func (q *Requests) conflict(u *Use, low, high uintptr) string {
	from := uintptr(0)
	if low > q.longest {
		from = low - q.longest
	}
	var freed []*Use
	for i := q.first(from); i < len(q.busy); i++ {
		other := q.busy[i]
		if start, _, _ := other.span(); start >= high {
			break
		}
		text := q.between(u, other)
		if text != "" && other.freed {
			freed = append(freed, other)
		} else if text != "" {
			return text
		}
	}
	for _, other := range freed { // Over may change the list
		if !q.Over(other.id) && other.busy {
			return q.between(u, other)
		}
	}
	return ""
}

// between says what u must not do as long as other goes on; "": nothing.
func (q *Requests) between(u, other *Use) string {
	for i := range u.buffers[:u.n] {
		for j := range other.buffers[:other.n] {
			mine, its := &u.buffers[i], &other.buffers[j]
			if !mine.writes && !its.writes {
				continue
			}
			n := common(mine.runs, its.runs)
			if n == 0 {
				continue
			}
			text := fmt.Sprintf("argument %s has %s in common with argument %s of %s%s, which is not complete", mine.name,
				bytes(n), its.name, other.Call, q.where(other))
			if other.freed {
				text += ", though its request has been freed"
			}
			return text
		}
	}
	return ""
}

func bytes(n uintptr) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

func (q *Requests) where(u *Use) string {
	if q.Where == nil || len(u.Returns) == 0 {
		return ""
	}
	return q.Where(u.Returns)
}

// first is the first operation in the list that does not begin before an address.
func (q *Requests) first(low uintptr) int {
	return sort.Search(len(q.busy), func(i int) bool {
		start, _, _ := q.busy[i].span()
		return start >= low
	})
}

func (q *Requests) insert(u *Use, low, high uintptr) {
	u.busy = true
	q.longest = max(q.longest, high-low)
	q.busy = slices.Insert(q.busy, q.first(low), u)
}

// remove takes an operation out of the list.
func (q *Requests) remove(u *Use) {
	if u.active = false; !u.busy {
		return
	}
	u.busy = false
	low, _, _ := u.span()
	for i := q.first(low); i < len(q.busy); i++ {
		if q.busy[i] == u {
			q.busy = slices.Delete(q.busy, i, i+1)
			break
		}
	}
	if len(q.busy) == 0 {
		q.longest = 0
	}
}

// Stop notes that an operation without a request has ended, or has not begun after all.
func (q *Requests) Stop(u *Use) { q.remove(u) }

// Track gives an operation its request.
func (q *Requests) Track(id uint64, u *Use) {
	u.id = id
	q.of[id] = u
}

// Start is Begin for the operation of a persistent request.
func (q *Requests) Start(id uint64) string {
	if u := q.of[id]; u != nil {
		return q.Begin(u, true)
	}
	return ""
}

// Seen notes that the program knows that an operation is over, though the request is still there.
func (q *Requests) Seen(id uint64) {
	if u := q.of[id]; u != nil {
		active := u.active
		q.remove(u)
		u.active = active
	}
}

// End notes that the program completes an operation. It returns what the program has done with its buffers meanwhile;
// "": nothing that it may not.
func (q *Requests) End(id uint64) string {
	u := q.of[id]
	if u == nil {
		return ""
	}
	known := u.active && !u.busy // Seen: what has become of the buffers since is the program's affair
	q.remove(u)
	if !u.persistent {
		delete(q.of, id)
	}
	argument, how := "", ""
	if !known {
		argument, how = u.changed(q.seed)
	}
	if u.summed = false; argument == "" {
		return ""
	}
	return fmt.Sprintf("argument %s of %s%s %s while the operation was under way", argument, u.Call, q.where(u), how)
}

// Free notes that the program has freed the request of an operation that goes on. knows: who it is sent to, or comes
// from, is near enough that Over can tell.
func (q *Requests) Free(id uint64, knows bool) {
	u := q.of[id]
	if u == nil {
		return
	}
	if u.freed = true; !knows {
		q.remove(u)
	}
}

// Forget notes that there is no such request any more.
func (q *Requests) Forget(id uint64) {
	if u := q.of[id]; u != nil {
		q.remove(u)
		delete(q.of, id)
	}
}

// Wait notes that a thread begins to wait for requests. If another one waits for one of them, the text says so, and
// nothing is noted.
func (q *Requests) Wait(ids []uint64) string {
	for _, id := range ids {
		if u := q.of[id]; u != nil && q.waits[id] > 0 {
			return fmt.Sprintf("another thread is waiting for the request of %s%s", u.Call, q.where(u))
		}
	}
	for _, id := range ids {
		if q.of[id] != nil {
			q.waits[id] = 1
		}
	}
	return ""
}

// Waited is the end of Wait.
func (q *Requests) Waited(ids []uint64) {
	for _, id := range ids {
		delete(q.waits, id)
	}
}

// Left are the requests that are there at the end, by what has made them.
func (q *Requests) Left() (left []Leak) {
	for _, u := range q.of {
		switch {
		case u.freed:
		case u.active:
			left = append(left, Leak{One: "request", Made: u.Call + q.where(u), Fate: "never completed", Count: 1})
		case u.persistent:
			left = append(left, Leak{One: "persistent request", Made: u.Call + q.where(u), Fate: "never freed", Count: 1})
		}
	}
	return left
}
