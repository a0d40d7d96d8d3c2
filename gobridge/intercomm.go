package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi"
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
