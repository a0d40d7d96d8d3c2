// Package bulk copies some kilobytes and more from one core's caches to another's.
//
// To store a line that the other core has read last, a core has to fetch it first. Where the two share no cache, as on
// many processors of AMD, or on virtual machines, which move their cores besides, that takes most of the time. There
// are two ways around it:
//
//   - Most processors copy by a string instruction (REP MOVSB) without fetching the lines that they write. Measured on
//     an AMD EPYC with AVX-512, both sides of a message of 1 MiB, us: 22 by the string instruction, 35 by vector
//     registers where the cores share a cache; where they do not, 22 and 160. On some virtual machines it takes five
//     times as long as vector registers, and on others it fetches lines as these do. So it is looked at, once.
//   - Stores past the caches need no line, and the reader's prefetchers hide that it comes from memory then. Measured
//     on an AMD EPYC (Zen 4) whose string instruction fetches lines, by vector registers and past the caches, us: two
//     ranks that exchange messages, on cores that share no cache, 8 KiB 4.6 and 1.4, 32 KiB 17 and 3.7; one that sends
//     as fast as the other receives, on cores that do, 4 KiB 0.21 and 0.47, 8 KiB 0.93 and 0.79, 32 KiB 3.8 and 2.5.
//
// AMD's processors from Zen 3 on copy 2 bytes in a nanosecond by the string instruction, not 40, where the destination
// lies 1 to 31 bytes behind the source within their pages: as a program's long buffer does, 16 bytes behind the begin
// of a page, to a piece of a board. The C library's memcpy takes it all the same (impi_slips in
// gobridge/kernel/kernels.h).
package bulk

import (
	"sync"
	"sync/atomic"
	"time"
)

// Least is the number of bytes from which on the way matters. An allreduce of 4 KiB on two cores takes 0.66 us by the
// string instruction, and 0.50 by vector registers.
const Least = 8 << 10

// lineBytes is a line of the caches.
const lineBytes = 64

// Crowded says that ranks outnumber cores: then who reads what this process stores may run on the same core, in whose
// caches it belongs.
var Crowded atomic.Bool

// Copy is copy.
func Copy(dst, src []byte) int {
	if n := min(len(dst), len(src)); n >= Least && Strings() && copyString(&dst[0], &src[0], n) {
		return n
	}
	return copy(dst, src)
}

// Store is Copy to memory that another process reads next.
func Store(dst, src []byte) int {
	if Crowded.Load() {
		return Copy(dst, src)
	}
	return StoreForAll(dst, src)
}

// StoreForAll is Store to memory that several others read, each by itself. Those that share this core find little of it
// in its caches, but that takes less than to fetch all lines from the caches of the others.
func StoreForAll(dst, src []byte) int {
	n := min(len(dst), len(src))
	if n < Least || !Past() || !aligned(dst) {
		return Copy(dst, src)
	}
	lines := n &^ (lineBytes - 1)
	storePast(&dst[0], &src[0], lines)
	copy(dst[lines:], src[lines:n])
	return n
}

// Strings says whether Copy uses the string instruction.
var Strings = sync.OnceValue(func() bool { return canCopyString && quick() })

// Past says whether stores past the caches are the better way to other cores, however far they are: the string
// instruction fetches lines, or is not quick.
var Past = sync.OnceValue(func() bool { return CanStorePast && ways().past && !(Strings() && ways().strings) })

// Of lines that are in no cache, the string instruction takes no longer than this part of vector registers, if it does
// not fetch them; and stores past the caches not if they are worth it.
const (
	stringsPart = 0.7
	pastPart    = 0.4
)

// probe is how much is copied to find out, and how often.
const (
	probeBytes  = 8 << 10
	probeRounds = 4
)

// ways is what copies to lines that are in no cache say.
var ways = sync.OnceValue(func() (w struct{ strings, past bool }) {
	if !CanStorePast {
		return struct{ strings, past bool }{true, false}
	}
	memory := make([]byte, 2*probeBytes+lineBytes)
	for !aligned(memory) {
		memory = memory[1:]
	}
	to, from := memory[:probeBytes], memory[probeBytes:2*probeBytes]
	best := fastest(probeRounds, func() { forget(&to[0], len(to)) },
		func() { copy(to, from) },
		func() { storePast(&to[0], &from[0], len(from)) },
		func() {
			if canCopyString {
				copyString(&to[0], &from[0], len(from))
			}
		})
	w.past = float64(best[1]) <= pastPart*float64(best[0])
	w.strings = float64(best[2]) <= stringsPart*float64(best[0])
	return w
})

// fastest returns the least time that each of some copies takes, of so many rounds.
func fastest(rounds int, before func(), ways ...func()) []time.Duration {
	best := make([]time.Duration, len(ways))
	for i := range best {
		best[i] = time.Hour
	}
	for range rounds {
		for i, way := range ways {
			before()
			start := time.Now()
			way()
			best[i] = min(best[i], time.Since(start))
		}
	}
	return best
}

// quick reports whether the string instruction is about as quick within this core's caches as copy is.
func quick() bool {
	const bytes, rounds = 16 << 10, 5
	from, to := make([]byte, bytes), make([]byte, bytes)
	best := fastest(rounds, func() {}, func() { copy(to, from) }, func() { copyString(&to[0], &from[0], bytes) })
	return best[1] <= 2*best[0]
}
