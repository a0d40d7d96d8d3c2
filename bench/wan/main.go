// Command wan measures this library between two clusters that are far apart: two network namespaces of this machine,
// and a link between them that delays and limits what it carries (link.go).
//
// Flow: make the namespaces and the link -> start a server and one client in the first, the other client in the
// second -> wan.c measures -> a table of times, in round trips, and of the share of the link that a long message uses,
// beside what cannot be beaten.
//
//	go run ./bench/wan [-rtt 40ms] [-rate 1000] [-mtu 9000] [-n 4] [-via direct] [-streams 1] [-loss 0] [-cc reno] [-stage build/stage]
//
// It needs root, ip and /dev/net/tun; where they are missing it says so and ends well.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	var p path
	flag.DurationVar(&p.rtt, "rtt", 40*time.Millisecond, "round trip of the link")
	flag.IntVar(&p.rate, "rate", 1000, "rate of the link, `Mbit/s` each way")
	flag.IntVar(&p.mtu, "mtu", 9000, "largest packet, `bytes`")
	n := flag.Int("n", 4, "`ranks`, half of them at either end")
	flag.StringVar(&p.via, "via", "direct", "how ranks reach the other client: `direct or agent`")
	flag.Float64Var(&p.loss, "loss", 0, "packets that the link loses, `percent`")
	flag.StringVar(&p.cc, "cc", "", "TCP's congestion `control` (default the system's)")
	flag.IntVar(&p.streams, "streams", 1, "TCP `connections` between two hosts (impirun -streams)")
	stage := flag.String("stage", "build/stage", "`directory` in which the library is installed")
	source := flag.String("source", "bench/wan.c", "`file` that measures")
	flag.Parse()
	if err := measure(p, *n, *stage, *source); errors.Is(err, errCannot) {
		fmt.Println("skipped:", err)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "wan:", err)
		os.Exit(1)
	}
}

func measure(p path, n int, stage, source string) error {
	stage, err := filepath.Abs(stage)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mpi-wan-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program := filepath.Join(scratch, "wan")
	if out, err := exec.Command(filepath.Join(stage, "bin/mpicc"), "-O2", "-o", program, source).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	l, err := newLink(p)
	if err != nil {
		return err
	}
	defer l.close()
	out, err := run(l, filepath.Join(stage, "bin/impirun"), program, n)
	if err != nil {
		return err
	}
	return table(os.Stdout, p, out)
}

// run is one job of two clients, one at either end of the link. It answers what rank 0 prints.
func run(l *link, impirun, program string, n int) (string, error) {
	server := l.command(0, impirun, "-server", "2")
	pipe, err := server.StdoutPipe()
	if err != nil {
		return "", err
	}
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return "", err
	}
	defer server.Wait()
	defer server.Process.Kill()
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the server says nothing: %w", err)
	}
	at := address(0) + ":" + strings.TrimSpace(line[strings.LastIndex(line, ":")+1:])
	var out bytes.Buffer
	clients := make([]*exec.Cmd, 2)
	for i := range clients {
		c := l.command(i, impirun, "-client", strconv.Itoa(i), at, "-via", l.via, "-streams", strconv.Itoa(l.streams), "-np", strconv.Itoa(n/2), program)
		c.Stdout, c.Stderr = &out, os.Stderr
		if i == 1 {
			c.Stdout = os.Stderr
		}
		if err := c.Start(); err != nil {
			return "", err
		}
		clients[i] = c
	}
	err = errors.Join(clients[0].Wait(), clients[1].Wait())
	return out.String(), err
}
