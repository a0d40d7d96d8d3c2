package peer

import (
	"bytes"
	"encoding/binary"
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
	for {
		c, err := j.listener.Accept()
		if err != nil {
			j.T.Fatalf("the client has not connected to the server: %v", err)
		}
		tcp := c.(*net.TCPConn)
		tcp.SetDeadline(j.T.Deadline())
		if n, err := peek(tcp); n == 0 && err == io.EOF {
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

// command reads the client's next command to the server.
func (j *Job) command() codec.Cmd {
	c, err := codec.ReadCmd(j.server, maxCmd)
	if err != nil {
		j.T.Fatalf("no command came to the server: %v", err)
	}
	return c
}

// Slowly makes the server send every byte in a packet of its own.
func (j *Job) Slowly() { j.slowly = true }

// Expect reads the next command, which must be this one.
func (j *Job) Expect(cmd wire.Command) codec.Cmd {
	c := j.command()
	if c.Cmd != int32(cmd) {
		j.T.Fatalf("the client sent command %#x to the server, must be %v", uint32(c.Cmd), cmd)
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
func (j *Job) Raw(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(j.server, b); err != nil {
		j.T.Fatalf("the client sent less than %d bytes: %v", n, err)
	}
	return b
}

// Authenticate accepts the client and lets it prove itself by the key.
func (j *Job) Authenticate() {
	j.Accept()
	auth := j.Expect(wire.CmdAuth)
	if len(auth.Data) < 4 || len(auth.Data)%4 != 0 {
		j.T.Fatalf("AUTH has %d bytes, must be 4 for every mask", len(auth.Data))
	}
	if codec.GetU32(auth.Data)&wire.AuthKeyMask == 0 {
		j.T.Fatalf("IMPI_AUTH_KEY is set and the client's mask is %#x", codec.GetU32(auth.Data))
	}
	j.Say(codec.I32(wire.AuthKey, 0))
	if key := codec.GetU64(j.Raw(8)); key != target.Key {
		j.T.Fatalf("the client's key is %d, must be %d", key, target.Key)
	}
}

// Join authenticates the client, reads its rank and tells it how many clients there are.
func (j *Job) Join() {
	j.Authenticate()
	j.ReadRank()
	j.Say(codec.Impi(int32(j.Clients)))
}

// ReadRank reads the client's IMPI command.
func (j *Job) ReadRank() {
	c := j.Expect(wire.CmdImpi)
	if len(c.Data) != 4 || int32(codec.GetU32(c.Data)) != int32(j.Setup.Rank) {
		j.T.Fatalf("IMPI says % x, must be the client's rank %d", c.Data, j.Setup.Rank)
	}
}

// Exchange takes the client's labels in ascending order, broadcasts each, and ends with DONE (2.3.5, 2.3.6).
func (j *Job) Exchange() {
	j.ExchangeUntil(wire.PPID + 1)
	j.finishExchange()
}

// finishExchange is DONE, and the tables.
func (j *Job) finishExchange() {
	done := j.own()
	if done.Cmd != int32(wire.CmdDone) {
		j.T.Fatalf("the client sent command %#x to the server, must be DONE", uint32(done.Cmd))
	}
	if len(done.Data) != 0 {
		j.T.Errorf("DONE has %d bytes, must have none", len(done.Data))
	}
	j.Say(codec.Cmd{Cmd: int32(wire.CmdDone), Data: j.DoneData}.Bytes())
	j.tables()
}

// ExchangeUntil is Exchange up to a label, and not with it.
func (j *Job) ExchangeUntil(end wire.Label) {
	for _, l := range wire.Labels {
		if l >= end {
			return
		}
		j.Submit(l)
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
	j.Say(append(append(b, codec.Broadcast(uint32(l), mask, data)...), behind...))
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
func (j *Job) own() codec.Cmd {
	for {
		c := j.command()
		if c.Cmd != int32(wire.CmdColl) || len(c.Data) < 4 {
			return c
		}
		l := wire.Label(codec.GetU32(c.Data))
		if l.Index() >= 0 {
			return c
		}
		if l <= j.last {
			j.T.Fatalf("the client submitted %v after %v", l, j.last)
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
	c := j.own()
	if c.Cmd != int32(wire.CmdColl) {
		j.T.Fatalf("the client sent command %#x to the server, must be COLL with %v", uint32(c.Cmd), l)
	}
	j.last = l
	if len(c.Data) < 4 {
		j.T.Fatalf("COLL has %d bytes, and no label", len(c.Data))
	}
	if got := wire.Label(codec.GetU32(c.Data)); got != l {
		j.T.Fatalf("the client submitted %v, must be %v", got, l)
	}
	data := c.Data[4:]
	hosts, procs := 1, j.Setup.Procs
	if n := j.Labels[wire.CNHosts]; n != nil {
		hosts = int(codec.GetU32(n))
	}
	want := map[wire.Label]int{wire.CNHosts: 4, wire.CNProcs: 4, wire.CDataLen: 4, wire.CTagUB: 4, wire.CCollXSize: 4,
		wire.CCollMaxLinear: 4, wire.HIPv6: 16 * hosts, wire.HPort: 4 * hosts, wire.HNProcs: 4 * hosts,
		wire.HAckMark: 4 * hosts, wire.HHiWater: 4 * hosts, wire.PIPv6: 16 * procs, wire.PPID: 8 * procs}
	if n, ok := want[l]; ok && len(data) != n {
		j.T.Fatalf("%v has %d bytes, must have %d", l, len(data), n)
	}
	if l == wire.CVersion && (len(data) < 8 || len(data)%8 != 0 || !bytes.Equal(data[:8], make([]byte, 8))) {
		j.T.Fatalf("C_VERSION is % x, must begin with version 0.0", data)
	}
	if l == wire.CNHosts && (codec.GetU32(data) < 1 || int(codec.GetU32(data)) > j.Setup.Procs) {
		j.T.Fatalf("C_NHOSTS is %d of a client of %d processes", codec.GetU32(data), j.Setup.Procs)
	}
	if l == wire.CNProcs && int(codec.GetU32(data)) != j.Setup.Procs {
		j.T.Fatalf("C_NPROCS is %d, must be %d", codec.GetU32(data), j.Setup.Procs)
	}
	j.Labels[l] = data
}

// broadcast is what the server sends for a label: the contributions in ascending rank.
func (j *Job) broadcast(l wire.Label) (mask uint32, all []byte) {
	if l == wire.CNHosts {
		j.layOut()
	}
	k := 0
	for c := range j.Clients {
		data := j.Labels[l]
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

// layOut makes the tables of hosts and processes, now that the client's hosts are known, and listens for ours.
func (j *Job) layOut() {
	k := 0
	for c := range j.Clients {
		n := make([]int, codec.GetU32(j.Labels[wire.CNHosts])) // not known before H_NPROCS
		if j.ours(c) {
			n = j.Setup.Others[k]
			k++
		}
		for _, procs := range n {
			h := Host{Client: c, N: procs}
			var l net.Listener
			if j.ours(c) {
				at := fmt.Sprintf("127.0.%d.1:0", len(j.Hosts)+1)
				if j.Setup.IPv6 {
					at = "[::1]:0"
				}
				l = j.listen(at)
				h.Addr = l.Addr().String()
			}
			j.listeners = append(j.listeners, l)
			j.Hosts = append(j.Hosts, h)
		}
	}
}

func def[N uint32 | int32](v, d N) N {
	if v == 0 {
		return d
	}
	return v
}

func word(v *int32) []byte {
	if v == nil {
		return codec.I32(-1)
	}
	return codec.I32(*v)
}

// pid is the P_PID of the process i of one of our clients.
func pid(client, i int) uint64 { return uint64(1000*(client+1) + i) }

// contribution is what one of our clients submits.
func (j *Job) contribution(l wire.Label, c int, hosts []int) (b []byte) {
	procs := 0
	for _, n := range hosts {
		procs += n
	}
	s := &j.Setup
	switch l {
	case wire.CVersion:
		if s.Versions == nil {
			return codec.U32(0, 0)
		}
		return codec.U32(s.Versions...)
	case wire.CNHosts:
		return codec.U32(uint32(len(hosts)))
	case wire.CNProcs:
		return codec.U32(uint32(procs))
	case wire.CDataLen:
		return codec.U32(def(s.DataLen, 65536))
	case wire.CTagUB:
		return codec.I32(def(s.TagUB, wire.MaxTagUB))
	case wire.CCollXSize:
		return word(s.XSize)
	case wire.CCollMaxLinear:
		return word(s.MaxLinear)
	}
	i := 0
	for h, host := range j.Hosts {
		if host.Client != c {
			continue
		}
		switch l {
		case wire.HIPv6:
			b = append(b, j.listeners[h].Addr().(*net.TCPAddr).IP.To16()...)
		case wire.HPort:
			b = append(b, codec.U32(uint32(j.listeners[h].Addr().(*net.TCPAddr).Port))...)
		case wire.HNProcs:
			b = append(b, codec.U32(uint32(host.N))...)
		case wire.HAckMark:
			b = append(b, codec.U32(def(s.AckMark, 10))...)
		case wire.HHiWater:
			b = append(b, codec.U32(def(s.HiWater, 20))...)
		case wire.PIPv6, wire.PPID:
			for range host.N {
				switch {
				case l == wire.PPID:
					b = append(b, codec.U64(pid(c, i))...)
				case s.HostID != nil:
					b = append(b, s.HostID[:]...)
				default:
					b = append(b, j.listeners[h].Addr().(*net.TCPAddr).IP.To16()...)
				}
				i++
			}
		}
	}
	return b
}

// tables negotiates the values and makes the tables complete, by the rules of 2.3.5 (notes A.3).
func (j *Job) tables() {
	s, u32 := &j.Setup, func(l wire.Label, i int) uint32 { return binary.BigEndian.Uint32(j.Labels[l][4*i:]) }
	j.Own = u32(wire.CDataLen, 0)
	j.DataLen = min(j.Own, def(s.DataLen, 65536))
	j.AckMark, j.HiWater = def(s.AckMark, 10), def(s.HiWater, 20)
	j.XSize, j.MaxLinear = int(wire.DefaultXSize), int(wire.DefaultMaxLinear)
	if x := s.XSize; x != nil && *x >= 0 {
		j.XSize = int(*x)
	}
	if x := s.MaxLinear; x != nil && *x >= 0 {
		j.MaxLinear = int(*x)
	}
	mine, proc := 0, 0
	for h := range j.Hosts {
		host := &j.Hosts[h]
		if !j.ours(host.Client) {
			host.N = int(u32(wire.HNProcs, mine))
			ip := net.IP(j.Labels[wire.HIPv6][16*mine:][:16])
			if ip[10] == 0 && ip[11] == 0 && bytes.Equal(ip[:10], make([]byte, 10)) && !ip.IsLoopback() {
				ip = ip[12:] // ::a.b.c.d
			}
			host.Addr = net.JoinHostPort(ip.String(), fmt.Sprint(u32(wire.HPort, mine)))
			j.AckMark, j.HiWater = min(j.AckMark, u32(wire.HAckMark, mine)), min(j.HiWater, u32(wire.HHiWater, mine))
			mine++
		}
		for range host.N {
			j.Procs = append(j.Procs, Proc{Host: h, Client: host.Client})
		}
	}
	counts := make([]int, j.Clients)
	for r := range j.Procs {
		p := &j.Procs[r]
		i := counts[p.Client]
		counts[p.Client]++
		if !j.ours(p.Client) {
			if proc >= j.Setup.Procs {
				j.T.Fatalf("H_NPROCS adds up to more than C_NPROCS")
			}
			copy(p.ID.HostID[:], j.Labels[wire.PIPv6][16*proc:])
			p.ID.PID = int64(codec.GetU64(j.Labels[wire.PPID][8*proc:]))
			proc++
			continue
		}
		p.ID.PID = int64(pid(p.Client, i))
		if s.HostID != nil {
			p.ID.HostID = *s.HostID
		} else {
			copy(p.ID.HostID[:], j.listeners[p.Host].Addr().(*net.TCPAddr).IP.To16())
		}
	}
	if proc != j.Setup.Procs {
		j.T.Fatalf("H_NPROCS adds up to %d, C_NPROCS is %d", proc, j.Setup.Procs)
	}
	ids := make([]codec.ID, len(j.Procs))
	for r, p := range j.Procs {
		ids[r] = p.ID
	}
	j.T.Events().Processes(ids, func(rank int) bool { return !j.Ours(rank) })
	j.T.Events().Negotiated(j.AckMark, j.HiWater)
	var theirs []int
	for r := range j.Procs {
		if !j.Ours(r) {
			theirs = append(theirs, r)
		}
	}
	j.players.Expect(theirs, len(j.Procs))
}

// Fini reads the client's FINI at the server, and the end of the connection.
func (j *Job) Fini() {
	if c := j.Expect(wire.CmdFini); len(c.Data) != 0 {
		j.T.Errorf("FINI has %d bytes, must have none", len(c.Data))
	}
	j.server.Close()
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
