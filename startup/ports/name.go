package ports

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/netip"
	"strings"
)

// The name of a port (MPI 5.0, 11.10.2) says where it is, and is the proof that whoever has it may come:
//
//	impi://10.0.0.1:40123/KEY    impi://[2001:db8::1]:40123/KEY
//
// KEY is random. Programs hand names on as they like, by files, by MPI_Publish_name, on command lines: whoever reads a
// name can connect. So errors never quote the key.

// Key is what all who know a port's name know, and nobody else.
type Key [keySize]byte

// keySize is the length of a key in bytes, a multiple of 3: base64 has nothing to fill up.
const keySize = 24

// Name is a port's name, taken apart.
type Name struct {
	Addr netip.AddrPort
	Key  Key
}

const scheme = "impi://"

// maxName bounds a name, in characters; MPI_MAX_PORT_NAME is far more.
const maxName = len(scheme) + len("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535/") + keySize/3*4

// newKey draws a key.
func newKey() (k Key) {
	rand.Read(k[:])
	return k
}

var keyText = base64.RawURLEncoding.Strict()

func (n Name) String() string {
	return scheme + n.Addr.String() + "/" + keyText.EncodeToString(n.Key[:])
}

// NameError says what is wrong with the name of a port, and where.
type NameError struct {
	At   int // how many characters stand before
	What string
}

func (e *NameError) Error() string { return fmt.Sprintf("at character %d: %s", e.At+1, e.What) }

// ParseName takes a name apart. It accepts what Name.String makes and nothing else. Errors are *NameError.
func ParseName(text string) (n Name, err error) {
	wrong := func(at int, format string, args ...any) (Name, error) {
		return Name{}, &NameError{at, fmt.Sprintf(format, args...)}
	}
	if len(text) > maxName {
		return wrong(maxName, "the name has %d characters, more than the %d that any has", len(text), maxName)
	}
	rest, ok := strings.CutPrefix(text, scheme)
	if !ok {
		return wrong(0, "a name begins with %s", scheme)
	}
	at := len(scheme)
	where, key, ok := strings.Cut(rest, "/")
	if !ok {
		return wrong(len(text), "/ and the key are missing")
	}
	if n.Addr, err = netip.ParseAddrPort(where); err != nil {
		return wrong(at, "%q is not an IP address, in brackets if it is of IPv6, with a port", where)
	}
	switch ip := n.Addr.Addr(); {
	case ip.Zone() != "":
		return wrong(at, "%q has a zone, which means nothing on other machines", where)
	case ip.IsUnspecified() || ip.IsMulticast():
		return wrong(at, "%v is nobody's address", ip)
	case n.Addr.Port() == 0:
		return wrong(at+len(where)-1, "there is no port 0")
	case n.Addr.String() != where:
		return wrong(at, "%q would be written as %v", where, n.Addr)
	}
	at += len(where) + 1
	if len(key) != keyText.EncodedLen(keySize) {
		return wrong(at, "the key has %d characters instead of %d", len(key), keyText.EncodedLen(keySize))
	}
	if _, err := keyText.Decode(n.Key[:], []byte(key)); err != nil || strings.ContainsAny(key, "\r\n") {
		return wrong(at, "the key has characters other than A to Z, a to z, 0 to 9, - and _")
	}
	return n, nil
}
