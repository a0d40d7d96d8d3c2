#include "textflag.h"

// early is where the system starts the launcher (-E, cmake/Stage.cmake): before Go's runtime, which ends a program with
// pages of text if it has too little address space, or too few threads. It says so in one line instead. The stack is
// as the system has made it, and below it there is room.
TEXT ·early(SB), NOSPLIT|NOFRAME, $0
	MOVQ $97, AX // getrlimit
	MOVQ $9, DI // RLIMIT_AS
	LEAQ -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE threads
	MOVQ $0x30000000, CX // 768 MiB
	CMPQ CX, -64(SP)
	JLS threads
	LEAQ space<>(SB), SI
	MOVQ $128, DX
	JMP say

threads:
	MOVQ $102, AX // getuid
	SYSCALL
	TESTQ AX, AX
	JEQ start // the limit is not for root
	MOVQ $97, AX
	MOVQ $6, DI // RLIMIT_NPROC
	LEAQ -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE start
	MOVQ $16, CX
	CMPQ CX, -64(SP)
	JLS start
	LEAQ few<>(SB), SI
	MOVQ $103, DX

say:
	MOVQ $1, AX // write
	MOVQ $2, DI
	SYSCALL
	MOVQ $231, AX // exit_group
	MOVQ $1, DI
	SYSCALL

start:
	JMP _rt0_amd64_linux(SB)

DATA space<>+0(SB)/8, $"impirun:"
DATA space<>+8(SB)/8, $" the lim"
DATA space<>+16(SB)/8, $"it of ad"
DATA space<>+24(SB)/8, $"dress sp"
DATA space<>+32(SB)/8, $"ace (uli"
DATA space<>+40(SB)/8, $"mit -v) "
DATA space<>+48(SB)/8, $"is less "
DATA space<>+56(SB)/8, $"than 768"
DATA space<>+64(SB)/8, $" MiB, wh"
DATA space<>+72(SB)/8, $"ich the "
DATA space<>+80(SB)/8, $"launcher"
DATA space<>+88(SB)/8, $"'s memor"
DATA space<>+96(SB)/8, $"y needs;"
DATA space<>+104(SB)/8, $" raise i"
DATA space<>+112(SB)/8, $"t, to 4 "
DATA space<>+120(SB)/8, $"GiB say\n"
GLOBL space<>(SB), RODATA|NOPTR, $128

DATA few<>+0(SB)/8, $"impirun:"
DATA few<>+8(SB)/8, $" the lim"
DATA few<>+16(SB)/8, $"it of pr"
DATA few<>+24(SB)/8, $"ocesses "
DATA few<>+32(SB)/8, $"(ulimit "
DATA few<>+40(SB)/8, $"-u) is l"
DATA few<>+48(SB)/8, $"ess than"
DATA few<>+56(SB)/8, $" 16, and"
DATA few<>+64(SB)/8, $" the lau"
DATA few<>+72(SB)/8, $"ncher al"
DATA few<>+80(SB)/8, $"one has "
DATA few<>+88(SB)/8, $"more; ra"
DATA few<>+96(SB)/8, $"ise it\n\x00"
GLOBL few<>(SB), RODATA|NOPTR, $104
