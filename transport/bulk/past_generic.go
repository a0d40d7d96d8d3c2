//go:build !amd64 || race

package bulk

const CanStorePast = false

func storePast(dst, src *byte, n int) { panic("bulk: no stores past the caches on this machine") }
func forget(p *byte, n int)           {}
