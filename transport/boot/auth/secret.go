package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/libimpi/libimpi/transport/wire"
)

// Authentication by a shared secret, which never travels (not in IMPI 0.0). Each side sends a nonce, and proves that it
// knows the secret by an HMAC-SHA-256 of both:
//
//	server -> client   nonce
//	client -> server   nonce, proof
//	server -> client   proof
//
// A proof says which side it is of, so that none can be sent back; it covers what methods the client has offered, so
// that nobody can take the stronger ones out of the offer; and the keys of the TLS channel that it travels in, if it
// does, so that nobody can stand between.

// Nonce is a number that is used once.
type Nonce [wire.AuthNonceSize]byte

// Proof is what only one who knows the secret can make.
type Proof [wire.AuthProofSize]byte

// NewNonce draws a nonce.
func NewNonce() (n Nonce) {
	rand.Read(n[:])
	return n
}

// Exchange is what both sides know when they prove that they know the secret.
type Exchange struct {
	Server, Client Nonce
	Mask           uint32 // methods that the client has offered
	Channel        []byte // ChannelKeys of TLS; nil: there is none
}

// Sides of an exchange.
const (
	ServerSide = "server"
	ClientSide = "client"
)

// Prove makes the proof of one side.
func (x *Exchange) Prove(secret, side string) (p Proof) {
	h := hmac.New(sha256.New, []byte(secret))
	io.WriteString(h, "libimpi authentication, "+side+"\x00")
	h.Write(x.Server[:])
	h.Write(x.Client[:])
	h.Write(binary.BigEndian.AppendUint32(nil, x.Mask))
	h.Write(x.Channel)
	return Proof(h.Sum(nil))
}

// Proven says whether p is the proof of that side.
func (x *Exchange) Proven(secret, side string, p Proof) bool {
	want := x.Prove(secret, side)
	return hmac.Equal(want[:], p[:])
}

// secretFrom reads the secret from an environment: itself, or the name of its file.
func secretFrom(lookup func(string) (string, bool)) (string, error) {
	if s, _ := lookup(EnvSecret); s != "" {
		return s, nil
	}
	name, _ := lookup(EnvSecretFile)
	if name == "" {
		return "", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", EnvSecretFile, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%s: %w", EnvSecretFile, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others can read or write %s (mode %v); chmod 600 it", EnvSecretFile, name, info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile))
	if err != nil {
		return "", fmt.Errorf("%s: %w", EnvSecretFile, err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("%s: %w", EnvSecretFile, errors.New("the first line of "+name+" is empty"))
	}
	return line, nil
}

// maxSecretFile is more than any secret has bytes.
const maxSecretFile = 64 << 10
