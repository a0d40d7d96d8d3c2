// Package secure lets the two ends of a connection prove who they are, and hides what they say (not in IMPI 0.0).
//
//	secret.go   proofs that both know a secret
//	tls.go      TLS 1.3
//	tunnel.go   a TLS connection as a plain socket
package secure

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"
)

// Authentication by a shared secret, which never travels. Each side sends a nonce, and proves that it
// knows the secret by an HMAC-SHA-256 of both:
//
//	server -> client   nonce
//	client -> server   nonce, proof
//	server -> client   proof
//
// A proof names its side, so that it cannot be sent back. It covers the methods that the client has offered, so that
// nobody can remove the stronger ones from the offer. Inside TLS it also covers the keys of the channel, so that nobody
// can stand between the two ends.

// Sizes in bytes; package wire has them, too, as part of the protocol (AuthNonceSize, AuthProofSize).
const (
	NonceSize = 32
	ProofSize = sha256.Size
)

// Nonce is a number that is used once.
type Nonce [NonceSize]byte

// Proof is what only one who knows the secret can make.
type Proof [ProofSize]byte

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

// Proven reports whether p is the proof of that side.
func (x *Exchange) Proven(secret, side string, p Proof) bool {
	want := x.Prove(secret, side)
	return hmac.Equal(want[:], p[:])
}
