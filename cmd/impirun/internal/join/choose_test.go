package join

import (
	"net"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/client"
)

// A server may take every connection for a client: there is one, and on it the client joins.
func TestTheChoiceOfAnAgentTakesNoConnectionOfItsOwn(t *testing.T) {
	var at net.IP
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			at = n.IP
		}
	}
	if at == nil {
		t.Skip("this machine has no address but that of loopback, which is near without asking")
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: at})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m := &Plan{Address: l.Addr().String()}
	m.choose(client.ViaAuto)
	kept := m.connection()
	if kept == nil {
		t.Fatal("the connection was not kept")
	}
	defer kept.Close()
	if m.Agent {
		t.Error("an agent for a server on this machine")
	}
	if m.connection() != nil {
		t.Error("a connection for two")
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.RemoteAddr().String() != kept.LocalAddr().String() {
		t.Error("another connection than the one that was kept")
	}
	l.SetDeadline(time.Now().Add(50 * time.Millisecond)) // what is there is there
	if d, err := l.Accept(); err == nil {
		d.Close()
		t.Error("a second connection")
	}
	m.choose(client.ViaAgent)
	if !m.Agent || m.conn != nil {
		t.Error("the user has chosen")
	}
	old, other := net.Pipe()
	defer other.Close()
	m.conn, m.dialled = old, time.Now().Add(-2*stale)
	if m.connection() != nil {
		t.Error("a connection of which the server may be tired")
	}
}
