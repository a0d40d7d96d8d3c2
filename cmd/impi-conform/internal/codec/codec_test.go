package codec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
)

// Byte by byte from table 3.1, with every field another value.
func TestAPacketHasTheBytesOfTheText(t *testing.T) {
	p := Packet{Header{Type: 1, Len: 2, Src: ID{[16]byte{0: 0xa0, 15: 0xaf}, 3}, Dst: ID{[16]byte{0: 0xb0, 15: 0xbf}, -4},
		SrqID: 5, DrqID: 6, MsgLen: 7, LSRank: -8, Tag: 9, CID: 10, SeqNum: 11, Count: -12, Dtype: 13, Reserved: 14},
		[]byte{0xee, 0xff}}
	want := "00000001 00000002" +
		"a00000000000000000000000000000af 0000000000000003 b00000000000000000000000000000bf fffffffffffffffc" +
		"0000000000000005 0000000000000006 0000000000000007 fffffff8 00000009 000000000000000a" +
		"000000000000000b fffffffffffffff4 000000000000000d 000000000000000e eeff"
	if got := hex.EncodeToString(p.Bytes()); got != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got\n%s", got)
	}
	back, err := ReadPacket(bytes.NewReader(p.Bytes()), 2)
	if err != nil || back.Header != p.Header || !bytes.Equal(back.Data, p.Data) {
		t.Error(back, err)
	}
}

func TestImpossiblePacketsAreRefused(t *testing.T) {
	for name, h := range map[string]Header{
		"type": {Type: 8}, "pk_len above the maximum": {Len: 101, MsgLen: 200}, "pk_len above pk_msglen": {Len: 2, MsgLen: 1},
	} {
		if _, err := ReadPacket(bytes.NewReader(Packet{h, make([]byte, h.Len)}.Bytes()), 100); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	whole := Packet{Header{Len: 3, MsgLen: 3}, []byte("abc")}.Bytes()
	for n := range whole {
		_, err := ReadPacket(bytes.NewReader(whole[:n]), 100)
		if n == 0 != (err == io.EOF) || n > 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestHeadersWithoutDataHaveNoneWhateverTheySay(t *testing.T) {
	p := Packet{Header: Header{Type: 3, Len: 128, MsgLen: 128}}
	got, err := ReadPacket(bytes.NewReader(p.Bytes()), 10)
	if err != nil || got.Header != p.Header || got.Data != nil {
		t.Error(got, err)
	}
}

func TestCommandsHaveTheBytesOfTheText(t *testing.T) {
	for want, got := range map[string][]byte{
		"415554480000000400000002":                 Auth(2),
		"494d50490000000400000000":                 Impi(0),
		"434f4c4c000000080000110000000003":         Coll(0x1100, U32(3)),
		"434f4c4c0000000c000011000000000700000003": Broadcast(0x1100, 7, U32(3)),
		"464f4f00000000050102030405":               Cmd{0x464f4f00, []byte{1, 2, 3, 4, 5}}.Bytes(),
		"fffffffe0000000000000001":                 append(I32(-2), U64(1)...),
	} {
		if hex.EncodeToString(got) != want {
			t.Errorf("got %x, want %s", got, want)
		}
	}
	if _, err := ReadCmd(bytes.NewReader(append(U32(1), I32(-1)...)), 100); err == nil {
		t.Error("a negative length is accepted")
	}
	c, err := ReadCmd(bytes.NewReader(Coll(1, []byte{9})), 100)
	if err != nil || !bytes.Equal(c.Data, []byte{0, 0, 0, 1, 9}) {
		t.Error(c, err)
	}
}
