package client

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"net/netip"
	"slices"

	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

var be = binary.BigEndian

// tables gathers what the server broadcasts, label by label in ascending order, checks each as it comes, and
// makes a transport.Job of them (IMPI 0.0, 2.3.5 and 3.9). It is pure: nothing here knows of connections. What
// it holds grows with the bytes received, never with the numbers in them.
type tables struct {
	me       int
	clients  int
	tolerant bool // a missing label has a default where one makes sense
	mine     *[wire.NLabels][]byte

	version  wire.Version
	nhosts   []int32 // by client
	nprocs   []int32 // by client
	dataLen  uint32
	tagUB    int32
	xsize    int32
	maxLin   int32
	hosts    []transport.Host // by host
	ackMark  uint32
	hiWater  uint32
	ackMarks []uint32 // by host
	procs    []transport.Proc
	others   uint32 // clients that are of this library, a bit each
}

func newTables(me, clients int, mine *[wire.NLabels][]byte, tolerant bool) *tables {
	return &tables{me: me, clients: clients, mine: mine, tolerant: tolerant, nhosts: make([]int32, clients),
		nprocs: make([]int32, clients)}
}

// share is what one client contributed to a label; data is nil if that is nothing.
type share struct {
	client int
	data   []byte
}

// take accepts the broadcast of one mandatory label.
func (t *tables) take(l wire.Label, mask uint32, data []byte) error {
	if t.clients < wire.MaxClients && mask>>t.clients != 0 {
		return fmt.Errorf("%v: the mask %#x names clients that do not exist", l, mask)
	}
	if l == wire.CVersion {
		return t.takeVersions(mask, data)
	}
	shares, err := t.split(l, mask, data)
	if err != nil {
		return err
	}
	if err := t.echo(l, shares[t.me].data); err != nil {
		return err
	}
	switch l {
	case wire.CNHosts:
		return t.counts(l, shares, t.nhosts)
	case wire.CNProcs:
		return t.counts(l, shares, t.nprocs)
	case wire.CDataLen:
		return t.takeDataLen(shares)
	case wire.CTagUB:
		return t.takeTagUB(shares)
	case wire.CCollXSize:
		t.xsize, err = agree(l, shares, wire.DefaultXSize)
	case wire.CCollMaxLinear:
		t.maxLin, err = agree(l, shares, wire.DefaultMaxLinear)
	case wire.HIPv6, wire.HPort:
		err = t.takeAddrs(l, shares)
	case wire.HNProcs:
		err = t.takeHostProcs(shares)
	case wire.HAckMark, wire.HHiWater:
		err = t.takeMarks(l, shares)
	case wire.PIPv6, wire.PPID:
		err = t.takeProcs(l, shares)
	}
	return err
}

// split cuts a broadcast into the clients' shares, which are as long as the tables that came before say.
func (t *tables) split(l wire.Label, mask uint32, data []byte) ([]share, error) {
	per, size, _ := l.Shape()
	shares := make([]share, t.clients)
	rest := data
	for i := range shares {
		shares[i].client = i
		if mask&(1<<i) == 0 {
			if !t.tolerant || !optional(l) {
				return nil, fmt.Errorf("%v: client %d contributed nothing, and IMPI 0.0 demands it", l, i)
			}
			continue
		}
		n := int64(size)
		switch per {
		case wire.PerHost:
			n *= int64(t.nhosts[i])
		case wire.PerProc:
			n *= int64(t.nprocs[i])
		}
		if n > int64(len(rest)) {
			return nil, fmt.Errorf("%v: %d bytes are too few for client %d", l, len(data), i)
		}
		shares[i].data = rest[:n:n]
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%v: %d bytes too many", l, len(rest))
	}
	return shares, nil
}

// optional labels have a value that stands for a client which did not contribute.
func optional(l wire.Label) bool {
	switch l {
	case wire.CDataLen, wire.CTagUB, wire.CCollXSize, wire.CCollMaxLinear, wire.HAckMark, wire.HHiWater:
		return true
	}
	return false
}

// echo makes sure that what the server says of us is what we said: else it takes us for somebody else.
func (t *tables) echo(l wire.Label, data []byte) error {
	if string(data) != string(t.mine[l.Index()]) {
		return fmt.Errorf("%v: the server returns another value for client %d than it contributed", l, t.me)
	}
	return nil
}

// takeVersions chooses the highest version that is in every list. The lists have no length: as each ascends, a
// new one begins at a pair that is not greater than the one before.
func (t *tables) takeVersions(mask uint32, data []byte) error {
	if len(data)%wire.VersionSize != 0 {
		return fmt.Errorf("%v: %d bytes are not a number of versions", wire.CVersion, len(data))
	}
	if mask != uint32(1<<t.clients-1) {
		return fmt.Errorf("%v: not all clients contributed (mask %#x)", wire.CVersion, mask)
	}
	var lists [][]wire.Version
	for last := (wire.Version{}); len(data) > 0; data = data[wire.VersionSize:] {
		v, _ := wire.ParseVersion(data)
		if len(lists) == 0 || !last.Less(v) {
			lists = append(lists, nil)
		}
		lists[len(lists)-1] = append(lists[len(lists)-1], v)
		last = v
	}
	if len(lists) != t.clients {
		return fmt.Errorf("%v: %d lists from %d clients", wire.CVersion, len(lists), t.clients)
	}
	var mine []byte
	for _, v := range lists[t.me] {
		mine = v.Append(mine)
	}
	if err := t.echo(wire.CVersion, mine); err != nil {
		return err
	}
	return t.chooseVersion(lists)
}

func (t *tables) chooseVersion(lists [][]wire.Version) error {
	in := make(map[wire.Version]int)
	for _, list := range lists {
		for _, v := range list {
			in[v]++
		}
	}
	mine := lists[t.me]
	for i := len(mine) - 1; i >= 0; i-- {
		if in[mine[i]] == t.clients {
			t.version = mine[i]
			return nil
		}
	}
	return fmt.Errorf("%v: no version of IMPI is spoken by all clients: they say %v", wire.CVersion, lists)
}

func (t *tables) counts(l wire.Label, shares []share, into []int32) error {
	total := int64(0)
	for i, s := range shares {
		n := be.Uint32(s.data)
		total += int64(n)
		if n < 1 || total > math.MaxInt32 {
			return fmt.Errorf("%v: client %d says %d", l, i, n)
		}
		into[i] = int32(n)
	}
	return nil
}

func (t *tables) takeDataLen(shares []share) error {
	t.dataLen = math.MaxUint32
	for i, s := range shares {
		n := uint32(1)
		if s.data != nil {
			n = be.Uint32(s.data)
		}
		if n < 1 {
			return fmt.Errorf("%v: client %d says 0", wire.CDataLen, i)
		}
		t.dataLen = min(t.dataLen, n)
	}
	return nil
}

func (t *tables) takeTagUB(shares []share) error {
	t.tagUB = wire.MaxTagUB
	for i, s := range shares {
		n := wire.MinTagUB
		if s.data != nil {
			n = int32(be.Uint32(s.data))
		}
		if n < wire.MinTagUB {
			return fmt.Errorf("%v: client %d says %d, and MPI demands at least %d", wire.CTagUB, i, n, wire.MinTagUB)
		}
		t.tagUB = min(t.tagUB, n)
	}
	return nil
}

// agree finds the value that all clients must have in common; -1 stands for the default.
func agree(l wire.Label, shares []share, def int32) (agreed int32, err error) {
	for i, s := range shares {
		n := wire.Unset
		if s.data != nil {
			n = int32(be.Uint32(s.data))
		}
		if n < wire.Unset {
			return 0, fmt.Errorf("%v: client %d says %d", l, i, n)
		}
		if n == wire.Unset {
			n = def
		}
		if i > 0 && n != agreed {
			return 0, fmt.Errorf("%v: all clients must choose the same value, but client 0 says %d and client %d says %d "+
				"(the default is %d)", l, agreed, i, n, def)
		}
		agreed = n
	}
	return agreed, nil
}

// takeAddrs reads H_IPV6, which makes the host table, or H_PORT.
func (t *tables) takeAddrs(l wire.Label, shares []share) error {
	h := 0
	for i, s := range shares {
		for d := s.data; len(d) > 0; h++ {
			if l == wire.HIPv6 {
				t.hosts = append(t.hosts,
					transport.Host{Client: int32(i), Addr: netip.AddrPortFrom(wire.DecodeAddr([16]byte(d)), 0)})
				d = d[16:]
				continue
			}
			port := be.Uint32(d)
			if port < 1 || port > math.MaxUint16 {
				return fmt.Errorf("%v: host %d (client %d) says %d", l, h, i, port)
			}
			t.hosts[h].Addr = netip.AddrPortFrom(t.hosts[h].Addr.Addr(), uint16(port))
			d = d[4:]
		}
	}
	return nil
}

func (t *tables) takeHostProcs(shares []share) error {
	h, first := 0, int64(0)
	for i, s := range shares {
		sum := int64(0)
		for d := s.data; len(d) > 0; d = d[4:] {
			n := int64(be.Uint32(d))
			sum += n
			if sum > int64(t.nprocs[i]) {
				break
			}
			t.hosts[h].First, t.hosts[h].NProcs = int32(first), int32(n)
			first += n
			h++
		}
		if sum != int64(t.nprocs[i]) {
			return fmt.Errorf("%v: the hosts of client %d have %d processes or more, and the client has %d", wire.HNProcs, i,
				sum, t.nprocs[i])
		}
	}
	return nil
}

// takeMarks reads H_ACKMARK, or reads H_HIWATER and checks that it is not below H_ACKMARK. The job's values are the
// minima over all hosts.
func (t *tables) takeMarks(l wire.Label, shares []share) error {
	least, h := uint32(math.MaxUint32), 0
	for i, s := range shares {
		for k := range int(t.nhosts[i]) {
			n := uint32(1)
			if s.data != nil {
				n = be.Uint32(s.data[4*k:])
			}
			if n < 1 {
				return fmt.Errorf("%v: host %d (client %d) says 0", l, h, i)
			}
			if l == wire.HAckMark {
				t.ackMarks = append(t.ackMarks, n)
			} else if t.ackMarks[h] > n {
				if s.data != nil {
					return fmt.Errorf("%v: host %d (client %d) says %d, less than its %v %d", l, h, i, n, wire.HAckMark, t.ackMarks[h])
				}
				n = t.ackMarks[h]
			}
			least = min(least, n)
			h++
		}
	}
	if l == wire.HAckMark {
		t.ackMark = least
	} else {
		t.hiWater = least
	}
	return nil
}

// takeProcs reads P_IPV6, which makes the process table, or P_PID.
func (t *tables) takeProcs(l wire.Label, shares []share) error {
	p := 0
	for i, s := range shares {
		for d := s.data; len(d) > 0; p++ {
			if l == wire.PIPv6 {
				t.procs = append(t.procs, transport.Proc{HostID: [16]byte(d), Client: int32(i)})
				d = d[16:]
				continue
			}
			t.procs[p].PID = int64(be.Uint64(d))
			d = d[8:]
		}
	}
	return nil
}

// takeOwn reads what libimpi clients say beyond IMPI 0.0, and notes what we have in common with each. It is called
// after all mandatory labels. The label is not part of the protocol, so another implementation may use it for something
// else: if our own share does not come back as we sent it, or any share is malformed, nothing is agreed on with
// anybody.
func (t *tables) takeOwn(mask uint32, data []byte, own wire.Own, m auth.Methods) error {
	if t.clients < wire.MaxClients && mask>>t.clients != 0 || len(data) != wire.OwnSize*bits.OnesCount32(mask) {
		return nil
	}
	theirs := make([]wire.Own, t.clients)
	for i := range theirs {
		if mask&(1<<i) != 0 {
			theirs[i], _ = wire.ParseOwn(data)
			data = data[wire.OwnSize:]
		}
	}
	if theirs[t.me] != own {
		return nil
	}
	t.others = mask
	for h := range t.hosts {
		host := &t.hosts[h]
		host.Outbound = theirs[host.Client].Flags&wire.FlagOutbound != 0
		host.Native = own.Native(theirs[host.Client])
		host.SameImpl = mask&(1<<host.Client) != 0
		both := own.Flags & theirs[host.Client].Flags
		if err := t.alike(int(host.Client), own, theirs[host.Client]); err != nil {
			return err
		}
		host.Exchange, host.Short = both&wire.FlagExchange != 0, both&wire.FlagShort != 0
		if err := setProof(host, t.me, own, theirs[host.Client], m); err != nil {
			return err
		}
		if s := min(own.Stream, theirs[host.Client].Stream); s > t.dataLen {
			host.Stream = s
		}
		if host.Key != nil {
			host.Streams = min(own.Streams, theirs[host.Client].Streams)
		}
	}
	return nil
}

// alike returns an error if a client of this library goes on without ranks that are lost, and another does not.
func (t *tables) alike(client int, mine, theirs wire.Own) error {
	if t.others&(1<<client) == 0 || (mine.Flags^theirs.Flags)&wire.FlagSurvives == 0 {
		return nil
	}
	survives, ends := t.me, client
	if theirs.Flags&wire.FlagSurvives != 0 {
		survives, ends = client, t.me
	}
	return fmt.Errorf("client %d goes on without ranks that are lost (-with-ft), and client %d does not: all clients "+
		"have to be started alike", survives, ends)
}

// takeMachines reads on which machines the hosts of libimpi clients are. It is called after takeOwn, which has found
// out which clients those are; anything else under this label is ignored.
func (t *tables) takeMachines(mask uint32, data, mine []byte) {
	if mask == 0 || mask != t.others {
		return
	}
	at, first := make([]int, len(t.hosts)), -1
	size := 0
	for h := range t.hosts {
		if client := int(t.hosts[h].Client); mask&(1<<client) != 0 {
			if client == t.me && first < 0 {
				first = size
			}
			at[h] = size + 1
			size += wire.MachineSize
		}
	}
	if first < 0 || size != len(data) || string(data[first:first+len(mine)]) != string(mine) {
		return
	}
	for h := range t.hosts {
		if at[h] > 0 {
			m, _ := wire.ParseMachine(data[at[h]-1:])
			t.hosts[h].Machine, t.hosts[h].Others, t.hosts[h].Crowded = m.ID, m.Others, m.Crowded
		}
	}
}

// Alone returns the tables of a job of one client, which needs no server. It has the values that a client of several
// would propose. Me is -1. The hosts prove to each other a secret that is in these tables and nowhere else.
func Alone(hosts ...Host) (*transport.Job, error) {
	c, err := new(Values).Contribution(nil, hosts...).complete()
	if err != nil {
		return nil, err
	}
	own := wire.Mine()
	own.Mesh = wire.MeshSecret
	rand.Read(own.Nonce[:])
	mine := c.values(0)
	t := newTables(0, 1, mine, false)
	for i, l := range wire.Labels {
		if err := t.take(l, 1, mine[i]); err != nil {
			return nil, err
		}
	}
	if err := t.takeOwn(1, own.Append(nil), own, auth.Methods{Secret: rand.Text()}); err != nil {
		return nil, err
	}
	t.takeMachines(1, c.machines(), c.machines())
	return t.job()
}

// reverse returns an error if a client to which nobody can connect (wire.FlagOutbound) cannot take part: two of them
// cannot reach each other, and clients of higher rank must be libimpi, because IMPI would have them connect.
func (t *tables) reverse(own *wire.Own) error {
	var outbound [wire.MaxClients]bool
	outbound[t.me] = own != nil && own.Flags&wire.FlagOutbound != 0
	for _, h := range t.hosts {
		outbound[h.Client] = outbound[h.Client] || h.Outbound
	}
	for a := range t.clients {
		for b := a + 1; outbound[a] && b < t.clients; b++ {
			switch {
			case outbound[b]:
				return fmt.Errorf("clients %d and %d can both only connect to others, and not be connected to", a, b)
			case t.others&(1<<b) == 0:
				return fmt.Errorf("client %d can only connect to others, and client %d, which is not libimpi, will connect to "+
					"all lower clients: "+"give client %d the higher rank", a, b, a)
			}
		}
	}
	return nil
}

// setProof notes how we connect with a host, of another client or of our own: with which proof, and encrypted or not.
// It derives the key of the two clients.
func setProof(host *transport.Host, me int, mine, theirs wire.Own, m auth.Methods) (err error) {
	level := min(mine.Mesh, theirs.Mesh)
	if level == wire.MeshPlain {
		return nil
	}
	var known []byte // what both of us know, and outsiders do not
	switch {
	case level >= wire.MeshSecret:
		known = []byte(m.Secret)
	case mine.Mesh == wire.MeshKey && theirs.Mesh == wire.MeshKey:
		known = wire.AppendAuthKey(nil, m.Key)
	}
	lower, higher := mine.Nonce[:], theirs.Nonce[:]
	if int(host.Client) < me {
		lower, higher = higher, lower
	}
	host.Key, err = hkdf.Key(sha256.New, known, append(slices.Clone(lower), higher...), "libimpi hosts", transport.KeySize)
	host.Sealed = level == wire.MeshSealed
	return err
}

// job makes a transport.Job of the tables, after every mandatory label has been taken.
func (t *tables) job() (*transport.Job, error) {
	seen := make(map[wire.ProcID]int, len(t.procs))
	for h, host := range t.hosts {
		for r := host.First; r < host.First+host.NProcs; r++ {
			t.procs[r].Host = int32(h)
		}
	}
	for r, p := range t.procs {
		id := wire.ProcID{HostID: p.HostID, PID: p.PID}
		if first, dup := seen[id]; dup {
			return nil, fmt.Errorf("processes %d (client %d) and %d (client %d) have the same %v and %v %d: IMPI cannot tell "+
				"them apart", first, t.procs[first].Client, r, p.Client, wire.PIPv6, wire.PPID, p.PID)
		}
		seen[id] = r
	}
	return &transport.Job{Me: -1, Clients: int32(t.clients), Hosts: t.hosts, Procs: t.procs, MaxDataLen: t.dataLen,
		TagUB: t.tagUB, AckMark: t.ackMark, HiWater: t.hiWater, XSize: t.xsize, MaxLinear: t.maxLin}, nil
}
