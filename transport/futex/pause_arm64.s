//go:build !race

#include "textflag.h"

// func Pause(n uint32)
TEXT ·Pause(SB), NOSPLIT, $0-4
	MOVWU n+0(FP), R2
again:
	YIELD
	SUBW  $1, R2
	CBNZW R2, again
	RET
