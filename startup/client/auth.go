package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport/wire"
)

// The beginning of the conversation (IMPI 0.0, 2.3.3): AUTH, the method that the server chooses, and what that demands.

// authenticate offers our methods, and does what the chosen one demands.
func (t *talk) authenticate() error {
	t.step = "authenticating"
	t.limit(t.opt.AuthTimeout)
	var b []byte
	err := t.write(wire.AppendAuth(nil, t.mask()))
	if err == nil {
		b, err = t.read(wire.ServerAuthSize)
	}
	if errors.Is(err, errGone) { // it may be gone before we have written, too
		return fmt.Errorf("%w: it has no authentication method in common with ours (IMPI_AUTH_TLS %s, IMPI_AUTH_SECRET %s, "+
			"IMPI_AUTH_KEY %s, IMPI_AUTH_NONE %s), or its job has started", err, enabled(t.methods.TLS),
			enabled(t.methods.Secret != ""),
			enabled(t.methods.HasKey), enabled(t.methods.None))
	}
	if err != nil {
		return err
	}
	s, _ := wire.ParseServerAuth(b)
	if s.Which < 0 || s.Which > 31 || t.methods.Mask()&(1<<s.Which) == 0 {
		return fmt.Errorf("it chose authentication method %d, which we did not offer", s.Which)
	}
	if s.Len < 0 {
		return fmt.Errorf("it announced %d bytes for authentication", s.Len)
	}
	t.which = s.Which
	switch s.Which {
	case wire.AuthHMAC:
		if s.Len != wire.AuthNonceSize {
			return fmt.Errorf("its challenge has %d bytes", s.Len)
		}
		return t.prove(nil)
	case wire.AuthTLS:
		if err := t.discard(s.Len); err != nil {
			return err
		}
		keys, err := t.secure()
		if err != nil {
			return err
		}
		return t.prove(keys)
	}
	if err := t.discard(s.Len); err != nil {
		return err
	}
	t.known = true
	if s.Which == wire.AuthKey {
		return t.write(wire.AppendAuthKey(nil, t.methods.Key))
	}
	return nil
}

// mask is what we offer.
func (t *talk) mask() uint32 {
	if t.sameImpl {
		return t.methods.Mask() | wire.AuthSameImplMask
	}
	return t.methods.Mask()
}

// secure makes a TLS channel of the connection, and returns its keys.
func (t *talk) secure() ([]byte, error) {
	channel := tls.Client(t.conn, secure.ClientTLS(t.methods.Certs))
	if err := channel.HandshakeContext(t.ctx); err != nil {
		return nil, fmt.Errorf("no TLS: %w", err)
	}
	t.conn = channel
	return secure.ChannelKeys(channel)
}

// prove returns the server's challenge, and makes sure that the server knows the secret, too.
func (t *talk) prove(channel []byte) error {
	b, err := t.read(wire.AuthNonceSize)
	if err != nil {
		return t.wrongSecret(err)
	}
	x := secure.Exchange{Server: secure.Nonce(b), Client: secure.NewNonce(), Mask: t.mask(), Channel: channel}
	p := x.Prove(t.methods.Secret, secure.ClientSide)
	t.known = true
	if err := t.write(append(x.Client[:], p[:]...)); err != nil {
		return t.wrongSecret(err)
	}
	if b, err = t.read(wire.AuthProofSize); err != nil {
		return t.wrongSecret(err)
	}
	if !x.Proven(t.methods.Secret, secure.ServerSide, secure.Proof(b)) {
		return errors.New("it does not know our secret: do not trust it")
	}
	return nil
}

func (t *talk) wrongSecret(err error) error {
	if errors.Is(err, errGone) {
		return fmt.Errorf("%w after our proof: wrong %s or %s, or other certificates?", err, auth.EnvSecret,
			auth.EnvSecretFile)
	}
	return err
}

func enabled(on bool) string {
	if on {
		return "enabled"
	}
	return "not enabled"
}

// refused explains why a server hung up on us before the start. A wrong key and a rank that cannot be look the
// same, so we ask once more, without a rank.
func (t *talk) refused(err error) error {
	if !errors.Is(err, errGone) {
		return err
	}
	wrongRank := fmt.Sprintf("is client rank %d already taken, or not below the server's number of clients?", t.rank)
	if t.which != wire.AuthKey {
		return fmt.Errorf("%w: %s", err, wrongRank)
	}
	switch keyIsWrong, known := t.probe(); {
	case !known:
		return fmt.Errorf("%w after the key: wrong IMPI_AUTH_KEY? If not, %s", err, wrongRank)
	case keyIsWrong:
		return fmt.Errorf("%w after the key: wrong IMPI_AUTH_KEY?", err)
	}
	return fmt.Errorf("%w: %s", err, wrongRank)
}

// probe finds out whether the server hangs up on our key alone.
func (t *talk) probe() (keyIsWrong, known bool) {
	conn, err := (&net.Dialer{Timeout: probeTime}).DialContext(t.ctx, "tcp", t.addr)
	if err != nil {
		return false, false
	}
	defer conn.Close()
	p := &talk{ctx: t.ctx, conn: conn, addr: t.addr, rank: t.rank, methods: t.methods, opt: t.opt}
	p.opt.AuthTimeout = probeTime
	if p.authenticate() != nil || p.which != wire.AuthKey {
		return false, false
	}
	_, err = p.read(1)
	if errors.Is(err, errGone) {
		return true, true
	}
	var timeout net.Error
	return false, errors.As(err, &timeout) && timeout.Timeout()
}

// own completes what we say beyond IMPI 0.0: our hosts shall connect with those of others as well protected as this
// conversation is.
func (t *talk) own(c *wire.Own) *wire.Own {
	if c == nil {
		return nil
	}
	own := *c
	if own.Nonce == (secure.Nonce{}) {
		own.Nonce = secure.NewNonce()
	}
	own.Mesh = map[int32]uint32{wire.AuthNone: wire.MeshOpen, wire.AuthKey: wire.MeshKey, wire.AuthHMAC: wire.MeshSecret,
		wire.AuthTLS: wire.MeshSealed}[t.which]
	return &own
}
