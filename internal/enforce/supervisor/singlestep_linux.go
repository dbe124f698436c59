package supervisor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// outcome is how a call of a seized thread has ended.
type outcome int

const (
	// gone: the thread has been killed. back: it has stopped at the end of its call. became: it
	// has stopped as a new program.
	gone outcome = iota
	back
	became
)

// callStop is the signal of a stop at the beginning or end of a call under
// PTRACE_O_TRACESYSGOOD (ptrace(2)).
const callStop = unix.SIGTRAP | 0x80

// step has a stopped thread make the call in its registers. If a call is interrupted, as by a
// stop of its process before the supervisor has received it, the kernel begins it again.
func (s *seized) step() outcome {
	const ends = 2 // every call stops at its beginning and at its end
	for {
		if o := s.run(ends); o != back {
			return o
		}
		regs, err := s.registers()
		if err != nil {
			s.kill()
			return gone
		}
		// ERESTARTSYS to ERESTART_RESTARTBLOCK (include/linux/errno.h).
		if r := -regs.result(); r < 512 || r > 516 {
			return back
		}
	}
}

// leave lets a thread that has stopped as a new program come to the end of its call.
func (s *seized) leave() outcome { return s.run(1) }

// run lets a thread go on until it has stopped n times at the boundary of a call, or has
// become a program. A signal that cannot be blocked is passed on.
func (s *seized) run(n int) outcome {
	for signal := uintptr(0); ; {
		if ptrace(unix.PTRACE_SYSCALL, s.id(), 0, signal) != 0 {
			s.kill()
			return gone
		}
		ws, ok := s.next()
		event := uint32(ws) >> eventShift
		signal = 0
		switch {
		case !ok:
			return gone
		case event == unix.PTRACE_EVENT_EXEC:
			return became
		case event == 0 && ws.StopSignal() == callStop:
			if n--; n == 0 {
				return back
			}
		case event == 0:
			signal = uintptr(ws.StopSignal())
		}
	}
}

const sizeofMask = 8

// block blocks all signals of the stopped thread and returns its mask before.
func (s *seized) block() (uint64, error) {
	var mask uint64
	if e := ptrace(unix.PTRACE_GETSIGMASK, s.id(), sizeofMask, uintptr(unsafe.Pointer(&mask))); e != 0 {
		return 0, e
	}
	return mask, s.unblock(^uint64(0))
}

// unblock sets the signal mask of the stopped thread.
func (s *seized) unblock(mask uint64) error {
	if e := ptrace(unix.PTRACE_SETSIGMASK, s.id(), sizeofMask, uintptr(unsafe.Pointer(&mask))); e != 0 {
		return e
	}
	return nil
}

// maxName is TASK_COMM_LEN, with the zero byte.
const maxName = 16

// name gives a program that has stopped at the end of its start the name that the kernel gives
// to a program that is started by its path (comm in proc(5)). For that time an instruction that
// makes a system call replaces the program's first instruction.
func (s *seized) name(name string) error {
	old, err := s.registers()
	if err != nil {
		return err
	}
	first := make([]byte, len(trap))
	if _, err := unix.PtracePeekText(s.process, uintptr(old.at()), first); err != nil {
		return err
	}
	if _, err := unix.PtracePokeText(s.process, uintptr(old.at()), []byte(trap)); err != nil {
		return err
	}
	text := make([]byte, maxName)
	copy(text[:maxName-1], name)
	at := old.stack() - 2*maxName
	regs := old
	regs.calls(unix.SYS_PRCTL, [6]uint64{unix.PR_SET_NAME, at})
	if err := s.write(at, text); err != nil {
		return err
	}
	if err := s.setRegisters(regs); err != nil {
		return err
	}
	if s.step() != back {
		return unix.ESRCH
	}
	if _, err := unix.PtracePokeText(s.process, uintptr(old.at()), first); err != nil {
		return err
	}
	return s.setRegisters(old)
}
