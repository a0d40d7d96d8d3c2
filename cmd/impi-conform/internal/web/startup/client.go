package startup

import (
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// asServer is the job in which the tester runs the server.
func (f Form) asServer(t *conform.T) {
	s := f.setup()
	j := peer.Begin(t, s)
	if f.Auth == Key {
		j.Join()
	} else {
		j.Accept()
		auth := j.Expect(wire.CmdAuth)
		if len(auth.Data) < 4 || codec.GetU32(auth.Data)&wire.AuthNoneMask == 0 {
			t.Fatalf("IMPI_AUTH_NONE is set and the client does not offer it: AUTH has % x", auth.Data)
		}
		j.Say(codec.I32(wire.AuthNone, 0))
		j.ReadRank()
		j.Say(codec.Impi(int32(j.Clients)))
	}
	j.Exchange()
	if f.Clients == 0 {
		j.Fini()
		j.Exit(0)
		return
	}
	j.Mesh()
	j.Finish()
}

func (f Form) setup() peer.Setup {
	s := peer.Setup{Rank: f.Rank, Procs: f.Own, Env: f.env()}
	for range f.Clients {
		hosts := make([]int, f.Hosts)
		for i := range hosts {
			hosts[i] = f.Procs
		}
		s.Others = append(s.Others, hosts)
	}
	s.DataLen, s.TagUB = uint32(number(f.DataLen, 0)), int32(number(f.TagUB, 0))
	s.AckMark, s.HiWater = uint32(number(f.AckMark, 0)), uint32(number(f.HiWater, 0))
	if f.XSize != nil || f.MaxLinear != nil {
		x, m := int32(number(f.XSize, int64(wire.DefaultXSize))), int32(number(f.MaxLinear, int64(wire.DefaultMaxLinear)))
		s.Told, s.XSize, s.MaxLinear = true, &x, &m
	}
	return s
}

// env enables the authentication; a slice with room, to which peer adds.
func (f Form) env() []string {
	if f.Auth == None {
		return []string{"IMPI_AUTH_NONE="}
	}
	return nil
}

func number(n *int64, otherwise int64) int64 {
	if n == nil {
		return otherwise
	}
	return *n
}
