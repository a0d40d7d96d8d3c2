package main

import "C"

import (
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/topo"
)

// Intercommunicators (MPI 5.0, 7.6).

//export impi_Comm_remote_size
func impi_Comm_remote_size(comm, size uintptr) int32 {
	k := commQuery("MPI_Comm_remote_size", comm)
	k.result(size, "size")
	if k.inter(); k.err != nil {
		return k.fail()
	}
	put(size, int32(k.c.Ranks()))
	return 0
}

//export impi_Comm_remote_group
func impi_Comm_remote_group(comm, group uintptr) int32 {
	k := commQuery("MPI_Comm_remote_group", comm)
	k.result(group, "group")
	if k.inter(); k.err != nil {
		return k.fail()
	}
	return k.answer(saveGroup(k.c.RemoteGroup(), k.c.session), group)
}

// peer looks at what the leader of a group says about the other: significant only there.
func (k *check) peer(comm uintptr, leader, tag int32) *communicator {
	c := commOf(comm)
	if c == nil {
		k.isNot(abi.MPI_ERR_COMM, "a communicator", "peer_comm", comm)
		return nil
	}
	if uint32(leader) >= uint32(c.Ranks()) {
		k.set(abi.MPI_ERR_RANK, "argument remote_leader is %d, and %s has ranks 0 to %d", leader, c, c.Ranks()-1)
	}
	k.sendTag(tag, "tag")
	return c
}

//export impi_Intercomm_create
func impi_Intercomm_create(local_comm uintptr, local_leader int32, peer_comm uintptr, remote_leader, tag int32,
	newintercomm uintptr) int32 {
	k := commQuery("MPI_Intercomm_create", local_comm)
	k.result(newintercomm, "newintercomm")
	k.intra()
	if k.err == nil && uint32(local_leader) >= uint32(k.c.Size()) {
		k.badRank(local_leader, "local_leader")
	}
	peer := k.c
	if k.err == nil && k.c.Rank() == int(local_leader) {
		peer = k.peer(peer_comm, remote_leader, tag)
	}
	if k.err != nil {
		return k.fail()
	}
	k.agreeOn(func() []coll.Value {
		return []coll.Value{coll.Number("argument local_leader", abi.MPI_ERR_RANK, int64(local_leader))}
	})
	if started().thread != abi.MPI_THREAD_MULTIPLE { // otherwise leaders may meet several times at once, by their tags
		var differs error
		if k.err != nil {
			differs = k.err
		}
		k.err = libimpi.AsError(k.c.AgreeOnTag(differs, int(local_leader), peer.Comm, int(remote_leader), tag))
	}
	if k.err != nil {
		return k.fail()
	}
	c, err := k.c.CreateInter(int(local_leader), peer.Comm, int(remote_leader), tag)
	return k.made(c, err, newintercomm)
}

//export impi_Intercomm_merge
func impi_Intercomm_merge(intercomm uintptr, high int32, newintracomm uintptr) int32 {
	k := commQuery("MPI_Intercomm_merge", intercomm)
	k.result(newintracomm, "newintracomm")
	if k.inter(); !k.agreeOn(func() []coll.Value {
		return []coll.Value{coll.Flag("argument high", abi.MPI_ERR_ARG, high != 0)}
	}) {
		return k.fail()
	}
	c, err := k.c.Merge(high != 0)
	return k.made(c, err, newintracomm)
}

// With IMPI_CHECK=1 the members of a communicator, window or file compare what they call before they do it
// (libimpi/verify.go). Here stands what they compare of calls that are no operations on data. An argument that is wrong
// by itself is an error of its rank alone, which does not compare.

// agree compares a call on a communicator. say adds to what this rank says of it; nil: nothing. It reports whether the
// call may go on.
func (k *check) agree(say func(*coll.Call)) bool {
	if k.err != nil || !k.c.Verifies() {
		return k.err == nil
	}
	return k.compare(k.c.Comm, "", say)
}

// agreeOn is agree that names what must be alike.
func (k *check) agreeOn(values func() []coll.Value) bool {
	return k.agree(func(c *coll.Call) { c.Values = values() })
}

// agreeRoot is agree for a call with a root.
func (k *check) agreeRoot(root int32) bool { return k.agree(func(c *coll.Call) { c.Root = int(root) }) }

// agreeWindow is agree for a call on a window.
func (k *check) agreeWindow(values func() []coll.Value) bool {
	if k.err != nil || !k.w.Comm().Verifies() {
		return k.err == nil
	}
	name := k.w.Name
	if name == "" {
		name = "a window"
	}
	return k.compare(k.w.Comm(), name, func(c *coll.Call) {
		if values != nil {
			c.Values = values()
		}
	})
}

func (k *check) compare(on *libimpi.Comm, name string, say func(*coll.Call)) bool {
	call := coll.Call{Routine: coll.Function(k.fn)}
	if say != nil {
		say(&call)
	}
	k.err = libimpi.AsError(on.SameCall(name, call))
	return k.err == nil
}

// alikeWindows is what all members have to say alike when they make a window: the info keys that are about all of it,
// and what two of those promise.
func (m *making) alikeWindows() []coll.Value {
	var keys []string
	for _, key := range windowKeys {
		if v := m.hints.values.Find(key.key); v != nil && key.all && *v != key.value {
			keys = append(keys, key.key+"="+*v)
		}
	}
	values := []coll.Value{coll.Text("argument info", abi.MPI_ERR_INFO_VALUE, strings.Join(keys, " "))}
	if m.hints.is("same_size", "true") {
		values = append(values, coll.Number("argument size, with same_size=true,", abi.MPI_ERR_SIZE, m.config.Size))
	}
	if m.hints.is("same_disp_unit", "true") {
		values = append(values, coll.Number("argument disp_unit, with same_disp_unit=true,", abi.MPI_ERR_DISP,
			m.config.Unit))
	}
	return values
}

// agreeEdges compares the edges of a distributed graph: those that a rank gives as going to another are those that the
// other gives as coming from it.
func (k *check) agreeEdges(t *topo.DistGraph, reorder bool) bool {
	ends := func(ranks, weights []int32) func(int) (hash, n int64) {
		return func(r int) (hash, n int64) {
			var of []int32
			for i, other := range ranks {
				if int(other) != r {
					continue
				}
				if n++; i < len(weights) {
					of = append(of, weights[i])
				}
			}
			slices.Sort(of)
			for _, w := range of { // never 0, which would match all
				hash = (hash*1000003 + int64(w) + 1) & (1<<62 - 1)
			}
			return hash | 1<<62, n
		}
	}
	return k.agree(func(c *coll.Call) {
		c.Values = graphValues(t.Weighted, reorder)
		c.Paired = true
		c.Given, c.Expects = ends(t.Destinations, t.DestWeights), ends(t.Sources, t.SourceWeights)
	})
}

// graphValues is what all ranks say alike of a distributed graph.
func graphValues(weighted, reorder bool) []coll.Value {
	return []coll.Value{coll.Flag("whether there are weights", abi.MPI_ERR_ARG, weighted),
		coll.Flag("argument reorder", abi.MPI_ERR_ARG, reorder)}
}

// agreeFile is agree for a call on a file, in which ranks take part whose arguments were refused.
func (k *check) agreeFile(values []coll.Value) bool {
	k.err = libimpi.AsError(k.f.Agree(k.fn, values))
	if k.err == nil {
		for _, v := range values {
			if v.Arg == underWay && v.On() {
				k.set(abi.MPI_ERR_OTHER, "%s", "access to the file is under way: complete it first")
			}
		}
	}
	return k.err == nil
}

// differs is a number that all members of a file have to give.
func differs(arg string, n int64) coll.Value { return coll.Number(arg, abi.MPI_ERR_NOT_SAME, n) }

// nothingAlike is for calls without arguments that could differ.
func nothingAlike(*openFile) []coll.Value { return nil }

const underWay = "whether access to the file is under way"

// pending is whether the program has begun access to the file that it has not completed.
func (f *openFile) pending() coll.Value {
	return coll.Flag(underWay, abi.MPI_ERR_NOT_SAME, f.split.fn != "" || f.Pending())
}

// sameHints are the info keys of files for which all members give the same value (MPI 5.0, 14.2.8).
var sameHints = [...]string{"collective_buffering", "cb_block_size", "cb_buffer_size", "cb_nodes", "chunked",
	"chunked_item", "chunked_size", "file_perm", "io_node_list", "nb_proc", "num_io_nodes", "striping_factor",
	"striping_unit"}

// alikeHints is what an info argument says for these keys.
func alikeHints(i *info) coll.Value {
	var given []string
	for _, key := range sameHints {
		if v, ok := i.hint(key); ok {
			given = append(given, key+"="+v)
		}
	}
	return coll.Text("argument info", abi.MPI_ERR_NOT_SAME, strings.Join(given, " "))
}
