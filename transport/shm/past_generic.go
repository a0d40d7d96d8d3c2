//go:build !amd64 || race

package shm

const canStorePast = false

func storePast(dst, src *byte, n int) { panic("shm: no stores past the caches on this machine") }
