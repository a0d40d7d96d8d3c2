package main

import (
	"math"
	"testing"
)

func TestAFreedKeyIsForgottenOnceNoObjectHasAValueUnderIt(t *testing.T) {
	of := func() *keyval {
		keyvals.Lock()
		defer keyvals.Unlock()
		kv := &keyval{forKind: kindComm}
		kv.add()
		return kv
	}
	free := func(kv *keyval) {
		keyvals.Lock()
		defer keyvals.Unlock()
		kv.freed = true
		kv.giveBack()
	}
	defer func(n int32) { keyvals.next = n }(keyvals.next)
	before := len(keyvals.all)
	kept := of()
	kept.count(1)
	free(kept)
	if keyvalOf(kept.key, kindComm) != nil {
		t.Error("a freed key is found")
	}
	for range 1000 {
		free(of())
	}
	if n := len(keyvals.all); n != before+1 {
		t.Errorf("%d keys are kept, and one has a value", n-before)
	}

	keyvals.next = kept.key
	if other := of(); other.key == kept.key {
		t.Error("a number is given again while there is a value under it")
	} else {
		free(other)
	}
	keyvals.next = math.MaxInt32
	last, first := of(), of()
	if last.key != math.MaxInt32 || first.key < firstKeyval {
		t.Errorf("behind %d comes %d", last.key, first.key)
	}
	free(last)
	free(first)
	if kept.count(-1); len(keyvals.all) != before {
		t.Error("the last value has gone, and the key stays")
	}
}
