package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/version"
)

// The way to another host is tested by real connections. impi-info starts itself there by the remote shell, as the
// launcher starts ranks; both sides listen, and each connects to the other:
//
//	here -> there, by the shell: =answer TOKEN ADDRESS:PORT ... (where this side listens)
//	there -> here: "version NUMBER", "listening PORT", then "reached ADDRESS:PORT" or "missed REASON"
//	here -> there, by TCP: TOKEN; there -> here, by TCP: TOKEN. Each answers with the token, which nobody else knows.

// Bounds of a test.
const (
	reachTime = 3 * time.Second  // for a connection
	shellTime = 30 * time.Second // for all of the other side's work
)

// defaultRsh is the launcher's.
const defaultRsh = "ssh -o BatchMode=yes"

// reach tests the way to HOST and back, or to HOST:PORT.
func reach(host string) []finding {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return []finding{port(host)}
	}
	rsh := os.Getenv("IMPI_RSH")
	if rsh == "" {
		rsh = defaultRsh
	}
	return bothWays(host, strings.Fields(rsh), addresses())
}

// port tests whether somebody answers at HOST:PORT, such as an IMPI server.
func port(address string) finding {
	conn, err := net.DialTimeout("tcp", address, reachTime)
	if err != nil {
		return finding{address, failed, err.Error(), advice(err)}
	}
	conn.Close()
	return ok(address, "somebody answers")
}

// advice returns what the error of a connection usually comes from.
func advice(err error) string {
	var dns *net.DNSError
	var slow net.Error
	switch {
	case errors.As(err, &dns):
		return "the name is not known here: /etc/hosts, or the name server"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nobody listens there, or a firewall refuses: open the port (impirun -port says which)"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way to that address, or a firewall says so: look at the routes of this machine"
	case errors.As(err, &slow) && slow.Timeout():
		return "a firewall or a router drops the packets: open a range of ports (impirun -port FIRST-LAST), or join from " +
			"behind it with -outbound"
	}
	return "look at the firewalls of both machines"
}

// addresses are those of this machine at which another one could reach it.
func addresses() []string {
	var list []string
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, isNet := a.(*net.IPNet); isNet && n.IP.IsGlobalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// bothWays tests one host.
func bothWays(host string, rsh, own []string) []finding {
	if len(rsh) == 0 {
		return []finding{{host, failed, "IMPI_RSH names no command", "unset it, or name a remote shell"}}
	}
	if len(own) == 0 {
		return []finding{{host, failed, "this machine has no address but loopback", "connect it to a network"}}
	}
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		return []finding{{host, failed, err.Error(), "let this process open sockets"}}
	}
	defer listener.Close()
	token := rand.Text()
	go welcome(listener, token)
	_, ownPort, _ := net.SplitHostPort(listener.Addr().String())
	words := []string{answerWord, token}
	for _, address := range own {
		words = append(words, net.JoinHostPort(address, ownPort))
	}
	return talk(host, rsh, token, words)
}

// talk starts the other side and hears what it says.
func talk(host string, rsh []string, token string, words []string) []finding {
	self, err := os.Executable()
	if err != nil {
		return []finding{{host, failed, err.Error(), "mount /proc"}}
	}
	script := "p=" + quote(self) + `; [ -x "$p" ] || p=impi-info; exec "$p" ` + strings.Join(words, " ")
	var complaint bytes.Buffer
	shell := exec.Command(rsh[0], append(rsh[1:len(rsh):len(rsh)], host, "exec sh -c "+quote(script))...)
	shell.Stderr = &complaint
	shell.WaitDelay = time.Second
	shell.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	input, err := shell.StdinPipe() // its end tells the other side to go
	if err != nil {
		return []finding{{host, failed, err.Error(), ""}}
	}
	output, err := shell.StdoutPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		return []finding{{host + " shell", failed, err.Error(), "IMPI_RSH or impirun -rsh names the remote shell"}}
	}
	late := time.AfterFunc(shellTime, func() { shell.Process.Kill() })
	defer late.Stop()
	list, heard := hear(host, token, bufio.NewScanner(output))
	input.Close()
	if err := shell.Wait(); !heard {
		said, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		if said == "" && err != nil {
			said = err.Error()
		}
		list = append(list, finding{host + " shell", failed, strings.Join(rsh, " ") + ": " + said, "it must run commands " +
			"there without asking for a password, and find libimpi there at the same place or in PATH"})
	}
	return list
}

// hear makes findings of what the other side says; heard tells whether it has said anything of the kind.
func hear(host, token string, said *bufio.Scanner) (list []finding, heard bool) {
	var missed []string
	back := ""
	for said.Scan() {
		word, rest, _ := strings.Cut(said.Text(), " ")
		switch word {
		case "version":
			heard = true
			f := ok(host+" shell", "works; libimpi %s is there", rest)
			if rest != version.Number {
				f.State, f.Do = note, "install the same version on all machines of a job; here it is "+version.Number
			}
			list = append(list, f)
		case "listening":
			_, name, found := strings.Cut(host, "@") // as ssh takes it
			if !found {
				name = host
			}
			list = append(list, there(host, net.JoinHostPort(name, rest), token))
		case "reached":
			back = rest
		case "missed":
			missed = append(missed, rest)
		}
	}
	switch {
	case back != "":
		list = append(list, ok(host+" back", "it reaches this machine at %s", back))
	case missed != nil:
		list = append(list, finding{host + " back", failed, strings.Join(missed, "; "), "open this machine's firewall to " +
			"it: ranks of both machines connect to each other"})
	}
	return list, heard
}

// there connects to the other side.
func there(host, address, token string) finding {
	if err := greet(address, token); err != nil {
		return finding{host + " there", failed, err.Error(), advice(err)}
	}
	return ok(host+" there", "this machine reaches it at %s", address)
}

// greet connects to an address, and sees that the one who listens knows the token.
func greet(address, token string) error {
	conn, err := net.DialTimeout("tcp", address, reachTime)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(reachTime))
	if _, err := io.WriteString(conn, token+"\n"); err != nil {
		return err
	}
	echo := make([]byte, len(token)+1)
	if _, err := io.ReadFull(conn, echo); err != nil {
		return fmt.Errorf("%s: somebody else answers: %w", address, err)
	}
	if string(echo) != token+"\n" {
		return fmt.Errorf("%s: somebody else answers", address)
	}
	return nil
}

// welcome answers all who know the token, until the listener is closed.
func welcome(listener net.Listener, token string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(reachTime))
			said := make([]byte, len(token)+1)
			if _, err := io.ReadFull(conn, said); err == nil && string(said) == token+"\n" {
				conn.Write(said)
			}
		}()
	}
}

// answer is the other side: TOKEN ADDRESS:PORT ... It ends with its input.
func answer(in io.Reader, out io.Writer, args []string) error {
	if len(args) < 2 {
		return errors.New(answerWord + " needs a token and addresses")
	}
	token := args[0]
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go welcome(listener, token)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	fmt.Fprintf(out, "version %s\nlistening %s\n", version.Number, port)
	results := make(chan string)
	for _, address := range args[1:] {
		go func() {
			if err := greet(address, token); err != nil {
				results <- "missed " + strings.ReplaceAll(err.Error(), "\n", " ")
				return
			}
			results <- "reached " + address
		}()
	}
	for range args[1:] {
		fmt.Fprintln(out, <-results)
	}
	if closer, isCloser := out.(io.Closer); isCloser {
		closer.Close() // all is said; the other side may still come
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// quote makes a word of s for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
