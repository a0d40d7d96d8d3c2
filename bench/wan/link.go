package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A link is a program between network interfaces (tun), each in a namespace of its own. A packet that one sends waits
// for its turn at the rate of the link, and is handed to the one that it is addressed to half a round trip later. A
// queue of twice what the path holds stands at each end; what does not fit is lost.
//
// tc netem does this, too, where the kernel has it.

// path is what a link is like.
type path struct {
	rtt  time.Duration
	rate int     // Mbit/s
	mtu  int     // bytes
	loss float64 // of packets, in percent, each by itself
	cc   string  // TCP's congestion control at all ends; "": the system's
}

// errCannot: this machine or this user cannot make a link.
var errCannot = errors.New("cannot make a link")

type link struct {
	path
	names []string
	ends  []*os.File
}

// device is the name of the interface at each end.
const device = "wan"

// address is that of an end of the link.
func address(end int) string { return "10.77.0." + strconv.Itoa(end+1) }

// newLink makes a link with some ends.
func newLink(p path, ends int) (*link, error) {
	l := &link{path: p, names: make([]string, ends), ends: make([]*os.File, ends)}
	if os.Getuid() != 0 {
		return nil, fmt.Errorf("%w: it needs root", errCannot)
	}
	for i := range l.ends {
		l.names[i] = fmt.Sprintf("wan%d-%d", i, os.Getpid())
		if err := l.open(i); err != nil {
			l.close()
			return nil, fmt.Errorf("%w: %w", errCannot, err)
		}
	}
	for i := range l.ends {
		go l.carry(i)
	}
	return l, nil
}

// open makes one end.
func (l *link) open(i int) error {
	name := l.names[i]
	if err := ip("netns", "add", name); err != nil {
		return err
	}
	fd, err := tunIn(name)
	if err != nil {
		return err
	}
	l.ends[i] = os.NewFile(uintptr(fd), "tun")
	var cc error
	if l.cc != "" {
		cc = ip("netns", "exec", name, "sysctl", "-q", "-w", "net.ipv4.tcp_congestion_control="+l.cc)
	}
	return errors.Join(cc,
		ip("-n", name, "link", "set", "lo", "up"),
		ip("-n", name, "addr", "add", address(i)+"/24", "dev", device),
		ip("-n", name, "link", "set", device, "up", "mtu", strconv.Itoa(l.mtu), "txqueuelen", "20000"))
}

// tunIn opens a new interface in a namespace. The thread that goes there does not come back.
func tunIn(name string) (fd int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		var ns *os.File
		if ns, err = os.Open("/run/netns/" + name); err != nil {
			return
		}
		defer ns.Close()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		if fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
			return
		}
		var request *unix.Ifreq
		if request, err = unix.NewIfreq(device); err != nil {
			return
		}
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}()
	<-done
	return fd, err
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// packet is one on its way, and when it arrives.
type packet struct {
	data []byte
	to   int
	due  time.Time
}

// end is whom a packet is addressed to; -1: none of the ends.
func (l *link) end(p []byte) int {
	if len(p) < 20 || p[0]>>4 != 4 || p[16] != 10 || p[17] != 77 || p[18] != 0 || int(p[19]) > len(l.names) {
		return -1
	}
	return int(p[19]) - 1
}

// carry takes packets from one end to the others until the link is closed.
func (l *link) carry(from int) {
	bytesPerSecond := float64(l.rate) * 1e6 / 8
	room := max(64, int(2*bytesPerSecond*l.rtt.Seconds())/l.mtu)
	onTheWay := make(chan packet, 2*room)
	defer close(onTheWay)
	go func() {
		for p := range onTheWay {
			time.Sleep(time.Until(p.due))
			l.ends[p.to].Write(p.data)
		}
	}()
	free := time.Now() // when the link is free for the next packet
	for {
		b := make([]byte, l.mtu+64)
		n, err := l.ends[from].Read(b)
		if err != nil {
			return
		}
		to := l.end(b[:n])
		if to < 0 || to == from {
			continue
		}
		if rand.Float64()*100 < l.loss {
			continue
		}
		now := time.Now()
		if free.Before(now) {
			free = now
		}
		if wait := free.Sub(now).Seconds() * bytesPerSecond; int(wait)/l.mtu > room {
			continue
		}
		free = free.Add(time.Duration(float64(n) / bytesPerSecond * 1e9))
		onTheWay <- packet{b[:n], to, free.Add(l.rtt / 2)}
	}
}

// command is a command that runs at one end, and not longer than this program.
func (l *link) command(end int, name string, args ...string) *exec.Cmd {
	c := exec.Command("ip", append([]string{"netns", "exec", l.names[end], name}, args...)...)
	c.Env = append(os.Environ(), "IMPI_AUTH_KEY=5678")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return c
}

// closeOnSignal has the link taken away, and a folder, if somebody ends this program before its time; what it answers
// forgets that.
func (l *link) closeOnSignal(scratch string) (forget func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		if _, ok := <-signals; ok {
			l.close()
			os.RemoveAll(scratch)
			os.Exit(1)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

func (l *link) close() {
	for i, name := range l.names {
		if l.ends[i] != nil {
			l.ends[i].Close()
		}
		if name != "" {
			ip("netns", "del", name)
		}
	}
}
