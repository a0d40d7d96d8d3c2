//go:build !amd64 || race

package bulk

const canCopyString = false

func copyString(dst, src *byte, n int) { panic("bulk: no string instruction on this machine") }
