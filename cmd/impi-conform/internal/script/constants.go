package script

import (
	"fmt"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/transport/wire"

	"go.starlark.net/starlark"
)

// constant is a number with a name.
type constant struct {
	name  string
	value uint64
}

// group is constants of one sort.
type group struct {
	about     string
	constants []constant
}

func constants() []group {
	types := group{about: "packet types (3.5)"}
	for t := wire.PkData; t <= wire.PkFini; t++ {
		types.constants = append(types.constants, constant{codec.TypeName(t), uint64(t)})
	}
	labels := group{about: "labels (2.3.5); LABELS is the list of them, in ascending order"}
	for _, l := range wire.Labels {
		labels.constants = append(labels.constants, constant{l.String(), uint64(l)})
	}
	return []group{types,
		{"commands (2.3.2)", []constant{{"CMD_AUTH", uint64(wire.CmdAuth)}, {"CMD_IMPI", uint64(wire.CmdImpi)},
			{"CMD_COLL", uint64(wire.CmdColl)}, {"CMD_DONE", uint64(wire.CmdDone)}, {"CMD_FINI",
				uint64(wire.CmdFini)}}},
		labels,
		{"authentication methods, their bits in a mask, and the IMPI_AUTH_KEY of all jobs (2.3.3)", []constant{
			{"AUTH_NONE", uint64(wire.AuthNone)}, {"AUTH_KEY", uint64(wire.AuthKey)},
			{"AUTH_NONE_MASK", uint64(wire.AuthNoneMask)}, {"AUTH_KEY_MASK", uint64(wire.AuthKeyMask)}, {"KEY",
				target.Key}}},
		{"tags of collectives (4.2)", []constant{{"TAG_BARRIER", uint64(wire.TagBarrier)}, {"TAG_BCAST",
			uint64(wire.TagBcast)},
			{"TAG_REDUCE", uint64(wire.TagReduce)}, {"TAG_DUP", uint64(wire.TagDup)}, {"TAG_MERGE",
				uint64(wire.TagMerge)},
			{"TAG_COMM_FREE", uint64(wire.TagCommFree)}}},
		{"the highest context id (4.3.1), the default crossover in bytes and the default linear limit in clients " +
			"(4.25)", []constant{
			{"MAX_CID", wire.MaxCID}, {"XSIZE", uint64(wire.DefaultXSize)}, {"MAXLINEAR",
				uint64(wire.DefaultMaxLinear)}}},
	}
}

// functions are all builtins, in the order of the manual.
func functions() []function {
	return slices.Concat([]function{caseFunction(), jobFunction(), beginFunction(), startFunction()}, verdictFunctions(),
		packetFunctions(), byteFunctions(), planFunctions(), serverFunctions())
}

var (
	named sync.Once
	names starlark.StringDict
)

// predeclared is what every file knows.
func predeclared() starlark.StringDict {
	named.Do(func() {
		names = guarded()
		for _, g := range constants() {
			for _, c := range g.constants {
				names[c.name] = starlark.MakeUint64(c.value)
			}
		}
		var labels []starlark.Value
		for _, l := range wire.Labels {
			labels = append(labels, starlark.MakeInt(int(l)))
		}
		names["LABELS"] = starlark.NewList(labels)
		for _, f := range functions() {
			p := f.parse(false)
			if names[p.name] != nil {
				panic(fmt.Sprintf("there are two %s", p.name))
			}
			names[p.name] = p.builtin(nil)
		}
		names.Freeze()
	})
	return names
}
