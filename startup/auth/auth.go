// Package auth says which authentication methods a user has enabled, and which of them a server prefers
// (IMPI 0.0, 2.2.4 and 2.3.3). It is the same on both sides of the connection.
package auth

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/transport/wire"
)

// The protocol's sizes are those of the proofs.
var (
	_ [wire.AuthNonceSize]byte = secure.Nonce{}
	_ [wire.AuthProofSize]byte = secure.Proof{}
)

// Names of the environment variables by which a user enables a method.
const (
	EnvNone = "IMPI_AUTH_NONE" // its presence enables IMPI_AUTH_NONE: anybody may join
	EnvKey  = "IMPI_AUTH_KEY"  // its value, an unsigned decimal below 2^64, enables IMPI_AUTH_KEY

	// Methods of ours, beyond IMPI 0.0 (sockets/secure).
	EnvSecret     = "IMPI_AUTH_SECRET"      // its value, of any length, enables HMAC-SHA-256
	EnvSecretFile = "IMPI_AUTH_SECRET_FILE" // or the first line of this file, which others must not be able to read
	EnvTLS        = "IMPI_AUTH_TLS"         // its presence enables TLS 1.3, with the secret or with certificates
	EnvTLSCert    = "IMPI_TLS_CERT"         // PEM files: our certificate,
	EnvTLSKey     = "IMPI_TLS_KEY"          // its private key,
	EnvTLSCA      = "IMPI_TLS_CA"           // and the authority that has signed those of all who may take part
)

// ErrNoMethod: nothing is enabled, so nobody can be let in.
var ErrNoMethod = errors.New("no authentication method available for negotiation: set " + EnvKey +
	" to a decimal number or " + EnvSecret + " to any text (the same for the server and all clients), or " + EnvNone +
	" to let anybody join")

// Methods are the enabled methods.
type Methods struct {
	None   bool
	HasKey bool
	Key    uint64

	Secret string               // "": no HMAC
	TLS    bool                 // needs the secret, or certificates
	Certs  *secure.Certificates // nil: none were given
}

// WithNone, WithKey and WithSecret enable one method.
func WithNone() Methods                { return Methods{None: true} }
func WithKey(key uint64) Methods       { return Methods{HasKey: true, Key: key} }
func WithSecret(secret string) Methods { return Methods{Secret: secret} }

// FromEnv reads the enabled methods from an environment, usually os.LookupEnv. It fails with ErrNoMethod,
// or when the key is no plain decimal number; the key itself never appears in an error.
func FromEnv(lookup func(string) (string, bool)) (m Methods, err error) {
	_, m.None = lookup(EnvNone)
	if s, _ := lookup(EnvKey); s != "" {
		if m.Key, err = parseKey(s); err != nil {
			return Methods{}, err
		}
		m.HasKey = true
	}
	if m.Secret, err = secretFrom(lookup); err != nil {
		return Methods{}, err
	}
	if _, m.TLS = lookup(EnvTLS); m.TLS {
		if m.Certs, err = certificatesFrom(lookup); err != nil {
			return Methods{}, err
		}
		if m.Secret == "" && m.Certs == nil {
			return Methods{}, fmt.Errorf("%s needs %s, or %s, %s and %s", EnvTLS, EnvSecret, EnvTLSCert, EnvTLSKey, EnvTLSCA)
		}
	}
	if m.Mask() == 0 {
		return m, ErrNoMethod
	}
	return m, nil
}

// parseKey reads a key: an unsigned decimal number below 2^64, digits and nothing else.
func parseKey(s string) (uint64, error) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%s must be an unsigned decimal number, digits only", EnvKey)
		}
	}
	key, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s must be an unsigned decimal number below 2^64", EnvKey)
	}
	return key, nil
}

// Mask is what a client offers.
func (m Methods) Mask() (mask uint32) {
	if m.None {
		mask |= wire.AuthNoneMask
	}
	if m.HasKey {
		mask |= wire.AuthKeyMask
	}
	if m.Secret != "" {
		mask |= wire.AuthHMACMask
	}
	if m.TLS && (m.Secret != "" || m.Certs != nil) {
		mask |= wire.AuthTLSMask
	}
	return mask
}

// DefaultPreference is a server's order when the user gives none: the strongest method first.
var DefaultPreference = []int32{wire.AuthTLS, wire.AuthHMAC, wire.AuthKey, wire.AuthNone}

// ParsePreference reads the argument of -auth (2.3.3): numbers and ranges of numbers 0 to 31 separated by
// commas, the most preferred first; a range may descend. "3,1-0" is 3, then 1, then 0. A number that
// appears again is ignored.
func ParsePreference(s string) ([]int32, error) {
	var list []int32
	var seen uint32
	for item := range strings.SplitSeq(s, ",") {
		lo, hi, isRange := strings.Cut(item, "-")
		if !isRange {
			hi = lo
		}
		from, err1 := method(lo)
		to, err2 := method(hi)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("-auth %q: %q is not a method 0 to 31 or a range of them", s, item)
		}
		for n := from; ; n += sign(to - from) {
			if seen&(1<<n) == 0 {
				seen |= 1 << n
				list = append(list, n)
			}
			if n == to {
				break
			}
		}
	}
	return list, nil
}

// Choose is the first method of a preference list that is enabled here and in the client's mask. Numbers of
// methods that do not exist are passed over.
func (m Methods) Choose(preference []int32, mask uint32) (which int32, ok bool) {
	for _, n := range preference {
		if n >= 0 && n < 32 && m.Mask()&mask&(1<<n) != 0 {
			return n, true
		}
	}
	return 0, false
}

func method(s string) (int32, error) {
	n, err := strconv.ParseUint(s, 10, 5)
	return int32(n), err
}

func sign(n int32) int32 {
	if n < 0 {
		return -1
	}
	return 1
}
