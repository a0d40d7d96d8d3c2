package options

import (
	"fmt"
	"math"
	"strconv"

	"github.com/libimpi/libimpi/transport/wire"
)

// Values are what the user wants this client to contribute to the labels of IMPI 0.0, 2.3.5. What becomes of them
// is negotiated: of the first four the least of all clients holds, the next two must be the same everywhere. nil
// leaves a value to the defaults.
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

// value is one of them: its option, its variable, its limits.
type value struct {
	name, env string
	low, high int
	at        func(*Values) **int
	help      string
}

var values = []value{
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

// valueOptions are the rows of the table for them.
func valueOptions() []option {
	list := make([]option, len(values))
	for i := range values {
		v := &values[i]
		list[i] = option{names: []string{v.name}, values: []string{"V"}, help: v.help + " (" + v.env + ")",
			apply: func(p *parser, words []string) error { return v.set(&p.plan.Values, words[0]) }}
	}
	return list
}

// fromEnv reads the variables; options that come later win.
func (to *Values) fromEnv(getenv func(string) string) error {
	for i := range values {
		v := &values[i]
		if word := getenv(v.env); word != "" {
			if err := v.set(to, word); err != nil {
				return fmt.Errorf("%s: %v", v.env, err)
			}
		}
	}
	return nil
}

func (v *value) set(to *Values, word string) error {
	n, err := strconv.Atoi(word)
	if err != nil || n < v.low || n > v.high {
		return fmt.Errorf("%q is not a number from %d to %d", word, v.low, v.high)
	}
	*v.at(to) = &n
	return nil
}

// settleValues refuses values that nobody would hear of, and marks that contradict each other.
func (p *parser) settleValues() error {
	plan := &p.plan
	for i := range values {
		if p.seen[values[i].name] && plan.Mode != Client && !plan.Explain && plan.Clients == 0 {
			return fmt.Errorf("-%s goes with -client or -clients: a job of one client negotiates nothing", values[i].name)
		}
	}
	if a, h := plan.Values.AckMark, plan.Values.HiWater; a != nil && h != nil && *a > *h {
		return fmt.Errorf("-ackmark %d: above -hiwater %d, nobody would ever acknowledge", *a, *h)
	}
	return nil
}

// String names the values that are set.
func (v *Values) String() string {
	text := ""
	for i := range values {
		if n := *values[i].at(v); n != nil {
			text += fmt.Sprintf(" %s %d", values[i].name, *n)
		}
	}
	return text
}
