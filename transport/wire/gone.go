package wire

import "slices"

// CmdGone is a command beyond IMPI 0.0, as CmdLost is. A client that goes on without some of its ranks sends it to the
// server while the job runs, which passes it on to the other clients of this library. The payload is the rank of the
// client, in GoneHead bytes with the number of the ranks that are lost, these, in GoneSize bytes each, counted within
// the client, and the reason, in words.

//
// The server's word on ranks that others suspect is the same command (CmdSuspect), which goes to all clients, that of
// the ranks among them.
//
// A client sends CmdSuspect when one of its ranks cannot reach ranks of another client any more, or says that they
// break the protocol. The payload is that of CmdGone for the other client. But the first of the ranks is the one that
// says so, counted within its own client, and a breach has the highest bit of the number of ranks set.

// Sizes of the payload of CmdGone and CmdSuspect, in bytes.
const (
	GoneHead = 8
	GoneSize = 4
	GoneMost = 1 << 12 // ranks of one command
	GoneMax  = GoneHead + GoneMost*GoneSize + LostMax
)

// AppendGone adds a whole GONE command, of either direction. It has GoneMost ranks at most.
func AppendGone(b []byte, client int32, ranks []int32, text string) []byte {
	return appendRanks(b, CmdGone, client, uint32(len(ranks)), ranks, text)
}

// Suspicion is the payload of CmdSuspect.
type Suspicion struct {
	By     int32   // who says it, counted within its client
	Client int32   // the other
	Ranks  []int32 // counted within that; GoneMost-1 at most
	Breach bool    // they have broken the protocol; otherwise they cannot be reached
	Text   string  // why
}

// breachBit marks a breach.
const breachBit = 1 << 31

// Append adds a whole SUSPECT command.
func (s *Suspicion) Append(b []byte) []byte {
	ranks := append([]int32{s.By}, s.Ranks...)
	n := uint32(len(ranks))
	if s.Breach {
		n |= breachBit
	}
	return appendRanks(b, CmdSuspect, s.Client, n, ranks, s.Text)
}

// ParseSuspicion reads the payload of SUSPECT. The clients are not checked, nor that they have the ranks.
func ParseSuspicion(b []byte) (s Suspicion, ok bool) {
	if len(b) < GoneHead {
		return s, false
	}
	b = slices.Clone(b)
	if s.Breach = b[4]&0x80 != 0; s.Breach {
		b[4] &^= 0x80
	}
	client, ranks, text, ok := ParseGone(b)
	if !ok || len(ranks) < 2 {
		return s, false
	}
	s.Client, s.By, s.Ranks, s.Text = client, ranks[0], ranks[1:], text
	return s, true
}

func appendRanks(b []byte, c Command, client int32, n uint32, ranks []int32, text string) []byte {
	text = text[:min(len(text), LostMax)]
	b = Cmd{c, int32(GoneHead + GoneSize*len(ranks) + len(text))}.Append(b)
	b = be.AppendUint32(b, uint32(client))
	b = be.AppendUint32(b, n)
	for _, r := range ranks {
		b = be.AppendUint32(b, uint32(r))
	}
	return append(b, text...)
}

// ParseGone reads the payload of GONE. The client is not checked, nor that it has the ranks. It returns false if there
// are no ranks, or too many, or some below 0, or a length is wrong.
func ParseGone(b []byte) (client int32, ranks []int32, text string, ok bool) {
	if len(b) < GoneHead {
		return 0, nil, "", false
	}
	n := int64(be.Uint32(b[4:]))
	rest := b[GoneHead:]
	if n < 1 || n > GoneMost || n*GoneSize > int64(len(rest)) || int64(len(rest))-n*GoneSize > LostMax {
		return 0, nil, "", false
	}
	for range n {
		r := int32(be.Uint32(rest))
		if r < 0 {
			return 0, nil, "", false
		}
		ranks, rest = append(ranks, r), rest[GoneSize:]
	}
	return int32(be.Uint32(b)), ranks, words(rest), true
}
