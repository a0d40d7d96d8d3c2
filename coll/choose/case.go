package choose

import (
	"fmt"
	"strings"
)

// Case is what an algorithm is chosen by: what all ranks of a call know alike.
type Case struct {
	Ranks    int
	Bytes    int64 // packed; of what, the operation says
	Longest  int64 // bytes of the longest block, if all ranks know all of them
	Count    int64 // elements of the vector of a reduction
	Commutes bool  // the operation of a reduction
	Crowded  bool  // the ranks outnumber their cores; those of several machines, on one of these
	TwoCores bool  // the ranks share at most two cores
	Board    int64 // bytes of a part on the ranks' board; 0: there is none for this
	Vendor   bool  // another MPI library may carry this out
	Machines bool  // several ranks share machines, of which there are several
	Ordered  bool  // and those of each machine follow one another
	Aligned  bool  // and there is no level above, and no long way between them
	Ragged   bool  // machines do not all have as many ranks
	Distant  bool  // ranks are in several IMPI clients
	Together int   // ranks of a machine then, in the mean
}

// needs says in which cases an algorithm can be used.
type needs uint16

const (
	powerOfTwo needs = 1 << iota // of ranks
	commuting                    // operations
	threeRanks                   // or more
	pieceEach                    // the vector has an element for each rank
	twoRanks
	severalMachines
	ordered // commuting, or the ranks of each machine follow one another
	onBoard
	vendored
	inSlots
	inOrder // the ranks of each machine follow one another
)

func (n needs) met(k *Case) bool {
	return (n&powerOfTwo == 0 || k.Ranks&(k.Ranks-1) == 0) && (n&commuting == 0 || k.Commutes) &&
		(n&threeRanks == 0 || k.Ranks >= 3) && (n&twoRanks == 0 || k.Ranks == 2) &&
		(n&pieceEach == 0 || k.Count >= int64(k.Ranks)) && (n&severalMachines == 0 || k.Machines) &&
		(n&onBoard == 0 || k.Board > 0) && (n&vendored == 0 || k.Vendor) && n&inSlots == 0 &&
		(n&ordered == 0 || k.Commutes || k.Ordered) && (n&inOrder == 0 || k.Ordered)
}

var needsText = []string{"a power of two ranks", "operations that commute", "3 ranks", "an element for each rank",
	"2 ranks", "several machines", "operations that commute or ranks in the order of machines",
	"a board, which the ranks of a machine have",
	"another MPI library, by which the ranks talk (IMPI_LOCAL)", "a board, and contributions that fit its slots",
	"ranks in the order of machines"}

// rule is a row of a table: it says which algorithm to use in the cases that it fits.
type rule struct {
	use      string
	ranks    int   // at least
	pair     bool  // two ranks
	bytes    int64 // at least
	below    int64 // bytes; 0: any
	slots    int64 // by slots of a board, contributions of so many bytes at most (slots.go); 0: not by slots
	each     int64 // bytes for each rank at least
	vendor   bool  // another MPI library may carry it out
	crowded  bool  // ranks outnumber cores
	cores    bool  // each rank has one
	twoCores bool  // which are two at most
	uneven   bool  // the longest block would be passed on more often than all blocks once
	shared   bool  // several ranks share machines, of which there are several
	together int   // and so many on each at least, in the mean
	apart    bool  // and those of a machine do not follow one another, or there is a level above
	few      int   // and there are so many machines at most; 0: any number
	distant  bool  // ranks are in several IMPI clients
	most     int   // ranks at most; 0: any number
	ragged   bool  // machines do not all have as many ranks

	algorithm int // which one of the operation it uses
}

func (r *rule) fits(k *Case) bool {
	return k.Ranks >= r.ranks && (!r.pair || k.Ranks == 2) && k.Bytes >= r.bytes && (r.below == 0 || k.Bytes < r.below) &&
		k.Bytes >= r.each*int64(k.Ranks) && (!r.crowded || k.Crowded) && (!r.cores || !k.Crowded) &&
		(!r.twoCores || k.TwoCores) && (!r.uneven || k.uneven()) && (!r.vendor || k.Vendor) &&
		(!r.shared || k.Machines) && k.Together >= r.together && (!r.apart || !k.Aligned) &&
		(r.few == 0 || k.Ranks <= r.few*k.Together) &&
		(!r.distant || k.Distant) && (!r.ragged || k.Ragged) && (r.most == 0 || k.Ranks <= r.most)
}

func (k *Case) uneven() bool { return k.Longest*int64(rounds(k.Ranks)) > k.Bytes }

func (r *rule) String() string {
	text := r.use
	say := func(is bool, format string, args ...any) {
		if is {
			text += ", " + fmt.Sprintf(format, args...)
		}
	}
	say(r.slots != 0, "%s", slotsText(r.slots))
	say(r.ranks > 0, "from %d ranks on", r.ranks)
	say(r.pair, "of 2 ranks")
	say(r.most > 0, "up to %d ranks", r.most)
	say(r.bytes > 0, "from %d bytes on", r.bytes)
	say(r.below > 0, "below %d bytes", r.below)
	say(r.each > 0, "from %d bytes a rank on", r.each)
	say(r.vendor, "if ranks talk by another MPI library")
	say(r.crowded, "if ranks outnumber cores")
	say(r.cores, "if each has a core")
	say(r.twoCores, "which are two at most")
	say(r.uneven, "if blocks are uneven")
	say(r.shared, "if ranks share machines")
	say(r.together > 0, "%d or more on each", r.together)
	say(r.apart, "and do not follow one another there")
	say(r.few > 0, "on up to %d machines", r.few)
	say(r.ragged, "if these have different numbers of ranks")
	say(r.distant, "between clients")
	return strings.Replace(text, ", ", ": ", 1)
}
