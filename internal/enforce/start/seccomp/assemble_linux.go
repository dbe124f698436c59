package seccomp

import (
	"errors"
	"fmt"
	"slices"

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

// errno is the number of an error that a block may name, 0 for OK.
func errno(name string) (number uint32, ok bool) {
	switch name {
	case "EACCES":
		return uint32(unix.EACCES), true
	case "EPERM":
		return uint32(unix.EPERM), true
	case "ENOSYS":
		return uint32(unix.ENOSYS), true
	case "EINVAL":
		return uint32(unix.EINVAL), true
	case "ENOTTY":
		return uint32(unix.ENOTTY), true
	case "ENOPROTOOPT":
		return uint32(unix.ENOPROTOOPT), true
	case "OK":
		return 0, true
	}
	return 0, false
}

// Assemble turns the rules of a start into a seccomp program. Calls of another
// architecture are refused altogether: their numbers mean other calls. A call that no
// group of the closed list allows ends in ENOSYS, as on a kernel that does not have it.
func Assemble(r Rules, abi int) ([]unix.SockFilter, error) {
	table, err := r.tests(abi, func(uint32) unix.SockFilter { return end(unix.SECCOMP_RET_USER_NOTIF) })
	return program(table.segments(others)), err
}

// Divide turns the rules into two programs that together say the same as one: of several filters the kernel takes
// the strictest answer, and to refuse is stricter than to ask (seccomp(2)). The first has the blocks and the closed
// list, the second the traps.
// See decision D104.
func Divide(r Rules, abi int) (blocks, traps []unix.SockFilter, err error) {
	first, err := r.tests(abi, func(nr uint32) unix.SockFilter {
		if isAllowed(nr) {
			return unix.SockFilter{}
		}
		return allow[0]
	})
	notify := func(uint32) unix.SockFilter { return end(unix.SECCOMP_RET_USER_NOTIF) }
	second, err2 := Rules{Traps: r.Traps}.tests(abi, notify)
	trapping := program(second.segments(func(uint32) []unix.SockFilter { return allow }))
	return program(first.segments(others)), trapping, errors.Join(err, err2)
}

// program puts the test of the architecture before the segments.
func program(s []segment) []unix.SockFilter {
	room := 6
	for i := range s {
		room += 2 + len(s[i].body)
	}
	return shortened(search(append(make([]unix.SockFilter, 0, room),
		load(offArch), jump(unix.BPF_JEQ, auditArch, 1, 0), fail(uint32(unix.EPERM)),
		load(offNr), jump(unix.BPF_JGE, x32Bit, 0, 1), fail(uint32(unix.ENOSYS)),
	), s))
}

// others is the answer to calls that no test ends.
func others(nr uint32) []unix.SockFilter {
	if isAllowed(nr) {
		return allow
	}
	return unknown
}

// tests are those of the rules. trapped is the answer to a trapped call; one of zeros leaves the trap out.
func (r Rules) tests(abi int, trapped func(nr uint32) unix.SockFilter) (tests, error) {
	table := make(tests, 64*len(allowed))
	for _, b := range r.Blocks {
		if abi < b.From || b.To != 0 && abi > b.To {
			continue
		}
		number, ok := errno(b.Errno)
		if !ok {
			return nil, fmt.Errorf("the filter has the errno %q", b.Errno)
		}
		if err := table.add(b.Syscalls, b.When, func(uint32) unix.SockFilter { return fail(number) }); err != nil {
			return nil, err
		}
	}
	for _, t := range r.Traps {
		if err := table.add(t.Syscalls, t.When, trapped); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// The instructions of classic BPF (Documentation/networking/filter.rst) that a filter
// needs.

// load reads the word at an offset of struct seccomp_data.
func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jump compares the word with k; holds and not are the numbers of instructions to skip if the
// comparison is true or false.
func jump(how uint16, k uint32, holds, not int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | how, K: k, Jt: uint8(holds), Jf: uint8(not)}
}

func skip(n int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(n)}
}

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

func fail(errno uint32) unix.SockFilter {
	return end(unix.SECCOMP_RET_ERRNO | errno)
}

// tests are the tests of each call by its number, in their order.
type tests [][]unix.SockFilter

// maxTests is how far a jump in a seccomp program reaches, in instructions.
const maxTests = 255

// add compiles a block or trap: for each of its calls, a test of the conditions, and the action
// that ends the call if all are true; an action of zeros leaves the call out.
func (t *tests) add(names []string, when []landlock.Condition, action func(nr uint32) unix.SockFilter) error {
	body, err := conditions(when)
	if err != nil {
		return err
	}
	for _, name := range names {
		nr, ok := number(name)
		switch {
		case !ok && landlock.KnownCall(name):
			continue // another architecture has it
		case !ok:
			return fmt.Errorf("the filter has the system call %q, which this loader does not know", name)
		}
		act := action(nr)
		if act == (unix.SockFilter{}) {
			continue
		}
		if more := int(nr) + 1 - len(*t); more > 0 {
			*t = append(*t, make(tests, more)...)
		}
		own := &(*t)[nr]
		if *own == nil {
			*own = make([]unix.SockFilter, 0, len(body)+2) // with the answer behind them
		}
		if *own = append(append(*own, body...), act); len(*own) > maxTests {
			return fmt.Errorf("the filter has too many conditions on %s", name)
		}
	}
	return nil
}

// segment is a range of numbers, up to the next segment, whose calls take the same tests.
type segment struct {
	from uint32
	body []unix.SockFilter
}

// The actions of calls that no test ends.
var (
	allow   = []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
	unknown = []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}}
)

// segments covers all numbers, joining neighbours that take the same tests. others is the answer behind the tests.
func (t tests) segments(others func(nr uint32) []unix.SockFilter) []segment {
	out := make([]segment, 0, 192) // 130 for the policies of today
	for nr := range uint32(len(t) + 1) {
		body := others(nr)
		if int(nr) < len(t) && len(t[nr]) > 0 {
			if tests := t[nr]; isEnd(tests[0]) {
				body = tests[:1]
			} else {
				body = append(tests, body...)
			}
		}
		if len(out) == 0 || !slices.Equal(out[len(out)-1].body, body) {
			out = append(out, segment{nr, body})
		}
	}
	return out
}

// search appends to a program the search for the segment of a number by halving, so that each call pays for a few
// comparisons and its own tests.
func search(p []unix.SockFilter, s []segment) []unix.SockFilter {
	half := len(s) / 2
	if half == 0 {
		return append(p, s[0].body...)
	}
	at := len(p)
	p = search(append(p, jump(unix.BPF_JGE, s[half].from, 0, 0)), s[:half])
	if low := len(p) - at - 1; low <= maxTests {
		p[at].Jt = uint8(low)
	} else {
		p[at].Jf = 1
		p = slices.Insert(p, at+1, skip(low))
	}
	return search(p, s[half:])
}
