package startup

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/libimpi/libimpi/transport/wire"
)

//go:embed start-up.star.tmpl
var source string

var texts = template.Must(template.New("").Parse(source))

// view is what the templates see.
type view struct {
	Name, About, Needs    string
	Key, Joint            bool // authentication by the key; the client under test is at the implementation's server
	Clients, Hosts, Procs int
	Settings              []string // of job()
	// What a client of ours contributes.
	DataLen, TagUB, XSize, MaxLinear, AckMark, HiWater int64
}

// Script is the script of a form that was read without problems. It has one case, Name.
func (f Form) Script() string {
	v := view{Name: Name, Key: f.Auth == Key, Joint: f.Server == Both, Clients: f.Clients, Hosts: f.Hosts,
		Procs: f.Procs, Settings: f.settings(),
		DataLen: number(f.DataLen, int64(wire.DefaultDataLen)), TagUB: number(f.TagUB, int64(wire.MaxTagUB)),
		XSize: number(f.XSize, int64(wire.Unset)), MaxLinear: number(f.MaxLinear, int64(wire.Unset)),
		AckMark: number(f.AckMark, int64(wire.DefaultAckMark)), HiWater: number(f.HiWater, int64(wire.DefaultHiWater))}
	which := "client"
	if f.Server == Implementation {
		which = "server"
		v.About = fmt.Sprintf("the implementation's server starts a job of %d clients, and all end in order", f.Clients)
	} else {
		v.About = fmt.Sprintf("the implementation starts up as client %d of %d with %d processes, and all end in order",
			f.Rank, f.Clients+1, f.Own)
		v.Needs = "client"
		switch {
		case v.Joint:
			v.Needs = "both"
		case f.told():
			v.Needs = "values"
		}
	}
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, which, v); err != nil {
		panic(err) // the tests go through all of it
	}
	return strings.TrimLeft(b.String(), "\n")
}

// told reports whether the client under test is told values.
func (f Form) told() bool { return f.XSize != nil || f.MaxLinear != nil }

// settings are those of job().
func (f Form) settings() (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	client := "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d, ", f.Procs), f.Hosts), ", ") + "]"
	add("rank = %d", f.Rank)
	add("procs = %d", f.Own)
	add("others = [%s] * %d", client, f.Clients)
	for _, x := range []struct {
		name  string
		value *int64
	}{{"datalen", f.DataLen}, {"tagub", f.TagUB}, {"ackmark", f.AckMark}, {"hiwater", f.HiWater}} {
		if x.value != nil {
			add("%s = %d", x.name, *x.value)
		}
	}
	if f.told() {
		add("told = True")
		add("xsize = %d", number(f.XSize, int64(wire.DefaultXSize)))
		add("maxlinear = %d", number(f.MaxLinear, int64(wire.DefaultMaxLinear)))
	}
	if f.Server == Both {
		add("their_server = True")
	}
	if f.Auth == None {
		add("env = [\"IMPI_AUTH_NONE=\"]")
	}
	return list
}

func number(n *int64, otherwise int64) int64 {
	if n == nil {
		return otherwise
	}
	return *n
}
