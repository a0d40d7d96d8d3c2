package client_test

import (
	"net/netip"
	"testing"

	"github.com/libimpi/libimpi/startup/client"
)

func TestAJobOfOneClientHasTheWindowThatClientsPropose(t *testing.T) {
	host := client.Host{Addr: netip.MustParseAddrPort("10.0.0.1:5000"), Procs: []client.Proc{{PID: 1}}}
	job, err := client.Alone(host)
	if err != nil {
		t.Fatal(err)
	}
	want := new(client.Values).Contribution(nil, host).Hosts[0]
	if job.AckMark != want.AckMark || job.HiWater != want.HiWater {
		t.Errorf("the window is %d of %d packets, not %d of %d", job.AckMark, job.HiWater, want.AckMark, want.HiWater)
	}
}
