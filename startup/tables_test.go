package startup

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/libimpi/libimpi/transport"
)

// twoClients is a job of three hosts, the middle one without processes.
func twoClients() *transport.Job {
	return &transport.Job{Me: 2, Clients: 2, MaxDataLen: 1, TagUB: 32767, AckMark: 1, HiWater: 1, XSize: 0, MaxLinear: 0,
		Hosts: []transport.Host{
			{Addr: netip.MustParseAddrPort("10.0.0.1:5000"), Client: 0, First: 0, NProcs: 2},
			{Addr: netip.MustParseAddrPort("[::ffff:10.0.0.2]:65535"), Client: 1, First: 2, NProcs: 0},
			{Addr: netip.MustParseAddrPort("[2001:db8::1]:1"), Client: 1, First: 2, NProcs: 1, Outbound: true, Native: true,
				SameImpl: true, Short: true, Exchange: true, Stream: 1 << 20, Machine: 1<<63 + 7, Others: 1, Crowded: true,
				Sealed: true, Key: bytes.Repeat([]byte{7}, transport.KeySize)},
		},
		Procs: []transport.Proc{{HostID: [16]byte{1}, PID: -1}, {HostID: [16]byte{1}, PID: 1 << 40},
			{HostID: [16]byte{15: 9}, PID: -1, Host: 2, Client: 1}},
	}
}

func TestTablesAreReadBack(t *testing.T) {
	for _, j := range []*transport.Job{twoClients(), job(0, 1), job(-1, 3), job(2, 3)} {
		got, err := DecodeJob(EncodeJob(j))
		if err != nil {
			t.Errorf("%+v: %v", j, err)
			continue
		}
		if d := cmp.Diff(j, got, cmpopts.EquateComparable(netip.AddrPort{})); d != "" {
			t.Error(d)
		}
	}
}

func TestTablesThatContradictThemselvesAreRefused(t *testing.T) {
	tests := []struct {
		name   string
		break_ func(*transport.Job)
	}{
		{"rank too large", func(j *transport.Job) { j.Me = 3 }},
		{"rank -2", func(j *transport.Job) { j.Me = -2 }},
		{"no client", func(j *transport.Job) { j.Clients = 0 }},
		{"33 clients", func(j *transport.Job) { j.Clients = 33 }},
		{"a client without hosts", func(j *transport.Job) { j.Clients = 3 }},
		{"clients in disorder", func(j *transport.Job) { j.Hosts[0].Client = 1 }},
		{"no hosts", func(j *transport.Job) { j.Hosts = nil }},
		{"no processes", func(j *transport.Job) { j.Procs = nil }},
		{"a process too many", func(j *transport.Job) {
			j.Procs = append(j.Procs, transport.Proc{PID: 5, Host: 2, Client: 1})
		}},
		{"a process too few", func(j *transport.Job) { j.Procs = j.Procs[:2]; j.Me = 0 }},
		{"hosts overlap", func(j *transport.Job) { j.Hosts[2].First = 1 }},
		{"a negative number of processes", func(j *transport.Job) { j.Hosts[1].NProcs = -1 }},
		{"a huge number of processes", func(j *transport.Job) { j.Hosts[1].NProcs = 1<<31 - 1 }},
		{"a process on another host", func(j *transport.Job) { j.Procs[0].Host = 1 }},
		{"a process of another client", func(j *transport.Job) { j.Procs[0].Client = 1 }},
		{"a host without address", func(j *transport.Job) { j.Hosts[2].Addr = netip.AddrPort{} }},
		{"a host without port", func(j *transport.Job) { j.Hosts[2].Addr = netip.MustParseAddrPort("10.0.0.1:0") }},
		{"two processes of one name", func(j *transport.Job) { j.Procs[1].PID = -1 }},
		{"datalen 0", func(j *transport.Job) { j.MaxDataLen = 0 }},
		{"tag bound 32766", func(j *transport.Job) { j.TagUB = 32766 }},
		{"ackmark 0", func(j *transport.Job) { j.AckMark = 0 }},
		{"ackmark above hiwater", func(j *transport.Job) { j.AckMark = 2 }},
		{"crossover unresolved", func(j *transport.Job) { j.XSize = -1 }},
		{"linear limit unresolved", func(j *transport.Job) { j.MaxLinear = -1 }},
	}
	for _, tt := range tests {
		j := twoClients()
		tt.break_(j)
		if _, err := DecodeJob(EncodeJob(j)); err == nil || !strings.HasPrefix(err.Error(), "job tables: ") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestTablesCutShortAreRefused(t *testing.T) {
	b := EncodeJob(twoClients())
	for n := range b {
		if _, err := DecodeJob(b[:n]); err == nil {
			t.Errorf("%d of %d bytes were enough", n, len(b))
		}
	}
	if _, err := DecodeJob(append(b, 0)); err == nil {
		t.Error("a byte too many was accepted")
	}
	if _, err := DecodeJob(make([]byte, len(b))); err == nil {
		t.Error("zeros were accepted")
	}
}

func FuzzDecodeJob(f *testing.F) {
	f.Add(EncodeJob(twoClients()))
	f.Add(EncodeJob(job(0, 2)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := DecodeJob(b)
		if err != nil {
			return
		}
		again, err := DecodeJob(EncodeJob(j))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(j, again, cmpopts.EquateComparable(netip.AddrPort{})); d != "" {
			t.Fatal(d)
		}
	})
}
