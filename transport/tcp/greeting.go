package tcp

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// What follows the rank of a host on a new connection, where both ends are of this library (not in IMPI 0.0): each
// proves that it knows the key of their clients, the accepting end as the server of sockets/secure, within TLS if
// that is what the clients have agreed on. With any other host nothing follows.

// Where several connections were agreed on, the number of this one stands between the rank and the proofs, which cover
// it. One who cannot prove the key attaches none.

// streamSize is the length of that number, in bytes.
const streamSize = 4

// handshake is what the one who connects says first.
func (m *mesh) handshake(host int32, k int) []byte {
	b := make([]byte, wire.HandshakeSize, wire.HandshakeSize+streamSize)
	wire.PutHandshake(b, m.me)
	if m.streams(host) > 1 {
		b = binary.BigEndian.AppendUint32(b, uint32(k))
	}
	return b
}

// hearStream hears which of several connections to a host this one is to be.
func (m *mesh) hearStream(c net.Conn, host int32) (int, error) {
	var b [streamSize]byte
	if n, err := io.ReadFull(c, b[:]); err != nil {
		return 0, fmt.Errorf("%d bytes instead of the number of a connection: %w", n, err)
	}
	k := binary.BigEndian.Uint32(b[:])
	if most := m.streams(host); k >= uint32(most) {
		return 0, fmt.Errorf("connection %d to host %d, of %d that were agreed on", k, host, most)
	}
	return int(k), nil
}

// prove makes sure of host `host` at the other end of c, which is to be connection k, and returns the connection to
// use. If that is not c it owns a descriptor of its own, so that c may be closed.
func (m *mesh) prove(ctx context.Context, c *net.TCPConn, host int32, k int, dialed bool) (net.Conn, error) {
	to := &m.job.Hosts[host]
	if to.Key == nil {
		return c, nil
	}
	c.SetDeadline(time.Now().Add(m.opts.greetTime))
	stop := endAtOnce(ctx, c)
	defer stop()
	x := m.exchangeFor(host, k, dialed)
	if !to.Sealed {
		if err := exchange(c, &x, to, dialed); err != nil {
			return nil, err
		}
		return c, c.SetDeadline(time.Time{})
	}
	channel, err := m.seal(ctx, c, dialed)
	if err != nil {
		return nil, err
	}
	stopChannel := endAtOnce(ctx, channel.NetConn())
	defer stopChannel()
	keys, err := secure.ChannelKeys(channel)
	if err == nil {
		x.Channel = append(x.Channel, keys...)
		err = exchange(channel, &x, to, dialed)
	}
	if err != nil {
		channel.NetConn().Close()
		return nil, err
	}
	return channel, channel.SetDeadline(time.Time{})
}

// exchangeFor is what the proofs on connection k to a host cover.
func (m *mesh) exchangeFor(host int32, k int, dialed bool) secure.Exchange {
	from, to := m.me, host
	if !dialed {
		from, to = to, from
	}
	x := secure.Exchange{Mask: uint32(from), Channel: binary.BigEndian.AppendUint32(nil, uint32(to))}
	if m.streams(host) > 1 {
		x.Channel = binary.BigEndian.AppendUint32(x.Channel, uint32(k))
	}
	return x
}

// endAtOnce lets nothing wait for a connection any more when ctx is done.
func endAtOnce(ctx context.Context, c net.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
}

// seal makes a TLS channel of a connection. Certificates prove nothing here: the key does.
func (m *mesh) seal(ctx context.Context, c *net.TCPConn, dialed bool) (*tls.Conn, error) {
	f, err := c.File()
	if err != nil {
		return nil, err
	}
	raw, err := net.FileConn(f)
	f.Close()
	if err != nil {
		return nil, err
	}
	if err := m.keepAlive(raw.(*net.TCPConn)); err != nil { // FileConn has set Go's own
		raw.Close()
		return nil, err
	}
	var channel *tls.Conn
	if dialed {
		channel = tls.Client(raw, secure.ClientTLS(nil))
	} else {
		conf, err := secure.ServerTLS(nil)
		if err != nil {
			raw.Close()
			return nil, err
		}
		channel = tls.Server(raw, conf)
	}
	raw.SetDeadline(time.Now().Add(m.opts.greetTime))
	stop := endAtOnce(ctx, raw)
	defer stop()
	if err := channel.Handshake(); err != nil {
		raw.Close()
		return nil, fmt.Errorf("no TLS: %w", err)
	}
	return channel, nil
}

// errProof is what both sides say of the other that cannot prove who it is.
var errProof = errors.New("it does not know the key of the job")

// exchange proves and makes sure, in the order of sockets/secure.
func exchange(c io.ReadWriter, x *secure.Exchange, to *transport.Host, dialed bool) error {
	key := string(to.Key)
	if dialed {
		if _, err := io.ReadFull(c, x.Server[:]); err != nil {
			return fmt.Errorf("no challenge: %w", err)
		}
		x.Client = secure.NewNonce()
		p := x.Prove(key, secure.ClientSide)
		if _, err := c.Write(append(x.Client[:], p[:]...)); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, p[:]); err != nil {
			return fmt.Errorf("no answer to our proof: %w", err)
		}
		if !x.Proven(key, secure.ServerSide, p) {
			return errProof
		}
		return nil
	}
	x.Server = secure.NewNonce()
	if _, err := c.Write(x.Server[:]); err != nil {
		return err
	}
	var answer [wire.AuthAnswerSize]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return fmt.Errorf("no answer to our challenge: %w", err)
	}
	x.Client = secure.Nonce(answer[:wire.AuthNonceSize])
	if !x.Proven(key, secure.ClientSide, secure.Proof(answer[wire.AuthNonceSize:])) {
		return errProof
	}
	p := x.Prove(key, secure.ServerSide)
	_, err := c.Write(p[:])
	return err
}
