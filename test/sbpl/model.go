package sbpl

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
	// message is text that the system adds to its report of a denial.
	message string
	// modifiers are the other words of (with ...), such as no-sandbox.
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

// Message returns the text that the system reports with the denial of an operation: the message
// of the rule that decides, by the measured precedence. It is empty for an allowed operation.
func (p *Profile) Message(op string, r Request) (string, error) {
	op, err := operation(op)
	if err != nil {
		return "", err
	}
	if r.Fold {
		r.folded = fold(r.Path)
	}
	if rule := p.decisive(op, &r); rule != nil && !rule.allow {
		return rule.message, nil
	}
	return "", nil
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

// measured is the precedence that experiments found: the operation's own rules with a filter,
// the last match first; then its own rule without one, wherever it is; then the operations that
// the language allows by itself; then the same for the operation's family. Sources: the
// precedence tests of microsoft/mxc, eehrich/ScarabHive on macOS 27, and GreyhavenHQ/greywall
// (pull 20) for families.
func (p *Profile) measured(op string, r *Request) bool {
	rule := p.decisive(op, r)
	return rule != nil && rule.allow
}

// builtIn is the rule by which the language allows an operation by itself.
var builtIn = &rule{allow: true}

// decisive returns the rule that the measured precedence leads to, nil if there is
// none and the operation is denied.
func (p *Profile) decisive(op string, r *Request) *rule {
	for {
		if rule := last(p.byOp[op], r); rule != nil {
			return rule
		}
		if slices.Contains(undeniable, op) {
			return builtIn
		}
		family, ok := parents[op]
		if !ok {
			return nil
		}
		op = family
	}
}

// last returns the rule among those of one operation that decides: the last one with a
// filter that matches, or else the last one without.
func last(rules []*rule, r *Request) *rule {
	var plain *rule
	for _, rule := range slices.Backward(rules) {
		switch {
		case rule.filter == nil:
			if plain == nil {
				plain = rule
			}
		case rule.filter.match(r):
			return rule
		}
	}
	return plain
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
