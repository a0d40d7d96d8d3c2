// Package codec is the tester's own idea of what IMPI 0.0 looks like as bytes. It takes the numbers of the
// protocol, and the words for them, from transport/wire and nothing else: were a field misplaced there, the tester
// would not follow.
//
// Layouts are Go structs in the order of the text, written and read by encoding/binary: big-endian, without
// padding.
//
//	codec.go   packets and commands, written and read
//	framer.go  a stream cut into them, whatever it holds
//	fields.go  their fields, in words
package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/libimpi/libimpi/transport/wire"
)

// ID is IMPI_Proc (3.2).
type ID struct {
	HostID [16]byte
	PID    int64
}

// Header is IMPI_Packet (3.5).
type Header struct {
	Type     uint32
	Len      uint32
	Src, Dst ID
	SrqID    uint64
	DrqID    uint64
	MsgLen   uint64
	LSRank   int32
	Tag      int32
	CID      uint64
	SeqNum   uint64
	Count    int64
	Dtype    uint64
	Reserved uint64
}

// HeaderSize is the length of a packet's header in bytes.
const HeaderSize = 128

// Packet is a header and the user data that follow it.
type Packet struct {
	Header
	Data []byte
}

// cut is an io.ErrUnexpectedEOF in words.
type cut struct{ text string }

func (c cut) Error() string { return c.text }
func (c cut) Unwrap() error { return io.ErrUnexpectedEOF }

// Bytes is the packet as it travels. The header says what it says: Len need not be len(Data).
func (p Packet) Bytes() []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.BigEndian, p.Header) // a bytes.Buffer refuses nothing
	b.Write(p.Data)
	return b.Bytes()
}

// carries reports whether user data follow a header of this type.
func (h Header) carries() bool { return h.Type == wire.PkData || h.Type == wire.PkDataSync }

// Counted reports whether the packet counts in flow control (3.6; errata D-22).
func (h Header) Counted() bool { return h.Type != wire.PkProtoAck && h.Type != wire.PkFini }

// First reports whether the packet is the first of its message.
func (h Header) First() bool {
	return h.Type == wire.PkDataSync || h.Type == wire.PkData && uint64(h.Len) == h.MsgLen
}

// ReadPacket reads one packet. maxData bounds pk_len. io.EOF: the stream ended between two packets.
func ReadPacket(r io.Reader, maxData uint32) (Packet, error) {
	var p Packet
	var b [HeaderSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return p, err
	}
	if _, err := binary.Decode(b[:], binary.BigEndian, &p.Header); err != nil {
		return p, err
	}
	if p.Type > wire.PkFini {
		return p, fmt.Errorf("pk_type %d does not exist", p.Type)
	}
	if !p.carries() {
		return p, nil
	}
	if p.Len > maxData {
		return p, fmt.Errorf("pk_len %d exceeds the negotiated maximum %d", p.Len, maxData)
	}
	if uint64(p.Len) > p.MsgLen {
		return p, fmt.Errorf("pk_len %d exceeds pk_msglen %d", p.Len, p.MsgLen)
	}
	p.Data = make([]byte, p.Len)
	if _, err := io.ReadFull(r, p.Data); err != nil {
		return p, cut{fmt.Sprintf("of %d bytes of data that a packet announces, not all have come", p.Len)}
	}
	return p, nil
}

var typeNames = [...]string{"DATA", "DATASYNC", "PROTOACK", "SYNCACK", "CANCEL", "CANCELYES", "CANCELNO", "FINI"}

// TypeName is the name of a pk_type.
func TypeName(t uint32) string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("pk_type %d", t)
}

func (h Header) String() string {
	return fmt.Sprintf("%s(pk_len %d, pk_msglen %d, srqid %d, drqid %d, lsrank %d, tag %d, cid %d)",
		TypeName(h.Type), h.Len, h.MsgLen, h.SrqID, h.DrqID, h.LSRank, h.Tag, h.CID)
}

// U32, I32 and U64 are sequences of numbers as they travel.
func U32(v ...uint32) []byte { return travelling(v) }
func I32(v ...int32) []byte  { return travelling(v) }
func U64(v ...uint64) []byte { return travelling(v) }

func travelling(numbers any) []byte {
	b, _ := binary.Append(nil, binary.BigEndian, numbers) // a slice of numbers can be written
	return b
}

// GetU32 and GetU64 read what stands at the start of b, which must be long enough.
func GetU32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }
func GetU64(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

// Cmd is a command with its payload (2.3.2).
type Cmd struct {
	Cmd  int32
	Data []byte
}

// Bytes is the command as it travels.
func (c Cmd) Bytes() []byte { return append(U32(uint32(c.Cmd), uint32(len(c.Data))), c.Data...) }

// ReadCmd reads a command; its payload may have at most limit bytes.
func ReadCmd(r io.Reader, limit int) (Cmd, error) {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return Cmd{}, err
	}
	c := Cmd{Cmd: int32(GetU32(b[:]))}
	n := int32(GetU32(b[4:]))
	if n < 0 || int(n) > limit {
		return c, fmt.Errorf("command %#x announces %d bytes", uint32(c.Cmd), n)
	}
	c.Data = make([]byte, n)
	if _, err := io.ReadFull(r, c.Data); err != nil {
		return c, cut{fmt.Sprintf("command %#x announces %d bytes, of which not all have come", uint32(c.Cmd), n)}
	}
	return c, nil
}

// Command is a command without payload, Auth, Impi and Coll those with one.
func Command(cmd wire.Command) []byte { return Cmd{Cmd: int32(cmd)}.Bytes() }
func Auth(masks ...uint32) []byte     { return Cmd{int32(wire.CmdAuth), U32(masks...)}.Bytes() }
func Impi(n int32) []byte             { return Cmd{int32(wire.CmdImpi), I32(n)}.Bytes() }
func Coll(label uint32, data []byte) []byte {
	return Cmd{int32(wire.CmdColl), append(U32(label), data...)}.Bytes()
}

// Broadcast is the server's COLL: the contributions of the clients in mask, in ascending rank.
func Broadcast(label, mask uint32, data []byte) []byte {
	return Cmd{int32(wire.CmdColl), append(U32(label, mask), data...)}.Bytes()
}
