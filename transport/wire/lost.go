package wire

import "strings"

// CmdLost is a command beyond IMPI 0.0; implementations that do not know it throw it away (2.3.2). A client sends it to
// the server when it ends before its FINI. The payload is the rank of the client that is to blame, in LostHead bytes,
// and the reason, in words. That client is the sender itself, or one that it has lost. The server passes the payload on
// to the other clients. So nobody waits for a host that will never connect, and the client that notices a loss first is
// not blamed for it. A client that sends it instead of IMPI has ended well, and will not join.

// CmdWill has the same payload. A process of a client sends it on a connection of its own, before it calls code that
// may end the process: the client ends with that reason when the connection does, unless it has joined by then. Without
// words it takes that back.

// Sizes of the payload of CmdLost, in bytes.
const (
	LostHead = 4
	LostMax  = 1024 // of the words
)

// AppendLost adds a whole LOST command, of either direction.
func AppendLost(b []byte, rank int32, text string) []byte {
	return appendReason(b, CmdLost, rank, text)
}

// AppendWill adds a whole WILL command, which goes to the server.
func AppendWill(b []byte, rank int32, text string) []byte {
	return appendReason(b, CmdWill, rank, text)
}

func appendReason(b []byte, c Command, rank int32, text string) []byte {
	text = text[:min(len(text), LostMax)]
	b = Cmd{c, int32(LostHead + len(text))}.Append(b)
	return append(be.AppendUint32(b, uint32(rank)), text...)
}

// ParseLost reads the payload of LOST and of WILL. The rank is not checked. It returns false if the payload is too
// short or too long.
func ParseLost(b []byte) (rank int32, text string, ok bool) {
	if len(b) < LostHead || len(b) > LostHead+LostMax {
		return 0, "", false
	}
	return int32(be.Uint32(b)), words(b[LostHead:]), true
}

// words makes of bytes from outside one line that is safe to show on a terminal.
func words(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(b), "?"))
}
