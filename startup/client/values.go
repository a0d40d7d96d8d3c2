package client

import (
	"fmt"
	"math"
	"strconv"

	"github.com/libimpi/libimpi/transport/wire"
)

// Values are what a user wants this client to contribute to the labels of IMPI 0.0, 2.3.5. What becomes of them is
// negotiated: of the first four the least of all clients holds, the next two must be the same everywhere. nil leaves a
// value to the defaults.
type Values struct {
	DataLen   *int // C_DATALEN, bytes
	TagUB     *int // C_TAGUB
	AckMark   *int // H_ACKMARK, packets
	HiWater   *int // H_HIWATER, packets
	XSize     *int // C_COLL_XSIZE, bytes
	MaxLinear *int // C_COLL_MAXLINEAR, clients
	Streams   *int // connections between two hosts; clients of this library alone agree on more than one
}

// maxDataLen bounds C_DATALEN, in bytes: every connection has a buffer of that size.
const maxDataLen = 16 << 20

// Value is one of them: its option of impirun, its variable, its limits.
type Value struct {
	Name, Env string
	Low, High int
	at        func(*Values) **int
	Help      string
}

// AllValues are all of them.
var AllValues = []Value{
	{"datalen", "IMPI_DATALEN", 1, maxDataLen, func(v *Values) **int { return &v.DataLen },
		"bytes in a packet between clients; the smallest value of all clients applies"},
	{"ackmark", "IMPI_ACKMARK", 1, math.MaxInt32, func(v *Values) **int { return &v.AckMark },
		"packets after which a process acknowledges; the smallest value applies"},
	{"hiwater", "IMPI_HIWATER", 1, math.MaxInt32, func(v *Values) **int { return &v.HiWater },
		"packets that may wait for an acknowledgement; the smallest value applies"},
	{"tagub", "IMPI_TAGUB", int(wire.MinTagUB), int(wire.MaxTagUB), func(v *Values) **int { return &v.TagUB },
		"largest tag (MPI_TAG_UB); the smallest value applies"},
	{"xsize", "IMPI_XSIZE", int(wire.Unset), math.MaxInt32, func(v *Values) **int { return &v.XSize },
		"bytes from which collectives between clients use their long forms; the same at all clients, -1 for the " +
			"default"},
	{"maxlinear", "IMPI_MAXLINEAR", int(wire.Unset), math.MaxInt32, func(v *Values) **int { return &v.MaxLinear },
		"clients up to which collectives use no trees; the same at all clients, -1 for the default"},
	{"streams", "IMPI_STREAMS", 1, int(wire.MaxStreams), func(v *Values) **int { return &v.Streams },
		"TCP connections between each two hosts, for long distances that lose packets; the smaller value of two " +
			"clients applies, 1 if one is not libimpi"},
}

// FromEnv reads the variables.
func (to *Values) FromEnv(getenv func(string) string) error {
	for i := range AllValues {
		v := &AllValues[i]
		if word := getenv(v.Env); word != "" {
			if err := v.Set(to, word); err != nil {
				return fmt.Errorf("%s: %v", v.Env, err)
			}
		}
	}
	return nil
}

// Set reads the text of a value.
func (v *Value) Set(to *Values, word string) error {
	n, err := strconv.Atoi(word)
	if err != nil || n < v.Low || n > v.High {
		return fmt.Errorf("%q is not a number from %d to %d", word, v.Low, v.High)
	}
	*v.at(to) = &n
	return nil
}

// Get returns the text of a value, and whether there is one.
func (v *Value) Get(of *Values) (text string, given bool) {
	if n := *v.at(of); n != nil {
		return strconv.Itoa(*n), true
	}
	return "", false
}

// Check refuses marks that contradict each other.
func (v *Values) Check() error {
	if a, h := v.AckMark, v.HiWater; a != nil && h != nil && *a > *h {
		return fmt.Errorf("ackmark %d: above hiwater %d, nobody would ever acknowledge", *a, *h)
	}
	return nil
}

// String names the values that are set.
func (v *Values) String() string {
	text := ""
	for i := range AllValues {
		if n, given := AllValues[i].Get(v); given {
			text += " " + AllValues[i].Name + " " + n
		}
	}
	return text
}

// Connections returns how many connections there are to be between two hosts.
func (v *Values) Connections() int { return orElse(v.Streams, 1) }

// Contribution is what a client with these values and hosts tells the others. own is what goes beyond IMPI 0.0, but for
// what the values say; nil: nothing does.
func (v *Values) Contribution(own *wire.Own, hosts ...Host) Contribution {
	c := Default(hosts...)
	if c.Own = own; own != nil {
		if v.DataLen != nil {
			own.Stream = 0 // the user has a length in mind
		}
		own.Streams = uint32(v.Connections())
	}
	c.DataLen, c.TagUB = uint32(orElse(v.DataLen, 0)), int32(orElse(v.TagUB, 0))
	c.XSize, c.MaxLinear = int32(orElse(v.XSize, int(wire.Unset))), int32(orElse(v.MaxLinear, int(wire.Unset)))
	ackMark, hiWater := orElse(v.AckMark, 0), orElse(v.HiWater, 0)
	if ackMark == 0 && hiWater == 0 {
		ackMark, hiWater = wideAckMark, wideHiWater
	}
	for i := range c.Hosts {
		c.Hosts[i].AckMark, c.Hosts[i].HiWater = uint32(ackMark), uint32(hiWater)
	}
	return c
}

// The window that a client proposes for a pair of processes, in packets of the usual length: wide enough for what a
// fast network carries in a tenth of a second. The job uses the least that any client proposes; IMPI's defaults are 10
// and 20.
const (
	wideAckMark = 32
	wideHiWater = 192
)

func orElse(v *int, otherwise int) int {
	if v == nil {
		return otherwise
	}
	return *v
}
