package client

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport/wire"
)

// DeclineTime bounds all of Decline and Withdraw. Nobody waits for them but a job that has ended; if the server does
// not hear them, the other clients wait long, so that a machine with much to do must not be the reason.
const DeclineTime = 5 * time.Second

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

// Will tells the server of what client rank, which has not called Connect, dies if this process ends before it calls
// revoke. It is for a process that is about to call code that may end it. An error says that the server could not be
// told; revoke can be called then, too. A foreign server does not know wills.
func Will(ctx context.Context, addr string, rank int32, m auth.Methods, why string, opt Options) (revoke func(),
	err error) {
	ctx, cancel := context.WithTimeout(ctx, willTime)
	defer cancel()
	t, stop, err := greet(ctx, addr, rank, m, opt)
	if err != nil {
		return func() {}, err
	}
	err = t.write(wire.AppendWill(nil, rank, why))
	if stop(); err != nil {
		t.conn.Close()
		return func() {}, t.fail(err)
	}
	t.conn.SetDeadline(time.Time{})
	return func() {
		t.conn.SetDeadline(time.Now().Add(willTime))
		t.write(wire.AppendWill(nil, rank, ""))
		t.conn.Close()
	}, nil
}

// willTime bounds each of both steps of Will, which delay the start of a job.
const willTime = 2 * time.Second

// reportTime bounds Report, for which a process waits that ends its job.
const reportTime = time.Second

// Report tells the server why client rank ends, for a process whose client has joined by another one. It returns when
// the other clients have heard it and ended, and otherwise after a second at most. A server that knows no reports, or
// is not there, is no reason to wait.
func Report(ctx context.Context, addr string, rank int32, m auth.Methods, why string, opt Options) error {
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	return part(ctx, addr, rank, m, opt, func(t *talk) error {
		if err := t.lost(errors.New(why)); err != nil {
			return err
		}
		t.limit(reportTime)
		io.Copy(io.Discard, t.conn)
		return nil
	})
}

// greet connects with the server, and authenticates. From the end of ctx on nothing comes or goes, unless stop has been
// called.
func greet(ctx context.Context, addr string, rank int32, m auth.Methods, opt Options) (t *talk, stop func() bool,
	err error) {
	conn := opt.Conn
	if conn == nil {
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", addr); err != nil {
			return nil, nil, err
		}
	}
	stop = context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	t = &talk{ctx: ctx, conn: conn, addr: addr, rank: rank, methods: m, sameImpl: true,
		opt: Options{AuthTimeout: DeclineTime}}
	if err := t.authenticate(); err != nil {
		stop()
		conn.Close()
		return nil, nil, t.fail(err)
	}
	return t, stop, nil
}

// part connects with the server for the last words of a client, which say sends.
func part(ctx context.Context, addr string, rank int32, m auth.Methods, opt Options,
	say func(*talk) error) error {
	ctx, cancel := context.WithTimeout(ctx, DeclineTime)
	defer cancel()
	t, stop, err := greet(ctx, addr, rank, m, opt)
	if err != nil {
		return err
	}
	defer t.conn.Close()
	defer stop()
	if err := say(t); err != nil {
		return t.fail(err)
	}
	if c, ok := t.conn.(interface{ CloseWrite() error }); ok { // nothing unread may destroy what is on its way
		c.CloseWrite()
		io.Copy(io.Discard, t.conn)
	}
	return nil
}
