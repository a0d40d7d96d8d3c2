package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/transport/boot"
	"github.com/libimpi/libimpi/transport/wire"
)

// What the launcher and a node, the launcher's other self on another machine, say to each other over the node's
// standard input and output: frames of four bytes of length and that much JSON.
//
//	launcher                        node
//	start {what to run}          ->
//	                             <-  output {bytes}, at any time: what ranks write to stdout; whole lines if prefixed
//	                             <-  errors {bytes}, at any time: whole lines with prefixes for stderr
//	                             <-  hosts {where the ranks listen}
//	job {tables}                 ->
//	                             <-  want {}: the ranks that read standard input have taken what there was
//	input {bytes}                ->  the next of the launcher's standard input; none: that was all
//	                             <-  ask {id, spawn or name}: what a rank asks for (spawn.go)
//	answer {id, ...}             ->
//	end {}                       ->  at any time: the job is over, end your ranks; as does the end of the stream
//	                             <-  end {code, text}: the last frame; no rank is left

// maxFrame is the longest frame, in bytes.
const maxFrame = 64 << 20

// frame is one of these.
type frame struct {
	Start  *startFrame  `json:",omitempty"`
	Hosts  []hostFrame  `json:",omitempty"`
	Job    *jobFrame    `json:",omitempty"`
	Output []byte       `json:",omitempty"`
	Errors []byte       `json:",omitempty"`
	Want   bool         `json:",omitempty"`
	Input  *inputFrame  `json:",omitempty"`
	Ask    *askFrame    `json:",omitempty"`
	Answer *answerFrame `json:",omitempty"`
	End    *endFrame    `json:",omitempty"`
}

// startFrame says which ranks a node starts.
type startFrame struct {
	Version  int
	Plan     *options.Plan // its own programs only
	Env      []string      // the launcher's
	Dir      string        // the launcher's, where a program says no other
	Ranks    []int         // its ranks among the client's, in ascending order
	Size     int           // the client's
	JobID    string
	Bind     netip.Addr // where its ranks listen; zero: towards Server, or what the machine knows best
	Agent    bool
	Universe int32
	Job      int       // its number, if it was spawned; 0: it was not
	Parent   string    // the port of those who have spawned it
	Input    inputKind // what stands for the launcher's standard input; which ranks read it the plan says
}

// nodeVersion is that of these frames.
const nodeVersion = 5

// inputKind is where a node has the standard input of its ranks from.
type inputKind int

const (
	inputNone   inputKind = iota
	inputOwn              // it is the launcher's itself, under the descriptor inputFD
	inputFrames           // it comes in frames
)

// inputFD is the descriptor under which the node on the launcher's own machine has the launcher's standard input.
const inputFD = 3

// askFrame is what a rank asks for that runs like program Like.
type askFrame struct {
	ID    uint64
	Spawn *boot.Spawn      `json:",omitempty"`
	Name  *boot.Name       `json:",omitempty"`
	Like  *options.Program `json:",omitempty"`
}

// answerFrame answers it. Here is not 0 if the node is to spawn the job itself, under that number.
type answerFrame struct {
	ID     uint64
	Here   int
	Answer boot.Answer
}

type inputFrame struct{ Data []byte }

type hostFrame struct {
	Addr    netip.AddrPort
	Machine wire.Machine
	Procs   []procFrame
}

type procFrame struct {
	HostID []byte
	PID    uint32
}

type jobFrame struct {
	Tables []byte // boot.EncodeJob
	First  int    // world rank of the client's first rank
}

type endFrame struct {
	Code int // 0: all went well
	Text string

	Blamed *int32 `json:",omitempty"` // supervise.Cause
	Answer bool   `json:",omitempty"`
}

// frames is one end of the conversation. One goroutine may receive, and any may send.
type frames struct {
	in io.Reader

	mu  sync.Mutex // held for one whole frame
	out io.Writer
}

func (f *frames) send(m frame) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(text) > maxFrame {
		return fmt.Errorf("a message of %d bytes is too long", len(text))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err = f.out.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

func (f *frames) receive() (m frame, err error) {
	var head [4]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return m, err
	}
	n := int(binary.BigEndian.Uint32(head[:]))
	if n < 2 || n > maxFrame {
		return m, fmt.Errorf("not what impirun says: %q", head[:])
	}
	var text []byte
	for len(text) < n { // memory grows with what arrives
		step := min(n-len(text), max(4096, len(text)))
		text = slices.Grow(text, step)[:len(text)+step]
		if _, err := io.ReadFull(f.in, text[len(text)-step:]); err != nil {
			return m, fmt.Errorf("in the middle of a message: %w", err)
		}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("not what impirun says: %w", err)
	}
	return m, nil
}
