package ports

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// What two ends say first, at a port or in a meeting. Both know a key, which never travels:
//
//	the one who dials -> hello
//	                  <- hello of the one who listens
//	                  -> proof
//	                  <- proof
//
// A hello has a nonce. A proof is an HMAC-SHA-256, by the key, of what the key is for, of the side that proves, and of
// both hellos, byte for byte: it cannot be replayed, sent back, or kept while a hello is changed. Nothing else is said,
// and nothing of a hello believed, before the proofs. Who fails is told nothing: the connection ends.

const (
	helloSize = 52
	proofSize = sha256.Size
	nonceSize = 32

	helloMagic   = "IMPIMEET"
	helloVersion = 1
)

// wantsTLS is a flag of a hello: TLS is to follow if both set it.
const wantsTLS uint32 = 1

// hello is the first word of either end.
//
//	magic 8, version 4, flags 4, from 4, nonce 32; big-endian
type hello struct {
	flags uint32
	from  uint32 // in a meeting, which participant it is; 0 at a port
	nonce [nonceSize]byte
}

// newHello makes one with a fresh nonce.
func newHello(flags, from uint32) (h hello) {
	h.flags, h.from = flags, from
	rand.Read(h.nonce[:])
	return h
}

func (h *hello) encode() (b [helloSize]byte) {
	copy(b[:], helloMagic)
	be.PutUint32(b[8:], helloVersion)
	be.PutUint32(b[12:], h.flags)
	be.PutUint32(b[16:], h.from)
	copy(b[20:], h.nonce[:])
	return b
}

var be = binary.BigEndian

var errNoHello = errors.New("what it says is not the beginning of a meeting of IMPI processes")

// decodeHello reads a hello. Flags that are not known are kept: they are covered by the proofs.
func decodeHello(b *[helloSize]byte) (h hello, err error) {
	if string(b[:8]) != helloMagic {
		return h, errNoHello
	}
	if v := be.Uint32(b[8:]); v != helloVersion {
		return h, fmt.Errorf("it meets others by version %d of the protocol, this process by version %d", v, helloVersion)
	}
	h.flags, h.from = be.Uint32(b[12:]), be.Uint32(b[16:])
	copy(h.nonce[:], b[20:])
	return h, nil
}

// The sides of a handshake, and what else is made of a key and both hellos.
const (
	sideDials   = "the proof of the side that dials"
	sideListens = "the proof of the side that listens"
	forLine     = "the secret of the line"
)

// handshake is what both ends know once the hellos have been said.
type handshake struct {
	key            []byte
	purpose        string          // what the key is for: proofs for one purpose are none for another
	dials, listens [helloSize]byte // what the two sides have said
	channel        []byte          // in the second proofs, inside TLS: its keys
	ours, theirs   hello
}

// derive makes what only those who know the key and have been here can make.
func (x *handshake) derive(what string) (d [sha256.Size]byte) {
	return derive(x.key, x.purpose, what, x.dials[:], x.listens[:], x.channel)
}

// derive is the HMAC of a list of texts, each with its length before it.
func derive[T string | []byte](key []byte, purpose, what string, more ...T) (d [sha256.Size]byte) {
	h := hmac.New(sha256.New, key)
	var n [8]byte
	put := func(b []byte) {
		be.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	put([]byte("libimpi meet 1"))
	put([]byte(purpose))
	put([]byte(what))
	for _, m := range more {
		put([]byte(m))
	}
	h.Sum(d[:0])
	return d
}

// proven says in constant time whether p is the proof of a side.
func (x *handshake) proven(side string, p []byte) bool {
	want := x.derive(side)
	return hmac.Equal(want[:], p)
}

// sealed reports whether both want TLS.
func (x *handshake) sealed() bool { return x.ours.flags&x.theirs.flags&wantsTLS != 0 }

var (
	errProof      = errors.New("it does not know the key")
	errTurnedAway = errors.New("it has ended the connection and has not said why")
)

// dial proves this end, which has dialed, and makes sure of the other. The error is errTurnedAway if the other end did
// not want to hear, or not believe.
func (x *handshake) dial(c io.ReadWriter) error {
	x.dials = x.ours.encode()
	if _, err := c.Write(x.dials[:]); err != nil {
		return turnedAway(err)
	}
	if _, err := io.ReadFull(c, x.listens[:]); err != nil {
		return turnedAway(err)
	}
	var err error
	if x.theirs, err = decodeHello(&x.listens); err != nil {
		return err
	}
	return x.proveFirst(c)
}

// proveFirst is the part of the proofs for the end that has dialed.
func (x *handshake) proveFirst(c io.ReadWriter) error {
	p := x.derive(sideDials)
	if _, err := c.Write(p[:]); err != nil {
		return turnedAway(err)
	}
	if _, err := io.ReadFull(c, p[:]); err != nil {
		return turnedAway(err)
	}
	if !x.proven(sideListens, p[:]) {
		return errProof
	}
	return nil
}

// turnedAway tells the end of a connection from what else can go wrong with it.
func turnedAway(err error) error {
	if isEnd(err) {
		return fmt.Errorf("%w (%w)", errTurnedAway, err)
	}
	return err
}

// hear hears the hello of an end that has dialed.
func (x *handshake) hear(c io.Reader) error {
	n, err := io.ReadFull(c, x.dials[:])
	if err != nil {
		return fmt.Errorf("%d bytes instead of a hello: %w", n, err)
	}
	x.theirs, err = decodeHello(&x.dials)
	return err
}

// listen returns a hello that has been heard, and makes sure of the other end, which awaits answer.
func (x *handshake) listen(c io.ReadWriter) error {
	x.listens = x.ours.encode()
	if _, err := c.Write(x.listens[:]); err != nil {
		return err
	}
	return x.check(c)
}

// check makes sure of the end that has dialed.
func (x *handshake) check(c io.Reader) error {
	var p [proofSize]byte
	if n, err := io.ReadFull(c, p[:]); err != nil {
		return fmt.Errorf("%d bytes instead of a proof: %w", n, err)
	}
	if !x.proven(sideDials, p[:]) {
		return errProof
	}
	return nil
}

// answer proves this end, which has listened.
func (x *handshake) answer(c io.Writer) error {
	p := x.derive(sideListens)
	_, err := c.Write(p[:])
	return err
}
