package main

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
)

func TestEveryKindHasIntegers(t *testing.T) {
	x := &info{}
	h := infos.Add(x)
	n := handle.Int(h)
	if infos.Find(h) != x || n < handle.First || fromIntOr(&infos, n, abi.MPI_INFO_NULL) != h {
		t.Errorf("handle %#x is %d", h, n)
	}
	if errhandlers.Find(h) != nil || messages.Find(h) != nil {
		t.Error("an info is something else")
	}
	infos.Drop(h)
	if infos.Find(h) != nil || fromIntOr(&infos, n, abi.MPI_INFO_NULL) != abi.MPI_INFO_NULL {
		t.Error("a freed info is there")
	}
	if fromIntOr(&infos, 1<<30, abi.MPI_INFO_NULL) != abi.MPI_INFO_NULL ||
		fromIntOr(&infos, abi.MPI_INFO_ENV, 0) != abi.MPI_INFO_ENV {
		t.Error("integers that are nobody's, or a predefined one's")
	}
}

func TestAnErrorHandlerIsFreedAsOftenAsItWasGiven(t *testing.T) {
	e := newErrhandler(1, nil)
	h := e.hold()
	if e.hold() != h || errhandlerOf(h) != e {
		t.Fatal("the second handle is another")
	}
	if !e.release(h) || errhandlerOf(h) != e || !e.release(h) || errhandlerOf(h) != nil || e.release(h) {
		t.Error("two holds are two releases")
	}
	again := e.hold() // a communicator had it all the time
	if again == h || errhandlerOf(h) != nil || e.release(h) || errhandlerOf(again) != e {
		t.Error("the old handle is valid again")
	}
	if !errorsReturn.release(abi.MPI_ERRORS_RETURN) || errhandlerOf(abi.MPI_ERRORS_RETURN) != errorsReturn {
		t.Error("a predefined handler can be freed any number of times, and stays")
	}
}

func TestGroupsHaveHandles(t *testing.T) {
	g := libimpi.NewGroup([]int32{3, 1})
	h := groups.Add(&group{Group: g})
	if groupOf(h) != g || fromIntOr(&groups, handle.Int(h), abi.MPI_GROUP_NULL) != h {
		t.Error("another group")
	}
	groups.Drop(h)
	if groupOf(h) != nil {
		t.Error("a freed group is there")
	}
	if saveGroup(libimpi.NewGroup(nil), nil) != abi.MPI_GROUP_EMPTY ||
		groupOf(abi.MPI_GROUP_EMPTY) != libimpi.EmptyGroup || groupOf(abi.MPI_GROUP_NULL) != nil {
		t.Error("the predefined groups")
	}
}
