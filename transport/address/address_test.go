package address

import (
	"net/netip"
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
