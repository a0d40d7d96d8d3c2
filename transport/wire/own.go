package wire

import (
	"encoding/binary"
	"math"
	"runtime"
)

// COwn is the label under which libimpi clients tell each other what they can do beyond IMPI 0.0, in OwnSize bytes
// each. It is higher than all labels of the standard, so an implementation that does not know it is never asked for it.
const COwn Label = 0x4C490001

// OwnSize is the size of an Own, in bytes.
const OwnSize = 64

// Own is what a client says under COwn.
type Own struct {
	Stream  uint32   // pk_len it accepts in continuations of long messages, bytes; 0: no more than C_DATALEN
	Flags   uint32   // of those below; others are sent as 0 and not looked at
	Mesh    uint32   // MeshPlain to MeshSealed: how it has authenticated, and so how it meets hosts of others
	Streams uint32   // connections that it has with each host of others, if they want as many: 1 to MaxStreams
	Rep     [16]byte // how its processes keep data in memory; zero: not said
	Nonce   [32]byte // drawn by the client: keys between hosts are made of it
}

// MaxStreams is the largest number of connections between two hosts.
const MaxStreams = 16

// Flags of an Own. A flag takes effect between two clients that both set it, but FlagOutbound takes effect with every
// client that submits the label, and FlagSurvives has to be alike.
const (
	FlagOutbound uint32 = 1 // nobody can connect to this client: higher clients, which otherwise would, are connected to
	FlagShort    uint32 = 8 // packets between two hosts that have one process each have the short header (PutShort)
	// FlagExchange: see transport.Host.Exchange. Earlier versions set 4, and have a master for each client in all
	// collectives, or 2, and their context ids follow IMPI, too.
	FlagExchange uint32 = 16
	// FlagSurvives: the job is fault tolerant. All clients that submit the label have to say so, or none.
	FlagSurvives uint32 = 32
)

// AckHold is back-pressure between clients that both submit COwn, in pk_reserved of a PROTOACK: the sender of the
// acknowledgement keeps so many unexpected messages that it wants only the envelopes of further ones, which are
// DATASYNC packets without data. 0 ends that.
const AckHold uint64 = 1

// How a client has authenticated, and so how its hosts connect with others; the lesser of two clients counts. MeshPlain
// is as IMPI 0.0 says: a host is believed when it sends its rank. From MeshOpen on hosts prove a key, made of the
// nonces of both clients and of what outsiders do not know. MeshSealed is encrypted, too.
const (
	MeshPlain  uint32 = iota // not said
	MeshOpen                 // IMPI_AUTH_NONE: outsiders who have not listened do not know the nonces, and that is all
	MeshKey                  // IMPI_AUTH_KEY
	MeshSecret               // AuthHMAC
	MeshSealed               // AuthTLS
)

// defaultStream is what this implementation contributes, in bytes: long enough for a few packets to fill the path
// between two continents.
const defaultStream uint32 = 1 << 20

// Mine is what this machine's processes can do.
func Mine() Own {
	return Own{Stream: defaultStream, Flags: FlagExchange | FlagShort, Streams: 1, Rep: memory()}
}

// Append adds o as COwn carries it.
func (o Own) Append(b []byte) []byte {
	for _, v := range []uint32{o.Stream, o.Flags, o.Mesh, o.Streams} {
		b = be.AppendUint32(b, v)
	}
	return append(append(b, o.Rep[:]...), o.Nonce[:]...)
}

// ParseOwn reads the first OwnSize bytes of b. It returns false if b is shorter.
func ParseOwn(b []byte) (o Own, ok bool) {
	if len(b) < OwnSize {
		return o, false
	}
	o.Stream = min(be.Uint32(b), math.MaxInt32)
	o.Flags, o.Mesh = be.Uint32(b[4:]), min(be.Uint32(b[8:]), MeshSealed)
	o.Streams = max(1, min(be.Uint32(b[12:]), MaxStreams))
	copy(o.Rep[:], b[16:])
	copy(o.Nonce[:], b[32:])
	return o, true
}

// Native reports whether both clients represent data alike in memory, so that it need not be converted between them.
func (o Own) Native(with Own) bool { return o.Rep == with.Rep && o.Rep != [16]byte{} }

// memory describes how C's basic types look in memory on this machine: byte order; the sizes, in bytes, of short, int,
// long, long long, a pointer, wchar_t and long double; and the bits of long double's significand. It is zero for an
// architecture whose long double is not known here.
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
