package seatbelt

import (
	"errors"
	"fmt"
	"slices"
)

// ErrDisagree means that the two readings of a profile give different answers: the
// profile relies on a precedence that is not sure.
var ErrDisagree = errors.New("the readings of the profile disagree")

// Profile is a profile that was read, ready for questions.
type Profile struct {
	// Version is the version of the language that the profile declares.
	Version int64
	rules   []*rule
	byOp    map[string][]*rule
}

// rule is one statement.
type rule struct {
	allow bool
	ops   []string
	// filter is nil for a rule without one.
	filter filter
	index  int
	line   int
	// modifiers are the words of (with ...), such as no-sandbox.
	modifiers []string
}

// Allows answers whether an operation on r is permitted, by two readings of the
// profile at once. A disagreement is an error that wraps ErrDisagree, and no
// permission.
func (p *Profile) Allows(op string, r Request) (bool, error) {
	op, err := operation(op)
	if err != nil {
		return false, err
	}
	if r.Fold {
		r.folded = fold(r.Path)
	}
	measured, textual := p.measured(op, &r), p.textual(op, &r)
	if measured != textual {
		return false, fmt.Errorf("%w: %s on %q: measured %v, textual %v", ErrDisagree, op, r.Path, measured, textual)
	}
	return measured, nil
}

// operation returns the first name of an operation.
func operation(name string) (string, error) {
	if first, ok := aliases[name]; ok {
		name = first
	}
	if _, ok := parents[name]; !ok && name != "default" {
		return "", fmt.Errorf("%w: there is no operation %s", ErrProfile, name)
	}
	return name, nil
}

// measured is the precedence that experiments found: the operation's own rules with a
// filter, the last match first; then its own rule without one, wherever it stands;
// then what the language allows by itself; then the same for the operation's family.
// Sources: the precedence tests of microsoft/mxc, eehrich/ScarabHive on macOS 27, and
// GreyhavenHQ/greywall (pull 20) for families.
func (p *Profile) measured(op string, r *Request) bool {
	for {
		if allow, decided := decide(p.byOp[op], r); decided {
			return allow
		}
		if slices.Contains(undeniable, op) {
			return true
		}
		family, ok := parents[op]
		if !ok {
			return false
		}
		op = family
	}
}

// decide applies the rules of one operation.
func decide(rules []*rule, r *Request) (allow, decided bool) {
	for _, rule := range slices.Backward(rules) {
		switch {
		case rule.filter == nil:
			if !decided {
				allow, decided = rule.allow, true
			}
		case rule.filter.match(r):
			return rule.allow, true
		}
	}
	return allow, decided
}

// textual is the naive reading: of all rules about the operation or a family of it,
// the last one in the text that matches.
func (p *Profile) textual(op string, r *Request) bool {
	last, allow := -1, false
	for ok := true; ok; op, ok = parents[op] {
		for _, rule := range slices.Backward(p.byOp[op]) {
			if rule.index < last {
				break
			}
			if rule.filter == nil || rule.filter.match(r) {
				last, allow = rule.index, rule.allow
				break
			}
		}
	}
	return allow
}
