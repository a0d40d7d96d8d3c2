package join

import (
	"net"
	"time"

	"github.com/libimpi/libimpi/startup/client"
)

// choose decides for an agent, or against it. The connection that this may take is the one on which the client joins.
func (j *Plan) choose(via client.Via) {
	j.Agent, j.conn = via.Agent(j.Address)
	j.dialled = time.Now()
}

// stale is the age at which a connection on which nothing has been said may be too old for the server.
const stale = 10 * time.Second

// connection is that of choose, once, if it is there and not too old. nil: there is none.
func (j *Plan) connection() net.Conn {
	c := j.conn
	j.conn = nil
	if c != nil && time.Since(j.dialled) > stale {
		c.Close()
		return nil
	}
	return c
}
