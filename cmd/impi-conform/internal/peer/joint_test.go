package peer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/transport/wire"
)

func TestTheShareOfTheClientUnderTestStandsBetweenOurs(t *testing.T) {
	own := map[int][]byte{0: []byte("aa"), 2: []byte("c"), 3: nil}
	for data, want := range map[string]string{"aaBBBc": "BBB", "aac": "", "aaac": "a",
		"abBBc": "must begin with 61 61 and end with 63", "aaBBd": "must begin", "aa": "must begin", "": "must begin"} {
		var got string
		conform.Run(context.Background(), []conform.Case{{Name: "x", Run: func(t *conform.T) {
			j := &Job{T: t, Clients: 4, Setup: Setup{Rank: 1}}
			got = string(j.share(wire.CNHosts, []byte(data), own))
		}}}, conform.Options{Timeout: time.Minute}, func(r conform.Result) {
			for _, p := range r.Problems {
				got += p.Text
			}
		})
		if got != want && !(len(want) > 3 && strings.Contains(got, want)) {
			t.Errorf("%q: got %q, want %q", data, got, want)
		}
	}
}
