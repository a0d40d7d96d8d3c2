package server

import (
	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/transport/wire"
)

// The methods of our own (wire.AuthHMAC, wire.AuthTLS), after AUTH has chosen them.

// Secured says that the TLS channel of a connection is there. keys are secure.ChannelKeys of it. certified says that
// the other end has shown a certificate of the authority that was given to us.
func (m *machine) Secured(id int, keys []byte, certified bool) []action {
	c := m.conns[id]
	if c == nil || c.stage != atTLS {
		return m.take()
	}
	c.proof.Channel = keys
	if m.rules.Auth.Secret == "" && !certified {
		m.broken(c, "has nothing to prove who it is")
		return m.take()
	}
	m.challenge(c, nil) // also where the certificates have proved it: then the secret of both is ""
	return m.take()
}

// challenge sends our nonce, after head.
func (m *machine) challenge(c *conn, head []byte) {
	c.proof.Server = m.rules.Nonce()
	m.send(c, append(head, c.proof.Server[:]...))
	c.stage, c.expect = atKey, anAnswer
}

// answer checks a client's nonce and proof, and proves that we know the secret too.
func (m *machine) answer(c *conn, b []byte) {
	c.proof.Client = secure.Nonce(b)
	if !c.proof.Proven(m.rules.Auth.Secret, secure.ClientSide, secure.Proof(b[wire.AuthNonceSize:])) {
		m.broken(c, "does not know the secret")
		return
	}
	p := c.proof.Prove(m.rules.Auth.Secret, secure.ServerSide)
	m.send(c, p[:])
	c.stage = atImpi
}
