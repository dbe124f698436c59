package ruleset

import (
	"reflect"
	"slices"
	"strings"
)

// covering are the earlier rules that decide for everything that a rule names, nil if some of that is left to it. Each
// alternative of the rule's condition may be another rule's: command = ["a", "b"] is covered by one rule for each.
// See decision D132.
func (s *Set) covering(at int) []*Rule {
	later := s.Rules[at]
	mine, ok := alternatives(later.Matcher)
	if !ok || len(mine) == 0 {
		return nil
	}
	var out []*Rule
	for _, k := range later.Operations() {
		for i := range mine {
			by := slices.IndexFunc(s.Rules[:at], func(e *Rule) bool { return e.about(k) && e.takes(later, &mine[i]) })
			if by < 0 {
				return nil
			}
			if !slices.Contains(out, s.Rules[by]) {
				out = append(out, s.Rules[by])
			}
		}
	}
	return out
}

// takes reports whether the rule decides wherever an alternative of a later rule matches.
func (r *Rule) takes(later *Rule, b *claim) bool {
	all, ok := alternatives(r.Matcher)
	covers := func(a claim) bool { return a.covers(b, r.stops(), r.Outcome != later.Outcome) }
	return ok && slices.ContainsFunc(all, covers)
}

// claim is an alternative of a condition: a program with the words behind it, and further conditions. All of them
// have to hold.
type claim struct {
	name              string
	prefix, sub, args []string // nil for any
	rest              bool     // args may have more behind them
	more              []Matcher
	// loose is true where a condition was left out, so that the claim is of more than the condition.
	loose bool
}

// maxClaims bounds the alternatives of a rule. A rule with more is not looked at.
const maxClaims = 512

// alternatives takes a condition apart.
func alternatives(m Matcher) ([]claim, bool) {
	var out []claim
	ok := true
	switch m := m.(type) {
	case nil:
		out = []claim{{}}
	case Command:
		for _, n := range m.Names {
			if len(m.Subcommands) == 0 {
				out = append(out, claim{name: n})
			}
			for _, s := range m.Subcommands {
				out = append(out, claim{name: n, sub: strings.Fields(s)})
			}
		}
	case Prefix:
		for _, seq := range m {
			switch len(seq) {
			case 0:
			case 1:
				out = append(out, claim{name: seq[0]})
			default:
				out = append(out, claim{name: seq[0], prefix: seq[1:]})
			}
		}
	case Args:
		for _, seq := range m {
			c := claim{args: append([]string{}, seq...)}
			if n := len(seq); n > 0 && seq[n-1] == "**" {
				c.args, c.rest = c.args[:n-1], true
			}
			out = append(out, c)
		}
	case Group:
		out = m.claims()
	case Any:
		for _, x := range m {
			more, also := alternatives(x)
			out, ok = append(out, more...), ok && also
		}
	case All:
		out = []claim{{}}
		for _, x := range m {
			with, also := alternatives(x)
			out, ok = product(out, with), ok && also
		}
	case Not, Flags, Within, Hosts, PipedToShell:
		out = []claim{{more: []Matcher{m}}}
	}
	return out, ok && len(out) <= maxClaims
}

// claims are the members of a group. Only the group itself covers one of them by more than its name.
func (m Group) claims() []claim {
	var out []claim
	for _, x := range groups[m] {
		for _, n := range x.names {
			if len(x.commands) == 0 {
				out = append(out, claim{name: n, more: []Matcher{m}})
			}
			for _, c := range x.commands {
				out = append(out, claim{name: n, sub: strings.Fields(c), more: []Matcher{m}})
			}
		}
	}
	return out
}

// product are the claims that hold where one of each list does.
func product(a, b []claim) []claim {
	if len(a)*len(b) > maxClaims {
		return make([]claim, maxClaims+1)
	}
	var out []claim
	for i := range a {
		for j := range b {
			out = append(out, a[i].and(&b[j]))
		}
	}
	return out
}

// and joins two claims. All that a claim cannot say beside the other is left out.
func (c claim) and(d *claim) claim {
	c.more, c.loose = slices.Concat(c.more, d.more), c.loose || d.loose
	if c.name == "" {
		c.name = d.name
	}
	c.loose = c.loose || d.name != "" && c.name != d.name
	for _, x := range []struct{ to, from *[]string }{{&c.prefix, &d.prefix}, {&c.sub, &d.sub}, {&c.args, &d.args}} {
		switch {
		case *x.from == nil:
		case *x.to == nil:
			*x.to = *x.from
		default:
			c.loose = true
		}
	}
	c.rest = c.rest || d.rest
	return c
}

// covers reports whether the claim of an earlier rule holds wherever another claim does. A rule that stops knows
// programs by each path, and, where the later rule has another outcome, keeps it from deciding also where it may match
// itself.
func (c *claim) covers(b *claim, stops, other bool) bool {
	spelled := func(words []string, more bool) bool {
		return begins(b.prefix, words) || begins(b.args, words) || more && begins(b.sub, words)
	}
	option := func(w string) bool { return strings.HasPrefix(w, "-") }
	scattered := stops && other && !slices.ContainsFunc(c.prefix, option)
	switch {
	case c.loose:
		return false
	case c.name != "" && c.name != b.name && !(stops && b.name != "" && Alike(c.name, b.name)):
		return false
	case c.prefix != nil && !spelled(c.prefix, scattered):
		return false
	case c.sub != nil && !spelled(c.sub, true):
		return false
	case c.args != nil && !c.rest && (b.rest || !reflect.DeepEqual(c.args, b.args)):
		return false
	case c.rest && !spelled(c.args, false):
		return false
	}
	return !slices.ContainsFunc(c.more, func(m Matcher) bool { return !b.implies(m) })
}

// implies reports whether a further condition holds wherever the claim does.
func (c *claim) implies(m Matcher) bool {
	if f, ok := m.(Flags); ok {
		return !slices.ContainsFunc(f, func(flag string) bool { return !c.has(flag) })
	}
	return slices.ContainsFunc(c.more, func(x Matcher) bool {
		switch m := m.(type) {
		case Within:
			w, ok := x.(Within)
			return ok && (w == m || strings.HasPrefix(string(w), strings.TrimSuffix(string(m), "/")+"/"))
		case Hosts:
			h, ok := x.(Hosts)
			return ok && !slices.ContainsFunc(h, func(host string) bool { return !m.has(host) })
		case All, Any, Not, Command, Prefix, Args, Flags, PipedToShell, Group:
		}
		return reflect.DeepEqual(m, x)
	})
}

// has reports whether the options of the claim, or its words, are known to have a flag.
func (c *claim) has(flag string) bool {
	for _, words := range [][]string{c.prefix, c.args} {
		if end := slices.Index(words, "--"); end >= 0 {
			words = words[:end]
		}
		if slices.Contains(words, flag) {
			return true
		}
	}
	return slices.ContainsFunc(c.more, func(x Matcher) bool {
		f, ok := x.(Flags)
		return ok && slices.Contains(f, flag)
	})
}

// has reports whether the hosts that a pattern names are in the list.
func (m Hosts) has(host string) bool {
	return slices.ContainsFunc(m, func(h string) bool {
		below, wild := strings.CutPrefix(h, "*.")
		return h == "*" || h == host || wild && strings.HasSuffix(host, "."+below)
	})
}

func begins(seq, with []string) bool {
	return seq != nil && len(seq) >= len(with) && slices.Equal(seq[:len(with)], with)
}
