package wire

import (
	"testing"

	"github.com/libimpi/libimpi/transport"
)

func TestPacketsAreToldInWords(t *testing.T) {
	src := ProcID{HostID: [16]byte{10: 255, 11: 255, 12: 127, 15: 1}, PID: 1001}
	dst := ProcID{HostID: [16]byte{0: 0x20, 1: 1, 15: 2}, PID: -5}
	tests := []struct {
		h    transport.Header
		want string
	}{
		{transport.Header{Kind: transport.Data, Len: 0, SrqID: 5, LSRank: 1, Tag: 7, CID: 2},
			"DATA from 127.0.0.1/1001 to 2001::2/-5, pk_len 0, pk_msglen 0, srqid 5, lsrank 1, tag 7, cid 2"},
		{transport.Header{Kind: transport.Data, Len: 3, MsgLen: 9, SrqID: 5, DrqID: 6},
			"DATA from 127.0.0.1/1001 to 2001::2/-5, pk_len 3, pk_msglen 9, srqid 5, drqid 6, lsrank 0, tag 0, cid 0"},
		{transport.Header{Kind: transport.SyncAck, SrqID: 5}, "SYNCACK from 127.0.0.1/1001 to 2001::2/-5, srqid 5, drqid 0"},
		{transport.Header{Kind: transport.ProtoAck}, "PROTOACK from 127.0.0.1/1001 to 2001::2/-5"},
		{transport.Header{Kind: transport.CancelNo, SrqID: 8}, "CANCELNO from 127.0.0.1/1001 to 2001::2/-5, srqid 8"},
		{transport.Header{Kind: transport.Fini}, "FINI"},
	}
	for _, tt := range tests {
		p := make(Packet, PacketSize)
		if !p.Encode(&tt.h, &src, &dst) {
			t.Fatal(tt.want)
		}
		if got := p.Text(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	p := make(Packet, PacketSize)
	p.SetType(PkFini)
	p.SetLen(128)
	p.SetReserved(1)
	if got := p.Text(); got != "FINI, pk_len 128, reserved 1" {
		t.Error(got)
	}
	p.SetType(8)
	if got := p.Text(); got != "pk_type 8, which does not exist" {
		t.Error(got)
	}
}

func TestCommandsAreToldInWords(t *testing.T) {
	tests := []struct {
		cmd        Command
		hex        string
		fromServer bool
		want       string
	}{
		{CmdAuth, "00000003", false, "AUTH, mask 0x3"},
		{CmdAuth, "0003", false, "AUTH, 2 bytes: 0003"},
		{CmdImpi, "00000001", false, "IMPI, rank 1"},
		{CmdImpi, "00000002", true, "IMPI, size 2"},
		{CmdColl, "00001100 00000003", false, "COLL, C_NHOSTS: 3"},
		{CmdColl, "00001100 80000005 00000003 00000002", true, "COLL, C_NHOSTS of client 0 2 31: 3 2"},
		{CmdColl, "00001000 00000003 0000000000000000 0000000000000001", true, "COLL, C_VERSION of client 0 1: 0.0 0.1"},
		{CmdColl, "00001500 ffffffff", false, "COLL, C_COLL_XSIZE: -1"},
		{CmdColl, "00002000 00000000000000000000ffff7f000001", false, "COLL, H_IPV6: 127.0.0.1"},
		{CmdColl, "00003100 fffffffffffffffe", false, "COLL, P_PID: -2"},
		{CmdColl, "00003100 fffe", false, "COLL, P_PID: 2 bytes: fffe"},
		{CmdColl, "00004000 00000000 fffe", true, "COLL, label 0x4000 of no client: 2 bytes: fffe"},
		{CmdColl, "00", true, "COLL, 1 bytes: 00"},
		{CmdDone, "", true, "DONE"},
		{CmdFini, "01", false, "FINI, 1 bytes: 01"},
		{0x100, "02", false, "command 0x00000100, 1 bytes: 02"},
	}
	for _, tt := range tests {
		payload := unhex(t, tt.hex)
		if got := (Cmd{tt.cmd, int32(len(payload))}).Text(payload, tt.fromServer); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	if got := (ServerAuth{1, 0}).Text(); got != "authentication method 1, 0 bytes follow" {
		t.Error(got)
	}
}

func FuzzText(f *testing.F) {
	f.Add(make([]byte, PacketSize), int32(CmdColl), true)
	f.Fuzz(func(t *testing.T, b []byte, cmd int32, fromServer bool) {
		if len(b) >= PacketSize && Packet(b).Text() == "" {
			t.Error("nothing to say about a packet")
		}
		if (Cmd{Command(cmd), int32(len(b))}).Text(b, fromServer) == "" {
			t.Error("nothing to say about a command")
		}
	})
}
