package supervisor

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// executeCheck is AT_EXECVE_CHECK (Linux 6.14): nothing is started.
const executeCheck = 0x10000

// lacks reports whether the policy grants a program that the ruleset does not let start, since
// the program appeared after the start of the tool. The tool must be able to read such a file,
// since it gets a copy. Where programs are listed, interpreters start by nothing but the
// ruleset: the list speaks of the scripts that they interpret.
func (c programs) lacks(want becoming) (bool, unix.Errno) {
	starts := want.chain
	if want.listed {
		starts = want.chain[:1]
	}
	lacks := false
	for _, f := range starts {
		if c.lowerBound(f) == toStart {
			continue
		}
		if name := where(f); name != "" && !c.permits(c.policy.access(c.box.at(name), ir.Read)) {
			return false, unix.EACCES
		}
		lacks = true
	}
	if !lacks || !want.listed {
		return lacks, 0
	}
	for _, f := range want.chain[1:] {
		if c.lowerBound(f) != toStart {
			return false, unix.EACCES
		}
	}
	return true, 0
}

// runs checks the kernel's conditions for a start that are not the ruleset's.
func (c programs) runs(in invocation, want becoming) unix.Errno {
	for _, f := range want.chain {
		if !executable(f) {
			return unix.EACCES
		}
	}
	switch {
	case !want.script():
	case !native(want.image()):
		return unix.ENOEXEC
	case want.path != want.name && c.closes(in.dir):
		// Its interpreter could not open it (BINPRM_FLAGS_PATH_INACCESSIBLE).
		return unix.ENOENT
	}
	return 0
}

// unbound asks the rulesets by which the caller has restricted itself whether they let the
// files be started, since they do not check copies either. A kernel that cannot be asked
// refuses the flag (EINVAL), and then nothing is started.
func (c programs) unbound(want becoming) unix.Errno {
	if !c.domain.binds() {
		return 0
	}
	empty, err := unix.BytePtrFromString("")
	if err != nil {
		return unix.EACCES
	}
	for _, f := range want.chain {
		err := c.do(func() error {
			_, _, e := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(f), uintptr(unsafe.Pointer(empty)), 0, 0,
				unix.AT_EMPTY_PATH|executeCheck, 0)
			if e != 0 {
				return e
			}
			return nil
		})
		if err != nil {
			return unix.EACCES
		}
	}
	return 0
}

// executable checks the permission to start a file, which its mount may withhold.
func executable(obj int) bool {
	return unix.Faccessat(unix.AT_FDCWD, self(obj), unix.X_OK, unix.AT_EACCESS) == nil
}

// native reports whether the kernel would run an image (elf(5)).
func native(obj int) bool {
	f, err := os.Open(self(obj))
	if err != nil {
		return false
	}
	defer f.Close()
	const size, class64, littleEndian, etExec, etDyn = 20, 2, 1, 2, 3
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil {
		return false
	}
	kind := binary.LittleEndian.Uint16(b[16:])
	return b[4] == class64 && b[5] == littleEndian && (kind == etExec || kind == etDyn) &&
		binary.LittleEndian.Uint16(b[18:]) == machine
}

// closes reports whether a descriptor of the caller is closed when it starts a program.
func (c *caller) closes(fd int) bool {
	flags, ok := openFlags(c.tid, fd)
	return !ok || flags&unix.O_CLOEXEC != 0
}

// openFlags are the flags of an open descriptor of a thread (proc_pid_fdinfo(5)).
func openFlags(tid, fd int) (uint64, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(data), "flags:")
	line, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseUint(strings.TrimSpace(line), 8, 32)
	return flags, err == nil
}
