package landlock

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// ErrSpec is wrapped by every refusal of a specification.
var ErrSpec = errors.New("not a usable Landlock specification")

// Parse reads a specification. Unknown fields, rights, groups and versions are refused: a
// loader would not enforce them. Nobody changes data any more.
func Parse(data []byte) (*Spec, error) {
	if err := backends.CheckHeader(ErrSpec, data, format, formatVersion); err != nil {
		return nil, err
	}
	s := &Spec{}
	if err := strictjson.Own(data, s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	switch {
	case s.Calls != callsVersion:
		return nil, fmt.Errorf("%w: found version %d of the list of system calls, expected %d; build again", ErrSpec,
			s.Calls, callsVersion)
	case len(s.Levels) == 0 || len(s.Filter) == 0:
		return nil, fmt.Errorf("%w: found no levels or no filter, expected both", ErrSpec)
	}
	return s, s.check()
}

// check refuses rights that do not exist. The rights of the levels must be complete: a
// right that is not handled is not denied.
func (s *Spec) check() error {
	for i, want := range Levels() {
		if i >= len(s.Levels) || !sameLevel(s.Levels[i], want) {
			return fmt.Errorf("%w: found other rights at level %d than Landlock has there; build again", ErrSpec,
				want.ABI)
		}
	}
	for _, p := range s.Paths {
		if err := known(fsBits, p.Access); err != nil {
			return fmt.Errorf("%w in %s", err, p.Path)
		}
	}
	for _, p := range s.Ports {
		if err := known(netBits, p.Access); err != nil {
			return fmt.Errorf("%w at port %d", err, p.Port)
		}
	}
	for _, b := range s.Filter {
		if err := b.check(); err != nil {
			return err
		}
	}
	return s.Supervision.check()
}

// check refuses traps and blocks that could not be put in force, and addresses that
// are none.
func (s *Supervision) check() error {
	if s == nil {
		return nil
	}
	for _, b := range s.Filter {
		if err := b.check(); err != nil {
			return err
		}
	}
	for _, t := range s.Traps {
		if err := checkAll(t.When); err != nil {
			return err
		}
	}
	for _, a := range s.Connect {
		if _, err := ParseAddress(a); err != nil {
			return fmt.Errorf("%w: %w", ErrSpec, err)
		}
	}
	return nil
}

func (b Block) check() error {
	if !slices.Contains([]string{"EACCES", "EPERM", "ENOSYS", "EINVAL", "ENOTTY", "ENOPROTOOPT", "OK"}, b.Errno) {
		return fmt.Errorf("%w: found the unknown errno %q", ErrSpec, b.Errno)
	}
	return checkAll(b.When)
}

func checkAll(cs []Condition) error {
	for _, c := range cs {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a condition that tests nothing, or more than one thing.
func (c Condition) check() error {
	tests := 0
	for _, names := range [][]string{c.In, c.NotIn, c.AnyBit} {
		if len(names) > 0 {
			tests++
		}
		for _, n := range names {
			if _, ok := Constant(n); !ok {
				return fmt.Errorf("%w: found the unknown constant %q", ErrSpec, n)
			}
		}
	}
	if c.NonZero {
		tests++
	}
	if tests != 1 || c.Arg < 0 || c.Arg > 5 {
		return fmt.Errorf("%w: found a condition on argument %d with %d tests, expected one test", ErrSpec, c.Arg,
			tests)
	}
	return nil
}

func sameLevel(a, b Level) bool {
	return a.ABI == b.ABI && slices.Equal(a.FS, b.FS) && slices.Equal(a.Net, b.Net) && slices.Equal(a.Scoped, b.Scoped)
}

func known(bits, rights []Right) error {
	for _, r := range rights {
		if !slices.Contains(bits, r) {
			return fmt.Errorf("%w: found the unknown right %q", ErrSpec, r)
		}
	}
	return nil
}
