package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/transport/wire"
)

// maxCmd bounds the payload of a command of the client under test, in bytes.
const maxCmd = 1 << 20

// Accept waits for the client's connection to the server. One that ends before it has said anything, by which a
// client may have measured the way, is nobody's.
func (j *Job) Accept() {
	j.listener.(*net.TCPListener).SetDeadline(j.T.Deadline()) // a person may take any time
	for {
		c, err := j.accepted(j.listener)
		if errors.Is(err, net.ErrClosed) {
			j.T.Fatalf("nobody has started the client")
		}
		if err != nil {
			j.T.Fatalf("the client has not spoken to the server: %v", err)
		}
		tcp := c.(*net.TCPConn)
		tcp.SetDeadline(j.T.Deadline())
		if n, err := peek(tcp); n == 0 && (err == io.EOF || isReset(err)) {
			tcp.Close()
			continue
		}
		j.Main.Connected()
		j.T.StartClock()
		tcp.SetDeadline(j.T.Deadline())
		j.server = j.T.Events().FromClient(tcp, clientName(j.Setup.Rank))
		j.adopted(j.server)
		return
	}
}

// Server is the connection to the client under test.
func (j *Job) Server() net.Conn { return j.server }

// command reads the client's next command to the server, which is to be what the text says.
func (j *Job) command(what any) codec.Cmd {
	c, err := codec.ReadCmd(j.server, maxCmd)
	if err != nil {
		j.T.Fatalf("the client should have sent %v to the server: %v", what, err)
	}
	return c
}

// refuse ends the case: what the client has sent last, if we are the server, breaks a rule.
func (j *Job) refuse(format string, args ...any) {
	if j.server == nil {
		j.T.Fatalf(format, args...)
	}
	j.T.Wrong(recorded(j.server.LastIn()), nil, format, args...)
	j.T.Stop()
}

// Slowly makes the server send every byte in a packet of its own.
func (j *Job) Slowly() { j.slowly = true }

// Expect reads the next command, which must be this one.
func (j *Job) Expect(cmd wire.Command) codec.Cmd {
	c := j.command(cmd)
	if c.Cmd != int32(cmd) {
		j.refuse("the client sent command %#x to the server, must be %v", uint32(c.Cmd), cmd)
	}
	return c
}

// Say sends bytes to the client as the server.
func (j *Job) Say(b []byte) {
	for j.slowly && len(b) > 1 {
		if _, err := j.server.Write(b[:1]); err != nil {
			break
		}
		b = b[1:]
	}
	if _, err := j.server.Write(b); err != nil {
		j.T.Fatalf("the client does not read what the server sends: %v", err)
	}
}

// Raw reads n bytes that are no command.
func (j *Job) Raw(n int) []byte { return j.raw(n, fmt.Sprintf("%d bytes", n)) }

func (j *Job) raw(n int, what string) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(j.server, b); err != nil {
		j.T.Fatalf("the client should have sent %s to the server: %v", what, err)
	}
	return b
}

// Authenticate accepts the client and lets it prove itself by the key.
func (j *Job) Authenticate() {
	j.Accept()
	auth := j.Expect(wire.CmdAuth)
	if len(auth.Data) < 4 || len(auth.Data)%4 != 0 {
		j.refuse("AUTH has %d bytes, must be 4 for every mask", len(auth.Data))
	}
	if codec.GetU32(auth.Data)&wire.AuthKeyMask == 0 {
		j.refuse("IMPI_AUTH_KEY is set and the client's mask is %#x", codec.GetU32(auth.Data))
	}
	j.Say(codec.I32(wire.AuthKey, 0))
	if key := codec.GetU64(j.raw(8, "its key")); key != target.Key {
		j.refuse("the client's key is %d, must be %d", key, target.Key)
	}
}

// Join authenticates the clients under test, reads their ranks and tells them how many clients there are. A further one
// is started when the one before it has said its rank, so that it is known who connects.
func (j *Job) Join() {
	if j.theirs != nil {
		j.admitted()
		return
	}
	j.Authenticate()
	j.ReadRank()
	for _, f := range j.further {
		f.start()
		f.Authenticate()
		f.ReadRank()
	}
	for _, x := range j.tested() {
		x.server.SetDeadline(j.T.Deadline()) // the clock may have stood for the others
		x.Say(codec.Impi(int32(j.Clients)))
	}
}

// ReadRank reads the client's IMPI command.
func (j *Job) ReadRank() {
	c := j.Expect(wire.CmdImpi)
	if len(c.Data) != 4 || int32(codec.GetU32(c.Data)) != int32(j.Setup.Rank) {
		j.refuse("IMPI says % x, must be the client's rank %d", c.Data, j.Setup.Rank)
	}
}

// Exchange takes the client's labels in ascending order, broadcasts each, and ends with DONE (2.3.5, 2.3.6).
func (j *Job) Exchange() {
	if j.theirs != nil {
		j.exchangeAtTheirs()
		return
	}
	j.ExchangeUntil(wire.PPID + 1)
	j.finishExchange()
}

// finishExchange is DONE, and the tables.
func (j *Job) finishExchange() {
	for _, x := range j.tested() {
		done := x.own("DONE")
		if done.Cmd != int32(wire.CmdDone) {
			x.refuse("the client sent command %#x to the server, must be DONE", uint32(done.Cmd))
		}
		if len(done.Data) != 0 {
			j.T.Errorf("DONE has %d bytes, must have none", len(done.Data))
		}
	}
	for _, x := range j.tested() {
		x.Say(codec.Cmd{Cmd: int32(wire.CmdDone), Data: j.DoneData}.Bytes())
	}
	j.tables()
}

// ExchangeUntil is Exchange up to a label, and not with it.
func (j *Job) ExchangeUntil(end wire.Label) {
	for _, l := range wire.Labels {
		if l >= end {
			return
		}
		for _, x := range j.tested() {
			x.Submit(l)
		}
		j.Broadcast(l)
	}
}

// Broadcast sends the values of a label.
func (j *Job) Broadcast(l wire.Label) {
	mask, data := j.broadcast(l)
	var before, behind []byte
	if j.Setup.Around != nil {
		before, behind = j.Setup.Around(l)
	}
	b := append([]byte(nil), before...)
	b = append(append(b, codec.Broadcast(uint32(l), mask, data)...), behind...)
	for _, x := range j.tested() {
		x.Say(b)
	}
}

// Resume broadcasts a label that has been submitted, and goes on with the exchange from there.
func (j *Job) Resume(from wire.Label) {
	j.Broadcast(from)
	for _, l := range wire.Labels {
		if l > from {
			j.Submit(l)
			j.Broadcast(l)
		}
	}
	j.finishExchange()
}

// own reads the next command that is not a label of the client's own invention. Such a one is broadcast, as any
// other, with nobody else's data: it must ascend.
func (j *Job) own(what any) codec.Cmd {
	for {
		c := j.command(what)
		if c.Cmd != int32(wire.CmdColl) || len(c.Data) < 4 {
			return c
		}
		l := wire.Label(codec.GetU32(c.Data))
		if l.Index() >= 0 {
			return c
		}
		if l <= j.last {
			j.refuse("the client submitted %v after %v", l, j.last)
		}
		j.last = l
		if j.Setup.Invent != nil {
			mask, data := j.Setup.Invent(c.Data[4:])
			j.Say(codec.Broadcast(uint32(l), mask, data))
		} else if !j.Setup.Swallow {
			j.Say(codec.Broadcast(uint32(l), 1<<j.Setup.Rank, c.Data[4:]))
		}
	}
}

// Submit reads the client's contribution to a label and checks its shape.
func (j *Job) Submit(l wire.Label) {
	c := j.own(fmt.Sprintf("COLL with %v", l))
	if c.Cmd != int32(wire.CmdColl) {
		j.refuse("the client sent command %#x to the server, must be COLL with %v", uint32(c.Cmd), l)
	}
	j.last = l
	if len(c.Data) < 4 {
		j.refuse("COLL has %d bytes, and no label", len(c.Data))
	}
	if got := wire.Label(codec.GetU32(c.Data)); got != l {
		j.refuse("the client submitted %v, must be %v", got, l)
	}
	j.contributed(l, c.Data[4:])
}

// contributed checks the shape of what the client has contributed, and keeps it.
func (j *Job) contributed(l wire.Label, data []byte) {
	hosts, procs := 1, j.Setup.Procs
	if n := j.Labels[wire.CNHosts]; n != nil {
		hosts = int(codec.GetU32(n))
	}
	want := map[wire.Label]int{wire.CNHosts: 4, wire.CNProcs: 4, wire.CDataLen: 4, wire.CTagUB: 4, wire.CCollXSize: 4,
		wire.CCollMaxLinear: 4, wire.HIPv6: 16 * hosts, wire.HPort: 4 * hosts, wire.HNProcs: 4 * hosts,
		wire.HAckMark: 4 * hosts, wire.HHiWater: 4 * hosts, wire.PIPv6: 16 * procs, wire.PPID: 8 * procs}
	if n, ok := want[l]; ok && len(data) != n {
		j.refuse("%v has %d bytes, must have %d", l, len(data), n)
	}
	if l == wire.CVersion && (len(data) < 8 || len(data)%8 != 0 || !bytes.Equal(data[:8], make([]byte, 8))) {
		j.refuse("C_VERSION is % x, must begin with version 0.0", data)
	}
	if l == wire.CNHosts && (codec.GetU32(data) < 1 || int(codec.GetU32(data)) > j.Setup.Procs) {
		j.refuse("C_NHOSTS is %d of a client of %d processes", codec.GetU32(data), j.Setup.Procs)
	}
	if l == wire.CNProcs && int(codec.GetU32(data)) != j.Setup.Procs {
		j.refuse("C_NPROCS is %d, must be %d", codec.GetU32(data), j.Setup.Procs)
	}
	j.Labels[l] = data
	if must := j.possible(l); must != "" {
		j.refuse("%v is %s, must be %s", l, l.Text(data), must)
	}
}

// broadcast is what the server sends for a label: the contributions in ascending rank.
func (j *Job) broadcast(l wire.Label) (mask uint32, all []byte) {
	if l == wire.CNHosts {
		j.layOut()
	}
	k := 0
	for c := range j.Clients {
		data := j.labelsOf(c)[l]
		if j.ours(c) {
			data = j.contribution(l, c, j.Setup.Others[k])
			if j.Setup.Contribute != nil {
				data = j.Setup.Contribute(l, c, data)
			}
			k++
		}
		if data != nil {
			mask |= 1 << c
			all = append(all, data...)
		}
	}
	return mask, all
}

// Fini reads FINI of the clients under test at the server, and the end of the connections.
func (j *Job) Fini() {
	if j.theirs != nil {
		j.leaveTheirs()
		return
	}
	for _, x := range j.tested() {
		if c := x.Expect(wire.CmdFini); len(c.Data) != 0 {
			j.T.Errorf("FINI has %d bytes, must have none", len(c.Data))
		}
		x.server.Close()
	}
}

// Refused goes on serving a client that has been told something impossible. It may notice at once, or when it has
// all tables; then it must hang up without FINI, and end badly.
func (j *Job) Refused() {
	for {
		c, err := codec.ReadCmd(j.server, maxCmd)
		if err != nil {
			if !errors.Is(err, io.EOF) && !isReset(err) {
				j.T.Errorf("the client neither goes on nor hangs up: %v", err)
			}
			break
		}
		if c.Cmd == int32(wire.CmdFini) {
			j.T.Errorf("the client ends with FINI")
			break
		}
		if err := j.serve(c); err != nil {
			break
		}
	}
	j.server.Close()
	j.ExitBadly()
}

// serve returns one command of the exchange.
func (j *Job) serve(c codec.Cmd) error {
	switch {
	case c.Cmd == int32(wire.CmdColl) && len(c.Data) >= 4:
		l := wire.Label(codec.GetU32(c.Data))
		j.Labels[l] = c.Data[4:]
		mask, data := j.broadcast(l)
		_, err := j.server.Write(codec.Broadcast(uint32(l), mask, data))
		return err
	case c.Cmd == int32(wire.CmdDone):
		_, err := j.server.Write(codec.Command(wire.CmdDone))
		return err
	}
	return nil
}

// ServerSilent notes an error if the client has said anything to the server that was not read yet.
func (j *Job) ServerSilent() {
	j.server.SetReadDeadline(time.Now().Add(time.Millisecond))
	b := make([]byte, 1)
	if n, _ := j.server.Read(b); n > 0 {
		j.T.Fatalf("the client speaks to the server before its hosts have finished")
	}
	j.server.SetReadDeadline(j.T.Deadline())
}
