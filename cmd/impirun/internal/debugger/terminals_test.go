package debugger

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

// sessionLeader is how the launcher starts a tool with a terminal.
var sessionLeader = &syscall.SysProcAttr{Setsid: true, Setctty: true}

// attendWord makes this test program the other end of a terminal.
const attendWord = "-attend"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == attendWord {
		if err := Attend(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// attend starts the other end of a terminal with a terminal of its own, as a pane of tmux is one.
func attend(t *testing.T, term *terminal) (pane *os.File, cmd *exec.Cmd) {
	t.Helper()
	pane, slave, err := openPTY()
	if err != nil {
		t.Skip(err)
	}
	defer slave.Close()
	t.Cleanup(func() { pane.Close() })
	cmd = exec.Command(os.Args[0], attendWord, term.name, "rank 2")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return pane, cmd
}

// until reads a terminal until a text has come.
func until(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	var all strings.Builder
	for !strings.Contains(all.String(), text) {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("%v, and no %q in %q", err, text, all.String())
		}
		all.WriteByte(b)
	}
}

func TestATerminalIsHandedToAPaneAndCarriesBothWays(t *testing.T) {
	term, err := newTerminal(fmt.Sprint("test", os.Getpid()), 2, "rank 2")
	if err != nil {
		t.Skip(err)
	}
	defer term.close()
	pane, cmd := attend(t, term)
	if err := await([]*terminal{term}, "test"); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("/bin/sh", "-c", `read line; echo "read $line"; read line`)
	var p supervise.Process
	term.give(&p)
	shell.Stdin, shell.Stdout, shell.Stderr = p.Files[0], p.Files[1], p.Files[2]
	shell.SysProcAttr = sessionLeader
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	p.Files[0].Close()
	term.close()
	shown := bufio.NewReader(pane)

	fmt.Fprintf(pane, "one\r")
	until(t, shown, "read one")
	fmt.Fprintf(pane, "\003") // the terminal makes of it SIGINT for the shell, and not for the pane
	err = shell.Wait()
	until(t, shown, "[rank 2 has ended; Enter closes this terminal]")
	fmt.Fprintf(pane, "\r")
	if end := cmd.Wait(); end != nil {
		t.Error(end)
	}
	if err == nil || !strings.Contains(err.Error(), "interrupt") {
		t.Errorf("the shell: %v, want SIGINT", err)
	}
}

func TestTheEndOfAPaneIsTheEndOfItsTerminal(t *testing.T) {
	term, err := newTerminal(fmt.Sprint("test", os.Getpid()), 3, "rank 3")
	if err != nil {
		t.Skip(err)
	}
	defer term.close()
	_, cmd := attend(t, term)
	if err := await([]*terminal{term}, "test"); err != nil {
		t.Fatal(err)
	}
	program := exec.Command("sleep", "60") // who reads may hear of the end sooner than of the signal, and exit
	program.Stdin, program.Stdout, program.SysProcAttr = term.slave, term.slave, sessionLeader
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	term.close()

	cmd.Process.Kill()
	cmd.Wait()

	if err := program.Wait(); err == nil || !strings.Contains(err.Error(), "hangup") {
		t.Errorf("the program: %v, want SIGHUP", err)
	}
}

func TestTheConnectionOfAServerEndsWithItsDebugger(t *testing.T) {
	c, err := newConnection(fmt.Sprint("test", os.Getpid()), 4, "rank 4")
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	debugger := exec.Command(os.Args[0], attendWord, c.name, "")
	debugger.Stdin, debugger.Stderr = strings.NewReader("$?#3f"), os.Stderr
	var said strings.Builder
	debugger.Stdout = &said
	if err := debugger.Start(); err != nil {
		t.Fatal(err)
	}

	b := make([]byte, 5)
	if _, err := c.slave.Read(b); err != nil || string(b) != "$?#3f" {
		t.Errorf("%q, %v", b, err)
	}
	if n, err := c.slave.Read(b); err != io.EOF {
		t.Errorf("%d bytes, %v: gdbserver does not learn that its debugger has ended", n, err)
	}
	fmt.Fprint(c.slave, "\000\003+")
	c.slave.Close()

	if err := debugger.Wait(); err != nil || said.String() != "\000\003+" {
		t.Errorf("%q, %v: every byte has to come as it is", said.String(), err)
	}
}

func TestATerminalThatIsGoneIsAnErrorThatSaysSo(t *testing.T) {
	if err := Attend("impi-nobody.0", ""); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Error(err)
	}
}
