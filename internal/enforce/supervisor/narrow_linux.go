package supervisor

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// narrow removes all variables except the given names from a program that is about to start. It
// finds them on its stack, as the kernel has laid it out (create_elf_tables() in
// fs/binfmt_elf.c; System V ABI, initial process stack): argc, the arguments, 0, the variables,
// 0, the auxiliary vector.
// See decision D56.
func (s *seized) narrow(names []string) error {
	regs, err := s.registers()
	if err != nil {
		return err
	}
	sp := regs.stack()
	text, err := s.proc("environ")
	if err != nil {
		return err
	}
	argv, err := s.arguments()
	if err != nil {
		return err
	}
	vars := strings.SplitAfter(text, "\x00")
	vars = vars[:len(vars)-1] // the part behind the last zero byte is empty
	head := 1 + len(argv) + 1
	words, err := s.words(sp, head+len(vars)+1)
	if err != nil {
		return err
	}
	if words[0] != uint64(len(argv)) || words[head-1] != 0 || words[len(words)-1] != 0 {
		return errors.New("not the layout of a new program")
	}
	kept := slices.Clone(words[:head])
	for i, v := range vars {
		name, _, _ := strings.Cut(v, "=")
		at := words[head+i]
		if slices.Contains(names, name) {
			kept = append(kept, at)
			continue
		}
		if err := s.write(at, make([]byte, len(v))); err != nil {
			return err
		}
	}
	gone := head + len(vars) - len(kept)
	if gone%2 != 0 {
		// The stack stays aligned to two words: the last variable stands there twice or, where
		// none is left, an empty variable.
		kept = append(kept, slices.Concat(words[head:head+1], kept[head:])[len(kept)-head])
		gone--
	}
	return s.restack(sp+8*uint64(gone), append(kept, 0))
}

// restack writes words at sp and makes that the program's stack pointer.
func (s *seized) restack(sp uint64, words []uint64) error {
	buf := make([]byte, 0, 8*len(words))
	for _, w := range words {
		buf = binary.LittleEndian.AppendUint64(buf, w)
	}
	if err := s.write(sp, buf); err != nil {
		return err
	}
	regs, err := s.registers()
	if err != nil {
		return err
	}
	regs.setStack(sp)
	return s.setRegisters(regs)
}

// words reads integers of 64 bits.
func (s *seized) words(at uint64, n int) ([]uint64, error) {
	buf := make([]byte, 8*n)
	got, err := unix.ProcessVMReadv(s.process, []unix.Iovec{iovec(buf)},
		[]unix.RemoteIovec{{Base: uintptr(at), Len: len(buf)}}, 0)
	if err == nil && got != len(buf) {
		err = unix.EFAULT
	}
	if err != nil {
		return nil, err
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(buf[8*i:])
	}
	return out, nil
}

func (s *seized) write(at uint64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	n, err := unix.ProcessVMWritev(s.process, []unix.Iovec{iovec(data)},
		[]unix.RemoteIovec{{Base: uintptr(at), Len: len(data)}}, 0)
	if err == nil && n != len(data) {
		err = unix.EFAULT
	}
	return err
}
