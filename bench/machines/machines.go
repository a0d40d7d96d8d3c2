// Package machines makes machines out of this one, for measurements: each has its network, name, shared memory and
// System V IPC to itself (namespaces), some of the cores, and an interface with a limited rate to a bridge that joins
// them.
//
// Flow: New starts a process that does nothing in new namespaces, for each machine and for the bridge; joins them by
// pairs of interfaces (veth); and limits these at both ends (tc). Words stand before a command that is to run on a
// machine, Shell is a remote shell for launchers, Sent is what the machines have sent each other, as their interfaces
// have counted it. Close ends what still runs on them. The namespaces have no names: they go with the last process,
// however it ends.
package machines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Link is what the interface of each machine is like, in both directions.
type Link struct {
	Rate    int           // Mbit/s
	Delay   time.Duration // of each packet; only where the kernel has netem
	MTU     int           // bytes
	Control string        // TCP's congestion control; "": the system's
}

const (
	// offload is how long a packet may be that the kernel hands over for the card to cut, in bytes, and burst how many
	// bytes may leave at once when nothing has left for a time. If a packet is longer than that, the kernel cuts it, and
	// the cores of this machine become the limit; and what leaves at once seems to be faster than the link.
	offload = 16 << 10
	burst   = 32 << 10
	// queueTime is how long packets wait for their turn at most; what comes then is lost, as in a switch.
	queueTime = 10 * time.Millisecond
)

// Machines are some machines and a bridge.
type Machines struct {
	Link
	Delayed bool // the kernel could delay packets

	folder string
	nodes  []*node // and at the end the bridge
}

// node is the process that keeps namespaces.
type node struct {
	cmd  *exec.Cmd
	stop io.Closer // its standard input, at whose end it ends
}

func (n *node) pid() int { return n.cmd.Process.Pid }

// device is the interface of each machine, and Network where their addresses are.
const (
	Device  = "eth0"
	Network = "10.79.0.0/24"
)

// Name is that of a machine, and its host name.
func Name(i int) string { return "m" + strconv.Itoa(i) }

func address(i int) string { return "10.79.0." + strconv.Itoa(i+1) }

// New makes n machines; it keeps files in a new folder of the one given. The error names what is missing here.
func New(n int, link Link, scratch string) (*Machines, error) {
	if os.Getuid() != 0 {
		return nil, errors.New("making machines needs root")
	}
	for _, tool := range []string{"ip", "tc", "nsenter", "mount", "taskset"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("making machines needs %s (packages iproute2, util-linux): %w", tool, err)
		}
	}
	folder, err := os.MkdirTemp(scratch, "machines-")
	if err != nil {
		return nil, err
	}
	m := &Machines{Link: link, folder: folder}
	if err := m.make(n); err != nil {
		m.Close()
		return nil, fmt.Errorf("making machines: %w", err)
	}
	return m, nil
}

func (m *Machines) make(n int) error {
	hosts := "127.0.0.1 localhost\n"
	for i := range n {
		hosts += fmt.Sprintf("%s %s\n", address(i), Name(i))
	}
	if err := os.WriteFile(m.hosts(), []byte(hosts), 0o644); err != nil {
		return err
	}
	for i := range n {
		if err := m.start(m.setUp(i)); err != nil {
			return fmt.Errorf("machine %d: %w", i, err)
		}
	}
	bridge := "ip link add bridge type bridge\nip link set bridge up mtu " + strconv.Itoa(m.MTU)
	if err := m.start(bridge); err != nil {
		return fmt.Errorf("bridge: %w", err)
	}
	for i := range n {
		if err := m.join(i); err != nil {
			return fmt.Errorf("link of machine %d: %w", i, err)
		}
	}
	return m.writeShell(n)
}

func (m *Machines) hosts() string { return filepath.Join(m.folder, "hosts") }

// setUp are the commands that make a machine of new namespaces. Libraries tell machines apart by their names, and by
// the number that the system draws when it boots.
func (m *Machines) setUp(i int) string {
	boot := filepath.Join(m.folder, "boot"+strconv.Itoa(i))
	lines := []string{
		"mount --make-rprivate /",
		"mount -t tmpfs shm /dev/shm",
		"mount --bind " + m.hosts() + " /etc/hosts",
		fmt.Sprintf("echo 00000000-0000-4000-8000-%012x >%s", i+1, boot),
		"mount --bind " + boot + " /proc/sys/kernel/random/boot_id",
		"echo " + Name(i) + " >/proc/sys/kernel/hostname",
		"ip link set lo up",
	}
	if m.Control != "" {
		lines = append(lines, "echo "+m.Control+" >/proc/sys/net/ipv4/tcp_congestion_control")
	}
	return strings.Join(lines, "\n")
}

// start starts a process in namespaces of its own, which sets them up and waits for the end of its input.
func (m *Machines) start(setUp string) error {
	c := exec.Command("sh", "-c", "set -e\n"+setUp+"\necho ready\nexec cat")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC |
		syscall.CLONE_NEWNS, Setpgid: true} // a terminal's interrupt is for us
	said := &strings.Builder{}
	c.Stderr = said
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	m.nodes = append(m.nodes, &node{c, in})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		in.Close()
		c.Wait()
		m.nodes = m.nodes[:len(m.nodes)-1]
		return errors.New(strings.TrimSpace(said.String()))
	}
	return nil
}

// join gives a machine its interface, whose other end is at the bridge. Both ends are limited: what the machine sends,
// and what it gets.
func (m *Machines) join(i int) error {
	bridge, machine := m.nodes[len(m.nodes)-1], m.nodes[i]
	port, mtu := "to"+strconv.Itoa(i), strconv.Itoa(m.MTU)
	if err := run(bridge,
		fmt.Sprintf("ip link add %s mtu %s type veth peer name %s mtu %s netns %d", port, mtu, Device, mtu, machine.pid()),
		fmt.Sprintf("ip link set %s master bridge gso_max_size %d up", port, offload),
		m.limit(port)); err != nil {
		return err
	}
	if err := run(machine,
		"ip addr add "+address(i)+"/24 dev "+Device,
		fmt.Sprintf("ip link set %s gso_max_size %d up", Device, offload),
		m.limit(Device)); err != nil {
		return err
	}
	if m.Delay > 0 {
		m.Delayed = run(machine, fmt.Sprintf("tc qdisc add dev %s parent 1:1 handle 2: netem limit 10000 delay %dus", Device,
			m.Delay.Microseconds())) == nil
	}
	return nil
}

// limit is the command that limits what leaves by an interface.
func (m *Machines) limit(device string) string {
	return fmt.Sprintf("tc qdisc add dev %s root handle 1: tbf rate %dmbit burst %d latency %dus", device, m.Rate,
		burst, queueTime.Microseconds())
}

// run runs lines of shell in a node.
func run(n *node, lines ...string) error {
	out, err := inside(n, "sh", "-ec", strings.Join(lines, "\n")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(lines, "; "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func inside(n *node, name string, args ...string) *exec.Cmd {
	return exec.Command("nsenter", append(enter(strconv.Itoa(n.pid())), append([]string{name}, args...)...)...)
}

// enter are nsenter's options for all namespaces of a process.
func enter(pid string) []string {
	return []string{"--target", pid, "--mount", "--net", "--uts", "--ipc"}
}

// Words are those before a command that is to run on a machine, on its cores.
func (m *Machines) Words(i int) []string {
	on := cores(i, len(m.nodes)-1, runtime.NumCPU())
	return append([]string{"taskset", "--cpu-list", on, "nsenter"}, enter(strconv.Itoa(m.nodes[i].pid()))...)
}

// cores are those of machine i of n: each has every nth of all there are, and if there are fewer than machines, some
// share one. So two machines do not meet on one core while another is free.
func cores(i, n, all int) string {
	if all <= n {
		return strconv.Itoa(i % all)
	}
	var list []string
	for c := i; c < all; c += n {
		list = append(list, strconv.Itoa(c))
	}
	return strings.Join(list, ",")
}

// Shell is a remote shell: options, the name of a machine, and a command.
func (m *Machines) Shell() string { return filepath.Join(m.folder, "shell") }

func (m *Machines) writeShell(n int) error {
	text := "#!/bin/sh\nwhile :; do case $1 in\n"
	for i := range n {
		text += fmt.Sprintf("%s) on='%s'; shift; break ;;\n", Name(i), strings.Join(m.Words(i), " "))
	}
	text += "esac; shift; done\nexec $on sh -c \"$*\"\n"
	return os.WriteFile(m.Shell(), []byte(text), 0o755)
}

// tcpHeaders are those of IP, and of TCP with time stamps, in bytes.
const tcpHeaders, frameHeader = 52, 14

// Speed is how many MB/s of data a link carries.
func (l Link) Speed() float64 {
	return float64(l.Rate) / 8 * float64(l.MTU-tcpHeaders) / float64(l.MTU+frameHeader)
}

// Sent is how many bytes all machines have sent so far.
func (m *Machines) Sent() (bytes uint64, err error) {
	for _, n := range m.nodes[:len(m.nodes)-1] {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/dev", n.pid()))
		if err != nil {
			return 0, err
		}
		b, err := sentIn(string(text))
		if err != nil {
			return 0, err
		}
		bytes += b
	}
	return bytes, nil
}

// sentIn reads /proc/net/dev: a line for each interface, eight figures of what it got before those of what it sent.
func sentIn(text string) (bytes uint64, err error) {
	for line := range strings.Lines(text) {
		if name, rest, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == Device {
			if fields := strings.Fields(rest); len(fields) > 8 {
				return strconv.ParseUint(fields[8], 10, 64)
			}
		}
	}
	return 0, fmt.Errorf("no interface %s", Device)
}

// String describes the link.
func (m *Machines) String() string {
	delay := "no delay, which this kernel cannot make"
	switch {
	case m.Delayed:
		delay = fmt.Sprintf("delay %v", m.Delay)
	case m.Delay == 0:
		delay = "no delay"
	}
	return fmt.Sprintf("%d Mbit/s, packets of %d bytes, %s, congestion control %s", m.Rate, m.MTU, delay, m.Control)
}

// Close ends what runs on the machines, and the machines.
func (m *Machines) Close() {
	for _, n := range m.nodes {
		for _, pid := range left(n.pid()) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		n.stop.Close()
		n.cmd.Wait()
	}
	m.nodes = nil
	os.RemoveAll(m.folder)
}

// left are the processes that have the network of another one, without it.
func left(of int) (pids []int) {
	want := networkOf(of)
	entries, err := os.ReadDir("/proc")
	if err != nil || want == "" {
		return nil
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != of && networkOf(pid) == want {
			pids = append(pids, pid)
		}
	}
	return pids
}

// networkOf names the network of a process; "": there is none.
func networkOf(pid int) string {
	s, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	return s
}
