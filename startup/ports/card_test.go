package ports

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

func someCard() card {
	return card{sealed: true, short: true, machine: Machine{1, 2}, unix: newUnixName(),
		tcp: netip.MustParseAddrPort("10.0.0.1:5"), rep: [16]byte{4}}
}

func TestACardIsReadAsItWasMade(t *testing.T) {
	for _, c := range []card{someCard(), {tcp: netip.MustParseAddrPort("[2001:db8::1]:65535")}} {
		b := c.encode()
		if got, err := decodeCard(b); err != nil || got != c || len(b) > transport.MaxCard {
			t.Errorf("%+v becomes %+v, %v", c, got, err)
		}
	}
}

func TestOnlyProcessesThatFindEachOtherShareMemory(t *testing.T) {
	a, b := someCard(), someCard()
	if !a.shares(&b) || !a.native(&b) {
		t.Error("two of one machine do not")
	}
	b.machine[0]++
	if a.shares(&b) {
		t.Error("two of different machines do")
	}
	a.machine, b.machine = Machine{}, Machine{}
	if a.shares(&b) {
		t.Error("two of unknown machines do")
	}
	b = a
	a.machine, b.machine, b.unix = Machine{1}, Machine{1}, unixName{}
	if a.shares(&b) || b.shares(&a) {
		t.Error("one does without a socket")
	}
	b.rep[0]++
	if a.native(&b) || (&card{}).native(&card{}) {
		t.Error("different or unknown representations are taken for one")
	}
}

func FuzzCards(f *testing.F) {
	c := someCard()
	f.Add(c.encode())
	f.Add(c.encode()[:83])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{1}, cardSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeCard(b)
		if err != nil {
			return
		}
		again, err := decodeCard(c.encode())
		if err != nil || again != c {
			t.Errorf("%x is %+v, and then %+v, %v", b, c, again, err)
		}
	})
}
