package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

var be = binary.BigEndian

// Commands (2.3.2), and labels (2.3.5) in the order in which they are submitted.
const (
	auth, impi, coll, done, fini = 0x41555448, 0x494d5049, 0x434f4c4c, 0x444f4e45, 0x46494e49

	cVersion, cNHosts, cNProcs, cDataLen, cTagUB = 0x1000, 0x1100, 0x1200, 0x1300, 0x1400
	cXSize, cMaxLinear                           = 0x1500, 0x1600
	hIPv6, hPort, hNProcs, hAckMark, hHiWater    = 0x2000, 0x2100, 0x2200, 0x2300, 0x2400
	pIPv6, pPID                                  = 0x3000, 0x3100
)

var labels = []uint32{cVersion, cNHosts, cNProcs, cDataLen, cTagUB, cXSize, cMaxLinear, hIPv6, hPort, hNProcs, hAckMark,
	hHiWater, pIPv6, pPID}

// words are numbers as they travel.
func words(v ...uint32) (b []byte) {
	for _, x := range v {
		b = be.AppendUint32(b, x)
	}
	return b
}

// say sends the server a command.
func (j *job) say(cmd uint32, data ...byte) {
	j.fault.write(j.server, append(words(cmd, uint32(len(data))), data...))
}

// read reads n bytes of the server.
func (j *job) read(n uint32) []byte {
	if n > 1<<24 {
		die("the server announces %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(j.server, b); err != nil {
		die("the server has hung up: %v", err)
	}
	return b
}

// hear waits for a command, skipping others.
func (j *job) hear(cmd uint32) []byte {
	for {
		head := j.read(8)
		data := j.read(be.Uint32(head[4:]))
		if be.Uint32(head) == cmd {
			return data
		}
	}
}

// startUp goes through 2.3 with the server.
func (j *job) startUp(server string) {
	var err error
	j.server, err = net.Dial("tcp", server)
	check(err)
	j.authenticate()
	j.say(impi, words(uint32(j.rank))...)
	size := j.hear(impi)
	if len(size) != 4 || int32(be.Uint32(size)) <= int32(j.rank) || be.Uint32(size) > 32 {
		die("a job of % x clients, and this is client %d", size, j.rank)
	}
	j.clients = int(be.Uint32(size))
	j.listen()
	tables := j.exchange()
	j.say(done)
	j.hear(done)
	go io.Copy(io.Discard, j.server) // what it still says means nothing
	j.negotiate(tables)
}

func (j *job) authenticate() {
	key, err := strconv.ParseUint(os.Getenv("IMPI_AUTH_KEY"), 10, 64)
	_, none := os.LookupEnv("IMPI_AUTH_NONE")
	mask := uint32(0)
	if err == nil {
		mask |= 2
	}
	if none {
		mask |= 1
	}
	if mask == 0 {
		die("neither IMPI_AUTH_KEY nor IMPI_AUTH_NONE is set")
	}
	j.say(auth, words(mask)...)
	choice := j.read(8)
	method := be.Uint32(choice)
	j.read(be.Uint32(choice[4:]))
	if method > 1 || mask&(1<<method) == 0 {
		die("the server chooses method %d", int32(method))
	}
	if method == 1 {
		j.fault.write(j.server, be.AppendUint64(nil, key))
	}
}

// listen lets hosts connect, by the address by which the server is reached.
func (j *job) listen() {
	j.ip = j.server.LocalAddr().(*net.TCPAddr).IP
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: j.ip})
	check(err)
	j.listener = l
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go j.welcome(c)
		}
	}()
}

// welcome learns who has connected. Whoever comes when all hosts are there is turned away.
func (j *job) welcome(c net.Conn) {
	b := make([]byte, 4)
	if _, err := io.ReadFull(c, b); err != nil {
		c.Close()
		return
	}
	select {
	case j.arrived <- arrival{int(int32(be.Uint32(b))), c}:
	case <-j.meshed:
		c.Close()
	}
}

// contribution is what this client submits under a label.
func (j *job) contribution(label uint32) []byte {
	n := uint32(j.n)
	one := map[uint32][]byte{cVersion: words(0, 0), cNHosts: words(1), cNProcs: words(n), cDataLen: words(1 << 16),
		cTagUB: words(1<<31 - 1), cXSize: words(1<<32 - 1), cMaxLinear: words(1<<32 - 1), hIPv6: j.ip.To16(),
		hPort:   words(uint32(j.listener.Addr().(*net.TCPAddr).Port)),
		hNProcs: words(n), hAckMark: words(10), hHiWater: words(20), pIPv6: bytes.Repeat(j.ip.To16(), j.n)}
	for i := range j.n {
		one[pPID] = be.AppendUint64(one[pPID], uint64(os.Getpid()<<8+i))
	}
	switch b := one[label]; {
	case j.fault.is("short-label") && label == hPort:
		return b[:3]
	case j.fault.is("low-hiwater") && label == hHiWater:
		return words(9)
	default:
		return b
	}
}

// exchange submits all labels and returns what all clients have contributed, by label.
func (j *job) exchange() map[uint32][]byte {
	order := append([]uint32(nil), labels...)
	if j.fault.is("wrong-label-order") {
		order[1], order[2] = order[2], order[1]
	}
	tables := map[uint32][]byte{}
	for _, l := range order {
		j.say(coll, append(words(l), j.contribution(l)...)...)
		for data := j.hear(coll); ; data = j.hear(coll) {
			if len(data) >= 8 && be.Uint32(data) == l { // others have labels of their own
				tables[l] = data[8:]
				break
			}
		}
	}
	return tables
}

// negotiate makes the tables of hosts and processes, and finds the values that hold for all.
func (j *job) negotiate(tables map[uint32][]byte) {
	at := func(l uint32, i, size int) []byte {
		if len(tables[l]) < (i+1)*size {
			die("label %#x has %d bytes", l, len(tables[l]))
		}
		return tables[l][i*size:][:size]
	}
	least := func(l uint32, n int) int {
		v := be.Uint32(at(l, 0, 4))
		for i := range n {
			v = min(v, be.Uint32(at(l, i, 4)))
		}
		return int(v)
	}
	host := 0
	for c := range j.clients {
		j.masters = append(j.masters, len(j.procs))
		if c == j.rank {
			j.host, j.first = host, len(j.procs)
		}
		for range be.Uint32(at(cNHosts, c, 4)) {
			addr := &net.TCPAddr{IP: address(at(hIPv6, host, 16)), Port: int(be.Uint32(at(hPort, host, 4)))}
			j.hosts = append(j.hosts, addr)
			for range be.Uint32(at(hNProcs, host, 4)) {
				p := len(j.procs)
				id := procID(append(bytes.Clone(at(pIPv6, p, 16)), at(pPID, p, 8)...))
				j.procs = append(j.procs, process{id, host})
			}
			host++
		}
		if v := int32(be.Uint32(at(cMaxLinear, c, 4))); v >= 0 {
			j.maxLinear = int(v)
		}
	}
	j.dataLen, j.tagUB = least(cDataLen, j.clients), least(cTagUB, j.clients)
	j.ackMark, j.hiWater = least(hAckMark, host), least(hHiWater, host)
}

// address is what 16 bytes mean, of which ::a.b.c.d is IPv4 as well as ::ffff:a.b.c.d.
func address(b []byte) net.IP {
	if ip := net.IP(b); !bytes.Equal(b[:12], make([]byte, 12)) || ip.IsLoopback() {
		return ip
	}
	return net.IP(b[12:])
}

// arrival is a connection that has said which host it is.
type arrival struct {
	host int
	conn net.Conn
}

// mesh connects this host to all lower ones, and waits for the higher ones (2.3.8).
func (j *job) mesh() {
	if j.fault.is("no-mesh") {
		os.Exit(0)
	}
	for h, addr := range j.hosts[:j.host] {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: j.ip}, Timeout: time.Minute}
		c, err := d.Dial("tcp", addr.String())
		check(err)
		j.fault.write(c, words(uint32(j.host)))
		j.links[h] = &link{conn: c.(*net.TCPConn)}
	}
	for len(j.links) < len(j.hosts)-1 {
		a := <-j.arrived
		if a.host <= j.host || a.host >= len(j.hosts) || j.links[a.host] != nil {
			a.conn.Close()
			continue
		}
		j.links[a.host] = &link{conn: a.conn.(*net.TCPConn)}
	}
	close(j.meshed)
	j.listener.Close()
	for h, l := range j.links {
		j.readers.Go(func() { j.receive(h, l) })
	}
}
