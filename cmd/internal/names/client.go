package names

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// Client is a launcher's side. Any goroutine may use it; requests go one after the other.
type Client struct {
	dial   func(ctx context.Context) (net.Conn, error)
	secret string

	mu    sync.Mutex
	conn  net.Conn          // nil: none, or not any more
	names map[string]string // published, to be published again if the server has gone meanwhile
}

// requestTime bounds one request, with the connection that it may need.
const requestTime = 15 * time.Second

// NewClient makes a client of the server to which dial connects. Nothing is done before the first request.
func NewClient(dial func(ctx context.Context) (net.Conn, error), secret string) *Client {
	return &Client{dial: dial, secret: secret, names: map[string]string{}}
}

// At dials an address HOST:PORT.
func At(address string) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address)
	}
}

// Publish makes a service known until Unpublish, Close, or the end of this process.
func (c *Client) Publish(service, port string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.ask(request{publish, service, port})
	if err == nil {
		c.names[service] = port
	}
	return err
}

// Unpublish takes back what this client has published.
func (c *Client) Unpublish(service string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.names, service)
	_, err := c.ask(request{What: unpublish, Service: service})
	return err
}

// Lookup returns a service's port.
func (c *Client) Lookup(service string) (port string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.ask(request{What: lookup, Service: service})
	return r.Port, err
}

// Close ends the connection. The names that were published are free.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hangUp()
}

func (c *Client) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// attempts is how often a request is sent, if connections end.
const attempts = 6

// ask has one request answered. If the connection ends, it is tried again over a new one: the server may have ended
// since the last request, or be about to end, and another may be there soon.
func (c *Client) ask(r request) (reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	answer, err := c.try(ctx, r)
	for i := 1; i < attempts && gone(err); i++ {
		select {
		case <-time.After(5 * time.Millisecond << i):
		case <-ctx.Done():
		}
		answer, err = c.try(ctx, r)
	}
	if err != nil {
		return reply{}, err
	}
	if answer.Why == "" {
		return answer, nil
	}
	if reason := reasons[answer.Why]; reason != nil {
		return reply{}, reason
	}
	return reply{}, fmt.Errorf("it refuses: %.40q", answer.Why)
}

// gone reports whether an error means that the other end has closed its connection.
func gone(err error) bool {
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// try sends a request, over a new connection if there is none.
func (c *Client) try(ctx context.Context, r request) (answer reply, err error) {
	if c.conn == nil {
		if err := c.connect(ctx); err != nil {
			return reply{}, err
		}
	}
	if answer, err = exchange(ctx, c.conn, r); err != nil {
		c.hangUp()
	}
	return answer, err
}

func exchange(ctx context.Context, conn net.Conn, r request) (answer reply, err error) {
	deadline, _ := ctx.Deadline()
	if err := send(conn, r, deadline); err != nil {
		return reply{}, err
	}
	return answer, receive(conn, &answer, deadline)
}

// connect makes a connection, and publishes again what was published over the one before.
func (c *Client) connect(ctx context.Context) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	deadline, _ := ctx.Deadline()
	if err := c.greet(conn, deadline); err != nil {
		conn.Close()
		return err
	}
	for service, port := range c.names {
		answer, err := exchange(ctx, conn, request{publish, service, port})
		if err == nil && answer.Why != "" {
			delete(c.names, service) // somebody has taken the name meanwhile
		}
		if err != nil {
			conn.Close()
			return err
		}
	}
	c.conn = conn
	return nil
}

func (c *Client) greet(conn net.Conn, deadline time.Time) error {
	var g greeting
	if err := receive(conn, &g, deadline); err != nil {
		return fmt.Errorf("no greeting of a name server: %w", err)
	}
	switch {
	case g.Version != version:
		return fmt.Errorf("a name server of version %d, and this launcher speaks %d", g.Version, version)
	case c.secret == "" && g.Nonce == nil:
		return nil
	case c.secret == "":
		return errors.New("the name server asks for the secret (IMPI_AUTH_SECRET), and there is none here")
	case len(g.Nonce) != nonceSize:
		return errors.New("the name server does not know the secret (IMPI_AUTH_SECRET) that is set here")
	}
	mine := make([]byte, nonceSize)
	rand.Read(mine)
	if err := send(conn, proof{mine, proofOf(c.secret, "client", g.Nonce, mine)}, deadline); err != nil {
		return err
	}
	var theirs proof
	if err := receive(conn, &theirs, deadline); err != nil {
		return fmt.Errorf("the name server does not take the secret (IMPI_AUTH_SECRET): %v", err)
	}
	if !hmac.Equal(theirs.MAC, proofOf(c.secret, "server", g.Nonce, mine)) {
		return errors.New("the name server does not know the secret (IMPI_AUTH_SECRET)")
	}
	return nil
}
