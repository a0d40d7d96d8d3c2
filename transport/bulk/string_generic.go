//go:build !amd64 || race

package bulk

const canCopyString = false

func copyString(dst, src *byte, n int) bool { panic("bulk: no string instruction on this machine") }
