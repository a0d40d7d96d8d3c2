// Package outcome is how impirun ends, whichever of its processes it is: what it writes to stderr, and its exit code.
//
// Flow: what went wrong is an Error with its cause, or another error -> ExitCode writes a line of it, and what belongs
// to it below, unless that has been said before, and returns the code. A process that serves others is ended by a
// signal (OnSignal), which then is its cause (Interrupted).
package outcome

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/libimpi/report"
)

// CodeUsage is the exit code after a command line, or a message of another impirun, that makes no sense.
const CodeUsage = 2

// Complain writes one line to stderr.
func Complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "impirun: "+format+"\n", args...)
}

// say writes why a job has ended badly: a line that says what is wrong, and below it, indented, what belongs to it. It
// is one write, so that no other output comes between the lines.
func (e *Error) say() {
	if e.Objects {
		os.Stderr.Write(e.object())
		return
	}
	text := "impirun: " + e.Cause.Text + "\n"
	lines := e.Cause.Failure.Lines(e.machine)
	if e.Hint != "" {
		lines = append(lines, e.Hint)
	}
	for _, line := range lines {
		text += "    " + line + "\n"
	}
	os.Stderr.WriteString(text)
}

// machine is where a rank runs; "" if that is not known.
func (e *Error) machine(rank int) string {
	if e.MachineOf == nil {
		return ""
	}
	return e.MachineOf(rank)
}

// object is the cause for programs, a line of JSON.
func (e *Error) object() []byte {
	c := e.Cause
	o := object{Time: time.Now(), Code: c.Code, Message: c.Text}
	if f := c.Failure; f != nil {
		told := f.Error
		told.Place = nil // which says nothing that File and Function do not
		o.Error = &told
		o.Ranks, o.Machines = f.Ranks().List(), f.Machines()
		if f.Peer != nil {
			o.PeerMachine = e.machine(*f.Peer)
		}
	}
	b, err := json.Marshal(struct {
		Error object `json:"error"`
	}{o})
	if err != nil { // it has strings and numbers only
		panic(err)
	}
	return append(b, '\n')
}

// object is a cause as an object. Without the parts of an error, Message is all that is known.
type object struct {
	Time     time.Time `json:"time"`
	Code     int       `json:"code"`    // impirun's exit code
	Message  string    `json:"message"` // the line for users
	Ranks    []int     `json:"ranks,omitempty"`
	Machines []string  `json:"machines,omitempty"`
	*report.Error
	PeerMachine string `json:"peerMachine,omitempty"`
}

// Error is a job that was started and ended badly.
type Error struct {
	Cause *supervise.Cause
	Quiet bool // nothing is to be said of it: the user wants that, or has been told

	Hint      string                // a line below all others; "": there is none
	Objects   bool                  // it is said as an object (-output json)
	MachineOf func(rank int) string // the machine of a rank; "" if that is not known; nil: of none
}

func (e *Error) Error() string { return e.Cause.Text }

// ExitCode reports err, unless it was reported before, and returns the code that goes with it.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var ended *Error
	if errors.As(err, &ended) {
		if !ended.Quiet {
			ended.say()
		}
		return ended.Cause.Code
	}
	Complain("%v", err)
	var start *supervise.StartError
	if errors.As(err, &start) {
		return start.Code
	}
	return 1
}
