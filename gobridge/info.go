package main

import "C"

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/gobridge/ordered"
	"github.com/libimpi/libimpi/startup"
)

// Info objects (MPI 5.0, chapter 10): ordered lists of (key, value).
type info struct {
	mu      sync.Mutex
	entries ordered.Map[string, string]
}

func (i *info) set(key, value string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.entries.Set(key, value)
}

func (i *info) get(key string) (string, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if v := i.entries.Find(key); v != nil {
		return *v, true
	}
	return "", false
}

// each calls take for all entries.
func (i *info) each(take func(key, value string)) {
	entries := i.clone().entries
	for n := range entries.Len() {
		take(entries.Nth(n))
	}
}

// clone copies an info; nil stays nil.
func (i *info) clone() *info {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return &info{entries: i.entries.Clone()}
}

// infoEnv is MPI_INFO_ENV: what is known of how the process was started (MPI 5.0, 11.2.1).
// Before MPI_Init less is known.
func infoEnv() *info {
	if started() == nil {
		return newInfoEnv()
	}
	return startedEnv()
}

var startedEnv = sync.OnceValue(newInfoEnv)

func newInfoEnv() *info {
	i := &info{}
	if len(os.Args) > 0 {
		i.set("command", os.Args[0])
		i.set("argv", strings.Join(os.Args[1:], " "))
	}
	if wd, err := os.Getwd(); err == nil {
		i.set("wdir", wd)
	}
	if host, err := os.Hostname(); err == nil {
		i.set("host", host)
	}
	i.set("arch", runtime.GOARCH)
	i.set("maxprocs", maxprocs())
	if name := os.Getenv(startup.EnvErrhandler); name != "" {
		i.set("mpi_initial_errhandler", name)
	}
	i.set(kindsKey, askedKinds())
	return i
}

// maxprocs is the number of processes that were started together.
func maxprocs() string {
	if p := started(); p != nil {
		return strconv.Itoa(p.engine.World().Size())
	}
	if n := environment("IMPI_SIZE"); n != "" {
		return n
	}
	return "1"
}

// info looks up an info argument; MPI_INFO_NULL is nil and no error.
func (k *check) info(h uintptr) *info {
	switch h {
	case abi.MPI_INFO_NULL:
		return nil
	case abi.MPI_INFO_ENV:
		return infoEnv()
	}
	i := infos.Find(h)
	if i == nil {
		k.badInfo(h)
	}
	return i
}

func (k *check) badInfo(h uintptr) {
	k.isNot(abi.MPI_ERR_INFO, "an info object", "info", h)
}

// someInfo is info where MPI_INFO_NULL is an error.
func (k *check) someInfo(h uintptr) *info {
	if h == abi.MPI_INFO_NULL {
		k.set(abi.MPI_ERR_INFO, "argument info is MPI_INFO_NULL")
		return nil
	}
	return k.info(h)
}

// infoKey reads a key.
func (k *check) infoKey(p uintptr) string {
	if k.result(p, "key"); k.err != nil {
		return ""
	}
	s := text(p, abi.MPI_MAX_INFO_KEY+1)
	if s == "" || len(s) >= abi.MPI_MAX_INFO_KEY {
		k.set(abi.MPI_ERR_INFO_KEY, "argument key has %d characters; 1 to %d are allowed", len(s), abi.MPI_MAX_INFO_KEY-1)
	}
	return s
}

//export impi_Info_create
func impi_Info_create(newinfo uintptr) int32 {
	k := check{fn: "MPI_Info_create"}
	if k.result(newinfo, "info"); k.err != nil {
		return k.fail()
	}
	return k.answer(infos.Add(&info{}), newinfo)
}

//export impi_Info_create_env
func impi_Info_create_env(argc int32, argv, newinfo uintptr) int32 {
	k := check{fn: "MPI_Info_create_env"}
	if k.result(newinfo, "info"); k.err != nil {
		return k.fail()
	}
	return k.answer(infos.Add(infoEnv().clone()), newinfo)
}

//export impi_Info_dup
func impi_Info_dup(infoHandle, newinfo uintptr) int32 {
	k := check{fn: "MPI_Info_dup"}
	i := k.someInfo(infoHandle)
	if k.result(newinfo, "newinfo"); k.err != nil {
		return k.fail()
	}
	return k.answer(infos.Add(i.clone()), newinfo)
}

//export impi_Info_free
func impi_Info_free(infoHandle uintptr) int32 {
	k := check{fn: "MPI_Info_free"}
	if k.result(infoHandle, "info"); k.err != nil {
		return k.fail()
	}
	h := *ref[uintptr](infoHandle)
	k.someInfo(h)
	switch {
	case h == abi.MPI_INFO_ENV:
		k.set(abi.MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed")
	case k.err == nil && !infos.Drop(h): // another thread was faster
		k.badInfo(h)
	}
	if k.err != nil {
		return k.fail()
	}
	put[uintptr](infoHandle, abi.MPI_INFO_NULL)
	return 0
}

//export impi_Info_set
func impi_Info_set(infoHandle, key, value uintptr) int32 {
	k := check{fn: "MPI_Info_set"}
	i := k.someInfo(infoHandle)
	name := k.infoKey(key)
	if k.result(value, "value"); k.err != nil {
		return k.fail()
	}
	v := text(value, abi.MPI_MAX_INFO_VAL+1)
	if len(v) >= abi.MPI_MAX_INFO_VAL {
		k.set(abi.MPI_ERR_INFO_VALUE, "argument value has %d characters; at most %d are allowed", len(v),
			abi.MPI_MAX_INFO_VAL-1)
		return k.fail()
	}
	i.set(name, v)
	return 0
}

//export impi_Info_delete
func impi_Info_delete(infoHandle, key uintptr) int32 {
	k := check{fn: "MPI_Info_delete"}
	i := k.someInfo(infoHandle)
	name := k.infoKey(key)
	if k.err != nil {
		return k.fail()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.entries.Find(name) == nil {
		k.set(abi.MPI_ERR_INFO_NOKEY, "there is no key %q", name)
		return k.fail()
	}
	i.entries.Remove(name)
	return 0
}

//export impi_Info_get
func impi_Info_get(infoHandle, key uintptr, valuelen int32, value, flag uintptr) int32 {
	k := check{fn: "MPI_Info_get"}
	i := k.someInfo(infoHandle)
	name := k.infoKey(key)
	k.result(value, "value")
	k.result(flag, "flag")
	if valuelen < 0 {
		k.set(abi.MPI_ERR_ARG, "argument valuelen is negative: %d", valuelen)
	}
	if k.err != nil {
		return k.fail()
	}
	v, ok := i.get(name)
	putFlag(flag, ok)
	if ok {
		putText(value, v, int(valuelen)+1)
	}
	return 0
}

//export impi_Info_get_string
func impi_Info_get_string(infoHandle, key, buflen, value, flag uintptr) int32 {
	k := check{fn: "MPI_Info_get_string"}
	i := k.someInfo(infoHandle)
	name := k.infoKey(key)
	k.result(buflen, "buflen")
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	v, ok := i.get(name)
	putFlag(flag, ok)
	if ok {
		if room := *ref[int32](buflen); room > 0 && value != 0 {
			putText(value, v, int(room))
		}
		put(buflen, int32(len(v)+1))
	}
	return 0
}

//export impi_Info_get_valuelen
func impi_Info_get_valuelen(infoHandle, key, valuelen, flag uintptr) int32 {
	k := check{fn: "MPI_Info_get_valuelen"}
	i := k.someInfo(infoHandle)
	name := k.infoKey(key)
	k.result(valuelen, "valuelen")
	k.result(flag, "flag")
	if k.err != nil {
		return k.fail()
	}
	v, ok := i.get(name)
	putFlag(flag, ok)
	if ok {
		put(valuelen, int32(len(v)))
	}
	return 0
}

//export impi_Info_get_nkeys
func impi_Info_get_nkeys(infoHandle, nkeys uintptr) int32 {
	k := check{fn: "MPI_Info_get_nkeys"}
	i := k.someInfo(infoHandle)
	if k.result(nkeys, "nkeys"); k.err != nil {
		return k.fail()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	put(nkeys, int32(i.entries.Len()))
	return 0
}

//export impi_Info_get_nthkey
func impi_Info_get_nthkey(infoHandle uintptr, n int32, key uintptr) int32 {
	k := check{fn: "MPI_Info_get_nthkey"}
	i := k.someInfo(infoHandle)
	if k.result(key, "key"); k.err != nil {
		return k.fail()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if n < 0 || int(n) >= i.entries.Len() {
		k.set(abi.MPI_ERR_ARG, "argument n is %d, and there are %d keys", n, i.entries.Len())
		return k.fail()
	}
	name, _ := i.entries.Nth(int(n))
	putText(key, name, abi.MPI_MAX_INFO_KEY)
	return 0
}

//export impi_Info_fromint
func impi_Info_fromint(info int32) uintptr { return fromIntOr(&infos, info, abi.MPI_INFO_NULL) }
