package sbpl

import "fmt"

// Statement is one rule of a profile as it is written, for tests of the text itself.
type Statement struct {
	Allow bool
	// Operations are named as the profile names them.
	Operations []string
	Line       int
	// Message and Modifiers are the words of (with ...).
	Message   string
	Modifiers []string
	// Filtered is false where the rule has no filter.
	Filtered bool
	// Combined is true where a filter joins others by and, or negates one.
	Combined bool
	// Paths are the paths and patterns that the filters name; a filter of another kind is
	// there by the name of its type.
	Paths []string
}

// Statements lists the rules in the order of the text.
func (p *Profile) Statements() []Statement {
	out := make([]Statement, len(p.rules))
	for i, r := range p.rules {
		out[i] = Statement{Allow: r.allow, Operations: r.ops, Line: r.line, Message: r.message, Modifiers: r.modifiers, Filtered: r.filter != nil, Combined: combined(r.filter)}
		if r.filter != nil {
			out[i].Paths = paths(r.filter)
		}
	}
	return out
}

func combined(f filter) bool {
	switch f := f.(type) {
	case anyOf:
		for _, g := range f {
			if combined(g) {
				return true
			}
		}
		return false
	case allOf, notOf:
		return true
	default:
		return false
	}
}

func paths(f filter) []string {
	switch f := f.(type) {
	case anyOf:
		var out []string
		for _, g := range f {
			out = append(out, paths(g)...)
		}
		return out
	case pathFilter:
		return []string{f.text}
	case patternFilter:
		return []string{f.re.String()}
	default:
		return []string{fmt.Sprintf("%T", f)}
	}
}

// Strings evaluates expressions, each of which must be a string. Parameters are as for
// Parse.
func Strings(text string, params map[string]string) ([]string, error) {
	data, err := scan(text)
	if err != nil {
		return nil, err
	}
	r := &reader{params: params, scope: &scope{}}
	out := make([]string, len(data))
	for i, d := range data {
		value, err := r.eval(d)
		if err != nil {
			return nil, err
		}
		if out[i], err = r.string(value); err != nil {
			return nil, err
		}
	}
	return out, nil
}
