// Package startup makes a script of what a person has chosen on the page: a job that starts up and ends, and nothing
// else (the specification's 5.1, "Run Startup Only").
//
//	form.go             what can be chosen, and within which bounds
//	text.go             its script
//	start-up.star.tmpl  what that is made of
package startup

import (
	"fmt"
	"strconv"

	"github.com/libimpi/libimpi/transport/wire"
)

// Name is what the case is called, and File its script.
const (
	Name = "start-up/only"
	File = "start-up.star"
)

// Form is a configuration. A nil number is the default.
type Form struct {
	Server    string // who runs it: Tester, Implementation, or Both where that is a client, too
	Clients   int    // of the tester
	Hosts     int    // of each of these
	Procs     int    // of each of these hosts
	Rank      int    // of the client under test, among all clients
	Own       int    // processes of the client under test
	Auth      string // Key or None
	DataLen   *int64 // what the tester's clients contribute
	TagUB     *int64
	AckMark   *int64
	HiWater   *int64
	XSize     *int64 // what all clients contribute
	MaxLinear *int64
}

// Words of a form.
const (
	Tester         = "tester"
	Implementation = "implementation"
	Both           = "both"
	Key            = "key"
	None           = "none"
)

// Field is a number of the form.
type Field struct {
	Name     string // of the input
	Label    string
	Hint     string
	Min, Max int64
	Default  string // "": the protocol's
	Value    string
	Problem  string
}

// Fields are all numbers, in the order of the page: first those of the job, then those that are negotiated.
func Fields() (job, negotiated []Field) {
	return []Field{
			{Name: "clients", Label: "Clients of the tester", Min: 0, Max: wire.MaxClients, Default: "1"},
			{Name: "hosts", Label: "Hosts of each", Min: 1, Max: 8, Default: "1"},
			{Name: "procs", Label: "Processes of each host", Min: 1, Max: 16, Default: "1"},
			{Name: "rank", Label: "Rank of the client under test", Min: 0, Max: wire.MaxClients - 1, Default: "0",
				Hint: "the tester's clients have the other ranks"},
			{Name: "own", Label: "Processes of the client under test", Min: 1, Max: 64, Default: "1"},
		}, []Field{
			{Name: "datalen", Label: "C_DATALEN", Hint: "bytes; default 65536", Min: 1, Max: 1 << 20},
			{Name: "tagub", Label: "C_TAGUB", Hint: "default 2147483647", Min: 32767, Max: int64(wire.MaxTagUB)},
			{Name: "ackmark", Label: "H_ACKMARK", Hint: "packets; default 10", Min: 1, Max: 1 << 20},
			{Name: "hiwater", Label: "H_HIWATER", Hint: "packets; default 20", Min: 1, Max: 1 << 20},
			{Name: "xsize", Label: "C_COLL_XSIZE", Hint: "bytes; default 1024; of all clients, needs -values", Min: 0,
				Max: 1<<31 - 1},
			{Name: "maxlinear", Label: "C_COLL_MAXLINEAR", Hint: "clients; default 4; of all clients, needs -values", Min: 0,
				Max: 1<<31 - 1},
		}
}

// Read reads a form. The fields have their values afterwards, and problems where there are any; ok: there are none.
func Read(value func(name string) string) (f Form, job, negotiated []Field, ok bool) {
	job, negotiated = Fields()
	ok = true
	read := func(x *Field) *int64 {
		if x.Value = value(x.Name); x.Value == "" {
			x.Value = x.Default
		}
		if x.Value == "" {
			return nil
		}
		n, err := strconv.ParseInt(x.Value, 10, 64)
		if err != nil || n < x.Min || n > x.Max {
			x.Problem, ok = fmt.Sprintf("%s must be a number from %d to %d", x.Label, x.Min, x.Max), false
		}
		return &n
	}
	for i, into := range []*int{&f.Clients, &f.Hosts, &f.Procs, &f.Rank, &f.Own} {
		*into = int(*read(&job[i]))
	}
	for i, into := range []**int64{&f.DataLen, &f.TagUB, &f.AckMark, &f.HiWater, &f.XSize, &f.MaxLinear} {
		*into = read(&negotiated[i])
	}
	f.Server, f.Auth = choice(value("server"), Tester, Implementation, Both), choice(value("auth"), Key, None)
	f.fits(job, negotiated, &ok)
	return f, job, negotiated, ok
}

// fits notes numbers that do not go together.
func (f *Form) fits(job, negotiated []Field, ok *bool) {
	wrong := func(x *Field, format string, args ...any) {
		if x.Problem == "" {
			x.Problem, *ok = fmt.Sprintf(format, args...), false
		}
	}
	if f.Server != Implementation {
		if f.Clients >= wire.MaxClients {
			wrong(&job[0], "with the client under test there are at most %d clients", wire.MaxClients)
		}
		if f.Rank > f.Clients {
			wrong(&job[3], "the rank must be below the number of all clients, %d", f.Clients+1)
		}
	}
	if f.Server != Tester && f.Clients == 0 {
		wrong(&job[0], "with the implementation's server the tester has at least one client")
	}
	if f.Server == Both && f.Auth == None {
		wrong(&job[0], "with the implementation's client at its server ours prove themselves by IMPI_AUTH_KEY")
	}
	for i := range negotiated[4:] {
		if x := &negotiated[4+i]; f.Server == Both && x.Value != "" {
			wrong(x, "with the implementation's client at its server %s is the default", x.Label)
		}
	}
	if f.Clients*f.Hosts > maxHosts {
		wrong(&job[1], "the tester plays at most %d hosts", maxHosts)
	}
	ack, high := int64(wire.DefaultAckMark), int64(wire.DefaultHiWater)
	if f.AckMark != nil {
		ack = *f.AckMark
	}
	if f.HiWater != nil {
		high = *f.HiWater
	}
	if ack > high {
		wrong(&negotiated[2], "H_ACKMARK must be at most H_HIWATER, %d", high)
	}
}

// maxHosts bounds the hosts that the tester plays: each has connections to all of the implementation's.
const maxHosts = 64

func choice(got string, list ...string) string {
	for _, x := range list {
		if got == x {
			return x
		}
	}
	return list[0]
}
