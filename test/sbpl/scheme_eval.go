package sbpl

import "strings"

// Profiles of others use the Scheme that the language is written in: they name paths and whole
// rules, and choose by parameters. This file implements the part that such profiles use; all
// else is refused.

// maxSteps bounds how much a profile may compute, maxCalls how deep, maxBuilt how many
// bytes a string gets by that.
const (
	maxSteps = 100_000
	maxCalls = 64
	maxBuilt = 1 << 14
)

// function is the value of (define (name parameters...) body...).
type function struct {
	params []string
	body   []datum
}

// scope maps names to values. A name is visible until the form ends that made it.
type scope struct {
	values    map[string]datum
	functions map[string]function
	outer     *scope
}

func (s *scope) value(name string) (datum, bool) {
	for ; s != nil; s = s.outer {
		if d, ok := s.values[name]; ok {
			return d, true
		}
	}
	return datum{}, false
}

func (s *scope) function(name string) (function, bool) {
	for ; s != nil; s = s.outer {
		if f, ok := s.functions[name]; ok {
			return f, true
		}
	}
	return function{}, false
}

// within reads statements in a scope of their own.
func (r *reader) within(values map[string]datum, body []datum, outer allOf) error {
	defer r.enter(values)()
	for _, d := range body {
		if err := r.statement(d, outer); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) enter(values map[string]datum) func() {
	r.scope = &scope{values: values, functions: map[string]function{}, outer: r.scope}
	r.depth++
	return func() { r.scope, r.depth = r.scope.outer, r.depth-1 }
}

// spend refuses a profile that computes without end.
func (r *reader) spend(d datum) error {
	if r.steps++; r.steps > maxSteps || r.depth > maxCalls {
		return d.fail("the profile computes too much")
	}
	return nil
}

var yes, no = datum{kind: symbol, text: "#t"}, datum{kind: symbol, text: "#f"}

// truth is a condition as a value.
func truth(b bool) datum {
	if b {
		return yes
	}
	return no
}

func (d datum) isFalse() bool { return d.kind == symbol && d.text == "#f" }

// define binds a name to a value, or to a function.
func (r *reader) define(d datum) error {
	args := d.args()
	if len(args) < 2 {
		return d.fail("expected a name and a value")
	}
	if name := args[0]; name.kind == symbol {
		value, err := r.eval(args[1])
		r.scope.values[name.text] = value
		return err
	}
	var f function
	for _, p := range args[0].items {
		if p.kind != symbol {
			return p.fail("expected the name of a parameter")
		}
		f.params = append(f.params, p.text)
	}
	if len(f.params) == 0 {
		return d.fail("expected the name of a function")
	}
	name := f.params[0]
	f.params, f.body = f.params[1:], args[1:]
	r.scope.functions[name] = f
	return nil
}

// let reads (let ((name value)...) body...), where let* sees the names before.
func (r *reader) let(d datum, outer allOf) error {
	args := d.args()
	if len(args) < 2 || args[0].kind != list {
		return d.fail("expected names and rules")
	}
	bound := map[string]datum{}
	if d.head() == "let*" {
		defer r.enter(bound)()
	}
	for _, b := range args[0].items {
		if b.head() == "" || len(b.items) != 2 {
			return b.fail("expected a name and a value")
		}
		value, err := r.eval(b.items[1])
		if err != nil {
			return err
		}
		bound[b.head()] = value
	}
	return r.within(bound, args[1:], outer)
}

// arguments evaluates those of a call.
func (r *reader) arguments(d datum, f function) (map[string]datum, error) {
	if err := r.spend(d); err != nil {
		return nil, err
	}
	if len(d.args()) != len(f.params) {
		return nil, d.fail("(%s ...) takes %d arguments", d.head(), len(f.params))
	}
	out := map[string]datum{}
	for i, a := range d.args() {
		value, err := r.eval(a)
		if err != nil {
			return nil, err
		}
		out[f.params[i]] = value
	}
	return out, nil
}

// branch reads if, when, unless and cond: the statements of the chosen branch.
func (r *reader) branch(d datum, outer allOf) error {
	body, err := r.chosen(d)
	if err != nil {
		return err
	}
	return r.within(map[string]datum{}, body, outer)
}

// chosen returns the branch of a conditional.
func (r *reader) chosen(d datum) ([]datum, error) {
	args := d.args()
	if len(args) < 2 && d.head() != "cond" || d.head() == "if" && len(args) > 3 {
		return nil, d.fail("expected a condition, and rules")
	}
	if d.head() == "cond" {
		for _, clause := range args {
			if len(clause.items) < 2 {
				return nil, clause.fail("expected a condition, and rules")
			}
			holds, err := r.condition(clause.items[0])
			if err != nil || holds {
				return clause.items[1:], err
			}
		}
		return nil, nil
	}
	holds, err := r.condition(args[0])
	switch {
	case err != nil:
		return nil, err
	case d.head() == "if" && !holds:
		return args[2:], nil
	case d.head() == "if":
		return args[1:2], nil
	case holds == (d.head() == "when"):
		return args[1:], nil
	default:
		return nil, nil
	}
}

// condition evaluates one. An expression without a value is refused: it could be false.
func (r *reader) condition(d datum) (bool, error) {
	value, err := r.eval(d)
	if err == nil && (value.kind == list || value.kind == symbol && value.text != "#t" && value.text != "#f") {
		err = d.fail("expected a condition")
	}
	return !value.isFalse(), err
}

// eval returns the value of an expression. An expression that is not Scheme, above all a
// filter, stands for itself with the names in it replaced.
func (r *reader) eval(d datum) (datum, error) {
	if err := r.spend(d); err != nil {
		return d, err
	}
	switch {
	case d.kind == symbol:
		if value, ok := r.scope.value(d.text); ok {
			return value, nil
		}
		if d.text == "else" {
			return yes, nil
		}
		return d, nil
	case d.kind != list || d.head() == "quote":
		return d, nil
	}
	if f, ok := r.scope.function(d.head()); ok {
		return r.call(d, f)
	}
	switch d.head() {
	case "if", "cond":
		body, err := r.chosen(d)
		if err != nil || len(body) == 0 {
			return no, err
		}
		return r.eval(body[len(body)-1])
	case "defined?":
		// This reader takes a system that knows every name.
		return yes, nil
	case "and", "or":
		return r.junction(d)
	}
	out := datum{kind: list, items: []datum{}, line: d.line}
	for _, item := range d.items {
		value, err := r.eval(item)
		if err != nil {
			return d, err
		}
		out.items = append(out.items, value)
	}
	return r.builtin(out)
}

// call evaluates a function whose body is one expression.
func (r *reader) call(d datum, f function) (datum, error) {
	values, err := r.arguments(d, f)
	if err != nil {
		return d, err
	}
	defer r.enter(values)()
	return r.eval(f.body[len(f.body)-1])
}

func (r *reader) junction(d datum) (datum, error) {
	all := d.head() == "and"
	for _, a := range d.args() {
		if holds, err := r.condition(a); err != nil || holds != all {
			return truth(holds), err
		}
	}
	return truth(all), nil
}

// builtin applies one of the language's own functions to values.
func (r *reader) builtin(d datum) (datum, error) {
	args := d.args()
	two := len(args) == 2
	switch d.head() {
	case "not":
		if len(args) != 1 {
			return d, d.fail("expected one condition")
		}
		holds, err := r.condition(args[0])
		return truth(!holds), err
	case "string?":
		return truth(len(args) == 1 && args[0].kind == text), nil
	case "string=?", "equal?", "eq?":
		if !two {
			return d, d.fail("expected two values")
		}
		return truth(args[0].kind == args[1].kind && args[0].text == args[1].text && args[0].num == args[1].num), nil
	case "param":
		if len(args) != 1 || args[0].kind != text {
			return d, d.fail("expected the name of a parameter")
		}
		if value, ok := r.params[args[0].text]; ok {
			return datum{kind: text, text: value, line: d.line}, nil
		}
		return no, nil
	case "string-append":
		out := datum{kind: text, line: d.line}
		for _, a := range args {
			if a.kind != text {
				return d, a.fail("expected a string")
			}
			if out.text += a.text; len(out.text) > maxBuilt {
				return d, d.fail("a string is too long")
			}
		}
		return out, nil
	case "regex-quote":
		if len(args) != 1 || args[0].kind != text {
			return d, d.fail("expected a string")
		}
		return datum{kind: text, text: quoteMeta.Replace(args[0].text), line: d.line}, nil
	default:
		return d, nil
	}
}

// scheme reads a statement that is not the profile language's own.
func (r *reader) scheme(d datum, outer allOf) error {
	if err := r.spend(d); err != nil {
		return err
	}
	if f, ok := r.scope.function(d.head()); ok {
		values, err := r.arguments(d, f)
		if err != nil {
			return err
		}
		return r.within(values, f.body, outer)
	}
	switch d.head() {
	case "define":
		return r.define(d)
	case "begin":
		return r.within(map[string]datum{}, d.args(), outer)
	case "let", "let*":
		return r.let(d, outer)
	case "if", "when", "unless", "cond":
		return r.branch(d, outer)
	default:
		return d.fail("found (%s ...), expected a rule", d.head())
	}
}

// quoteMeta takes the meaning from the characters of a text in a regular expression.
var quoteMeta = func() *strings.Replacer {
	var pairs []string
	for _, c := range `\.+*?()|[]^$` {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(append(pairs, "{", "[{]", "}", "[}]")...)
}()
