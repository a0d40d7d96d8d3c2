package wire

import "fmt"

// Command is the code of a message between a client and the server (2.3.2).
type Command int32

const (
	CmdAuth Command = 0x41555448
	CmdImpi Command = 0x494D5049
	CmdColl Command = 0x434F4C4C
	CmdDone Command = 0x444F4E45
	CmdFini Command = 0x46494E49

	CmdLost    Command = 0x4C4F5354 // our own: lost.go
	CmdWill    Command = 0x57494C4C // likewise
	CmdGone    Command = 0x474F4E45 // our own: gone.go
	CmdSuspect Command = 0x53555350 // likewise

	CmdWatch   Command = 0x57544348 // our own: traffic.go
	CmdTraffic Command = 0x54524146 // likewise

	CmdAsk  Command = 0x41534B53 // our own: asking.go
	CmdTold Command = 0x544F4C44 // likewise
)

func (c Command) String() string {
	switch c {
	case CmdAuth:
		return "AUTH"
	case CmdImpi:
		return "IMPI"
	case CmdColl:
		return "COLL"
	case CmdDone:
		return "DONE"
	case CmdFini:
		return "FINI"
	case CmdLost:
		return "LOST"
	case CmdWill:
		return "WILL"
	case CmdGone:
		return "GONE"
	case CmdSuspect:
		return "SUSPECT"
	case CmdWatch:
		return "WATCH"
	case CmdTraffic:
		return "TRAFFIC"
	case CmdAsk:
		return "ASK"
	case CmdTold:
		return "TOLD"
	}
	return fmt.Sprintf("command %#08x", uint32(c))
}

// Sizes of the structs of the start-up protocol, in bytes.
const (
	CmdSize        = 8 // IMPI_Cmd
	ClientAuthSize = 4 // IMPI_Client_auth
	ServerAuthSize = 8 // IMPI_Server_auth
	AuthKeySize    = 8 // IMPI_Auth_key
	ImpiSize       = 4 // IMPI_Impi
	CollSize       = 4 // IMPI_Coll
	ChdrSize       = 8 // IMPI_Chdr
	VersionSize    = 8 // IMPI_Version
)

// Cmd precedes every payload in both directions, but not the two authentication replies, which travel bare
// (2.3.2, 2.3.3). Len is the size of the payload in bytes; as it comes from outside it may be negative.
type Cmd struct {
	Cmd Command
	Len int32
}

// Append adds c to b.
func (c Cmd) Append(b []byte) []byte {
	return be.AppendUint32(be.AppendUint32(b, uint32(c.Cmd)), uint32(c.Len))
}

// ParseCmd reads the first CmdSize bytes of b. It returns false if b is shorter.
func ParseCmd(b []byte) (c Cmd, ok bool) {
	if len(b) < CmdSize {
		return c, false
	}
	return Cmd{Command(be.Uint32(b)), int32(be.Uint32(b[4:]))}, true
}

// Authentication methods (2.3.3, table 2.1): the bit number in a client's mask, and the value of `which`.
const (
	AuthNone int32 = 0 // IMPI_AUTH_NONE
	AuthKey  int32 = 1 // IMPI_AUTH_KEY

	AuthNoneMask uint32 = 1 << AuthNone
	AuthKeyMask  uint32 = 1 << AuthKey

	// Our own, at the other end of the mask, where no revision of IMPI will soon come. With both the server's choice is
	// followed by a challenge (AuthChallenge), the client answers AuthAnswerSize bytes, and the server AuthProofSize.
	AuthHMAC int32 = 30 // HMAC-SHA-256 of a shared secret
	AuthTLS  int32 = 31 // TLS 1.3 from there on, and within it the exchange of AuthHMAC or certificates

	AuthHMACMask uint32 = 1 << AuthHMAC
	AuthTLSMask  uint32 = 1 << AuthTLS

	// AuthSameImplMask is no method, and no server chooses it. A client that offers it is libimpi, and therefore knows
	// CmdLost before anybody has submitted a label.
	AuthSameImplMask uint32 = 1 << 29
)

// Sizes of the exchange of AuthHMAC, in bytes.
const (
	AuthNonceSize  = 32
	AuthProofSize  = 32
	AuthAnswerSize = AuthNonceSize + AuthProofSize
)

// AppendAuth adds a whole AUTH command, offering the methods of mask.
func AppendAuth(b []byte, mask uint32) []byte {
	return be.AppendUint32(Cmd{CmdAuth, ClientAuthSize}.Append(b), mask)
}

// ParseClientAuth reads the payload of AUTH: one mask word or more, of which the first counts. It returns
// false if its length is none that AUTH can have.
func ParseClientAuth(b []byte) (mask uint32, ok bool) {
	if len(b) < ClientAuthSize || len(b)%ClientAuthSize != 0 {
		return 0, false
	}
	return be.Uint32(b), true
}

// ServerAuth is the server's choice, sent bare. Len bytes that belong to the method follow it: none for the two
// methods of IMPI 0.0, and a nonce for AuthHMAC.
type ServerAuth struct {
	Which int32
	Len   int32
}

// Append adds s as the server sends it, in ServerAuthSize bytes (2.3.3).
func (s ServerAuth) Append(b []byte) []byte {
	return be.AppendUint32(be.AppendUint32(b, uint32(s.Which)), uint32(s.Len))
}

// ParseServerAuth reads the first ServerAuthSize bytes of b. It returns false if b is shorter.
func ParseServerAuth(b []byte) (s ServerAuth, ok bool) {
	if len(b) < ServerAuthSize {
		return s, false
	}
	return ServerAuth{int32(be.Uint32(b)), int32(be.Uint32(b[4:]))}, true
}

// AppendAuthKey adds the client's key, which travels bare.
func AppendAuthKey(b []byte, key uint64) []byte { return be.AppendUint64(b, key) }

// ParseAuthKey reads the first AuthKeySize bytes of b. It returns false if b is shorter.
func ParseAuthKey(b []byte) (key uint64, ok bool) {
	if len(b) < AuthKeySize {
		return 0, false
	}
	return be.Uint64(b), true
}

// AppendImpi adds a whole IMPI command: the client's rank on the way up, the number of clients on the way
// down (2.3.4).
func AppendImpi(b []byte, n int32) []byte {
	return be.AppendUint32(Cmd{CmdImpi, ImpiSize}.Append(b), uint32(n))
}

// ParseImpi reads the payload of IMPI. It returns false if its length is not ImpiSize.
func ParseImpi(b []byte) (n int32, ok bool) {
	if len(b) != ImpiSize {
		return 0, false
	}
	return int32(be.Uint32(b)), true
}
