/* How debuggers and profilers find the program's frames while a thread is inside Go.
 *
 * Go's functions have no unwind information that debuggers look for, and they run on stacks of their own, from which no
 * way leads back to the thread's. So all of them are described as one function, whose caller is that of crosscall2,
 * through which C enters Go. A backtrace shows the Go function in which the thread is, the export that C called, PMPI_X
 * and the program. Running programs pay nothing for it.
 *
 * R14 is g, the running goroutine or the thread's g0, in all Go functions and while they call C. From there:
 *
 *     g -> m (offset 48) -> g0 (0) -> sched.sp (56)    where cgocallback, on the thread's stack, has left for Go's
 *                                  -> sched.pc (64)    0 in a thread of the program; one that Go has made has no caller
 *
 *     sched.sp + 64     what crosscall2 has saved (runtime/cgo/abi_amd64.h): BX, R12 to R15, an address, BP
 *     sched.sp + 120    its return address
 *
 * That is Go 1.26; TestADebuggerShowsWhereARankWaits fails where another Go has it otherwise. unwind.ld puts Go's
 * instructions between this file's and the end of the library's: nothing else is in the 16 MiB that are described.
 *
 * Exceptions do not cross Go: the personality ends the search for who catches one, and C++ calls std::terminate. */

#define M           48
#define SCHED_SP    56
#define SCHED_PC    64
#define CFA         128 /* of crosscall2, from sched.sp */
#define SAVED(i)    ((CFA - 64) / 8 - (i)) /* word i of what was saved, in words below the CFA */

#define DW_CFA_offset           0x80
#define DW_CFA_def_cfa_expression 0x0f
#define DW_CFA_val_expression   0x16
#define DW_OP_deref             0x06
#define DW_OP_const1u           0x08
#define DW_OP_minus             0x1c
#define DW_OP_mul               0x1e
#define DW_OP_plus_uconst       0x23
#define DW_OP_eq                0x29
#define DW_OP_lit0              0x30
#define DW_OP_breg14            0x7e

#define DW_EH_PE_pcrel_sdata4   0x1b

        .section .impi_go, "ax", @progbits
/* int no_handler(int version, int actions, ...): _URC_FATAL_PHASE1_ERROR while a handler is searched for
 * (_UA_SEARCH_PHASE), _URC_CONTINUE_UNWIND for a thread that is cancelled, which unwinds without a search. */
        .type   no_handler, @function
no_handler:
        .cfi_startproc
        testl   $1, %esi
        movl    $3, %eax
        movl    $8, %ecx
        cmovzl  %ecx, %eax
        ret
        .cfi_endproc
        .size   no_handler, . - no_handler
go:

        .section .eh_frame, "a", @unwind
cie:
        .long   3f - 0f
0:      .long   0
        .byte   1                               /* version */
        .string "zPR"
        .uleb128 1                              /* code is counted in bytes, */
        .sleb128 -8                             /* data in words, downwards */
        .byte   16                              /* the column of the return address */
        .uleb128 2f - 1f
1:      .byte   DW_EH_PE_pcrel_sdata4
        .long   no_handler - .
        .byte   DW_EH_PE_pcrel_sdata4           /* of FDEs */
2:
        .byte   DW_CFA_def_cfa_expression
        .uleb128 2f - 1f
1:      .byte   DW_OP_breg14
        .sleb128 M
        .byte   DW_OP_deref, DW_OP_deref, DW_OP_plus_uconst
        .uleb128 SCHED_SP
        .byte   DW_OP_deref, DW_OP_plus_uconst
        .uleb128 CFA
2:
        .byte   DW_CFA_val_expression, 16       /* begins with the CFA */
        .uleb128 2f - 1f
1:      .byte   DW_OP_const1u, 8, DW_OP_minus, DW_OP_deref, DW_OP_breg14
        .sleb128 M
        .byte   DW_OP_deref, DW_OP_deref, DW_OP_plus_uconst
        .uleb128 SCHED_PC
        .byte   DW_OP_deref, DW_OP_lit0, DW_OP_eq, DW_OP_mul /* valgrind knows no branches */
2:
        .byte   DW_CFA_offset + 3, SAVED(0)     /* BX */
        .byte   DW_CFA_offset + 12, SAVED(1)
        .byte   DW_CFA_offset + 13, SAVED(2)
        .byte   DW_CFA_offset + 14, SAVED(3)
        .byte   DW_CFA_offset + 15, SAVED(4)
        .byte   DW_CFA_offset + 6, SAVED(6)     /* BP */
        .balign 8, 0
3:
        .long   1f - 0f
0:      .long   0b - cie
        .long   go - .
        .long   16 << 20
        .uleb128 0                              /* augmentation */
        .balign 8, 0
1:
        .section .note.GNU-stack, "", @progbits
