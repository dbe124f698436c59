package broker

import "golang.org/x/sys/unix"

// prStatus is NT_PRSTATUS (elf.h): the general registers.
const prStatus = 1

// stack returns the stack pointer of the stopped thread.
func (s *seized) stack() (uint64, error) {
	var r unix.PtraceRegsArm64
	err := unix.PtraceGetRegSetArm64(s.process, prStatus, &r)
	return r.Sp, err
}

func (s *seized) setStack(sp uint64) error {
	var r unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(s.process, prStatus, &r); err != nil {
		return err
	}
	r.Sp = sp
	return unix.PtraceSetRegSetArm64(s.process, prStatus, &r)
}
