package main

import (
	"slices"
	"strings"

	"github.com/libimpi/libimpi/startup"
)

// Memory allocation kinds (MPI 5.0, 11.4.3): of which memory buffers may be. libimpi reads and writes what the
// processor can, so it knows the two kinds of the standard, and those of accelerators are left out of what it supports.

const (
	kindsKey       = "mpi_memory_alloc_kinds"
	assertKindsKey = "mpi_assert_memory_alloc_kinds"
)

// kindRestrictors are the kinds that are supported, with what may stand behind their colons.
var kindRestrictors = map[string][]string{
	"mpi":    {"alloc_mem", "win_allocate", "win_allocate_shared"},
	"system": nil,
}

// askedKinds is the list of kinds that the launcher was given; the standard's default is as if it had been.
func askedKinds() string {
	if asked := environment(startup.EnvMemoryKinds); asked != "" {
		return asked
	}
	return "mpi,system"
}

// supportedKinds returns what is supported for objects of which these kinds were asked for, as a list: those of them
// that are known, as they were written, and the two kinds of the standard in any case.
func supportedKinds(asked string) string {
	var list []string
	for _, kind := range strings.Split(asked+",mpi,system", ",") {
		if kind = strings.TrimSpace(kind); knownKind(kind) && !slices.Contains(list, kind) {
			list = append(list, kind)
		}
	}
	return strings.Join(list, ",")
}

func knownKind(kind string) bool {
	words := strings.Split(kind, ":")
	allowed, known := kindRestrictors[words[0]]
	return known && !slices.ContainsFunc(words[1:], func(word string) bool { return !slices.Contains(allowed, word) })
}

// memoryKinds returns the kinds that the objects of a session support; nil is the world model.
func (s *session) memoryKinds() string {
	if s != nil {
		kinds, _ := s.used.get(kindsKey)
		return kinds
	}
	return supportedKinds(askedKinds())
}
