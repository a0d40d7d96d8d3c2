package client

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/libimpi/libimpi/startup/auth"
)

// declineTime bounds all of Decline and Withdraw: nobody waits for them but a job that has ended.
const declineTime = 2 * time.Second

// Decline tells the server at addr that client rank will not take part, because of why, so that the other clients need
// not wait for it: they hear why, and the job is over. It is for a client that has not called Connect; opt is used for
// its connection and Silence only. It does not say whether the server has understood: a foreign server takes it for
// a client that hangs up.
func Decline(ctx context.Context, addr string, rank int32, m auth.Methods, why error, opt Options) error {
	return part(ctx, addr, rank, m, opt, func(t *talk) error {
		if err := t.introduce(); err != nil {
			return err
		}
		return t.lost(why)
	})
}

// Withdraw is Decline for a client that has ended well without calling Connect. The job is over as soon as another
// client waits for this one, and those that wait hear why; if all clients withdraw, nothing is wrong. It says LOST
// instead of IMPI, which a foreign server ignores.
func Withdraw(ctx context.Context, addr string, rank int32, m auth.Methods, why error, opt Options) error {
	return part(ctx, addr, rank, m, opt, func(t *talk) error { return t.lost(why) })
}

// part connects with the server for the last words of a client, which say sends.
func part(ctx context.Context, addr string, rank int32, m auth.Methods, opt Options,
	say func(*talk) error) (err error) {
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
	if err := say(t); err != nil {
		return t.fail(err)
	}
	if c, ok := t.conn.(interface{ CloseWrite() error }); ok { // nothing unread may destroy what is on its way
		c.CloseWrite()
		io.Copy(io.Discard, t.conn)
	}
	return nil
}
