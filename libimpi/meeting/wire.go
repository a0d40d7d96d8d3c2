package meeting

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

// What sides say to each other when they meet, as bytes. All numbers are big-endian. The other side is another user's
// job: everything is checked before it is believed, and nothing is made that is larger than what has come.

var bigEndian = binary.BigEndian

// Identity names a process in the whole world: its job, and its rank there.
type Identity struct {
	Job  [16]byte
	Rank int32
}

// Compare orders identities in the same way at all processes.
func (a Identity) Compare(b Identity) int {
	if c := bytes.Compare(a.Job[:], b.Job[:]); c != 0 {
		return c
	}
	return cmp.Compare(a.Rank, b.Rank)
}

func (a Identity) String() string { return fmt.Sprintf("rank %d of job %x", a.Rank, a.Job[:4]) }

// Introduction is what a process says of itself.
type Introduction struct {
	Identity
	Machine [16]byte   // where it is, in its job's own terms
	Memory  [16]byte   // how data looks there; zero: not the same in all processes of its job
	TagUB   int32      // the largest tag it uses
	Guests  []Identity // whom it has links with, in other jobs
}

const (
	identityBytes     = 20
	introductionBytes = identityBytes + 16 + 16 + 4
	// mostMembers is how many processes a side may have, and mostText the length of what it says of a failure.
	mostMembers = 1 << 20
	mostText    = 1 << 10
)

func (a Identity) append(b []byte) []byte {
	return bigEndian.AppendUint32(append(b, a.Job[:]...), uint32(a.Rank))
}

func readIdentity(b []byte) (a Identity) {
	copy(a.Job[:], b)
	a.Rank = int32(bigEndian.Uint32(b[16:]))
	return a
}

func (p *Introduction) Encode() []byte {
	b := p.Identity.append(make([]byte, 0, introductionBytes+identityBytes*len(p.Guests)))
	b = append(append(b, p.Machine[:]...), p.Memory[:]...)
	b = bigEndian.AppendUint32(b, uint32(p.TagUB))
	for _, g := range p.Guests {
		b = g.append(b)
	}
	return b
}

func readIntroduction(b []byte) (p Introduction, err error) {
	if len(b) < introductionBytes || (len(b)-introductionBytes)%identityBytes != 0 {
		return p, fmt.Errorf("a process introduces itself by %d bytes", len(b))
	}
	p.Identity = readIdentity(b)
	copy(p.Machine[:], b[identityBytes:])
	copy(p.Memory[:], b[identityBytes+16:])
	p.TagUB = int32(bigEndian.Uint32(b[identityBytes+32:]))
	if p.Rank < 0 || p.TagUB < 0 {
		return p, fmt.Errorf("a process introduces itself as rank %d, with tags up to %d", p.Rank, p.TagUB)
	}
	for b = b[introductionBytes:]; len(b) > 0; b = b[identityBytes:] {
		p.Guests = append(p.Guests, readIdentity(b))
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
	class, text := classAndText(err)
	return append(bigEndian.AppendUint32(append(b, saysNo), uint32(class)), text[:min(len(text), mostText)]...)
}

// lastClass is the largest error class that MPI predefines.
const lastClass = abi.MPI_ERR_ABI

// readNo is the error of encodeNo; nil if b is something else.
func readNo(b []byte) *Error {
	if len(b) < 5 || b[0] != saysNo {
		return nil
	}
	class := int(bigEndian.Uint32(b[1:]))
	if class <= abi.MPI_SUCCESS || class > lastClass {
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

// MostWords is how many bytes the processes of a side may say together.
const MostWords = transport.MaxExchange - mostText
