package seccomp

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends/landlock"
)

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
	if len(cs) == 1 {
		return compiled[0], nil
	}
	return slices.Concat(compiled...), nil
}

// condition compiles one test. out is the distance from its end to behind the action.
func condition(c landlock.Condition, out int) ([]unix.SockFilter, error) {
	if c.Arg < 0 || c.Arg > 5 {
		return nil, fmt.Errorf("the filter looks at argument %d", c.Arg)
	}
	// One of the three lists has items. The memory is for lists of today's length.
	var known [96]uint32
	named, err := values(known[:0], c.In, c.NotIn, c.AnyBit)
	if err != nil {
		return nil, err
	}
	low := uint32(offArgs + 8*c.Arg)
	switch {
	case c.NonZero:
		return []unix.SockFilter{
			load(low), jump(unix.BPF_JEQ, 0, 0, 2),
			load(low + 4), jump(unix.BPF_JEQ, 0, out, 0),
		}, nil
	case len(c.AnyBit) > 0:
		var any uint32
		for _, b := range named[len(c.In)+len(c.NotIn):] {
			any |= b
		}
		return []unix.SockFilter{load(low), jump(unix.BPF_JSET, any, 0, out)}, nil
	case len(c.In) > 0:
		return member(low, c.Mask, named[:len(c.In)], out, true), nil
	case len(c.NotIn) > 0:
		return member(low, c.Mask, named, out, false), nil
	default:
		return nil, errors.New("the filter has a condition without a test")
	}
}

// values appends the values of named constants.
func values(out []uint32, lists ...[]string) ([]uint32, error) {
	for _, names := range lists {
		for _, n := range names {
			v, ok := landlock.Constant(n)
			if !ok {
				return nil, fmt.Errorf("the filter has the constant %q, which this loader does not know", n)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// member tests whether an argument is one of some values, which it sorts; want says which answer makes the
// condition true. Values that follow each other are one range: each test is an instruction for the kernel to
// translate at every start, and for the tool to pass.
// See decision D104.
func member(arg, mask uint32, values []uint32, out int, want bool) []unix.SockFilter {
	slices.Sort(values)
	left := 0 // instructions of the ranges that are still to come
	for first, last := range ranges(values) {
		left += length(first, last)
	}
	t := append(make([]unix.SockFilter, 0, 2+left), load(arg))
	if mask != 0 {
		t = append(t, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask})
	}
	is, not := 0, out // how far behind the last test
	if !want {
		is, not = out, 0
	}
	for first, last := range ranges(values) {
		left -= length(first, last)
		next := 0 // for a value above the range
		if left == 0 {
			next = not
		}
		if first == last {
			t = append(t, jump(unix.BPF_JEQ, first, left+is, next))
			continue
		}
		t = append(t, jump(unix.BPF_JGE, first, 0, left+1+not), jump(unix.BPF_JGT, last, next, left+is))
	}
	return t
}

// length is the number of instructions that tell whether a value is in a range.
func length(first, last uint32) int {
	if first == last {
		return 1
	}
	return 2
}

// ranges yields the first and the last of sorted values that follow each other, for each such run.
func ranges(sorted []uint32) iter.Seq2[uint32, uint32] {
	return func(yield func(first, last uint32) bool) {
		for from := 0; from < len(sorted); {
			to := from + 1
			for to < len(sorted) && sorted[to]-sorted[to-1] <= 1 {
				to++
			}
			if !yield(sorted[from], sorted[to-1]) {
				return
			}
			from = to
		}
	}
}
