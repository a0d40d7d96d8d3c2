package wire

import "strings"

// CmdLost is a command beyond IMPI 0.0, which whoever does not know it throws away (2.3.2). A client that ends before
// its FINI says so with it, its payload being the rank of the client that is to blame in LostHead bytes, itself or one
// that it has lost, and why, in words; the server tells the others of every client that has ended so, with the same
// payload. So nobody waits for a host that will never connect, and nobody is blamed for having noticed first.

// Sizes of the payload of CmdLost, in bytes.
const (
	LostHead = 4
	LostMax  = 1024 // of the words
)

// AppendLost adds a whole LOST command, of either direction.
func AppendLost(b []byte, rank int32, text string) []byte {
	text = text[:min(len(text), LostMax)]
	b = Cmd{CmdLost, int32(LostHead + len(text))}.Append(b)
	return append(be.AppendUint32(b, uint32(rank)), text...)
}

// ParseLost reads the payload of LOST; the rank is any. False: it is too short, or too long.
func ParseLost(b []byte) (rank int32, text string, ok bool) {
	if len(b) < LostHead || len(b) > LostHead+LostMax {
		return 0, "", false
	}
	return int32(be.Uint32(b)), Words(b[LostHead:]), true
}

// Words makes one line that a terminal can show of what came from outside.
func Words(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(b), "?"))
}
