package supervisor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// registers are the registers of a stopped thread. Arguments of a system call are in x0 to x5,
// its result in x0, its number in x8 (syscall(2)).
type registers unix.PtraceRegsArm64

// trap is the instruction that makes a system call.
const trap = "\x01\x00\x00\xd4" // svc #0

// prStatus is NT_PRSTATUS (elf.h): the general registers.
const prStatus = 1

func (s *seized) registers() (registers, error) {
	var r unix.PtraceRegsArm64
	err := unix.PtraceGetRegSetArm64(s.id(), prStatus, &r)
	return registers(r), err
}

func (s *seized) setRegisters(r registers) error {
	return unix.PtraceSetRegSetArm64(s.id(), prStatus, (*unix.PtraceRegsArm64)(unsafe.Pointer(&r)))
}

func (r *registers) stack() uint64      { return r.Sp }
func (r *registers) setStack(sp uint64) { r.Sp = sp }
func (r *registers) at() uint64         { return r.Pc }
func (r *registers) setAt(pc uint64)    { r.Pc = pc }
func (r *registers) result() int64      { return int64(r.Regs[0]) }
func (r *registers) setResult(v int64)  { r.Regs[0] = uint64(v) }

// calls has the thread make a call when it runs on at a system call instruction.
func (r *registers) calls(nr uint32, args [6]uint64) {
	copy(r.Regs[:], args[:])
	r.Regs[8] = uint64(nr)
}

// machine is the e_machine of programs for this processor (elf.h).
const machine = 183 // EM_AARCH64
