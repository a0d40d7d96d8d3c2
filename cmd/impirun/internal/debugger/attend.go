package debugger

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attend is impirun as the other end of a rank's terminal: it gets the master from the socket of that name, and carries
// what is typed, what is written, and the size of the window. When the tool has ended it waits for Enter, so that the
// last lines can be read. title is what the terminal is of, "" its name. If our standard input is no terminal, as that
// of a gdb that speaks with gdbserver, bytes are carried and nothing is added.
func Attend(name, title string) error {
	master, err := masterOf(name)
	if err != nil {
		return fmt.Errorf("the terminal %s: %w", name, err)
	}
	if title == "" {
		title = name
	}
	own, err := unix.IoctlGetTermios(0, unix.TCGETS)
	typed := err == nil
	if typed {
		fmt.Printf("\033]2;%s\007", title)
		follow(master)
		if err := unix.IoctlSetTermios(0, unix.TCSETS, raw(*own)); err != nil {
			return err
		}
	}
	written := make(chan struct{})
	go func() {
		io.Copy(os.Stdout, master) // EIO: nobody has the terminal any more
		close(written)
	}()
	for typing := typedIn(os.Stdin); ; {
		select {
		case <-written:
			if !typed {
				return nil
			}
			unix.IoctlSetTermios(0, unix.TCSETS, own)
			fmt.Printf("\r\n[%s has ended; Enter closes this terminal]", title)
			for b := range typing {
				if bytes.ContainsAny(b, "\r\n") {
					break
				}
			}
			return nil
		case b, more := <-typing:
			switch {
			case more:
				master.Write(b) // an error is that of the other direction, too
			case typed:
				return nil // our own terminal has gone
			default: // gdb has ended: gdbserver has to learn it. Of a terminal it is an error, and does nothing
				typing = nil
				unix.Shutdown(int(master.Fd()), unix.SHUT_WR)
			}
		}
	}
}

// typedIn gives what comes from a file, and is closed at its end.
func typedIn(f *os.File) <-chan []byte {
	typing := make(chan []byte)
	go func() {
		defer close(typing)
		for {
			b := make([]byte, 4096)
			n, err := f.Read(b)
			if n > 0 {
				typing <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	return typing
}

// masterOf asks the launcher for the master of a terminal. Sockets of other users, who may have taken the name, are
// refused.
func masterOf(name string) (*os.File, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: "@" + name, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("its rank has ended, or is of another machine: %w", err)
	}
	defer c.Close()
	if !mine(c) {
		return nil, fmt.Errorf("it is another user's")
	}
	b, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := c.ReadMsgUnix(b, oob)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("the launcher does not hand it out")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("the launcher does not hand it out")
	}
	unix.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "terminal"), nil
}

// follow gives a terminal the size of ours, now and whenever that changes.
func follow(master *os.File) {
	set := func() {
		if size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ); err == nil {
			unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, size)
		}
	}
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGWINCH)
	set()
	go func() {
		for range changes {
			set()
		}
	}()
}

// raw is a terminal that hands on every byte: the other end makes lines, echo and signals.
func raw(t unix.Termios) *unix.Termios {
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return &t
}
