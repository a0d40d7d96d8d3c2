//go:build !race

package bulk

import "golang.org/x/sys/cpu"

var canCopyString = cpu.X86.HasERMS

// copyString copies n bytes by the string instruction. They must not overlap.
//
//go:noescape
func copyString(dst, src *byte, n int)
