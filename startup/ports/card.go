package ports

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"

	"github.com/libimpi/libimpi/transport/wire"
)

// A card says where a process is found during a meeting, and what it is like:
//
//	version 1, flags 1, machine 32, Unix socket 16, address 16, port 2, representation 16; big-endian
//
// It says nothing that is secret.

const (
	cardVersion = 1
	cardSize    = 84

	cardSealed byte = 1 // connections to it are to be sealed, if both say so
	cardShort  byte = 2 // packets have the short header (transport.Host.Short), if both say so
)

// Machine tells machines apart that cannot share memory by a Unix socket: containers with a network of their own, too.
// Zero: not known.
type Machine [sha256.Size]byte

// ThisMachine is made of a number that the system draws when it boots, and of the network namespace, in which abstract
// Unix sockets have their names.
var ThisMachine = sync.OnceValue(func() (m Machine) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return m
	}
	network, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return m
	}
	return sha256.Sum256(fmt.Appendf(nil, "libimpi meeting, machine\x00%s\x00%s", boot, network))
})

// unixName is the abstract name of a Unix socket, drawn at random. Zero: there is none.
type unixName [16]byte

func newUnixName() (n unixName) {
	rand.Read(n[:])
	return n
}

func (n unixName) String() string { return fmt.Sprintf("@libimpi-%x", n[:]) }

// card is one, taken apart.
type card struct {
	sealed  bool
	short   bool
	machine Machine
	unix    unixName
	tcp     netip.AddrPort
	rep     [16]byte // how it keeps data in memory (wire.Own)
}

func (c *card) encode() []byte {
	b := make([]byte, 2, cardSize)
	b[0] = cardVersion
	if c.sealed {
		b[1] |= cardSealed
	}
	if c.short {
		b[1] |= cardShort
	}
	b = append(append(b, c.machine[:]...), c.unix[:]...)
	addr := wire.EncodeAddr(c.tcp.Addr())
	b = be.AppendUint16(append(b, addr[:]...), c.tcp.Port())
	return append(b, c.rep[:]...)
}

// decodeCard reads a card. Flags that are not known mean nothing.
func decodeCard(b []byte) (c card, err error) {
	if len(b) == 0 || b[0] != cardVersion {
		return c, errors.New("a card of another version: the processes have libimpi of different releases")
	}
	if len(b) != cardSize {
		return c, fmt.Errorf("a card of %d bytes instead of %d", len(b), cardSize)
	}
	c.sealed, c.short = b[1]&cardSealed != 0, b[1]&cardShort != 0
	copy(c.machine[:], b[2:])
	copy(c.unix[:], b[34:])
	c.tcp = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[50:66])).Unmap(), be.Uint16(b[66:]))
	copy(c.rep[:], b[68:])
	if ip := c.tcp.Addr(); ip.IsUnspecified() || ip.IsMulticast() || c.tcp.Port() == 0 {
		return c, fmt.Errorf("a card with the address %v, which is nobody's", c.tcp)
	}
	return c, nil
}

// shares reports whether two processes can find each other by a Unix socket.
func (c *card) shares(with *card) bool {
	return c.machine == with.machine && c.machine != Machine{} && c.unix != unixName{} && with.unix != unixName{}
}

// native reports whether both keep data alike in memory.
func (c *card) native(with *card) bool { return c.rep == with.rep && c.rep != [16]byte{} }
