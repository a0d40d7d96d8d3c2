// Package wire is IMPI 0.0 as bytes: the packets between hosts, the commands between a client and the
// server, and every number the protocol fixes. It does no I/O, allocates nothing, and believes nothing:
// a decoder answers false, or an error, and never panics on what somebody sent.
//
//	packet.go   the 128-byte packet header (IMPI 0.0, 3.5), between hosts
//	command.go  commands and authentication (2.3.2 - 2.3.4), between client and server
//	coll.go     labels, and the start-up values they carry (2.3.5)
//	id.go       process names and addresses (3.2), the first four bytes on a host's socket (2.3.8)
//	cid.go      context ids and tags of the collectives (4.2, 4.3)
//
// All integers are big-endian two's complement, without padding.
package wire

import "encoding/binary"

var be = binary.BigEndian

// MaxClients is how many clients a job can have: one bit each in a label's client mask (2.3.5).
const MaxClients = 32
