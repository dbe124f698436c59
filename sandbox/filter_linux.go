package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
)

// Offsets in struct seccomp_data (include/uapi/linux/seccomp.h). Arguments are 64
// bits wide, little-endian on both architectures.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// x32Bit marks a call of the x32 ABI, which shares the architecture of amd64.
const x32Bit = 0x40000000

var errnos = map[string]uint32{
	"EACCES": uint32(unix.EACCES), "EPERM": uint32(unix.EPERM), "ENOSYS": uint32(unix.ENOSYS), "EINVAL": uint32(unix.EINVAL),
	"OK": 0,
}

// rules are what a seccomp program is made of: the blocks, then the traps.
type rules struct {
	blocks []landlock.Block
	traps  []landlock.Trap
}

// assemble turns the rules of a start into a seccomp program. Calls of another
// architecture are refused altogether: their numbers mean other calls.
func assemble(r rules, abi int) ([]unix.SockFilter, error) {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		fail(uint32(unix.EPERM)),
		bpf.LoadAbsolute{Off: offNr, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32Bit, SkipFalse: 1},
		fail(uint32(unix.ENOSYS)),
	}
	table := tests{}
	for _, b := range r.blocks {
		if abi < b.From || b.To != 0 && abi > b.To {
			continue
		}
		errno, ok := errnos[b.Errno]
		if !ok {
			return nil, fmt.Errorf("the filter has the errno %q", b.Errno)
		}
		if err := table.add(b.Syscalls, b.When, fail(errno)); err != nil {
			return nil, err
		}
	}
	for _, t := range r.traps {
		if err := table.add(t.Syscalls, t.When, bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF}); err != nil {
			return nil, err
		}
	}
	p = append(p, table.search(slices.Sorted(maps.Keys(table)))...)
	raw, err := bpf.Assemble(p)
	if err != nil {
		return nil, err
	}
	out := make([]unix.SockFilter, len(raw))
	for i, ins := range raw {
		out[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
	}
	return out, nil
}

func fail(errno uint32) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | errno}
}

// tests are the tests of each call by its number, in their order.
type tests map[uint32][]bpf.Instruction

// maxTests is how far a jump in a seccomp program reaches, in instructions.
const maxTests = 255

// add compiles a block or trap: for each of its calls, a test of the conditions and what
// the call ends in where all hold.
func (t tests) add(names []string, when []landlock.Condition, end bpf.Instruction) error {
	for _, name := range names {
		nr, ok := sysno[name]
		if !ok {
			if slices.Contains(sysnoAbsent, name) {
				continue
			}
			return fmt.Errorf("the filter has the system call %q, which this loader does not know", name)
		}
		body, err := conditions(when)
		if err != nil {
			return err
		}
		if t[nr] = slices.Concat(t[nr], body, []bpf.Instruction{end}); len(t[nr]) >= maxTests {
			return fmt.Errorf("the filter has too many conditions on %s", name)
		}
	}
	return nil
}

var allow = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}

// search halves the sorted numbers until few are left, so that a call that is let through
// pays for a few comparisons and not for all: most calls are.
func (t tests) search(sorted []uint32) []bpf.Instruction {
	const few = 3
	if half := len(sorted) / 2; len(sorted) > few {
		low, high := t.search(sorted[:half]), t.search(sorted[half:])
		return slices.Concat([]bpf.Instruction{
			bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: sorted[half], SkipFalse: 1},
			bpf.Jump{Skip: uint32(len(low))},
		}, low, high)
	}
	var out []bpf.Instruction
	for _, nr := range sorted {
		out = append(out, bpf.JumpIf{Cond: bpf.JumpEqual, Val: nr, SkipFalse: uint8(len(t[nr]) + 1)})
		out = append(append(out, t[nr]...), allow)
	}
	return append(out, allow)
}

// conditions compiles tests that fall through when all hold and otherwise jump behind
// what the call ends in.
func conditions(cs []landlock.Condition) ([]bpf.Instruction, error) {
	compiled := make([][]bpf.Instruction, len(cs))
	// behind is how many instructions of later tests, and the return, follow.
	behind := 1
	for i := len(cs) - 1; i >= 0; i-- {
		t, err := condition(cs[i], behind)
		if err != nil {
			return nil, err
		}
		compiled[i] = t
		behind += len(t)
	}
	if behind > 200 {
		return nil, errors.New("the filter has too many conditions on one call")
	}
	return slices.Concat(compiled...), nil
}

// condition compiles one test. out is the distance from its end to behind what the call
// ends in.
func condition(c landlock.Condition, out int) ([]bpf.Instruction, error) {
	if c.Arg < 0 || c.Arg > 5 {
		return nil, fmt.Errorf("the filter looks at argument %d", c.Arg)
	}
	in, err1 := values(c.In)
	notIn, err2 := values(c.NotIn)
	bits, err3 := values(c.AnyBit)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	low := uint32(offArgs + 8*c.Arg)
	load := bpf.LoadAbsolute{Off: low, Size: 4}
	switch {
	case c.NonZero:
		return []bpf.Instruction{
			load, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 2},
			bpf.LoadAbsolute{Off: low + 4, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: uint8(out)},
		}, nil
	case len(bits) > 0:
		var any uint32
		for _, b := range bits {
			any |= b
		}
		return []bpf.Instruction{load, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: any, SkipFalse: uint8(out)}}, nil
	case len(in) > 0:
		return member(load, c.Mask, in, out, true), nil
	case len(notIn) > 0:
		return member(load, c.Mask, notIn, out, false), nil
	default:
		return nil, errors.New("the filter has a condition without a test")
	}
}

// values looks the named constants up.
func values(names []string) ([]uint32, error) {
	out := make([]uint32, 0, len(names))
	for _, n := range names {
		v, ok := landlock.Constant(n)
		if !ok {
			return nil, fmt.Errorf("the filter has the constant %q, which this loader does not know", n)
		}
		out = append(out, v)
	}
	return out, nil
}

// member tests whether an argument is one of some values; want says which answer
// makes the condition hold.
func member(load bpf.Instruction, mask uint32, values []uint32, out int, want bool) []bpf.Instruction {
	t := []bpf.Instruction{load}
	if mask != 0 {
		t = append(t, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask})
	}
	for i, v := range values {
		left := len(values) - 1 - i
		jump := bpf.JumpIf{Cond: bpf.JumpEqual, Val: v}
		switch {
		case want && left == 0:
			jump.SkipFalse = uint8(out)
		case want:
			jump.SkipTrue = uint8(left)
		default:
			jump.SkipTrue = uint8(left + out)
		}
		t = append(t, jump)
	}
	return t
}

// installFilter puts the program in front of this thread's system calls.
func installFilter(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return e
	}
	return nil
}
