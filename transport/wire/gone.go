package wire

// CmdGone is a command beyond IMPI 0.0, as CmdLost is. A client that goes on without some of its ranks sends it to the
// server while the job runs, which passes it on to the other clients of this library. The payload is the rank of the
// client, in GoneHead bytes with the number of the ranks that are lost, these, in GoneSize bytes each, counted within
// the client, and the reason, in words.

// Sizes of the payload of CmdGone, in bytes.
const (
	GoneHead = 8
	GoneSize = 4
	GoneMost = 1 << 12 // ranks of one command
	GoneMax  = GoneHead + GoneMost*GoneSize + LostMax
)

// AppendGone adds a whole GONE command, of either direction. It has GoneMost ranks at most.
func AppendGone(b []byte, client int32, ranks []int32, text string) []byte {
	text = text[:min(len(text), LostMax)]
	b = Cmd{CmdGone, int32(GoneHead + GoneSize*len(ranks) + len(text))}.Append(b)
	b = be.AppendUint32(b, uint32(client))
	b = be.AppendUint32(b, uint32(len(ranks)))
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
