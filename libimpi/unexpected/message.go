// Package unexpected keeps messages that have arrived before their receive, or before their communicator.
//
//	Pool   memory for them, which is used again
//	Kept   those of one peer that have not been matched, so that a CANCEL finds its message
//	Early  those of communicators that this process has not made yet, by context id
//
// The engine's lock guards all of it. Which receive takes which message is package match's.
package unexpected

import "github.com/libimpi/libimpi/libimpi/match"

// Message is one that has arrived: the header's essentials and a copy of the payload. R is a request.
type Message[R any] struct {
	Source, Tag int32
	Peer        int32
	LSRank      int32
	Kind        uint8 // transport.Data or transport.DataSync
	Length      int64 // bytes of the whole message
	SrqID       uint64
	Addr        uint64
	Types       uint64 // what the message says of its types, where these are compared
	External    bool
	Early       bool // it waits for its context to be known
	CID         uint64
	Payload     []byte
	Self        *R                        // a send of this process to itself that waits here
	Waits       match.Message[Message[R]] // its place in its context

	Older      *Message[R] // of the same peer (Kept), and newer
	newer      *Message[R]
	indexed    *byID[R]    // its place among those of its request id, if its peer has an index
	prev, next *Message[R] // in Early; next: free in its pool, too
}
