package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

// Groups (MPI 5.0, 7.3). A group is the engine's, and the session that it comes from, if any.
type group struct {
	*libimpi.Group
	session *session
}

// groupOf returns the group of a handle, nil if it is none.
func groupOf(h uintptr) *libimpi.Group {
	if h == abi.MPI_GROUP_EMPTY {
		return libimpi.EmptyGroup
	}
	if g := groups.Find(h); g != nil {
		return g.Group
	}
	return nil
}

// sessionOfGroup is the session of a group, nil if it has none.
func sessionOfGroup(h uintptr) *session {
	if g := groups.Find(h); g != nil {
		return g.session
	}
	return nil
}

// saveGroup returns a group's handle; the empty group has the predefined one.
func saveGroup(g *libimpi.Group, of *session) uintptr {
	if g.Size() == 0 {
		return abi.MPI_GROUP_EMPTY
	}
	return groups.Add(&group{g, of})
}

func groupQuery(fn string, group uintptr) (k check, g *libimpi.Group) {
	k.fn = fn
	if k.notStarted() {
		return k, nil
	}
	return k, k.group(group, "group")
}

//export impi_Group_size
func impi_Group_size(group, size uintptr) int32 {
	k, g := groupQuery("MPI_Group_size", group)
	k.result(size, "size")
	if k.err != nil {
		return k.fail()
	}
	put(size, int32(g.Size()))
	return 0
}

//export impi_Group_rank
func impi_Group_rank(group, rank uintptr) int32 {
	k, g := groupQuery("MPI_Group_rank", group)
	k.result(rank, "rank")
	if k.err != nil {
		return k.fail()
	}
	put(rank, int32(g.Rank(engine().Me())))
	return 0
}

//export impi_Group_free
func impi_Group_free(group uintptr) int32 {
	k := check{fn: "MPI_Group_free"}
	if k.result(group, "group"); k.err != nil || k.notStarted() {
		return k.fail()
	}
	h := *ref[uintptr](group)
	k.group(h, "group")
	if k.err != nil {
		return k.fail()
	}
	if h != abi.MPI_GROUP_EMPTY {
		if !groups.Drop(h) { // another thread was faster
			k.badGroup(h, "group")
			return k.fail()
		}
	}
	put[uintptr](group, abi.MPI_GROUP_NULL)
	return 0
}

// list looks at a list of n elements.
func (k *check) list(n int32, array uintptr, arg string) {
	if n < 0 {
		k.set(abi.MPI_ERR_ARG, "argument n is negative: %d", n)
	}
	k.array(array, int(n), arg)
}

// newGroup stores a group made of that with handle from.
func (k *check) newGroup(g *libimpi.Group, err error, from, out uintptr) int32 {
	if err != nil {
		return k.failed(err)
	}
	return k.answer(saveGroup(g, sessionOfGroup(from)), out)
}

// selectGroup makes a group of those members of another that a list names: read reads it, and pick takes them, or
// leaves them out.
func selectGroup[Of any](fn string, group uintptr, n int32, list, newgroup uintptr,
	read func(k *check, g *libimpi.Group, n int32, array uintptr) []Of,
	pick func(*libimpi.Group, []Of) (*libimpi.Group, error)) int32 {
	k, g := groupQuery(fn, group)
	k.result(newgroup, "newgroup")
	if k.err != nil {
		return k.fail()
	}
	chosen := read(&k, g, n, list)
	if k.err != nil {
		return k.fail()
	}
	made, err := pick(g, chosen)
	return k.newGroup(made, err, group, newgroup)
}

// ranks reads a list of ranks of g.
func (k *check) ranks(g *libimpi.Group, n int32, array uintptr) []int {
	if k.list(n, array, "ranks"); k.err != nil {
		return nil
	}
	ranks := ints(array, int(n))
	for i, r := range ranks {
		k.member(g, r, i, "ranks")
	}
	return ranks
}

// member looks at element i of a list of ranks of g.
func (k *check) member(g *libimpi.Group, rank, i int, arg string) {
	if rank < 0 || rank >= g.Size() {
		k.set(abi.MPI_ERR_RANK, "%s[%d] is %d, and the group has ranks 0 to %d", arg, i, rank, g.Size()-1)
	}
}

// ranges reads triplets. The engine looks at their ranks.
func (k *check) ranges(_ *libimpi.Group, n int32, array uintptr) []libimpi.Range {
	if k.list(n, array, "ranges"); k.err != nil {
		return nil
	}
	ranges := make([]libimpi.Range, n)
	for i, t := range slice[[3]int32](array, int(n)) {
		ranges[i] = libimpi.Range{First: int(t[0]), Last: int(t[1]), Stride: int(t[2])}
	}
	return ranges
}

//export impi_Group_incl
func impi_Group_incl(group uintptr, n int32, ranks, newgroup uintptr) int32 {
	return selectGroup("MPI_Group_incl", group, n, ranks, newgroup, (*check).ranks, (*libimpi.Group).Incl)
}

//export impi_Group_excl
func impi_Group_excl(group uintptr, n int32, ranks, newgroup uintptr) int32 {
	return selectGroup("MPI_Group_excl", group, n, ranks, newgroup, (*check).ranks, (*libimpi.Group).Excl)
}

//export impi_Group_range_incl
func impi_Group_range_incl(group uintptr, n int32, ranges, newgroup uintptr) int32 {
	return selectGroup("MPI_Group_range_incl", group, n, ranges, newgroup, (*check).ranges, (*libimpi.Group).RangeIncl)
}

//export impi_Group_range_excl
func impi_Group_range_excl(group uintptr, n int32, ranges, newgroup uintptr) int32 {
	return selectGroup("MPI_Group_range_excl", group, n, ranges, newgroup, (*check).ranges, (*libimpi.Group).RangeExcl)
}

func twoGroups(fn string, group1, group2, result uintptr, arg string) (k check, a, b *libimpi.Group) {
	k.fn = fn
	if k.notStarted() {
		return k, nil, nil
	}
	a, b = k.group(group1, "group1"), k.group(group2, "group2")
	k.result(result, arg)
	return k, a, b
}

//export impi_Group_union
func impi_Group_union(group1, group2, newgroup uintptr) int32 {
	k, a, b := twoGroups("MPI_Group_union", group1, group2, newgroup, "newgroup")
	if k.err != nil {
		return k.fail()
	}
	return k.newGroup(a.Union(b), nil, group1, newgroup)
}

//export impi_Group_intersection
func impi_Group_intersection(group1, group2, newgroup uintptr) int32 {
	k, a, b := twoGroups("MPI_Group_intersection", group1, group2, newgroup, "newgroup")
	if k.err != nil {
		return k.fail()
	}
	return k.newGroup(a.Intersection(b), nil, group1, newgroup)
}

//export impi_Group_difference
func impi_Group_difference(group1, group2, newgroup uintptr) int32 {
	k, a, b := twoGroups("MPI_Group_difference", group1, group2, newgroup, "newgroup")
	if k.err != nil {
		return k.fail()
	}
	return k.newGroup(a.Difference(b), nil, group1, newgroup)
}

//export impi_Group_compare
func impi_Group_compare(group1, group2, result uintptr) int32 {
	k, a, b := twoGroups("MPI_Group_compare", group1, group2, result, "result")
	if k.err != nil {
		return k.fail()
	}
	put(result, int32(a.Compare(b)))
	return 0
}

//export impi_Group_translate_ranks
func impi_Group_translate_ranks(group1 uintptr, n int32, ranks1, group2, ranks2 uintptr) int32 {
	k := check{fn: "MPI_Group_translate_ranks"}
	if k.notStarted() {
		return k.fail()
	}
	a, b := k.group(group1, "group1"), k.group(group2, "group2")
	k.list(n, ranks1, "ranks1")
	k.list(n, ranks2, "ranks2")
	if k.err != nil {
		return k.fail()
	}
	out := slice[int32](ranks2, int(n))
	for i, r := range slice[int32](ranks1, int(n)) {
		if r != abi.MPI_PROC_NULL {
			k.member(a, int(r), i, "ranks1")
		}
		if k.err != nil {
			return k.fail()
		}
		out[i] = int32(a.Translate(int(r), b))
	}
	return 0
}

//export impi_Group_fromint
func impi_Group_fromint(group int32) uintptr { return fromIntOr(&groups, group, abi.MPI_GROUP_NULL) }

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
