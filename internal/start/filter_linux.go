package start

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

var errnos = map[string]uint32{
	"EACCES": uint32(unix.EACCES), "EPERM": uint32(unix.EPERM), "ENOSYS": uint32(unix.ENOSYS), "EINVAL": uint32(unix.EINVAL),
	"ENOTTY": uint32(unix.ENOTTY), "ENOPROTOOPT": uint32(unix.ENOPROTOOPT), "OK": 0,
}

// rules are the parts of a seccomp program: the blocks, then the traps.
type rules struct {
	blocks []landlock.Block
	traps  []landlock.Trap
}

// assemble turns the rules of a start into a seccomp program. Calls of another
// architecture are refused altogether: their numbers mean other calls. A call that no
// group of the closed list allows ends in ENOSYS, as on a kernel that does not have it.
func assemble(r rules, abi int) ([]unix.SockFilter, error) {
	table, err := r.tests(abi, func(uint32) unix.SockFilter { return end(unix.SECCOMP_RET_USER_NOTIF) })
	return program(table.segments(others)), err
}

// divide turns the rules into two programs that together say the same as one: of several filters the kernel takes
// the strictest answer, and to refuse is stricter than to ask (seccomp(2)). The first has the blocks and the closed
// list, the second the traps.
// See RATIONALE D306.
func divide(r rules, abi int) (blocks, traps []unix.SockFilter, err error) {
	first, err := r.tests(abi, func(nr uint32) unix.SockFilter {
		if isAllowed(nr) {
			return unix.SockFilter{}
		}
		return allow[0]
	})
	second, err2 := rules{traps: r.traps}.tests(abi, func(uint32) unix.SockFilter { return end(unix.SECCOMP_RET_USER_NOTIF) })
	return program(first.segments(others)), program(second.segments(func(uint32) []unix.SockFilter { return allow })), errors.Join(err, err2)
}

// program puts the test of the architecture before the segments.
func program(s []segment) []unix.SockFilter {
	return shortened(append([]unix.SockFilter{
		load(offArch), jump(unix.BPF_JEQ, auditArch, 1, 0), fail(uint32(unix.EPERM)),
		load(offNr), jump(unix.BPF_JGE, x32Bit, 0, 1), fail(uint32(unix.ENOSYS)),
	}, search(s)...))
}

// isEnd reports whether an instruction ends a program.
func isEnd(f unix.SockFilter) bool { return f.Code == unix.BPF_RET|unix.BPF_K }

// shortened is a program that says the same with fewer instructions: a jump to an end of the program leads to the
// last such end that it can reach, and instructions to which nothing leads any more are left out. The kernel translates a
// supervised tool's filter at each start, which takes time for each instruction.
// See RATIONALE D320.
func shortened(p []unix.SockFilter) []unix.SockFilter {
	p = slices.Clone(p)
	needed := make([]bool, len(p))
	needed[0] = true
	for i := range p {
		switch f := &p[i]; {
		case !needed[i] || isEnd(*f):
		case f.Code == unix.BPF_JMP|unix.BPF_JA:
			needed[i+1+int(f.K)] = true
		case f.Code&0x07 == unix.BPF_JMP:
			f.Jt, f.Jf = farther(p, i, f.Jt), farther(p, i, f.Jf)
			needed[i+1+int(f.Jt)], needed[i+1+int(f.Jf)] = true, true
		default:
			needed[i+1] = true
		}
	}
	return needing(p, needed)
}

// farther is a jump from an instruction to the last end that it can reach and that is like the one it leads to.
func farther(p []unix.SockFilter, from int, by uint8) uint8 {
	to := p[from+1+int(by)]
	for far := min(maxTests, len(p)-from-2); isEnd(to) && far > int(by); far-- {
		if p[from+1+far] == to {
			return uint8(far)
		}
	}
	return by
}

// needing leaves the other instructions out. Jumps become shorter with that, and none longer.
func needing(p []unix.SockFilter, needed []bool) []unix.SockFilter {
	place := make([]int, len(p)+1)
	for i := range p {
		place[i+1] = place[i]
		if needed[i] {
			place[i+1]++
		}
	}
	var out []unix.SockFilter
	for i, f := range p {
		to := func(by uint32) uint32 { return uint32(place[i+1+int(by)] - place[i] - 1) }
		switch {
		case !needed[i]:
			continue
		case f.Code == unix.BPF_JMP|unix.BPF_JA:
			f.K = to(f.K)
		case f.Code&0x07 == unix.BPF_JMP:
			f.Jt, f.Jf = uint8(to(uint32(f.Jt))), uint8(to(uint32(f.Jf)))
		}
		out = append(out, f)
	}
	return out
}

// others is the answer to calls that no test ends.
func others(nr uint32) []unix.SockFilter {
	if isAllowed(nr) {
		return allow
	}
	return unknown
}

// tests are those of the rules. trapped is the answer to a trapped call; one of zeros leaves the trap out.
func (r rules) tests(abi int, trapped func(nr uint32) unix.SockFilter) (tests, error) {
	table := tests{}
	for _, b := range r.blocks {
		if abi < b.From || b.To != 0 && abi > b.To {
			continue
		}
		errno, ok := errnos[b.Errno]
		if !ok {
			return nil, fmt.Errorf("the filter has the errno %q", b.Errno)
		}
		if err := table.add(b.Syscalls, b.When, func(uint32) unix.SockFilter { return fail(errno) }); err != nil {
			return nil, err
		}
	}
	for _, t := range r.traps {
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
type tests map[uint32][]unix.SockFilter

// maxTests is how far a jump in a seccomp program reaches, in instructions.
const maxTests = 255

// add compiles a block or trap: for each of its calls, a test of the conditions, and the action
// that ends the call if all are true; an action of zeros leaves the call out.
func (t tests) add(names []string, when []landlock.Condition, action func(nr uint32) unix.SockFilter) error {
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
		if t[nr] = slices.Concat(t[nr], body, []unix.SockFilter{act}); len(t[nr]) > maxTests {
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
var allow, unknown = []unix.SockFilter{end(unix.SECCOMP_RET_ALLOW)}, []unix.SockFilter{fail(uint32(unix.ENOSYS))}

// segments covers all numbers, joining neighbours that take the same tests. others is the answer behind the tests.
func (t tests) segments(others func(nr uint32) []unix.SockFilter) []segment {
	last := uint32(64 * len(allowed))
	for nr := range t {
		last = max(last, nr+1)
	}
	var out []segment
	for nr := range last + 1 {
		body := others(nr)
		if tests := t[nr]; len(tests) > 0 {
			body = slices.Concat(tests, body)
			if tests[0].Code == unix.BPF_RET|unix.BPF_K {
				body = tests[:1]
			}
		}
		if len(out) == 0 || !slices.Equal(out[len(out)-1].body, body) {
			out = append(out, segment{nr, body})
		}
	}
	return out
}

// search finds the segment of a number by halving, so that each call pays for a few
// comparisons and its own tests.
func search(s []segment) []unix.SockFilter {
	half := len(s) / 2
	if half == 0 {
		return s[0].body
	}
	low, high := search(s[:half]), search(s[half:])
	if len(low) <= maxTests {
		return slices.Concat([]unix.SockFilter{jump(unix.BPF_JGE, s[half].from, len(low), 0)}, low, high)
	}
	return slices.Concat([]unix.SockFilter{jump(unix.BPF_JGE, s[half].from, 0, 1), skip(len(low))}, low, high)
}

// conditions compiles tests that fall through when all are true and otherwise jump behind the
// action.
func conditions(cs []landlock.Condition) ([]unix.SockFilter, error) {
	compiled := make([][]unix.SockFilter, len(cs))
	// behind is the number of instructions of later tests, and the return, that follow.
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

// condition compiles one test. out is the distance from its end to behind the action.
func condition(c landlock.Condition, out int) ([]unix.SockFilter, error) {
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
	switch {
	case c.NonZero:
		return []unix.SockFilter{
			load(low), jump(unix.BPF_JEQ, 0, 0, 2),
			load(low + 4), jump(unix.BPF_JEQ, 0, out, 0),
		}, nil
	case len(bits) > 0:
		var any uint32
		for _, b := range bits {
			any |= b
		}
		return []unix.SockFilter{load(low), jump(unix.BPF_JSET, any, 0, out)}, nil
	case len(in) > 0:
		return member(low, c.Mask, in, out, true), nil
	case len(notIn) > 0:
		return member(low, c.Mask, notIn, out, false), nil
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

// member tests whether an argument is one of some values; want says which answer makes the
// condition true.
func member(arg, mask uint32, values []uint32, out int, want bool) []unix.SockFilter {
	t := []unix.SockFilter{load(arg)}
	if mask != 0 {
		t = append(t, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask})
	}
	for i, v := range values {
		left := len(values) - 1 - i
		switch {
		case want && left == 0:
			t = append(t, jump(unix.BPF_JEQ, v, 0, out))
		case want:
			t = append(t, jump(unix.BPF_JEQ, v, left, 0))
		default:
			t = append(t, jump(unix.BPF_JEQ, v, left+out, 0))
		}
	}
	return t
}
