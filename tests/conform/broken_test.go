package conform

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// broken, as the first word of this program, makes it an implementation that breaks the protocol:
//
//	broken client RANK SERVER N PROGRAM...   libimpi, of whose packets the first with data has another pk_lsrank
//	broken server CLIENTS                    says 20,000 lines, and ends
const broken = "broken"

func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != broken {
		os.Exit(m.Run())
	}
	if os.Args[2] == "server" {
		flood()
	}
	os.Exit(client(os.Args[3], os.Args[4], os.Args[5], os.Args[6:]))
}

// flooding is how many lines the server says.
const flooding = 20_000

func flood() {
	w := bufio.NewWriter(os.Stdout)
	for i := range flooding {
		fmt.Fprintf(w, "line %d of the flood\n", i+1)
	}
	w.Flush()
	fmt.Fprintln(os.Stderr, "that was all")
	os.Exit(1)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "broken:", err)
		os.Exit(9)
	}
}

// client runs a client of libimpi, whose server and hosts are reached through this process.
func client(rank, server, n string, program []string) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() {
		for {
			c, err := l.Accept()
			check(err)
			to, err := net.Dial("tcp", server)
			check(err)
			j := &job{instead: map[uint32]uint32{}}
			go j.answers(c, to)
			go j.commands(to, c)
		}
	}()
	cmd := exec.Command(os.Getenv("IMPI_STAGE")+"/bin/impirun", append([]string{"-client", rank, l.Addr().String(),
		"-n", n},
		program...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		check(err)
	}
	return cmd.ProcessState.ExitCode()
}

// relay passes on everything, and then the end.
func relay(to io.Writer, from io.Reader) {
	io.Copy(to, from) // an error is the other side's end
	to.(*net.TCPConn).CloseWrite()
}

// job is what is known of a job.
type job struct {
	mu      sync.Mutex
	instead map[uint32]uint32 // ports here, and those of the client's hosts for which they stand
}

// unit reads a command, or the server's choice, which has the same form.
func unit(from io.Reader) (head, data []byte, err error) {
	head = make([]byte, 8)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, nil, err
	}
	data = make([]byte, binary.BigEndian.Uint32(head[4:]))
	_, err = io.ReadFull(from, data)
	return head, data, err
}

// labelled reports whether a command is a COLL with a label.
func labelled(head, data []byte, l wire.Label) bool {
	return wire.Command(binary.BigEndian.Uint32(head)) == wire.CmdColl && wire.Label(binary.BigEndian.Uint32(data)) == l
}

// commands passes on what a client says to its server; its hosts are said to listen here.
func (j *job) commands(to io.Writer, from io.Reader) {
	var hosts []byte // H_IPV6
	for {
		head, data, err := unit(from)
		if err != nil {
			break
		}
		switch {
		case labelled(head, data, wire.HIPv6):
			hosts = data[4:]
		case labelled(head, data, wire.HPort):
			for i, ports := 0, data[4:]; i < len(ports); i += 4 {
				port := binary.BigEndian.Uint32(ports[i:])
				here := host(net.IP(hosts[4*i:][:16]), int(port))
				binary.BigEndian.PutUint32(ports[i:], here)
				j.mu.Lock()
				j.instead[here] = port
				j.mu.Unlock()
			}
		}
		to.Write(append(head, data...))
		if wire.Command(binary.BigEndian.Uint32(head)) == wire.CmdAuth { // the key follows
			io.CopyN(to, from, 8)
		}
	}
	to.(*net.TCPConn).CloseWrite()
}

// answers passes on what the server says to a client, which is told its own ports.
func (j *job) answers(to io.Writer, from io.Reader) {
	for {
		head, data, err := unit(from)
		if err != nil {
			break
		}
		if labelled(head, data, wire.HPort) {
			j.mu.Lock()
			for i := 8; i < len(data); i += 4 {
				if port, ok := j.instead[binary.BigEndian.Uint32(data[i:])]; ok {
					binary.BigEndian.PutUint32(data[i:], port)
				}
			}
			j.mu.Unlock()
		}
		to.Write(append(head, data...))
	}
	to.(*net.TCPConn).CloseWrite()
}

// host listens for a host of the client's and returns the port.
func host(ip net.IP, port int) uint32 {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: ip})
	check(err)
	go func() {
		for {
			c, err := l.Accept()
			check(err)
			to, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: ip, Port: port})
			check(err)
			go relay(to, c)
			go packets(c, to)
		}
	}()
	return uint32(l.Addr().(*net.TCPAddr).Port)
}

// packets passes on what a host sends; the first packet with data gets another pk_lsrank.
func packets(to io.Writer, from io.Reader) {
	const size, lsRank = 128, 80
	head := make([]byte, size)
	if _, err := io.ReadFull(from, head); err == nil {
		if binary.BigEndian.Uint32(head) == wire.PkData {
			binary.BigEndian.PutUint32(head[lsRank:], 5)
		}
		to.Write(head)
	}
	relay(to, from)
}
