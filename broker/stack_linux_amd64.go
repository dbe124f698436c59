package broker

import "golang.org/x/sys/unix"

// stack returns the stack pointer of the stopped thread.
func (s *seized) stack() (uint64, error) {
	var r unix.PtraceRegs
	err := unix.PtraceGetRegs(s.process, &r)
	return r.Rsp, err
}

func (s *seized) setStack(sp uint64) error {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(s.process, &r); err != nil {
		return err
	}
	r.Rsp = sp
	return unix.PtraceSetRegs(s.process, &r)
}
