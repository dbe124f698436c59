package evidencelog

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// of is a judged operation as the log holds it.
func of(d *denial.Denial) Operation {
	o := Operation{
		Reason: d.Why, By: string(d.By), Means: means(d), Errno: d.Errno, Process: Process{d.PID, d.Name},
		State: d.State, Once: d.Once, Rule: RuleOf(d.Verdict.Rule),
	}
	if d.Why == "" {
		o.Reason = d.Verdict.Reason.String()
	}
	held := false
	if d.Operation != nil && d.Roots != nil {
		o.Access, held = recorded.Of(d.Operation, d.Wants, d.Roots)
	}
	if !held {
		o.Access = recorded.Access{Operation: d.Verb()}
		if d.Operation != nil {
			o.Subject = ir.Describe(d.Operation).Subject
		}
	}
	o.Allowed, o.Times = d.Why == "" && d.Verdict.Allowed(), 1
	o.encode()
	return o
}

// means names the part of the system that decided.
func means(d *denial.Denial) string {
	c, connects := d.Operation.(ir.Connect)
	switch {
	case d.By == denial.ByRuleset || d.By == denial.ByFilter:
		return "kernel"
	case d.By == denial.ByEgress, connects && (c.To.Scheme != "" || c.To.Host.Kind == ir.HostName):
		return "proxy"
	}
	return "supervisor"
}

// RuleOf is a rule as the log names it, nil for none.
func RuleOf(r ir.Rule) *Rule {
	if r == nil {
		return nil
	}
	o := r.Source()
	return &Rule{ID: r.Subject(), Layer: o.Layer.String(), Label: o.Label, File: o.Pos.File, Line: o.Pos.Line}
}

// texts are the texts of an access that a tool can choose.
func (o *Operation) texts() []*string {
	out := []*string{&o.Interpreter, &o.Program, &o.Subject}
	for _, list := range [][]string{o.Paths, o.Args, o.Segments} {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}

// encode writes texts that JSON cannot hold in base64: two names must not become one.
func (o *Operation) encode() {
	bad := func(s string) bool { return !utf8.ValidString(s) }
	if !bad(o.Interpreter) && !bad(o.Program) && !bad(o.Subject) && !slices.ContainsFunc(o.Paths, bad) &&
		!slices.ContainsFunc(o.Args, bad) && !slices.ContainsFunc(o.Segments, bad) {
		return
	}
	o.Base64, o.Args, o.Segments = true, slices.Clone(o.Args), slices.Clone(o.Segments)
	for _, s := range o.texts() {
		*s = base64.StdEncoding.EncodeToString([]byte(*s))
	}
}

// Decode is the operation with its texts as they were.
func (o *Operation) Decode() error {
	if !o.Base64 {
		return nil
	}
	o.Base64 = false
	for _, s := range o.texts() {
		text, err := base64.StdEncoding.Strict().DecodeString(*s)
		if err != nil {
			return err
		}
		*s = string(text)
	}
	return nil
}

// appendOperation writes an operation. Most are accesses to files with names of ASCII, which encoding/json takes
// several times as long for.
func appendOperation(b []byte, o *Operation) []byte {
	a := &o.Access
	plain := o.State == 0 && o.Once == 0 && !o.Base64 && a.Interpreter == "" && a.Host == "" && a.Scheme == "" &&
		a.Program == "" && a.Args == nil && a.Segments == nil && a.Kinds == nil && !a.Own && a.Port == 0 &&
		a.Method == "" && o.Subject == ""
	if !plain {
		// Strings and integers always have a JSON form.
		data, _ := json.Marshal(o)
		return append(b, visible.Bytes(data)...)
	}
	b = strconv.AppendBool(append(b, `{"allowed":`...), o.Allowed)
	b = appendString(append(b, `,"times":1,"operation":`...), a.Operation)
	b = appendStrings(b, `,"paths":`, a.Paths)
	b = appendStrings(b, `,"needs":`, a.Needs)
	b = appendMember(b, `,"name":`, a.Name)
	b = appendRule(append(b, `,"rule":`...), o.Rule)
	b = appendString(append(b, `,"reason":`...), o.Reason)
	b = appendString(append(b, `,"by":`...), o.By)
	b = appendString(append(b, `,"means":`...), o.Means)
	b = appendMember(b, `,"errno":`, o.Errno)
	b = strconv.AppendInt(append(b, `,"process":{"pid":`...), int64(o.Process.PID), 10)
	b = appendString(append(b, `,"name":`...), o.Process.Name)
	return append(b, `}}`...)
}

func appendRule(b []byte, r *Rule) []byte {
	if r == nil {
		return append(b, `null`...)
	}
	b = appendString(append(b, `{"id":`...), r.ID)
	b = appendString(append(b, `,"layer":`...), r.Layer)
	b = appendMember(b, `,"label":`, r.Label)
	b = appendMember(b, `,"file":`, r.File)
	if r.Line != 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(r.Line), 10)
	}
	return append(b, '}')
}

func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendString(append(b, name...), value)
}

func appendStrings(b []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(append(b, name...), '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

// appendString writes a string as encoding/json does, with what a reader does not see escaped.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			data, _ := json.Marshal(s)
			return append(b, visible.Bytes(data)...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
