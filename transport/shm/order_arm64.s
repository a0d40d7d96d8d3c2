//go:build !race

#include "textflag.h"

// func spinWhile(p *uint32, old, n uint32) uint32
TEXT ·spinWhile(SB), NOSPLIT, $0-20
	MOVD  p+0(FP), R0
	MOVWU old+8(FP), R1
	MOVWU n+12(FP), R2
look:
	LDARW (R0), R3
	CMPW  R1, R3
	BNE   done
	YIELD
	SUBW  $1, R2
	CBNZW R2, look
done:
	MOVW R3, ret+16(FP)
	RET
