package shm

import "unsafe"

func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

func addressOfWord(p *uint32) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }
