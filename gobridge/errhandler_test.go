package main

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// Numbers of removed classes and codes are given again: as many are kept as have been in use at once.
func TestRemovedErrorCodesAreGivenAgain(t *testing.T) {
	var c customCodes
	remove := func(code int32, isClass bool) {
		t.Helper()
		if err := c.remove(code, isClass); err != nil {
			t.Fatal(err)
		}
	}
	before := c.add(-1)
	for range 100000 { // the last one is always in use
		class := c.add(-1)
		code := c.add(class)
		remove(code, false)
		remove(before, true)
		before = class
	}
	if len(c.entries) > 4 || len(c.removed) > 4 {
		t.Errorf("%d entries are kept, and %d that may be given again", len(c.entries), len(c.removed))
	}
	remove(before, true)
	if c.lastUsed() != abi.MPI_ERR_LASTCODE {
		t.Errorf("the last code in use is %d", c.lastUsed())
	}
	first, second := c.add(-1), c.add(-1)
	if remove(first, true); c.lastUsed() != second {
		t.Errorf("the last code in use is %d, not %d", c.lastUsed(), second)
	}
	if _, known := c.classOf(first); known {
		t.Error("a class that has been removed is known")
	}
	if again := c.add(second); again != first {
		t.Errorf("the new code is %d, not %d", again, first)
	} else if class, ok := c.classOf(again); !ok || class != second {
		t.Errorf("its class is %d, %t", class, ok)
	}
}

func TestAClassOrCodeWithSomethingOfItsOwnStays(t *testing.T) {
	var c customCodes
	class := c.add(-1)
	code := c.add(class)
	c.entry(code).text = "a string"
	for _, stays := range []struct {
		code    int32
		isClass bool
	}{{class, true}, {code, false}, {class, false}, {code, true}, {code + 1, false}, {abi.MPI_ERR_TAG, true}} {
		if err := c.remove(stays.code, stays.isClass); err == nil || err.Class != abi.MPI_ERR_ARG {
			t.Errorf("%+v was removed: %v", stays, err)
		}
	}
}
