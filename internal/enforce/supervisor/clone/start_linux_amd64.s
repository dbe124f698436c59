//go:build !race

#include "textflag.h"

#define SYS_clone 56

// func clone(flags, stack uintptr, t *Task, pidfd *int32) uintptr
TEXT ·clone(SB),NOSPLIT,$0-40
	MOVQ	flags+0(FP), DI
	MOVQ	stack+8(FP), SI
	MOVQ	t+16(FP), R12	// which the call leaves alone, as it does g in R14 and TLS
	MOVQ	pidfd+24(FP), DX
	XORL	R10, R10
	XORL	R8, R8
	MOVL	$SYS_clone, AX
	SYSCALL
	TESTQ	AX, AX
	JZ	child
	MOVQ	AX, ret+32(FP)
	RET

child:
	// SP is the other stack now. The argument lies at its end.
	SUBQ	$16, SP
	MOVQ	R12, 0(SP)
	XORL	BP, BP
	CALL	·enter(SB)
	INT	$3
