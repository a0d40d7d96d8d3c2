package main

import "C"

import (
	"strings"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/topo"
)

// Splitting by kind of process, and what is known of the hardware (MPI 5.0, 7.4.2 and 9.1.2). Types of resources are
// URIs whose scheme says whose names they are: hwloc's.

const (
	resourceType   = "mpi_hw_resource_type"
	psetName       = "mpi_pset_name"
	sharedMemory   = "mpi_shared_memory" // a type of resource that the standard names
	resourceScheme = "hwloc://"
)

//export impi_Comm_split_type
func impi_Comm_split_type(comm uintptr, split_type, key int32, info, newcomm uintptr) int32 {
	k := commQuery("MPI_Comm_split_type", comm)
	k.result(newcomm, "newcomm")
	hints := k.info(info)
	switch split_type {
	case abi.MPI_UNDEFINED, abi.MPI_COMM_TYPE_SHARED, abi.MPI_COMM_TYPE_HW_GUIDED, abi.MPI_COMM_TYPE_HW_UNGUIDED,
		abi.MPI_COMM_TYPE_RESOURCE_GUIDED:
	default:
		k.set(abi.MPI_ERR_ARG, "argument split_type is %d", split_type)
	}
	if !k.agreeOn(func() []coll.Value {
		if split_type == abi.MPI_UNDEFINED {
			return []coll.Value{coll.Anything("argument split_type", abi.MPI_ERR_ARG)}
		}
		return []coll.Value{coll.Number("argument split_type", abi.MPI_ERR_ARG, int64(split_type))}
	}) {
		return k.fail()
	}
	c, err := splitType(k.c, split_type, key, hints)
	if err != nil {
		return k.failed(err)
	}
	publish(c, k.c, newcomm)
	return 0
}

// splitType returns the caller's new communicator, nil if it is in none.
func splitType(c *communicator, splitType, key int32, hints *info) (*libimpi.Comm, error) {
	switch splitType {
	case abi.MPI_COMM_TYPE_SHARED:
		return c.Split(c.MachineColor(), key)
	case abi.MPI_COMM_TYPE_HW_GUIDED:
		return splitGuided(c, key, hints)
	case abi.MPI_COMM_TYPE_RESOURCE_GUIDED:
		if name, given := hints.hint(psetName); given {
			return splitSet(c, key, name)
		}
		return splitGuided(c, key, hints)
	case abi.MPI_COMM_TYPE_HW_UNGUIDED:
		made, typ, err := c.SplitUnguided(key)
		if made != nil && hints != nil {
			hints.set(resourceType, resourceScheme+typ)
		}
		return made, err
	}
	return c.Split(abi.MPI_UNDEFINED, key)
}

func splitGuided(c *communicator, key int32, hints *info) (*libimpi.Comm, error) {
	typ, _ := hints.hint(resourceType)
	if typ == sharedMemory {
		return c.Split(c.MachineColor(), key)
	}
	name, _ := strings.CutPrefix(typ, resourceScheme)
	return c.SplitHardware(name, key)
}

// splitSet is for the processes of one set. Some may name another one, and get a communicator of that.
func splitSet(c *communicator, key int32, name string) (*libimpi.Comm, error) {
	color := int32(abi.MPI_UNDEFINED)
	if g := pset(engine(), name); g != nil {
		// The set's first process tells sets apart whose names the caller shares with others, as mpi://SELF is.
		color = g.World(0)
	}
	return c.Split(color, key)
}

// hint is get that knows of no info.
func (i *info) hint(key string) (string, bool) {
	if i == nil {
		return "", false
	}
	return i.get(key)
}

//export impi_Get_hw_resource_info
func impi_Get_hw_resource_info(hw_info uintptr) int32 {
	k := check{fn: "MPI_Get_hw_resource_info"}
	if k.result(hw_info, "hw_info"); k.err != nil || k.notStarted() {
		return k.fail()
	}
	i := &info{}
	types, at := topo.HardwareTypes()
	for n, t := range types {
		value := "false"
		if at[n] >= 0 {
			value = "true"
		}
		i.set(resourceScheme+t, value)
	}
	return k.answer(infos.Add(i), hw_info)
}
