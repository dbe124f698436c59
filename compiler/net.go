package compiler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// netDraft is a net rule; nothing of it depends on the host.
type netDraft struct {
	v      *source.Value
	rule   ir.NetRule
	remove bool
}

func (d *netDraft) value() *source.Value { return d.v }

// exceeds implements grants. Of two rules that allow, neither is less.
func (d *netDraft) exceeds(grants) bool { return d.rule.Allow }

func netWinner(d *netDraft) string { return d.rule.Subject() }

// See decision D12.
func (s scope) netRule(v *source.Value) (*netDraft, bool) {
	t := s.table(v, `a table such as { host = "example.com", allow = true }`)
	if t == nil {
		return nil, false
	}
	s.known(t, "a net rule", "host", "scheme", "port", "path_prefix", "methods", "inspect", "opaque", "credential",
		"listen", "allow", "remove")
	d := &netDraft{v: v, rule: ir.NetRule{Origin: s.origin(v.At)}}
	for i := range t.Entries {
		e := &t.Entries[i]
		netScope{s.key(e.Key)}.netField(&d.rule, e)
		d.rule.Leaves = append(d.rule.Leaves, ir.Leaf{Key: e.Key, At: e.Value.At})
	}
	sortLeaves(d.rule.Leaves)
	switch {
	case t.Get("host") != nil:
	case d.rule.Listen:
		d.rule.Host, d.rule.Written = ir.Host{Kind: ir.HostName, Name: ir.Localhost}, ir.Localhost
	default:
		s.missing(v, "a net rule", "host")
	}
	if d.remove = s.removes(t, "host", "scheme", "port", "path_prefix", "methods", "listen"); !d.remove {
		netScope{s}.checkNet(t, &d.rule)
	}
	return d, d.rule.Host.Kind != 0
}

func (s netScope) netField(r *ir.NetRule, e *source.Entry) {
	switch e.Key {
	case "host":
		if text, ok := s.str(e.Value); ok {
			host, err := resolve.HostPattern(text)
			if err != nil {
				s.report(diag.BadHost, e.Value, err.Error()).Hint = hostHint(text)
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
	case "methods":
		r.Methods = s.methods(e.Value)
	case "inspect":
		r.Inspect = s.boolean(e.Value)
	case "opaque":
		r.Opaque = s.boolean(e.Value)
	case "credential":
		r.Credential = s.credential(e.Value)
	case "listen":
		r.Listen = s.boolean(e.Value)
	case "allow":
		r.Allow = s.boolean(e.Value)
	}
}

// methods reads the methods of requests.
func (s netScope) methods(v *source.Value) []string {
	out := s.strs(v)
	if v.Kind == source.ArrayKind && len(v.Array) == 0 {
		s.report(diag.BadNetField, v, "found no method").Hint = "remove the key: a rule without it is about all methods"
	}
	for i, item := range v.Array {
		if err := resolve.Method(item.Text); err != nil && item.Kind == source.StringKind {
			s.item(i).report(diag.BadNetField, item, err.Error())
		}
	}
	return out
}

func netRules(drafts []*netDraft) []ir.NetRule {
	var out []ir.NetRule
	for _, d := range drafts {
		out = append(out, d.rule)
	}
	return out
}

func (c finisher) finishNet(t *ir.Tool, d *draft) {
	t.Declared.Net = !d.net.Absent()
	t.Net = netRules(slices.Concat(d.presetNet(), d.net.Items()))
	linter(c).lintNet(t)
	linter(c).lintPassing(t)
	linter(c).checkGrants(t, netRules(slices.Concat(d.allPresetNet(), d.net.Items())))
}

// hostHint is how a URL, or a host with a port, is written as a rule; empty for other texts.
func hostHint(text string) string {
	scheme, rest, is := strings.Cut(text, "://")
	if !is {
		scheme, rest = "", text
	}
	host, path, _ := strings.Cut(rest, "/")
	host, port, _ := strings.Cut(host, ":")
	if _, err := resolve.HostPattern(host); err != nil || host == text {
		return ""
	}
	out := "write host = " + tomltext.String(host)
	if scheme != "" {
		out += ", scheme = " + tomltext.String(scheme)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err == nil {
		out += ", port = " + port
	}
	if path != "" {
		out += ", path_prefix = " + tomltext.String("/"+path)
	}
	return out
}

// checkGrants refuses a rule that says neither that it allows nor that it denies where nothing is allowed: it was meant
// to be a grant. A denied name also takes away what is its alias, so where any host is allowed it may mean what it
// says.
func (c linter) checkGrants(t *ir.Tool, all []ir.NetRule) {
	for i := range t.Net {
		r := &t.Net[i]
		said := slices.ContainsFunc(r.Leaves, func(l ir.Leaf) bool { return l.Key == "allow" })
		if said || r.Host.Kind == ir.HostAny ||
			slices.ContainsFunc(all, func(o ir.NetRule) bool { return o.Allow && o.Listen == r.Listen }) {
			continue
		}
		f := diag.New(diag.TakesNothing, leafAt(r.Leaves, "host", r.Origin), 1)
		f.Path, f.Label = r.Origin.Path, "no rule allows what this one would deny, so it changes nothing"
		f.Hint = "add allow = true to permit it, or allow = false to say that it is denied"
		c.findings.Add(f)
	}
}
