// Package names is a server that keeps the ports of services for several jobs (MPI 5.0, 11.10.4), and its clients, the
// launchers.
//
// A connection is a stream of frames: four bytes of length, big-endian, and that much JSON.
//
//	server                          client
//	greeting {version, nonce}    ->
//	                             <-  proof {nonce, HMAC}         if there is a secret
//	proof {HMAC}                 ->
//	                             <-  request {what, service, port}
//	reply {why, port}            ->  one for each, in order
//
// What a client has published is its own, and goes with its connection: the names of a job that has ended, however it
// has ended, are free.
//
//	server.go  Serve
//	client.go  Dial and Client
//	local.go   the server of one user on one machine, which starts when it is needed and ends when it is not
package names

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	version   = 1
	maxFrame  = 64 << 10 // bytes
	nonceSize = 32

	// MaxText bounds the name of a service, and a port, in bytes.
	MaxText = 4 << 10
)

// The reasons of a server that refuses. Errors of a Client that are none of these mean that it does not answer.
var (
	ErrNoName = errors.New("no such name")
	ErrExists = errors.New("the name is published already")
	ErrFull   = errors.New("the name server keeps no more names")
)

var reasons = map[string]error{"no-name": ErrNoName, "exists": ErrExists, "full": ErrFull}

// What a client asks for.
const (
	publish   = "publish"
	unpublish = "unpublish"
	lookup    = "lookup"
)

type greeting struct {
	Version int    `json:"version"`
	Nonce   []byte `json:"nonce,omitempty"` // nil: no proof is asked for
}

type proof struct {
	Nonce []byte `json:"nonce,omitempty"`
	MAC   []byte `json:"mac"`
}

type request struct {
	What    string `json:"what"`
	Service string `json:"service"`
	Port    string `json:"port,omitempty"`
}

type reply struct {
	Why  string `json:"why,omitempty"` // one of reasons; "": it is done
	Port string `json:"port,omitempty"`
}

// proofOf is what side "server" or "client" sends to prove that it knows the secret.
func proofOf(secret, side string, servers, clients []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte("libimpi names " + side + "\x00"))
	h.Write(servers)
	h.Write(clients)
	return h.Sum(nil)
}

func send(c net.Conn, v any, deadline time.Time) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.SetWriteDeadline(deadline)
	_, err = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// receive reads one frame into v. The zero deadline is none.
func receive(c net.Conn, v any, deadline time.Time) error {
	c.SetReadDeadline(deadline)
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 2 || n > maxFrame {
		return fmt.Errorf("a frame of %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(c, text); err != nil {
		return fmt.Errorf("in the middle of a frame: %w", err)
	}
	return json.Unmarshal(text, v)
}
