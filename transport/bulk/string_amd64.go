//go:build !race

package bulk

import "golang.org/x/sys/cpu"

var canCopyString = cpu.X86.HasERMS

// copyString copies n bytes by the string instruction. They must not overlap. False: it has not, since dst lies 1 to 31
// bytes behind src within their pages.
//
//go:noescape
func copyString(dst, src *byte, n int) bool
