package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

// Plain sockets, as a yardstick: this program again, at either end of the link, passes bytes there and back.

const plainFlag = "-plain-end"

// sizes are those of wan.c, in bytes.
var sizes = []int{1, 8, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}

const repeats = 6 // of which the fastest counts, as in wan.c

// plain measures plain sockets between the first two ends.
func (l *link) plain() (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	other := l.command(1, self, plainFlag, address(1)+":7777")
	other.Stderr = os.Stderr
	said, err := other.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := other.Start(); err != nil {
		return nil, err
	}
	defer other.Wait()
	defer other.Process.Kill()
	if _, err := said.Read(make([]byte, 1)); err != nil {
		return nil, fmt.Errorf("the other end does not listen: %w", err)
	}
	var out bytes.Buffer
	near := l.command(0, self, plainFlag, address(1)+":7777", "dial")
	near.Stdout, near.Stderr = &out, os.Stderr
	if err := near.Run(); err != nil {
		return nil, err
	}
	return parse(out.String())
}

// plain is one end: the other one listens and sends back what comes, the near one measures.
func plain(args []string) error {
	if len(args) == 0 {
		return errors.New("no address")
	}
	if len(args) > 1 {
		c, err := net.Dial("tcp", args[0])
		if err != nil {
			return err
		}
		defer c.Close()
		return ask(c)
	}
	at, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	defer at.Close()
	fmt.Println("listening")
	c, err := at.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	return answer(c)
}

func ask(c net.Conn) error {
	b := make([]byte, sizes[len(sizes)-1])
	for _, n := range sizes {
		best := time.Hour
		for range repeats {
			begin := time.Now()
			if _, err := c.Write(b[:n]); err != nil {
				return err
			}
			if _, err := io.ReadFull(c, b[:n]); err != nil {
				return err
			}
			best = min(best, time.Since(begin))
		}
		fmt.Println("pingpong/"+strconv.Itoa(n), best.Seconds())
	}
	return nil
}

func answer(c net.Conn) error {
	b := make([]byte, sizes[len(sizes)-1])
	for _, n := range sizes {
		for range repeats {
			if _, err := io.ReadFull(c, b[:n]); err != nil {
				return err
			}
			if _, err := c.Write(b[:n]); err != nil {
				return err
			}
		}
	}
	return nil
}
