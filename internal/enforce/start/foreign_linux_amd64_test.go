package start_test

import (
	"bytes"
	words "encoding/binary"
	"errors"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The address of the programs of these tests, and the file that they open: below 4 GiB, so that
// the calls of 32 bits reach it.
const (
	loadAt   = 0x400000
	codeAt   = 0x100
	openName = ".env"
)

// foreign is a static program that opens a file by the 32-bit call (int 0x80), in an ELF image
// of either kind: it ends with status 0 if the file was opened, by SIGILL if the call was
// refused with EPERM, and by SIGTRAP for any other result. The instructions are the same in 32
// and 64 bits.
func foreign(bits int) []byte {
	name := uint32(loadAt + codeAt + 0x40)
	imm := func(op byte, v uint32) []byte { return words.LittleEndian.AppendUint32([]byte{op}, v) }
	code := bytes.Join([][]byte{
		imm(0xb8, 5),       // mov eax, 5: open of i386
		imm(0xbb, name),    // mov ebx, name
		{0x31, 0xc9},       // xor ecx, ecx: O_RDONLY
		{0xcd, 0x80},       // int 0x80
		{0x83, 0xf8, 0xff}, // cmp eax, -EPERM
		{0x75, 0x02},       // jne over
		{0x0f, 0x0b},       // ud2
		{0x85, 0xc0},       // test eax, eax
		{0x79, 0x01},       // jns over
		{0xcc},             // int3
		imm(0xb8, 1),       // mov eax, 1: exit of i386
		{0x31, 0xdb},       // xor ebx, ebx
		{0xcd, 0x80},       // int 0x80
		{0x0f, 0x0b},       // ud2
	}, nil)
	code = append(code, make([]byte, 0x40-len(code))...)
	code = append(code, openName+"\x00"...)
	out := append(header(bits, uint64(codeAt+len(code))), code...)
	return out
}

// header is an ELF header with one segment that holds the whole file (elf(5)).
func header(bits int, size uint64) []byte {
	var b bytes.Buffer
	put := func(vs ...any) {
		for _, v := range vs {
			_ = words.Write(&b, words.LittleEndian, v)
		}
	}
	class, machine := byte(1), uint16(3) // ELFCLASS32, EM_386
	if bits == 64 {
		class, machine = 2, 62 // ELFCLASS64, EM_X86_64
	}
	b.Write([]byte{0x7f, 'E', 'L', 'F', class, 1, 1, 15: 0})
	put(uint16(2), machine, uint32(1)) // ET_EXEC
	const executable, load = uint32(5), uint32(1)
	if bits == 64 {
		put(uint64(loadAt+codeAt), uint64(64), uint64(0), uint32(0), uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0))
		put(load, executable, uint64(0), uint64(loadAt), uint64(loadAt), size, size, uint64(0x1000))
	} else {
		put(uint32(loadAt+codeAt), uint32(52), uint32(0), uint32(0), uint16(52), uint16(32), uint16(1), uint16(0), uint16(0), uint16(0))
		put(load, uint32(0), uint32(loadAt), uint32(loadAt), uint32(size), uint32(size), executable, uint32(0x1000))
	}
	return append(b.Bytes(), make([]byte, codeAt-b.Len())...)
}

// TestForeignCalls: a 32-bit program, and a 64-bit one that makes 32-bit calls, whose
// numbers mean other calls to a filter, get no call through, supervised or not.
func TestForeignCalls(t *testing.T) {
	t.Parallel()
	f := newFortress(t)
	for name, bits := range map[string]int{"i386": 32, "amd64": 64} {
		t.Run(name, func(t *testing.T) {
			f.must(writeProgram(f.at(name), foreign(bits)))
			plain := exec.Command(f.at(name))
			plain.Dir = f.root
			err := plain.Run()
			if errors.Is(err, syscall.ENOEXEC) || plain.ProcessState != nil && plain.ProcessState.Sys().(syscall.WaitStatus).Signal() == unix.SIGSEGV {
				t.Skipf("this kernel has no 32-bit calls (CONFIG_IA32_EMULATION): %v", err)
			}
			if err != nil {
				t.Fatalf("without a sandbox: %v", err)
			}
			for mode, spec := range map[string][]byte{"supervised": f.spec, "alone": f.readOnly()} {
				x := startProgram(t, spec, f.dir, filepath.Join(f.root, name))
				x.cmd.Stdin = nil
				_ = x.cmd.Run()
				if ws := x.cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != unix.SIGILL {
					t.Errorf("%s: expected EPERM from every 32-bit call: %v; %s", mode, x.cmd.ProcessState, x.errs)
				}
			}
		})
	}
}
