package survive

import "slices"

// A revocation is broadcast reliably over a binomial graph (Bosilca, Herault et al.): member i is connected with i+2^k
// and i-2^k, modulo the number of members. Whoever hears of it first sends it to all that it is connected with, 2 log n
// messages, so all have it after log n steps, and on many ways. If a neighbor has failed, its neighbors take its place:
// the graph stays connected, whoever fails and however many do. So if one survivor knows, all get to know.

// Revocation is what one member does to revoke a communicator.
type Revocation struct {
	me, size int
	revoked  bool
	known    Set          // to have failed
	seen     map[int]bool // members that were told, or that failed and whose neighbors were told
	out      []int
}

// NewRevocation is the part of a member of a communicator of that size.
func NewRevocation(me, size int) *Revocation { return &Revocation{me: me, size: size} }

// Revoked reports whether the communicator is revoked.
func (r *Revocation) Revoked() bool { return r.revoked }

// Revoke revokes the communicator, because the program calls for it. It reports whether this is news.
func (r *Revocation) Revoke() bool { return r.Heard(r.me) }

// Heard is Revoke, because that member has told this one: it need not be told.
func (r *Revocation) Heard(from int) bool {
	if r.revoked {
		return false
	}
	r.revoked = true
	r.seen = map[int]bool{r.me: true}
	if !r.known.Has(from) {
		r.seen[from] = true
	}
	r.tellNeighbors(r.me)
	return true
}

// Lost says that these members have failed.
func (r *Revocation) Lost(members Set) {
	fresh := members.Without(r.known)
	r.known = r.known.Union(members)
	for _, m := range fresh {
		if r.seen[int(m)] { // told, perhaps in vain
			r.tellNeighbors(int(m))
		}
	}
}

// Tell returns whom to send the revocation. The slice is valid until the next call of another method.
func (r *Revocation) Tell() []int {
	out := r.out
	r.out = r.out[:0]
	return out
}

// tellNeighbors tells all that are connected with a member, or with one of these that has failed, and so on.
func (r *Revocation) tellNeighbors(member int) {
	for step := 1; step < r.size; step *= 2 {
		r.tell((member + step) % r.size)
		r.tell((member - step + r.size) % r.size)
	}
}

func (r *Revocation) tell(member int) {
	if r.seen[member] {
		return
	}
	r.seen[member] = true
	if r.known.Has(member) {
		r.tellNeighbors(member)
		return
	}
	r.out = append(r.out, member)
}

// EarlyWords are revocations of communicators that are not known here, by id, and by the process that has told of them:
// they are still being made, or have been freed. Their ids are not given again.
type EarlyWords map[int32][]uint64

// MostEarly is how many words of one process are kept, the last ones. A process is not so many communicators behind
// another.
const MostEarly = 1024

// Add notes a word.
func (w *EarlyWords) Add(from int32, cid uint64) {
	if *w == nil {
		*w = EarlyWords{}
	}
	words := append((*w)[from], cid)
	(*w)[from] = words[max(0, len(words)-MostEarly):]
}

// Take reports whether a communicator has been revoked, and forgets that.
func (w EarlyWords) Take(cid uint64) (revoked bool) {
	for from, words := range w {
		left := slices.DeleteFunc(words, func(c uint64) bool { return c == cid })
		revoked = revoked || len(left) < len(words)
		if w[from] = left; len(left) == 0 {
			delete(w, from)
		}
	}
	return revoked
}
