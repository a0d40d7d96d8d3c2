package main

import (
	"strings"
	"testing"
	"time"
)

func TestTheTableSaysRoundTripsAndShares(t *testing.T) {
	p := path{rtt: 40 * time.Millisecond, rate: 1000, mtu: 9000, via: "direct"}
	var b strings.Builder
	if err := table(&b, p, "noise\nbarrier 0.050000\nother 0.02\nbw/1024 62500000\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"barrier                     50.00          1.25       0.5", "0.50         -", "62.5 MB/s, 50.0 % of the link"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
	if table(&b, p, "nothing\n") == nil {
		t.Error("a run without figures is no error")
	}
}
