package join

import (
	"net"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/startup/client"
)

// choose decides for an agent if the user leaves it to us: by the distance of the server.
func (j *Plan) choose(via options.Via) {
	if via != options.ViaAuto {
		j.Agent = via == options.ViaAgent
		return
	}
	j.Agent, j.conn = client.FarAway(j.Address)
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
