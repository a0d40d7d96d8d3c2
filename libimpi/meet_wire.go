package libimpi

import (
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// What sides say to each other when they meet, as bytes. All numbers are big-endian. The other side is another user's
// job: everything is checked before it is believed, and nothing is made that is larger than what has come.

var bigEndian = binary.BigEndian

// introduction is what a process says of itself.
type introduction struct {
	identity
	machine [16]byte   // where it is, in its job's own terms
	memory  [16]byte   // how data looks there (Engine.memory)
	tagUB   int32      // the largest tag it uses
	guests  []identity // whom it has links with, in other jobs
}

const (
	identityBytes     = 20
	introductionBytes = identityBytes + 16 + 16 + 4
	// mostMembers is how many processes a side may have, and mostText the length of what it says of a failure.
	mostMembers = 1 << 20
	mostText    = 1 << 10
)

func (a identity) append(b []byte) []byte {
	return bigEndian.AppendUint32(append(b, a.job[:]...), uint32(a.rank))
}

func readIdentity(b []byte) (a identity) {
	copy(a.job[:], b)
	a.rank = int32(bigEndian.Uint32(b[16:]))
	return a
}

func (p *introduction) encode() []byte {
	b := p.identity.append(make([]byte, 0, introductionBytes+identityBytes*len(p.guests)))
	b = append(append(b, p.machine[:]...), p.memory[:]...)
	b = bigEndian.AppendUint32(b, uint32(p.tagUB))
	for _, g := range p.guests {
		b = g.append(b)
	}
	return b
}

func readIntroduction(b []byte) (p introduction, err error) {
	if len(b) < introductionBytes || (len(b)-introductionBytes)%identityBytes != 0 {
		return p, fmt.Errorf("a process introduces itself by %d bytes", len(b))
	}
	p.identity = readIdentity(b)
	copy(p.machine[:], b[identityBytes:])
	copy(p.memory[:], b[identityBytes+16:])
	p.tagUB = int32(bigEndian.Uint32(b[identityBytes+32:]))
	if p.rank < 0 || p.tagUB < 0 {
		return p, fmt.Errorf("a process introduces itself as rank %d, with tags up to %d", p.rank, p.tagUB)
	}
	for b = b[introductionBytes:]; len(b) > 0; b = b[identityBytes:] {
		p.guests = append(p.guests, readIdentity(b))
	}
	return p, nil
}

// The first byte of what is said: what each process of a side contributes, or why that side gives up.
const (
	saysWords = 0
	saysNo    = 1
)

// encodeWords adds the contributions of a side.
func encodeWords(b []byte, words [][]byte) []byte {
	b = bigEndian.AppendUint32(append(b, saysWords), uint32(len(words)))
	for _, w := range words {
		b = append(bigEndian.AppendUint32(b, uint32(len(w))), w...)
	}
	return b
}

// encodeNo returns why a side gives up.
func encodeNo(b []byte, err error) []byte {
	class, text := AsError(err).Class, AsError(err).Text
	return append(bigEndian.AppendUint32(append(b, saysNo), uint32(class)), text[:min(len(text), mostText)]...)
}

// readNo is the error of encodeNo; nil if b is something else.
func readNo(b []byte) *Error {
	if len(b) < 5 || b[0] != saysNo {
		return nil
	}
	class := int(bigEndian.Uint32(b[1:]))
	if class <= abi.MPI_SUCCESS || class >= len(classes) {
		class = abi.MPI_ERR_OTHER
	}
	text := make([]byte, 0, mostText)
	for _, c := range b[5:min(len(b), 5+mostText)] {
		if c < ' ' || c > '~' {
			c = '?' // it goes to a terminal
		}
		text = append(text, c)
	}
	return errorf(class, "%s", text)
}

// readWords reads the contributions of a side and returns what follows them.
func readWords(b []byte) (words [][]byte, rest []byte, err error) {
	if len(b) < 5 || b[0] != saysWords {
		return nil, nil, fmt.Errorf("a side says %d bytes that make no sense", len(b))
	}
	n := bigEndian.Uint32(b[1:])
	b = b[5:]
	if n < 1 || n > mostMembers || uint64(n)*4 > uint64(len(b)) {
		return nil, nil, fmt.Errorf("a side of %d processes says %d bytes", n, len(b))
	}
	words = make([][]byte, n)
	for i := range words {
		if len(b) < 4 {
			return nil, nil, fmt.Errorf("what process %d says is cut off", i)
		}
		length := bigEndian.Uint32(b)
		if b = b[4:]; uint64(length) > uint64(len(b)) {
			return nil, nil, fmt.Errorf("what process %d says is cut off", i)
		}
		words[i], b = b[:length:length], b[length:]
	}
	return words, b, nil
}

// mostWords is how many bytes the processes of a side may say together.
const mostWords = transport.MaxExchange - mostText
