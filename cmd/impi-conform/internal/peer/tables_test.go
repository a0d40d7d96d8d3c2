package peer

import (
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

func TestValuesOfTheClientMustBePossible(t *testing.T) {
	const others = "what the others have contributed, or -1 for the default"
	seven := int32(7)
	for _, x := range []struct {
		label wire.Label
		data  []byte
		setup Setup
		want  string
	}{
		{wire.CDataLen, codec.U32(1), Setup{}, ""},
		{wire.CDataLen, codec.U32(1<<32 - 1), Setup{}, ""},
		{wire.CDataLen, codec.U32(0), Setup{}, "at least 1"},
		{wire.CTagUB, codec.I32(32767), Setup{}, ""},
		{wire.CTagUB, codec.I32(32766), Setup{}, "at least 32767"},
		{wire.CTagUB, codec.I32(-5), Setup{}, "at least 32767"},
		{wire.CCollXSize, codec.I32(-1), Setup{}, ""},
		{wire.CCollXSize, codec.I32(wire.DefaultXSize), Setup{}, ""},
		{wire.CCollXSize, codec.I32(7), Setup{}, others},
		{wire.CCollXSize, codec.I32(7), Setup{XSize: &seven}, ""},
		{wire.CCollXSize, codec.I32(-2), Setup{}, others},
		{wire.CCollMaxLinear, codec.I32(-1), Setup{}, ""},
		{wire.CCollMaxLinear, codec.I32(-1), Setup{MaxLinear: &seven}, others},
		{wire.HPort, codec.U32(1, 65535), Setup{}, ""},
		{wire.HPort, codec.U32(1, 0), Setup{}, "between 1 and 65535"},
		{wire.HPort, codec.U32(65536), Setup{}, "between 1 and 65535"},
		{wire.HAckMark, codec.U32(1, 0), Setup{}, "at least 1"},
		{wire.HHiWater, codec.U32(10, 20), Setup{}, ""},
		{wire.HHiWater, codec.U32(20, 19), Setup{}, "at least ackmark, 10 20"},
	} {
		j := &Job{Setup: x.setup, Labels: map[wire.Label][]byte{wire.HAckMark: codec.U32(10, 20), x.label: x.data}}
		if got := j.possible(x.label); got != x.want {
			t.Errorf("%v %s: %q, must be %q", x.label, x.label.Text(x.data), got, x.want)
		}
	}
}
