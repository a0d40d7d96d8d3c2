package wire

// CmdAsk and CmdTold are commands beyond IMPI 0.0, between clients of libimpi: one asks the others what their ranks
// wait for, and each answers (cmd/impirun/internal/inquire). The server passes them on, to libimpi clients only, and
// does not look at what they say. Both begin with a client's rank, the number of the question, which the one who asks
// has chosen, and then
//
//	ASK   what is asked, in at most AskMax bytes. To the server the rank is of no meaning; on the way to the others it is
//	      the one who asks.
//	TOLD  the answer, in at most ToldMax bytes. To the server the rank is the one who has asked; to that one it is the
//	      one who answers. The server itself tells at once, under the rank of the one who has asked, which clients will
//	      answer: a word, of which bit k is client k.
//
// A client has one question under way at most: the next one ends it. What comes unasked is thrown away.

// Sizes of the payloads, in bytes.
const (
	AskHead = 8
	AskMax  = 64
	ToldMax = 8 << 20
)

// AppendAsk adds a whole ASK command.
func AppendAsk(b []byte, client int32, number uint32, what []byte) []byte {
	return appendAsking(b, CmdAsk, client, number, what)
}

// AppendTold adds a whole TOLD command.
func AppendTold(b []byte, client int32, number uint32, answer []byte) []byte {
	return appendAsking(b, CmdTold, client, number, answer)
}

func appendAsking(b []byte, c Command, client int32, number uint32, text []byte) []byte {
	b = Cmd{c, int32(AskHead + len(text))}.Append(b)
	return append(be.AppendUint32(be.AppendUint32(b, uint32(client)), number), text...)
}

// ParseAsking reads the payload of ASK or TOLD. text is a part of b. It returns false if b is too short for one.
func ParseAsking(b []byte) (client int32, number uint32, text []byte, ok bool) {
	if len(b) < AskHead {
		return 0, 0, nil, false
	}
	return int32(be.Uint32(b)), be.Uint32(b[4:]), b[AskHead:], true
}

// AppendClients is the word of which bit k is client k, and Clients reads it.
func AppendClients(b []byte, clients uint32) []byte { return be.AppendUint32(b, clients) }

// Clients returns false if b is no such word.
func Clients(b []byte) (clients uint32, ok bool) {
	if len(b) != 4 {
		return 0, false
	}
	return be.Uint32(b), true
}
