package ports

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestANameIsTakenApartAsItWasMade(t *testing.T) {
	seen := map[string]bool{}
	for _, at := range []string{"10.0.0.1:40123", "[2001:db8::1]:1", "127.0.0.1:65535",
		"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"} {
		n := Name{netip.MustParseAddrPort(at), newKey()}
		text := n.String()
		if strings.HasPrefix(at, "[ffff") {
			n.Addr = netip.MustParseAddrPort("[2fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535")
			text = n.String()
		}
		got, err := ParseName(text)
		if err != nil || got != n || len(text) > maxName || seen[text] {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		seen[text] = true
	}
}

func TestWhatIsWrongWithANameIsSaidAndWhere(t *testing.T) {
	key := strings.Repeat("k", 31) + "w"
	for _, tt := range []struct {
		text string
		at   int // from 1
		what string
	}{
		{"", 1, "begins with impi://"},
		{"tcp://10.0.0.1:5/" + key, 1, "begins with impi://"},
		{"impi://10.0.0.1:5", 18, "key are missing"},
		{"impi://10.0.0.1/" + key, 8, "not an IP address"},
		{"impi://2001:db8::1:5/" + key, 8, "not an IP address"},
		{"impi://[2001:DB8::1]:5/" + key, 8, "would be written as"},
		{"impi://localhost:5/" + key, 8, "not an IP address"},
		{"impi://[fe80::1%eth0]:5/" + key, 8, "zone"},
		{"impi://0.0.0.0:5/" + key, 8, "nobody's"},
		{"impi://224.0.0.1:5/" + key, 8, "nobody's"},
		{"impi://10.0.0.1:0/" + key, 17, "no port 0"},
		{"impi://10.0.0.1:05/" + key, 8, "10.0.0.1:05"},
		{"impi://10.0.0.1:99999/" + key, 8, "not an IP address"},
		{"impi://10.0.0.1:5/", 19, "0 characters instead of 32"},
		{"impi://10.0.0.1:5/" + key + "k", 19, "33 characters instead of 32"},
		{"impi://10.0.0.1:5/" + key[:31] + "\n", 19, "characters other"},
		{"impi://10.0.0.1:5/" + key[:31] + "/", 19, "characters other"},
		{"impi://10.0.0.1:5/" + strings.Repeat("x", 4096), maxName + 1, "more than the"},
	} {
		_, err := ParseName(tt.text)
		var e *NameError
		if !errors.As(err, &e) || e.At+1 != tt.at || !strings.Contains(e.What, tt.what) {
			t.Errorf("%q: %v", tt.text, err)
		}
		if err != nil && strings.Contains(err.Error(), "kkkk") {
			t.Errorf("the key is told: %v", err)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("impi://10.0.0.1:5/" + strings.Repeat("k", 31) + "w")
	f.Add("impi://[2001:db8::1]:5/" + strings.Repeat("-", 31) + "_")
	f.Add("impi://[::ffff:10.0.0.1]:5/" + strings.Repeat("0", 32))
	f.Add("impi://10.0.0.1:5")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseName(text)
		if err == nil && n.String() != text {
			t.Errorf("%q is taken for %q", text, n)
		}
		var e *NameError
		if err != nil && (!errors.As(err, &e) || e.At < 0 || e.At > len(text)) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
