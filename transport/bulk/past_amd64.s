//go:build !race

#include "textflag.h"

// func storePast(dst, src *byte, n int)
TEXT ·storePast(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
line:
	MOVOU  (SI), X0
	MOVOU  16(SI), X1
	MOVOU  32(SI), X2
	MOVOU  48(SI), X3
	MOVNTO X0, (DI)
	MOVNTO X1, 16(DI)
	MOVNTO X2, 32(DI)
	MOVNTO X3, 48(DI)
	ADDQ   $64, SI
	ADDQ   $64, DI
	SUBQ   $64, CX
	JNZ    line
	SFENCE
	RET

// func forget(p *byte, n int)
TEXT ·forget(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), DI
	MOVQ n+8(FP), CX
line:
	CLFLUSH (DI)
	ADDQ    $64, DI
	SUBQ    $64, CX
	JHI     line
	MFENCE
	RET
