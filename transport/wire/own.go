package wire

import (
	"encoding/binary"
	"math"
	"runtime"
)

// COwn is the label under which clients of this library tell each other what they can do beyond IMPI 0.0: above all
// labels of the standard, so that who does not know it is never asked for it. It has OwnSize bytes from each client.
const COwn Label = 0x4C490001

// OwnSize is the size of an Own, in bytes.
const OwnSize = 24

// Own is what a client says under COwn.
type Own struct {
	Stream uint32   // pk_len it accepts in continuations of long messages, bytes; 0: no more than C_DATALEN
	Flags  uint32   // of those below; others are sent as 0 and not looked at
	Rep    [16]byte // how its processes keep data in memory; zero: not said
}

// Flags of an Own. Who submits the label understands all of them.
const (
	FlagOutbound uint32 = 1 // nobody can connect to this client: higher clients, which otherwise would, are connected to
)

// DefaultStream is what this implementation contributes, in bytes: long enough for a few packets to fill the path
// between two continents.
const DefaultStream uint32 = 1 << 20

// Mine is what this machine's processes can do.
func Mine() Own { return Own{Stream: DefaultStream, Rep: memory()} }

// Append adds o as COwn carries it.
func (o Own) Append(b []byte) []byte {
	b = be.AppendUint32(be.AppendUint32(b, o.Stream), o.Flags)
	return append(b, o.Rep[:]...)
}

// ParseOwn reads the first OwnSize bytes of b. False: there are fewer.
func ParseOwn(b []byte) (o Own, ok bool) {
	if len(b) < OwnSize {
		return o, false
	}
	o.Stream = min(be.Uint32(b), math.MaxInt32)
	o.Flags = be.Uint32(b[4:])
	copy(o.Rep[:], b[8:])
	return o, true
}

// Native says whether data of a and b look the same in memory: then it need not be converted on its way.
func (o Own) Native(with Own) bool { return o.Rep == with.Rep && o.Rep != [16]byte{} }

// memory tells apart what C's basic types can look like on Linux: byte order, then the sizes, in bytes, of short, int,
// long, long long, a pointer, wchar_t and long double, and the bits of long double's significand. Zero for a machine
// whose long double is not known here.
func memory() (rep [16]byte) {
	digits := byte(0)
	switch runtime.GOARCH {
	case "amd64":
		digits = 64
	case "arm64", "riscv64", "loong64", "s390x":
		digits = 113
	default:
		return rep
	}
	binary.NativeEndian.PutUint32(rep[:], 0x01020304)
	copy(rep[4:], []byte{2, 4, 8, 8, 8, 4, 16, digits})
	return rep
}
