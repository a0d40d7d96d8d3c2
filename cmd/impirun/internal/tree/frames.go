package tree

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/shells"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/stat"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport/wire"
)

// What the launcher and a node, the launcher's other self on another machine, say to each other over the node's
// standard input and output: letters of four bytes of length, the number of a machine, and that much JSON, a frame,
// with a new line behind it, for what stands between may hold lines back. The number says whom a letter is for or from,
// since a node may have been started by another (tree.go, relay.go).
//
//	launcher                        node
//	                             <-  hello {version}; to who has started it, as is the answer
//	start {what to run}          ->
//	                             <-  reached {}, lost {machines}: what became of those that a relay has started
//	                             <-  output {bytes}, at any time: what ranks write to stdout; whole lines if prefixed
//	                             <-  errors {bytes}, at any time: whole lines with prefixes for stderr
//	                             <-  started {}: the ranks are running
//	                             <-  hosts {where the ranks listen}
//	job {tables}                 ->
//	                             <-  want {}: the ranks that read standard input have taken what there was
//	input {bytes}                ->  the next of the launcher's standard input; none: that was all
//	                             <-  ask {id, spawn or name}: what a rank asks for (package spawn)
//	answer {id, ...}             ->
//	traffic {}                   ->  when somebody watches the job at the server
//	                             <-  traffic {rows}
//	report {number}              ->  when somebody asks what ranks wait for
//	                             <-  report {number, ranks}
//	                             <-  rest {all}: all processes have come to rest, or they have not any more
//	                             <-  dead {ranks}: ranks are lost, and the job goes on
//	dead {ranks}                 ->  likewise, those of others, or ranks of the node that have to end
//	                             <-  suspect {by, ranks}: ranks cannot reach others
//	alive {answer}               <-> whether the other end is there, or that it is
//	end {}                       ->  at any time: the job is over, end your ranks; as does the end of the stream
//	                             <-  end {code, text, how ranks ended}: the last frame; no rank is left

// maxFrame is the longest frame, in bytes.
const maxFrame = 64 << 20

// Frame is what one says to the other: one of these.
type Frame struct {
	Hello   *helloFrame   `json:",omitempty"`
	Start   *StartFrame   `json:",omitempty"`
	Reached bool          `json:",omitempty"`
	Lost    *LostFrame    `json:",omitempty"`
	Started bool          `json:",omitempty"`
	Hosts   []HostFrame   `json:",omitempty"`
	Job     *JobFrame     `json:",omitempty"`
	Output  []byte        `json:",omitempty"`
	Errors  []byte        `json:",omitempty"`
	Want    bool          `json:",omitempty"`
	Input   *InputFrame   `json:",omitempty"`
	Ask     *AskFrame     `json:",omitempty"`
	Answer  *AnswerFrame  `json:",omitempty"`
	Traffic *TrafficFrame `json:",omitempty"`
	Report  *ReportFrame  `json:",omitempty"`
	Rest    *RestFrame    `json:",omitempty"`
	Dead    *DeadFrame    `json:",omitempty"`
	Suspect *SuspectFrame `json:",omitempty"`
	Alive   *AliveFrame   `json:",omitempty"`
	End     *EndFrame     `json:",omitempty"`
}

// helloFrame is the first word of a node.
type helloFrame struct{ Version int }

// LostFrame says that machines will say no more. Those that have ended are none of them.
type LostFrame struct {
	Machines []int  // their numbers; the first is the one that was heard of last
	Text     string // why
	Missed   bool   // they were not reached
}

// StartFrame says which machines a node stands for, and which ranks they start: the first is its own, and the others it
// starts itself.
type StartFrame struct {
	Members  []Member
	Plan     *options.Plan // of all machines
	Env      []string      // the launcher's
	Dir      string        // the launcher's, where a program says no other
	Size     int           // the client's
	JobID    string
	Agent    bool
	Universe int32
	Job      int           // its number, if it was spawned; 0: it was not
	Parent   string        // the port of those who have spawned it
	Shell    *shells.Shell // by which others are started
	Limit    time.Duration // for that
}

// nodeVersion is that of these frames.
const nodeVersion = 11

// InputKind is where a node has the standard input of its ranks from.
type InputKind int

const (
	InputNone InputKind = iota
	InputOwn            // it is the launcher's itself, under the descriptor InputFD
	InputSent           // it comes in frames
)

// InputFD is the descriptor under which the node on the launcher's own machine has the launcher's standard input.
const InputFD = 3

// AskFrame is what a rank asks for that runs like program Like.
type AskFrame struct {
	ID    uint64
	Spawn *startup.Spawn   `json:",omitempty"`
	Name  *startup.Name    `json:",omitempty"`
	Like  *options.Program `json:",omitempty"`
}

// AnswerFrame answers an AskFrame. Here is not 0 if the node is to spawn the job itself, under that number.
type AnswerFrame struct {
	ID     uint64
	Here   int
	Answer startup.Answer
}

// InputFrame is the next of the launcher's standard input; without data it is the end.
type InputFrame struct{ Data []byte }

// HostFrame is an IMPI host of a node: where it listens, and its ranks.
type HostFrame struct {
	Addr    netip.AddrPort
	Machine wire.Machine
	Procs   []ProcFrame
}

// ProcFrame is a rank of a host.
type ProcFrame struct {
	HostID []byte
	PID    uint32
}

// JobFrame is the tables of the job.
type JobFrame struct {
	Tables []byte // startup.EncodeJob
	First  int    // world rank of the client's first rank
}

// TrafficFrame asks a node for its traffic, or is the answer.
type TrafficFrame struct{ Rows []byte } // wire.AppendRows

// ReportFrame asks a node what its ranks wait for, or is the answer to the question of that number.
type ReportFrame struct {
	Number uint32
	Limit  time.Duration // within which ranks have to answer
	Ranks  []stat.Rank
}

// RestFrame reports whether all processes of a node's ranks are at rest.
type RestFrame struct{ All bool }

// DeadFrame says which ranks are lost; none if they are a spawned job's. What is for the user comes from nodes alone.
type DeadFrame struct {
	startup.Lost
	Loss outcome.Loss
}

// SuspectFrame says which ranks suspect which.
type SuspectFrame struct {
	By []int32
	startup.Suspects
}

// AliveFrame asks the other end whether it is there, or answers that.
type AliveFrame struct{ Answer bool }

// EndFrame says that the job is over, or how a node's ranks have ended.
type EndFrame struct {
	Code int // 0: all went well
	Text string

	Blamed *int32 `json:",omitempty"` // supervise.Cause
	Answer bool   `json:",omitempty"`
	Died   bool   `json:",omitempty"` // likewise
	Mild   bool   `json:",omitempty"` // likewise

	Failure *supervise.Failure `json:",omitempty"` // likewise

	Exits []syscall.WaitStatus `json:",omitempty"` // of a node's ranks, in order
}

// Letter is a frame on its way.
type Letter struct {
	Machine int // from or for; Everyone: for all
	text    []byte
}

// Everyone stands for all machines of a job.
const Everyone = -1

// letterHead is the length of what stands before a frame, in bytes.
const letterHead = 8

// bytes is a letter as it travels.
func (x Letter) bytes() []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, letterHead+len(x.text)), uint32(len(x.text)))
	return append(binary.BigEndian.AppendUint32(b, uint32(int32(x.Machine))), x.text...)
}

// LetterOf returns a frame as a letter.
func LetterOf(machine int, m Frame) (Letter, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return Letter{}, err
	}
	if len(text) >= maxFrame {
		return Letter{}, fmt.Errorf("a message of %d bytes is too long", len(text))
	}
	return Letter{machine, append(text, '\n')}, nil
}

// Frame returns what is in a letter.
func (x Letter) Frame() (m Frame, err error) {
	if err := json.Unmarshal(x.text, &m); err != nil {
		return m, fmt.Errorf("not an impirun message: %.40q: %w", x.text, err)
	}
	return m, nil
}

// Frames is one end of the conversation between a launcher and a node. One goroutine may receive, and any may send.
type Frames struct {
	in      io.Reader
	machine int // of a node: its own number

	mu  sync.Mutex // held for one whole letter
	out io.Writer
}

// Send sends a frame of this machine. It blocks until the frame is written.
func (f *Frames) Send(m Frame) error {
	x, err := LetterOf(f.machine, m)
	if err != nil {
		return err
	}
	return f.pass(x)
}

// pass sends a letter as it is.
func (f *Frames) pass(x Letter) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.out.Write(x.bytes())
	return err
}

// Receive returns the next frame, whichever machine it is for. It blocks until there is one.
func (f *Frames) Receive() (m Frame, err error) {
	x, err := f.letter()
	if err != nil {
		return m, err
	}
	return x.Frame()
}

func (f *Frames) letter() (x Letter, err error) {
	var head [letterHead]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return x, err
	}
	n := int(binary.BigEndian.Uint32(head[:]))
	if n < 2 || n > maxFrame {
		return x, fmt.Errorf("not an impirun message: %q", head[:])
	}
	x.Machine = int(int32(binary.BigEndian.Uint32(head[4:])))
	for len(x.text) < n { // memory grows with what arrives
		step := min(n-len(x.text), max(4096, len(x.text)))
		x.text = slices.Grow(x.text, step)[:len(x.text)+step]
		if _, err := io.ReadFull(f.in, x.text[len(x.text)-step:]); err != nil {
			return x, fmt.Errorf("in the middle of a message: %w", err)
		}
	}
	return x, nil
}
