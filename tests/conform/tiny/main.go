// Command tiny is a small IMPI client, made from the text of IMPI 0.0 alone, without any package of libimpi. It is what
// the conformance tester is tried against:
//
//	tiny [-fault NAME] -client RANK HOST:PORT -n N PLAYER ADDRESS:PORT TOKEN
//
// It has one host with N processes, which are goroutines, and plays the player itself. Without a fault it is correct.
//
//	main.go     the command line, and the faults
//	startup.go  the server, the tables, the connections between hosts (2.3)
//	packets.go  packets, flow control, messages, the barrier, the end (chapter 3, 4.10)
//	player.go   the tester's steps
package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

// faults are what -fault knows; those with = take the number of a message, from 1.
const faults = "absent, no-mesh, no-acks, no-fini, wrong-label-order, short-label, low-hiwater, " +
	"wrong-lsrank, extra-packet, nonsense=K, die=K, mute=K"

// fault is what is wrong with this implementation.
type fault struct {
	name string
	k    int // the number of a message, for die, mute and nonsense

	mu   sync.Mutex // guards what follows
	sent int        // messages that were, or would have been, written
}

// parseFault reads NAME or NAME=K.
func parseFault(text string) (*fault, error) {
	name, number, numbered := strings.Cut(text, "=")
	f := &fault{name: name}
	for known := range strings.SplitSeq(faults, ", ") {
		known, _, k := strings.Cut(known, "=")
		if known != name || k != numbered {
			continue
		}
		var err error
		if numbered {
			f.k, err = strconv.Atoi(number)
		}
		return f, err
	}
	return nil, fmt.Errorf("there is no fault %q; there are %s", text, faults)
}

// write writes one message of the protocol: a command, the key, a host's rank or a packet.
func (f *fault) write(c net.Conn, message []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent++
	switch {
	case f.name == "die" && f.sent == f.k:
		os.Exit(0) // without a word, and as if all were well
	case f.name == "mute" && f.sent >= f.k:
		return
	case f.name == "nonsense" && f.sent == f.k:
		random := rand.New(rand.NewPCG(uint64(f.k), 0)) // the same in every run
		for i := range message {
			message[i] = byte(random.Uint32())
		}
	}
	c.Write(message) // that nobody reads any more shows when something is awaited
}

// is reports whether this is the fault.
func (f *fault) is(name string) bool { return f.name == name }

// die ends the program: every connection ends without the words that end it well.
func die(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "tiny: "+format+"\n", args...)
	os.Exit(1)
}

func check(err error) {
	if err != nil {
		die("%v", err)
	}
}

func main() { run(os.Args[1:]) }

// run is the program of these words. It does not return.
func run(words []string) {
	f := &fault{}
	if len(words) > 2 && words[0] == "-fault" {
		var err error
		f, err = parseFault(words[1])
		check(err)
		words = words[2:]
	}
	if len(words) != 8 || words[0] != "-client" || words[3] != "-n" {
		die("usage: tiny [-fault NAME] -client RANK HOST:PORT -n N PLAYER ADDRESS:PORT TOKEN")
	}
	rank, err := strconv.Atoi(words[1])
	check(err)
	n, err := strconv.Atoi(words[4])
	check(err)
	if f.is("absent") {
		select {}
	}
	j := newJob(f, rank, n)
	j.startUp(words[2])
	j.mesh()
	var players sync.WaitGroup
	for p := range n {
		players.Go(func() { j.play(j.first+p, words[6], words[7]) })
	}
	players.Wait()
	j.finish()
	os.Exit(0)
}
