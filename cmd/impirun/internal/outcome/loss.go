package outcome

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/topology/hardware"
)

// Loss is ranks without which a fault-tolerant job goes on, for the user.
type Loss struct {
	Ranks    []int // in MPI_COMM_WORLD, or of the spawned job that Text names
	Machines []string
	Text     string             // what has happened: "rank 3 on a (pid 7) was killed by signal 9 ...", "machine b: ..."
	Failure  *supervise.Failure // the same in parts, and more; nil: that is all
	Code     int                // that of the job if nobody survives; 0: 1
}

// OfRank is the loss of one rank.
func OfRank(l supervise.Loss) Loss {
	return Loss{[]int{l.Rank}, []string{l.Machine}, l.Origin.String() + " " + l.Did, l.Failure, l.Code}
}

// Say writes what is lost to stderr, at once: that the job goes on is no reason not to look.
func (l *Loss) Say(objects bool, machineOf func(rank int) string) {
	os.Stderr.Write(l.Bytes(objects, machineOf))
}

// Bytes is what Say writes, a line for users, with what belongs to it below, or an object (-output json). machineOf is
// the machine of a rank; nil: of none.
func (l *Loss) Bytes(objects bool, machineOf func(rank int) string) []byte {
	e := Error{MachineOf: machineOf}
	if objects {
		return l.object(&e)
	}
	text := fmt.Sprintf("impirun: %s; the job goes on without %s\n", l.Text, l.who())
	for _, line := range l.Failure.Lines(e.machine) {
		text += "    " + line + "\n"
	}
	return []byte(text)
}

// who is whom the job goes on without: the subject of Text, if that is one rank.
func (l *Loss) who() string {
	switch len(l.Ranks) {
	case 0:
		return "it"
	case 1:
		if strings.HasPrefix(l.Text, "rank ") {
			return "it"
		}
		return fmt.Sprintf("rank %d", l.Ranks[0])
	}
	set := hardware.Set{}
	for _, r := range l.Ranks {
		set[r] = true
	}
	return fmt.Sprintf("ranks %v", set)
}

// object is a loss for programs, a line of JSON.
func (l *Loss) object(e *Error) []byte {
	o := lossObject{Time: time.Now(), Message: l.Text, Ranks: l.Ranks, Machines: l.Machines}
	if f := l.Failure; f != nil {
		told := f.Error
		told.Place = nil // which says nothing that File and Function do not
		o.Error = &told
		if f.Peer != nil {
			o.PeerMachine = e.machine(*f.Peer)
		}
	}
	b, err := json.Marshal(struct {
		Loss lossObject `json:"loss"`
	}{o})
	if err != nil { // it has strings and numbers only
		panic(err)
	}
	return append(b, '\n')
}

type lossObject struct {
	Time     time.Time `json:"time"`
	Message  string    `json:"message"` // the line for users, without its end
	Ranks    []int     `json:"ranks"`
	Machines []string  `json:"machines,omitempty"`
	*report.Error
	PeerMachine string `json:"peerMachine,omitempty"`
}
