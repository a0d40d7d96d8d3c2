package address

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

func TestTheBestAddressIsFound(t *testing.T) {
	parse := func(list ...string) (out []netip.Addr) {
		for _, s := range list {
			out = append(out, netip.MustParseAddr(s))
		}
		return out
	}
	tests := []struct {
		list []netip.Addr
		want string // "": none
	}{
		{nil, ""},
		{parse("127.0.0.1", "::1", "fe80::1%eth0", "169.254.1.1", "0.0.0.0", "224.0.0.1"), ""},
		{parse("127.0.0.1", "2001:db8::1", "10.0.0.1", "10.0.0.2"), "10.0.0.1"},
		{parse("::1", "2001:db8::1", "2001:db8::2"), "2001:db8::1"},
		{parse("::ffff:10.0.0.1"), "10.0.0.1"},
	}
	for _, tt := range tests {
		got, ok := firstUsable(tt.list)
		if ok != (tt.want != "") || ok && got.String() != tt.want {
			t.Errorf("%v: %v, %v", tt.list, got, ok)
		}
	}
}

func TestAnInterfaceIsNamedOrTheNetworkThatItIsOn(t *testing.T) {
	parse := netip.MustParseAddr
	list := []nic{{"lo", []netip.Addr{parse("127.0.0.1"), parse("::1")}}, {"docker0", []netip.Addr{parse("172.17.0.1")}},
		{"eth0", []netip.Addr{parse("fe80::1"), parse("2001:db8::5"), parse("10.1.2.3")}}, {"tun0", nil},
		{"six0", []netip.Addr{parse("fd00::7")}}}
	for word, want := range map[string]string{
		"eth0": "10.1.2.3", "lo": "127.0.0.1", "six0": "fd00::7", "10.1.0.0/16": "10.1.2.3", "172.16.0.0/12": "172.17.0.1",
		"10.1.2.3": "10.1.2.3", "2001:db8::/32": "2001:db8::5", "fe80::/10": "", "10.9.0.0/16": "", "tun0": "", "eth1": "",
	} {
		got, err := choose(word, list)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "there are lo 127.0.0.1, lo ::1, docker0 172.17.0.1") {
				t.Errorf("%s: %v, %v", word, got, err)
			}
		} else if err != nil || got != parse(want) {
			t.Errorf("%s: %v, %v, want %s", word, got, err, want)
		}
	}
	if a, err := On("127.0.0.0/8"); err == nil && a.String() != "127.0.0.1" {
		t.Errorf("the loopback network is %v", a)
	}
}

func TestALoopbackThatIsDownIsSeen(t *testing.T) {
	ether := net.Interface{Name: "eth0", Flags: net.FlagUp}
	up := net.Interface{Name: "lo", Flags: net.FlagUp | net.FlagLoopback}
	down := net.Interface{Name: "lo1", Flags: net.FlagLoopback}
	for _, tt := range []struct {
		ifs  []net.Interface
		down bool
	}{{nil, false}, {[]net.Interface{ether}, false}, {[]net.Interface{ether, up}, false},
		{[]net.Interface{down, ether}, true}, {[]net.Interface{down, up}, false}} {
		err := loopbackAmong(tt.ifs)
		if (err != nil) != tt.down || err != nil && !strings.Contains(err.Error(), "ip link set lo1 up") {
			t.Errorf("%v: %v", tt.ifs, err)
		}
	}
}
