// Package hosts finds the machines of a job: which there are, how they are reached, how many ranks they have room for,
// and which ranks of a client run on them.
//
// Flow: the allocation of a resource manager, if there is one, goes into the plan (Settle, site.go) -> the machines
// that the user lists, in options or host files, or else those of the allocation -> ranks are dealt out to them as the
// plan's placement says (Of).
package hosts

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/libimpi/libimpi/cmd/impirun/internal/lines"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/placement"
)

// Machine is a machine where some of a client's ranks run.
type Machine struct {
	Name  string
	Addr  netip.Addr // where its ranks listen, if the user has said so
	User  string     // for the remote shell; "": it knows
	Port  int        // likewise; 0
	Slots int        // 0: not said
	Local bool
	Ranks []int // of the client, in ascending order
}

// Of returns the machines of a plan that get ranks, in the order of the user's list. None means this one.
func Of(plan *options.Plan) ([]Machine, error) {
	lines, err := listed(plan)
	if err != nil {
		return nil, err
	}
	list := deal(lines, plan)
	return slices.DeleteFunc(list, func(m Machine) bool { return len(m.Ranks) == 0 }), nil
}

// listed are the machines that the user has listed, line by line, or else those of the allocation: a machine may be
// listed again.
func listed(plan *options.Plan) ([]Machine, error) {
	var list []Machine
	for _, word := range plan.Hosts {
		m, _, err := Parse([]string{word})
		if err != nil {
			return nil, fmt.Errorf("-host: %v", err)
		}
		list = append(list, m)
	}
	for _, file := range plan.HostFiles {
		more, err := readHostFile(file)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return within(list, plan)
}

// Merged returns the machines of some lines, each once. at says, by line, which one it is.
func Merged(lines []Machine) (list []Machine, at []int) {
	for _, m := range lines {
		i := slices.IndexFunc(list, func(x Machine) bool {
			return x.Name == m.Name && x.User == m.User && x.Port == m.Port || x.Local && m.Local
		})
		if i < 0 {
			i = len(list)
			list = append(list, m)
		} else {
			list[i].Slots = max(list[i].Slots, 1) + max(m.Slots, 1)
		}
		at = append(at, i)
	}
	return list, at
}

// deal gives the plan's ranks to the machines of some lines, as the plan's placement says. Where the number of a
// machine's units counts it is that of this one: each machine makes sure that it has as many.
func deal(lines []Machine, plan *options.Plan) []Machine {
	list, at := Merged(lines)
	entries := make([]placement.Entry, len(lines))
	for i, m := range lines {
		entries[i] = placement.Entry{Machine: at[i], Slots: m.Slots}
	}
	place, perHost, chunk := &plan.Place, plan.PerHost, 1
	if place.PerUnit > 0 || place.Span || place.Rank == placement.Span {
		m, mask := Hardware()
		chunk = placement.Units(m, mask, place.Map, place.Group)
	}
	if place.PerUnit > 0 {
		perHost = place.PerUnit * chunk
	}
	for i, ranks := range place.Deal(entries, plan.Size(), perHost, chunk) {
		list[i].Ranks = ranks
	}
	return list
}

// readHostFile reads one machine a line: a name, perhaps with :slots, and words such as slots=4 and addr=10.0.0.7
// behind it; # begins a comment.
func readHostFile(file string) ([]Machine, error) {
	var list []Machine
	err := lines.Each(file, func(number int, line string) error {
		text, _, _ := strings.Cut(line, "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil
		}
		m, at, err := Parse(words)
		if err != nil {
			return fmt.Errorf("%s, line %d, column %d: %w", file, number, columnOf(text, at), err)
		}
		list = append(list, m)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("host file: %w", err)
	}
	return list, nil
}

// columnOf is where a word of a line begins, in bytes from 1.
func columnOf(line string, word int) int {
	at := 0
	for ; ; word-- {
		rest := strings.TrimLeftFunc(line[at:], unicode.IsSpace)
		at = len(line) - len(rest)
		if word == 0 {
			return at + 1
		}
		if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
			at += i
		}
	}
}

// Parse reads the name of a machine and the words after it. Words that only other launchers know are passed over. at is
// the word that is wrong.
func Parse(words []string) (m Machine, at int, err error) {
	if rest, ok := strings.CutPrefix(words[0], "ssh://"); ok {
		err = m.parseURL(rest)
	} else {
		m.Name, m.Slots, err = options.HostSlots(words[0])
	}
	if err == nil && (m.Name == "" || strings.HasPrefix(m.Name, "-") || strings.Contains(m.Name, ":") && !isIPv6(m.Name)) {
		err = fmt.Errorf("%q is no name of a machine", m.Name)
	}
	if err != nil {
		return m, 0, err
	}
	for i, w := range words[1:] {
		if err := m.parseWord(w); err != nil {
			return m, 1 + i, err
		}
	}
	m.Local = m.User == "" && m.Port == 0 && IsLocal(m.Name)
	return m, 0, nil
}

// parseURL reads [USER@]NAME[:PORT].
func (m *Machine) parseURL(text string) error {
	u, err := url.Parse("ssh://" + text)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("ssh://%s is not ssh://USER@NAME:PORT", text)
	}
	if _, secret := u.User.Password(); secret {
		return fmt.Errorf("ssh://%s has a password, which ssh does not take", u.Redacted()[len("ssh://"):])
	}
	if word := u.Port(); word != "" {
		if m.Port, err = strconv.Atoi(word); err != nil || m.Port < 1 || m.Port > 65535 {
			return fmt.Errorf("ssh://%s: ports are 1 to 65535", text)
		}
	}
	if m.Name, m.User = u.Hostname(), u.User.Username(); strings.HasPrefix(m.User, "-") {
		return fmt.Errorf("%q is no name of a user", m.User)
	}
	return nil
}

// parseWord reads a word behind a name.
func (m *Machine) parseWord(w string) (err error) {
	key, value, said := strings.Cut(w, "=")
	if !said {
		return fmt.Errorf("%q is neither NAME=VALUE nor a machine of its own: a line names one", w)
	}
	switch key {
	case "slots", "max_slots", "max-slots":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: not a number of slots", w)
		}
		if key == "slots" {
			m.Slots = n
		}
	case "addr":
		if m.Addr, err = netip.ParseAddr(value); err != nil {
			return fmt.Errorf("%s: not an address", w)
		}
	}
	return nil
}

func isIPv6(name string) bool {
	a, err := netip.ParseAddr(name)
	return err == nil && a.Is6()
}

// IsLocal reports whether a name or an address is that of this machine. No name server is asked.
func IsLocal(name string) bool {
	own := Hostname()
	short, _, _ := strings.Cut(own, ".")
	if name == "localhost" || strings.EqualFold(name, own) || strings.EqualFold(name, short) {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && (IsOurs(name) || ip.IsLoopback())
}

// IsOurs reports whether an address is one of this machine's.
func IsOurs(addr string) bool {
	addrs, err := net.InterfaceAddrs()
	ip := net.ParseIP(addr)
	if err != nil || ip == nil {
		return false
	}
	return slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// Hostname is the name of this machine.
func Hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
