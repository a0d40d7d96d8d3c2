package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

// Communicators of groups, without a parent (MPI 5.0, 7.4.2 and 7.6.2). Errors are raised by the error handler that
// the new communicator is to have.

// fromGroup is what the two constructors have in common.
type fromGroup struct {
	check
	handler *errhandler
	tag     string
	with    *info
}

func fromGroupArgs(fn string, stringtag, info, errhandler uintptr) (k fromGroup) {
	k.fn = fn
	if k.notStarted() {
		return k
	}
	if k.handler = k.errhandler(errhandler); k.handler != nil {
		k.s = &session{handle: abi.MPI_COMM_NULL}
		k.s.handler.Store(k.handler)
	}
	k.with = k.info(info)
	if k.result(stringtag, "stringtag"); k.err == nil {
		k.tag = text(stringtag, abi.MPI_MAX_STRINGTAG_LEN)
	}
	if len(k.tag) >= abi.MPI_MAX_STRINGTAG_LEN {
		k.set(abi.MPI_ERR_ARG, "argument stringtag has more than %d characters", abi.MPI_MAX_STRINGTAG_LEN-1)
	}
	return k
}

// member looks whether the caller belongs to its group, and its leader does.
func (k *fromGroup) member(g *libimpi.Group, arg string) {
	if g != nil && g.Rank(engine().Me()) == abi.MPI_UNDEFINED {
		k.set(abi.MPI_ERR_GROUP, "the calling process is not in argument %s", arg)
	}
}

func (k *fromGroup) leader(rank int32, g *libimpi.Group, arg string) {
	if g != nil && uint32(rank) >= uint32(g.Size()) {
		k.set(abi.MPI_ERR_RANK, "argument %s is %d, and the group has ranks 0 to %d", arg, rank, g.Size()-1)
	}
}

// publish stores the new communicator, one of the session of its group.
func (k *fromGroup) publish(c *libimpi.Comm, err error, group, out uintptr) int32 {
	if err != nil {
		return k.failed(err)
	}
	newHandle(c, k.handler, sessionOfGroup(group), out).hints.take(k.with)
	return 0
}

//export impi_Comm_create_from_group
func impi_Comm_create_from_group(group, stringtag, info, errhandler, newcomm uintptr) int32 {
	k := fromGroupArgs("MPI_Comm_create_from_group", stringtag, info, errhandler)
	if k.result(newcomm, "newcomm"); k.err != nil {
		return k.fail()
	}
	g := k.group(group, "group")
	if g != nil && g.Size() == 0 { // nobody to meet
		put[uintptr](newcomm, abi.MPI_COMM_NULL)
		return 0
	}
	if k.member(g, "group"); k.err != nil {
		return k.fail()
	}
	c, err := engine().CreateFromGroup(g, k.tag)
	return k.publish(c, err, group, newcomm)
}

//export impi_Intercomm_create_from_groups
func impi_Intercomm_create_from_groups(local_group uintptr, local_leader int32, remote_group uintptr,
	remote_leader int32, stringtag, info, errhandler, newintercomm uintptr) int32 {
	k := fromGroupArgs("MPI_Intercomm_create_from_groups", stringtag, info, errhandler)
	if k.result(newintercomm, "newintercomm"); k.err != nil {
		return k.fail()
	}
	local := k.group(local_group, "local_group")
	k.member(local, "local_group")
	if k.leader(local_leader, local, "local_leader"); k.err != nil {
		return k.fail()
	}
	var remote *libimpi.Group
	if local.Rank(engine().Me()) == int(local_leader) {
		remote = k.group(remote_group, "remote_group")
		if k.leader(remote_leader, remote, "remote_leader"); k.err != nil {
			return k.fail()
		}
	}
	c, err := engine().CreateInterFromGroups(local, int(local_leader), remote, int(remote_leader), k.tag)
	return k.publish(c, err, local_group, newintercomm)
}
