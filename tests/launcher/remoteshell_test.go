package launcher

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A remote shell whose connections pass through the network of the machines, as those of ssh do, so that a cut cuts
// them, too: nobody ends them, and nobody hears anything on them. On each machine listens this test, and starts what it
// is told with the connection as standard input and output. The other end is this test program itself.

const (
	shellWord = "remote-shell"
	shellPort = 514
)

// remoteShell starts such a shell on all machines, which have the names m0, m1 and so on, and returns its command.
func (n *network) remoteShell(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("nsenter"); err != nil {
		t.Skipf("no way into a namespace for a shell: %v", err)
	}
	for _, m := range n.machines {
		m.inside(t, func() {
			l, err := net.Listen("tcp", netip.AddrPortFrom(m.addr, shellPort).String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			go m.serveShells(l)
		})
	}
	file := filepath.Join(t.TempDir(), "shell")
	text := fmt.Sprintf("#!/bin/sh\nexec %s %s \"$@\"\n", self(), shellWord)
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func (m *machine) serveShells(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go m.serveShell(c.(*net.TCPConn))
	}
}

// serveShell runs one command.
func (m *machine) serveShell(c *net.TCPConn) {
	defer c.Close()
	var size uint32
	if binary.Read(c, binary.BigEndian, &size) != nil {
		return
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(c, text); err != nil {
		return
	}
	f, err := c.File()
	if err != nil {
		return
	}
	defer f.Close()
	ns := fmt.Sprintf("--net=/proc/%d/fd/%d", os.Getpid(), m.ns.Fd())
	cmd := exec.Command("nsenter", ns, "sh", "-c", string(text))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, os.Stderr
	if cmd.Start() == nil {
		c.Close()
		f.Close()
		cmd.Wait()
	}
}

// beShell is the whole of the other end, on the machine of a launcher: the name of a machine, and a command.
func beShell(words []string) int {
	var i int
	if n, _ := fmt.Sscanf(words[0], "m%d", &i); n != 1 {
		return 255
	}
	at := netip.AddrPortFrom(ipv4.addr(i), shellPort)
	c, err := (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: -1}).Dial("tcp", at.String())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 255
	}
	text := fmt.Sprintf("export IMPI_TEST_JOB=%s; %s", os.Getenv("IMPI_TEST_JOB"), words[1])
	c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	go func() {
		io.Copy(c, os.Stdin)
		c.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(os.Stdout, c)
	return 0
}
