package compare

import (
	"slices"

	"github.com/accessc/accessc/ir"
)

// inspection compares how much is looked at where both policies grant TLS. A connection that is
// inspected no more, or opaque, carries more than the rules tell apart.
// See decision D109.
func (c *comparison) inspection() []Difference {
	if !slices.ContainsFunc(rules(c.old.Tool, c.new.Tool), func(r ir.NetRule) bool { return r.Inspect || r.Opaque }) {
		return nil
	}
	n := &netPartition{comparison: c, grid: c.grid(), paths: &pathTree{}}
	n.grid.schemes, n.grid.methods = []string{"https"}, []string{""}
	var out []Difference
	for _, x := range []struct {
		what  string
		holds func(*ir.View, ir.Endpoint, ir.Verdict) bool
	}{
		{"connect uninspected", func(v *ir.View, to ir.Endpoint, _ ir.Verdict) bool { return !v.Inspects(to) }},
		{"connect opaque", func(_ *ir.View, _ ir.Endpoint, by ir.Verdict) bool { return netRule(by).Opaque }},
	} {
		n.bit = func(op ir.Connect) byte {
			old, new := c.old.Reach(op.To), c.new.Reach(op.To)
			if !old.Allowed() || !new.Allowed() {
				return ' '
			}
			was, is := x.holds(c.old, op.To, old), x.holds(c.new, op.To, new)
			return sign(was != is, is)
		}
		out = append(out, n.differences(Difference{Kind: Inspection, Resource: ir.Net, What: x.what})...)
	}
	return out
}

// credentials compares the requests that each credential is put into.
func (c *comparison) credentials() []Difference {
	var known []*ir.Credential
	for _, r := range rules(c.old.Tool, c.new.Tool) {
		same := func(o *ir.Credential) bool { return sameCredential(o, r.Credential) }
		if r.Credential != nil && !slices.ContainsFunc(known, same) {
			known = append(known, r.Credential)
		}
	}
	var out []Difference
	for _, secret := range known {
		n := &netPartition{comparison: c, grid: c.grid(), paths: c.paths()}
		n.grid.schemes = []string{"https"}
		n.bit = func(op ir.Connect) byte {
			old, new := c.old.Decide(op), c.new.Decide(op)
			was := old.Allowed() && sameCredential(netRule(old).Credential, secret)
			is := new.Allowed() && sameCredential(netRule(new).Credential, secret)
			return sign(was != is, is)
		}
		out = append(out, n.differences(Difference{Kind: Credentials, Resource: ir.Net,
			What: "use " + secret.String()})...)
	}
	return out
}

// netRule is the rule of a verdict, an empty rule for none.
func netRule(v ir.Verdict) *ir.NetRule {
	if r, ok := v.Rule.(*ir.NetRule); ok {
		return r
	}
	return &ir.NetRule{}
}
