//go:build !race

#include "textflag.h"

// func spinWhile(p *uint32, old, n uint32) uint32
TEXT ·spinWhile(SB), NOSPLIT, $0-20
	MOVQ p+0(FP), AX
	MOVL old+8(FP), BX
	MOVL n+12(FP), CX
look:
	MOVL (AX), DX
	CMPL DX, BX
	JNE  done
	PAUSE
	DECL CX
	JNZ  look
done:
	MOVL DX, ret+16(FP)
	RET
