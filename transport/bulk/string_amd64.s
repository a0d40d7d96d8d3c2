//go:build !race

#include "textflag.h"

// func copyString(dst, src *byte, n int) bool
TEXT ·copyString(SB), NOSPLIT, $0-25
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	LEAQ -1(DI), AX
	SUBQ SI, AX
	ANDQ $4095, AX
	CMPQ AX, $31
	JLT slips
	REP; MOVSB
	MOVB $1, ret+24(FP)
	RET
slips:
	MOVB $0, ret+24(FP)
	RET
