//go:build !race

package bulk

// CanStorePast says whether there are stores past the caches here.
const CanStorePast = true

// storePast copies n bytes, n > 0, to memory past the caches, both a multiple of a line's bytes. It is there before
// anything that is stored later.
//
//go:noescape
func storePast(dst, src *byte, n int)

// forget writes n bytes of lines back, which leave all caches then.
//
//go:noescape
func forget(p *byte, n int)
