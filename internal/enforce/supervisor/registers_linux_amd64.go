package supervisor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// registers are the registers of a stopped thread. Arguments of a system call are in rdi, rsi,
// rdx, r10, r8 and r9, its number and its result in rax (System V ABI, A.2.1).
type registers unix.PtraceRegs

// trap is the instruction that makes a system call.
const trap = "\x0f\x05" // syscall

func (s *seized) registers() (registers, error) {
	var r unix.PtraceRegs
	err := unix.PtraceGetRegs(s.id(), &r)
	return registers(r), err
}

func (s *seized) setRegisters(r registers) error {
	return unix.PtraceSetRegs(s.id(), (*unix.PtraceRegs)(unsafe.Pointer(&r)))
}

func (r *registers) stack() uint64      { return r.Rsp }
func (r *registers) setStack(sp uint64) { r.Rsp = sp }
func (r *registers) at() uint64         { return r.Rip }
func (r *registers) setAt(ip uint64)    { r.Rip = ip }
func (r *registers) result() int64      { return int64(r.Rax) }

// setResult also keeps the kernel from making the call again (-ERESTARTSYS).
func (r *registers) setResult(v int64) { r.Rax, r.Orig_rax = uint64(v), ^uint64(0) }

// calls has the thread make a call when it runs on at a system call instruction.
func (r *registers) calls(nr uint32, args [6]uint64) {
	r.setResult(int64(nr))
	r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9 = args[0], args[1], args[2], args[3], args[4], args[5]
}

// machine is the e_machine of programs for this processor (elf.h).
const machine = 62 // EM_X86_64
