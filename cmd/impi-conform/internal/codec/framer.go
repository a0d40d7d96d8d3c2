package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/libimpi/libimpi/transport/wire"
)

// Hex are bytes that are written in hexadecimal where they are text.
type Hex []byte

// MarshalText and UnmarshalText make them a string of JSON.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// Kind is what a unit of a stream is.
type Kind string

const (
	ToServer   Kind = "command to the server"
	FromServer Kind = "command of the server"
	Key        Kind = "key"         // bare, after the server's choice (2.3.3)
	Choice     Kind = "choice"      // of the authentication method, bare
	HostRank   Kind = "host's rank" // the first bytes between two hosts (2.3.8)
	Packets    Kind = "packet"
	Stray      Kind = "bytes" // that are nothing of these
)

// KeptData is how many bytes of what follows a header a unit keeps.
const KeptData = 256

// Unit is one command, packet or bare word of a stream.
type Unit struct {
	Kind  Kind
	Bytes Hex // the first of it: a header, and at most KeptData bytes
	Total int // bytes that came
	Whole int // bytes that it should have; more than Total if the stream ended before
}

// Name is the unit's in a word or two.
func (u Unit) Name() string {
	switch u.Kind {
	case Packets:
		if len(u.Bytes) >= 4 {
			return TypeName(GetU32(u.Bytes))
		}
	case ToServer, FromServer:
		name := "?"
		if len(u.Bytes) >= 4 {
			name = wire.Command(GetU32(u.Bytes)).String()
		}
		if name == wire.CmdColl.String() && len(u.Bytes) >= 12 {
			name += " " + wire.Label(GetU32(u.Bytes[8:])).String()
		}
		return name
	case HostRank:
		if len(u.Bytes) == 4 {
			return fmt.Sprintf("host %d", int32(GetU32(u.Bytes)))
		}
	}
	return string(u.Kind)
}

// Header is that of a packet; false: there is no whole one.
func (u Unit) Header() (h Header, ok bool) {
	if u.Kind != Packets || len(u.Bytes) < HeaderSize {
		return h, false
	}
	_, err := binary.Decode(u.Bytes, binary.BigEndian, &h)
	return h, err == nil
}

// Framer cuts a stream into units, whatever pieces it comes in. Nothing that comes is trusted: a length that cannot be
// makes the rest of the stream Stray.
type Framer struct {
	next   Kind
	unit   Unit
	peer   *Framer // of the other direction of a connection to the server
	method int32   // that the server has chosen, -1: not known
}

// NewStartUp returns the framers of a connection to the server.
func NewStartUp() (toServer, fromServer *Framer) {
	toServer = &Framer{next: ToServer, method: -1}
	fromServer = &Framer{next: Choice, peer: toServer}
	return toServer, fromServer
}

// NewMesh returns the framers of a connection between hosts: the one that has connected says its rank first.
func NewMesh() (ofDialer, ofListener *Framer) {
	return &Framer{next: HostRank}, &Framer{next: Packets}
}

// Feed takes what came next, and calls emit for every unit that is whole.
func (f *Framer) Feed(b []byte, emit func(Unit)) {
	for len(b) > 0 {
		u := &f.unit
		if u.Kind == "" {
			*u = Unit{Kind: f.next}
		}
		if u.Kind == Stray {
			emit(Unit{Stray, bytes.Clone(b[:min(len(b), KeptData)]), len(b), len(b)})
			return
		}
		if u.Whole == 0 {
			head := headSize(u.Kind)
			n := min(head-len(u.Bytes), len(b))
			u.Bytes = append(u.Bytes, b[:n]...)
			u.Total += n
			b = b[n:]
			if len(u.Bytes) < head {
				return
			}
			f.keyOrCommand(u)
			if u.Whole = whole(*u); u.Whole < 0 {
				u.Whole = u.Total
				f.done(emit)
				f.next = Stray
				continue
			}
		}
		n := min(u.Whole-u.Total, len(b))
		u.Bytes = append(u.Bytes, b[:min(n, headSize(u.Kind)+KeptData-len(u.Bytes))]...)
		u.Total += n
		b = b[n:]
		if u.Total == u.Whole {
			f.done(emit)
		}
	}
}

// keyOrCommand decides what the unit after AUTH is: a key, unless it looks like a command or the server has chosen
// another method.
func (f *Framer) keyOrCommand(u *Unit) {
	if u.Kind != Key {
		return
	}
	switch wire.Command(GetU32(u.Bytes)) {
	case wire.CmdAuth, wire.CmdImpi, wire.CmdColl, wire.CmdDone, wire.CmdFini:
		u.Kind = ToServer
	default:
		if f.method >= 0 && f.method != wire.AuthKey {
			u.Kind = ToServer
		}
	}
}

// done ends a unit, and knows what follows it.
func (f *Framer) done(emit func(Unit)) {
	u := f.unit
	f.unit = Unit{}
	switch {
	case u.Kind == ToServer && f.next == ToServer && f.method < 0 && len(u.Bytes) >= 4 &&
		wire.Command(GetU32(u.Bytes)) == wire.CmdAuth:
		f.next = Key
	case u.Kind == ToServer || u.Kind == Key:
		f.next = ToServer
	case u.Kind == Choice:
		f.next = FromServer
		if f.peer != nil && len(u.Bytes) >= 4 {
			f.peer.method = int32(GetU32(u.Bytes))
			if f.peer.method != wire.AuthKey && f.peer.next == Key {
				f.peer.next = ToServer
			}
		}
	case u.Kind == HostRank:
		f.next = Packets
	}
	emit(u)
}

// Flush ends a stream: what has come of a unit is one.
func (f *Framer) Flush(emit func(Unit)) {
	if f.unit.Total > 0 {
		if f.unit.Whole == 0 {
			f.unit.Whole = headSize(f.unit.Kind)
		}
		emit(f.unit)
		f.unit = Unit{}
	}
}

func headSize(k Kind) int {
	switch k {
	case Packets:
		return HeaderSize
	case HostRank:
		return 4
	}
	return 8
}

// whole is the length of a unit whose header is there, in bytes; -1: it cannot be.
func whole(u Unit) int {
	switch u.Kind {
	case Packets:
		t, n := GetU32(u.Bytes), GetU32(u.Bytes[4:])
		if t > wire.PkFini || n > 1<<31-1 {
			return -1
		}
		if (Header{Type: t}).carries() {
			return HeaderSize + int(n)
		}
	case ToServer, FromServer, Choice:
		n := int32(GetU32(u.Bytes[4:]))
		if n < 0 {
			return -1
		}
		return 8 + int(n)
	}
	return headSize(u.Kind)
}
