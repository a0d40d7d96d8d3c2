package manager

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"os"
	"runtime"
	"strings"

	"github.com/libimpi/libimpi/sockets/address"
)

// card is what a process says of itself to all others of its job. As a value it is a word that does not change with
// releases, the version, and the fields in base64:
//
//	libimpi.3-amd64.BASE64
//	machine 8, place 16, unix 16, key 32, address 16, port 2, pid 4, client 1, gate 1; big-endian
type card struct {
	where
	unix [16]byte       // the name of its abstract Unix socket
	key  [32]byte       // drawn for this job; outsiders do not see it
	addr netip.AddrPort // where it listens for other machines; the zero value: nowhere
	pid  uint32

	client uint8 // as which it joins an IMPI server (clients.go), and 1; 0: as none
	gate   bool  // other clients reach all processes by rank 0 (gate.go)
}

// where says who can share memory.
type where struct {
	machine uint64   // sockets/address.Machine
	place   [16]byte // the same for processes of a user on one machine that can reach each other's Unix sockets
}

const (
	cardKey  = "card"
	cardWord = "libimpi"
	cardSize = 8 + 16 + 16 + 32 + 16 + 2 + 4 + 1 + 1
)

// cardVersion is that of the card and of all that follows it, up to the end of Join. Processes of one job must have the
// same, and run on the same kind of machine.
const cardVersion = 3

func ownVersion() string { return fmt.Sprintf("%d-%s", cardVersion, runtime.GOARCH) }

var be = binary.BigEndian

// newCard is a card with what is drawn.
func newCard(at where) (c card) {
	c.where, c.pid = at, uint32(os.Getpid())
	rand.Read(c.unix[:])
	rand.Read(c.key[:])
	return c
}

// here is where this process is. Abstract Unix sockets belong to a network namespace, and those who share memory know
// each other by pids, which belong to a process namespace. A process that cannot find out shares its place with nobody.
func here() (w where) {
	w.machine = address.Machine()
	net, failed := os.Readlink("/proc/self/ns/net")
	pids, err := os.Readlink("/proc/self/ns/pid")
	if failed != nil || err != nil || w.machine == 0 {
		rand.Read(w.place[:])
		return w
	}
	copy(w.place[:], digest("place", fmt.Sprintf("%d %s %s %d", w.machine, net, pids, os.Geteuid())))
	return w
}

func (c *card) encode() string {
	b := be.AppendUint64(make([]byte, 0, cardSize), c.machine)
	b = append(append(append(b, c.place[:]...), c.unix[:]...), c.key[:]...)
	var addr [16]byte
	if c.addr.IsValid() {
		addr = c.addr.Addr().As16()
	}
	b = be.AppendUint16(append(b, addr[:]...), c.addr.Port())
	b = append(be.AppendUint32(b, c.pid), c.client, 0)
	if c.gate {
		b[cardSize-1] = 1
	}
	return strings.Join([]string{cardWord, ownVersion(), base64.RawURLEncoding.EncodeToString(b)}, ".")
}

// decodeCard reads a card, and checks what can be checked of one alone.
func decodeCard(text string) (c card, err error) {
	words := strings.Split(text, ".")
	if len(words) != 3 || words[0] != cardWord {
		return c, fmt.Errorf("it is not of libimpi, or of another release: it has said %.60q", text)
	}
	if words[1] != ownVersion() {
		return c, fmt.Errorf("its libimpi joins jobs by version %.20q, and ours by %q: start all ranks with one release, on "+
			"one kind of machine", words[1], ownVersion())
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(words[2])
	if err != nil || len(b) != cardSize {
		return c, fmt.Errorf("what it has said cannot be read: %.200q", text)
	}
	c.machine = be.Uint64(b)
	copy(c.place[:], b[8:])
	copy(c.unix[:], b[24:])
	copy(c.key[:], b[40:])
	if port := be.Uint16(b[88:]); port != 0 {
		c.addr = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[72:])).Unmap(), port)
		if c.addr.Addr().IsUnspecified() {
			return c, fmt.Errorf("nobody can connect to where it listens: %v", c.addr)
		}
	}
	if c.pid = be.Uint32(b[90:]); c.pid == 0 || c.pid > math.MaxInt32 {
		return c, fmt.Errorf("%d is no process", c.pid)
	}
	c.client, c.gate = b[94], b[95] != 0
	return c, nil
}
