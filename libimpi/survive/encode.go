package survive

import (
	"encoding/binary"
	"errors"
)

// A message as bytes, big-endian, without its sender and receiver, which the packet has:
//
//	kind 4, number 8, and 8, max 8, number of failed members 4, of acknowledged ones 4, the members 4 each
const headerSize = 36

// Longest is how many bytes a message has at most in a communicator of that size.
func Longest(size int) int64 { return headerSize + 2*4*int64(size) }

// Append appends the bytes of the message.
func (m *Message) Append(b []byte) []byte {
	v := &m.Value
	b = binary.BigEndian.AppendUint32(b, uint32(m.Kind))
	b = binary.BigEndian.AppendUint64(b, m.Number)
	b = binary.BigEndian.AppendUint64(b, v.And)
	b = binary.BigEndian.AppendUint64(b, v.Max)
	b = binary.BigEndian.AppendUint32(b, uint32(len(v.Failed)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(v.Acked)))
	return v.Acked.append(v.Failed.append(b))
}

func (s Set) append(b []byte) []byte {
	for _, m := range s {
		b = binary.BigEndian.AppendUint32(b, uint32(m))
	}
	return b
}

var errLength = errors.New("a message of an agreement is not as long as it says")

// Parse is the message of these bytes, which may change afterwards. Receive checks what it says.
func Parse(from, to int, b []byte) (Message, error) {
	if len(b) < headerSize {
		return Message{}, errLength
	}
	kind := binary.BigEndian.Uint32(b)
	failed, acked := uint64(binary.BigEndian.Uint32(b[28:])), uint64(binary.BigEndian.Uint32(b[32:]))
	if uint64(len(b)) != headerSize+4*(failed+acked) {
		return Message{}, errLength
	}
	middle := headerSize + 4*failed
	return Message{From: from, To: to, Kind: Kind(min(kind, 255)), Number: binary.BigEndian.Uint64(b[4:]), Value: Value{
		And:    binary.BigEndian.Uint64(b[12:]),
		Max:    binary.BigEndian.Uint64(b[20:]),
		Failed: parseSet(b[headerSize:middle]),
		Acked:  parseSet(b[middle:]),
	}}, nil
}

func parseSet(b []byte) Set {
	if len(b) == 0 {
		return nil
	}
	s := make(Set, len(b)/4)
	for i := range s {
		s[i] = int32(binary.BigEndian.Uint32(b[4*i:]))
	}
	return s
}
