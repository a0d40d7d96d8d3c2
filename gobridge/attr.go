package main

// #include "shim/z_callbacks.h"
import "C"

import (
	"sync"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/gobridge/ordered"
	"github.com/libimpi/libimpi/libimpi"
)

// Attributes (MPI 5.0, 7.7): values that the program caches on communicators and datatypes under keys it has
// made, with functions that are called when the object is duplicated and when the value goes.

// keyval is a key. Its copy and delete functions may be the ABI's sentinels.
type keyval struct {
	forKind    handle.Kind
	copy, free uintptr
	extra      uintptr
	key        int32
	values     int  // of it, on all objects
	freed      bool // by the program; lives on while values of it exist
}

// Sentinels of the ABI in place of functions (MPI 5.0, 20.3.4).
const (
	nullFunction = 0 // no copy, no delete
	dupFunction  = 1 // copy the value
)

// firstKeyval is the smallest key of a program; predefined ones are below.
const firstKeyval = 1 << 20

// keyvals are the keys of the program, freed ones as long as there are values under them. A number comes again when all
// others have been given, and never while its key is here: a freed key names nothing.
var keyvals = struct {
	sync.RWMutex
	all  map[int32]*keyval
	next int32
}{all: map[int32]*keyval{}, next: firstKeyval}

// add gives a key its number. The lock is held.
func (kv *keyval) add() {
	for keyvals.all[keyvals.next] != nil {
		nextKeyval()
	}
	kv.key = keyvals.next
	keyvals.all[kv.key] = kv
	nextKeyval()
}

func nextKeyval() {
	if keyvals.next++; keyvals.next < firstKeyval {
		keyvals.next = firstKeyval
	}
}

// count notes that a value has come, or gone.
func (kv *keyval) count(n int) {
	keyvals.Lock()
	defer keyvals.Unlock()
	kv.values += n
	kv.giveBack()
}

// giveBack forgets a freed key once no object has a value under it. The lock is held.
func (kv *keyval) giveBack() {
	if kv.freed && kv.values == 0 && keyvals.all[kv.key] == kv {
		delete(keyvals.all, kv.key)
	}
}

func keyvalOf(key int32, k handle.Kind) *keyval {
	keyvals.RLock()
	defer keyvals.RUnlock()
	kv := keyvals.all[key]
	if kv == nil || kv.freed || kv.forKind != k {
		return nil
	}
	return kv
}

// attributes are the values of one object, in the order in which they were first set. The functions of the program may
// change them, too: they are called without the lock, and what is to be changed is looked up again afterwards.
type attributes struct {
	mu     sync.Mutex
	values ordered.Map[int32, attribute]
}

type attribute struct {
	kv    *keyval
	value uintptr
}

// get returns the value of a key.
func (a *attributes) get(key int32) (v attribute, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found := a.values.Find(key); found != nil {
		return *found, true
	}
	return v, false
}

// put stores a value.
func (a *attributes) put(key int32, v attribute) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v.kv.count(1)
	if old := a.values.Find(key); old != nil {
		old.kv.count(-1)
	}
	a.values.Set(key, v)
}

// set stores a value; an old one is deleted first. It returns the delete function's code.
func (a *attributes) set(object uintptr, key int32, kv *keyval, value uintptr) int32 {
	if old, ok := a.get(key); ok {
		if code := old.delete(object, key); code != 0 {
			return code
		}
		kv = old.kv
	}
	a.put(key, attribute{kv, value})
	return 0
}

// remove deletes the value of a key, if there is one.
func (a *attributes) remove(object uintptr, key int32) int32 {
	v, ok := a.get(key)
	if !ok {
		return 0
	}
	if code := v.delete(object, key); code != 0 {
		return code
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if old := a.values.Find(key); old != nil { // the delete function may have done so
		old.kv.count(-1)
		a.values.Remove(key)
	}
	return 0
}

// last returns the key that was set last.
func (a *attributes) last() (key int32, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.values.Len() == 0 {
		return 0, false
	}
	return a.values.Last(), true
}

// deleteAll deletes all values, the last set first (as MPI demands for MPI_COMM_SELF); it stops at a refusal.
func (a *attributes) deleteAll(object uintptr) int32 {
	for key, ok := a.last(); ok; key, ok = a.last() {
		if code := a.remove(object, key); code != 0 {
			return code
		}
	}
	return 0
}

// copyAll gives a duplicate its values.
func (a *attributes) copyAll(object uintptr, to *attributes) int32 {
	a.mu.Lock()
	keys := a.values.Keys()
	a.mu.Unlock()
	for _, key := range keys {
		v, ok := a.get(key)
		if !ok { // deleted by the copy function of another
			continue
		}
		copied, code := v.copy(object, key)
		if code != 0 {
			return code
		}
		if copied != nil {
			to.put(key, *copied)
		}
	}
	return 0
}

// copy returns what a duplicate gets, nil for nothing, and the copy function's code.
func (v *attribute) copy(object uintptr, key int32) (*attribute, int32) {
	switch v.kv.copy {
	case nullFunction:
		return nil, 0
	case dupFunction:
		return v, 0
	}
	var out uintptr
	var flag C.int
	code := C.impi_call_Comm_copy_attr(C.uintptr_t(v.kv.copy), C.uintptr_t(object), C.int(key), C.uintptr_t(v.kv.extra),
		C.uintptr_t(v.value), unsafe.Pointer(&out), &flag)
	if code != 0 || flag == 0 {
		return nil, int32(code)
	}
	return &attribute{v.kv, out}, 0
}

func (v *attribute) delete(object uintptr, key int32) int32 {
	if v.kv.free == nullFunction {
		return 0
	}
	return int32(C.impi_call_Comm_delete_attr(C.uintptr_t(v.kv.free), C.uintptr_t(object), C.int(key),
		C.uintptr_t(v.value), C.uintptr_t(v.kv.extra)))
}

func createKeyval(fn string, forKind handle.Kind, copyFn, deleteFn, key, extra uintptr) int32 {
	k := check{fn: fn}
	if !k.notStarted() {
		k.result(key, "keyval")
	}
	if k.err != nil {
		return k.fail()
	}
	keyvals.Lock()
	defer keyvals.Unlock()
	kv := &keyval{forKind: forKind, copy: copyFn, free: deleteFn, extra: extra}
	kv.add()
	put(key, kv.key)
	return 0
}

func freeKeyval(fn string, forKind handle.Kind, key uintptr) int32 {
	k := check{fn: fn}
	if !k.notStarted() {
		k.result(key, "keyval")
	}
	if k.err != nil {
		return k.fail()
	}
	n := *ref[int32](key)
	kv := keyvalOf(n, forKind)
	if kv == nil {
		k.badKey(n)
		return k.fail()
	}
	keyvals.Lock()
	kv.freed = true
	kv.giveBack()
	keyvals.Unlock()
	put[int32](key, abi.MPI_KEYVAL_INVALID)
	return 0
}

func (k *check) badKey(key int32) {
	k.set(abi.MPI_ERR_KEYVAL, "argument keyval (%d) is not a key for this kind of object, or has been freed", key)
}

//export impi_Comm_create_keyval
func impi_Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state uintptr) int32 {
	return createKeyval("MPI_Comm_create_keyval", kindComm, comm_copy_attr_fn, comm_delete_attr_fn,
		comm_keyval, extra_state)
}

//export impi_Type_create_keyval
func impi_Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state uintptr) int32 {
	return createKeyval("MPI_Type_create_keyval", kindType, type_copy_attr_fn, type_delete_attr_fn,
		type_keyval, extra_state)
}

//export impi_Comm_free_keyval
func impi_Comm_free_keyval(comm_keyval uintptr) int32 {
	return freeKeyval("MPI_Comm_free_keyval", kindComm, comm_keyval)
}

//export impi_Type_free_keyval
func impi_Type_free_keyval(type_keyval uintptr) int32 {
	return freeKeyval("MPI_Type_free_keyval", kindType, type_keyval)
}

// setAttr stores a value on an object whose attributes are a.
func (k *check) setAttr(a *attributes, object uintptr, forKind handle.Kind, key int32, value uintptr) int32 {
	kv := keyvalOf(key, forKind)
	if kv == nil {
		k.badKey(key)
		return k.fail()
	}
	if code := a.set(object, key, kv, value); code != 0 {
		return k.refused(code, "delete")
	}
	return 0
}

func (k *check) getAttr(a *attributes, key int32, forKind handle.Kind, value, flag uintptr) int32 {
	k.result(value, "attribute_val")
	k.result(flag, "flag")
	v, found := a.get(key)
	if !found && keyvalOf(key, forKind) == nil {
		k.badKey(key)
	}
	if k.err != nil {
		return k.fail()
	}
	putFlag(flag, found)
	if found {
		put(value, v.value)
	}
	return 0
}

func (k *check) deleteAttr(a *attributes, object uintptr, key int32, forKind handle.Kind) int32 {
	if _, found := a.get(key); !found && keyvalOf(key, forKind) == nil {
		k.badKey(key)
		return k.fail()
	}
	if code := a.remove(object, key); code != 0 {
		return k.refused(code, "delete")
	}
	return 0
}

// refused reports that an attribute's function answered an error. A code that the program has added is the call's; of
// others the class is.
func (k *check) refused(code int32, what string) int32 {
	class, ok := errorClass(code)
	switch {
	case !ok:
		class = abi.MPI_ERR_OTHER
	case code >= firstCustom:
		class = code
	}
	return k.failed(libimpi.Errorf(int(class), "an attribute's %s function answered error %d", what, code))
}

//export impi_Comm_set_attr
func impi_Comm_set_attr(comm uintptr, key int32, value uintptr) int32 {
	k := check{fn: "MPI_Comm_set_attr"}
	c := k.object(comm)
	if c == nil {
		return k.fail()
	}
	if predefinedKey(key) {
		k.set(abi.MPI_ERR_KEYVAL, "argument keyval (%d) is predefined and cannot be changed", key)
		return k.fail()
	}
	return k.setAttr(&c.attrs, comm, kindComm, key, value)
}

//export impi_Comm_get_attr
func impi_Comm_get_attr(comm uintptr, key int32, value, flag uintptr) int32 {
	k := check{fn: "MPI_Comm_get_attr"}
	c := k.object(comm)
	if c == nil {
		return k.fail()
	}
	if predefinedKey(key) {
		return k.predefinedAttr(c, key, value, flag)
	}
	return k.getAttr(&c.attrs, key, kindComm, value, flag)
}

//export impi_Comm_delete_attr
func impi_Comm_delete_attr(comm uintptr, key int32) int32 {
	k := check{fn: "MPI_Comm_delete_attr"}
	c := k.object(comm)
	if c == nil {
		return k.fail()
	}
	return k.deleteAttr(&c.attrs, comm, key, kindComm)
}

func typeAttrs(fn string, datatype uintptr) (k check, d *dataType) {
	k.fn = fn
	if k.notStarted() {
		return k, nil
	}
	if d = dataTypeOf(datatype); d == nil {
		k.badType(datatype, "datatype")
	}
	return k, d
}

//export impi_Type_set_attr
func impi_Type_set_attr(datatype uintptr, type_keyval int32, attribute_val uintptr) int32 {
	k, d := typeAttrs("MPI_Type_set_attr", datatype)
	if d == nil {
		return k.fail()
	}
	freeInGo(datatype)
	return k.setAttr(&d.attrs, datatype, kindType, type_keyval, attribute_val)
}

//export impi_Type_get_attr
func impi_Type_get_attr(datatype uintptr, type_keyval int32, attribute_val, flag uintptr) int32 {
	k, d := typeAttrs("MPI_Type_get_attr", datatype)
	if d == nil {
		return k.fail()
	}
	return k.getAttr(&d.attrs, type_keyval, kindType, attribute_val, flag)
}

//export impi_Type_delete_attr
func impi_Type_delete_attr(datatype uintptr, type_keyval int32) int32 {
	k, d := typeAttrs("MPI_Type_delete_attr", datatype)
	if d == nil {
		return k.fail()
	}
	return k.deleteAttr(&d.attrs, datatype, type_keyval, kindType)
}
