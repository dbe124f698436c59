package compiler

import (
	"fmt"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// netDraft is a net rule; nothing of it depends on the host.
type netDraft struct {
	v    *source.Value
	rule ir.NetRule
}

func (d *netDraft) value() *source.Value { return d.v }

func netWinner(d *netDraft) string { return d.rule.Subject() }

// See RATIONALE D13.
func (s scope) netRule(v *source.Value) (*netDraft, bool) {
	t := s.table(v, `a table such as { host = "example.com", allow = true }`)
	if t == nil {
		return nil, false
	}
	s.known(t, "a net rule", "host", "scheme", "port", "path_prefix", "allow")
	d := &netDraft{v: v, rule: ir.NetRule{Origin: s.origin(v.At)}}
	for i := range t.Entries {
		e := &t.Entries[i]
		s.key(e.Key).netField(&d.rule, e)
		d.rule.Leaves = append(d.rule.Leaves, ir.Leaf{Key: e.Key, At: e.Value.At})
	}
	sortLeaves(d.rule.Leaves)
	if t.Get("host") == nil {
		s.missing(v, "a net rule", "host")
	}
	if e := t.Entry("scheme"); e != nil && d.rule.Scheme != "" && ir.DefaultPort(d.rule.Scheme) == 0 && t.Get("port") == nil {
		f := s.key("scheme").report(diag.BadNetField, e.Value, "found a scheme without a default port and no port: nothing matches")
		f.Hint = "add port = …"
	}
	return d, d.rule.Host.Kind != 0
}

func (s scope) netField(r *ir.NetRule, e *source.Entry) {
	switch e.Key {
	case "host":
		if text, ok := s.str(e.Value); ok {
			host, err := resolve.HostPattern(text)
			if err != nil {
				s.report(diag.BadHost, e.Value, err.Error())
			}
			r.Host, r.Written = host, text
		}
	case "scheme":
		if text, ok := s.str(e.Value); ok {
			scheme, err := resolve.Scheme(text)
			if err != nil {
				s.report(diag.BadNetField, e.Value, err.Error())
			}
			r.Scheme = scheme
		}
	case "port":
		if n, ok := s.integer(e.Value); ok {
			if n < 1 || n > 65535 {
				s.report(diag.BadNetField, e.Value, fmt.Sprintf("found %d, expected 1 to 65535", n))
				return
			}
			r.Port = uint16(n)
		}
	case "path_prefix":
		if text, ok := s.str(e.Value); ok {
			segs, err := resolve.PathPrefix(text)
			if err != nil {
				s.report(diag.BadNetField, e.Value, err.Error())
			}
			r.Path = segs
		}
	case "allow":
		r.Allow = s.boolean(e.Value)
	}
}

func (c *compilation) finishNet(t *ir.Tool, d *draft) {
	if d.net.Absent() {
		return
	}
	t.Declared.Net = true
	t.Net = nil
	for _, r := range d.net.Items() {
		t.Net = append(t.Net, r.rule)
	}
	c.lintNet(t)
}
