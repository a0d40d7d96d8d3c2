package client

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/libimpi/libimpi/transport/boot/auth"
)

// declineTime bounds all of Decline: nobody waits for it but a job that has ended.
const declineTime = 2 * time.Second

// Decline tells the server at addr that client rank will not take part, because of why, so that the other clients need
// not wait for it: they hear why, and the job is over. It is for a client that has not called Connect; opt is used for
// its connection and Silence only. It does not say whether the server has understood: a foreign server takes it for
// a client that hangs up.
func Decline(ctx context.Context, addr string, rank int32, m auth.Methods, why error, opt Options) (err error) {
	ctx, cancel := context.WithTimeout(ctx, declineTime)
	defer cancel()
	conn := opt.Conn
	if conn == nil {
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", addr); err != nil {
			return err
		}
	}
	defer conn.Close()
	t := &talk{ctx: ctx, conn: conn, addr: addr, rank: rank, methods: m, sameImpl: true,
		opt: Options{AuthTimeout: declineTime}}
	if err := t.authenticate(); err != nil {
		return t.fail(err)
	}
	if err := t.introduce(); err != nil {
		return t.fail(err)
	}
	if err := t.lost(why); err != nil {
		return t.fail(err)
	}
	if c, ok := t.conn.(interface{ CloseWrite() error }); ok { // nothing unread may destroy what is on its way
		c.CloseWrite()
		io.Copy(io.Discard, t.conn)
	}
	return nil
}
