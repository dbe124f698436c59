package ir

import (
	"slices"
	"strings"
)

// Considered is a rule that matches an operation, and whether it wins.
type Considered struct {
	ID   RuleID // of the rule
	Rule Rule   // that matches
	Wins bool   // whether it decides
	// Note is the reason why a matching rule did not win; empty for the winner.
	Note string
}

// Trace lists the rules that match op, the winner of verdict first. It explains a
// verdict of Decide and decides nothing itself.
func (v *View) Trace(op Operation, verdict Verdict) []Considered {
	var out []Considered
	if verdict.Reason == ReasonEscape {
		return nil // by the link, which no rule covers, whatever is said of its target
	}
	switch op := op.(type) {
	case Connect:
		out = v.traceNet(op)
		if op.Own {
			out = append(out, v.traceListen(Listen{op.To.Host, op.To.Port})...)
		}
	case Listen:
		out = v.traceListen(op)
	case Forward:
		out = v.traceEnv(op.Name)
	case Run:
		out = v.traceRun(op)
	default:
		out = v.tracePlaces(Describe(op).Places)
	}
	for i := range v.names {
		if r := v.names[i].rule; verdict.Rule == Rule(r) {
			out = append(out, Considered{ID: protectedID, Rule: r})
		}
	}
	for i := range out {
		out[i].Wins = out[i].Rule == verdict.Rule
		switch {
		case out[i].Wins:
			out[i].Note = ""
		case verdict.Reason == ReasonCommand:
			out[i].Note = "a table of programs says what is started"
		}
	}
	slices.SortStableFunc(out, func(a, b Considered) int {
		return btoi(b.Wins) - btoi(a.Wins)
	})
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tracePlaces lists the rules on places, each once.
func (v *View) tracePlaces(places []Place) []Considered {
	var out []Considered
	for _, p := range places {
		for _, c := range v.traceAt(p.At) {
			if !slices.ContainsFunc(out, func(o Considered) bool { return o.Rule == c.Rule }) {
				out = append(out, c)
			}
		}
	}
	return out
}

// traceAt lists the rules at or above a place, the most specific and latest first.
func (v *View) traceAt(at Location) []Considered {
	var out []Considered
	lengths := map[*FSRule]int{}
	for i := len(v.rules) - 1; i >= 0; i-- {
		r := v.rules[i].Rule
		length, ok := r.Matches(at)
		if r.External && at.Root.Kind == Workspace && !r.At.Root.Direct() {
			length, ok = len(r.At.Root.Name), at.Under(In(r.At.Root.Name))
		}
		if ok {
			out = append(out, Considered{ID: v.rules[i].ID, Rule: r, Note: "a more specific rule matches"})
			lengths[r] = length
		}
	}
	length := func(c Considered) int { return lengths[c.Rule.(*FSRule)] }
	slices.SortStableFunc(out, func(a, b Considered) int { return length(b) - length(a) })
	for i := 1; i < len(out); i++ {
		if length(out[i]) == length(out[i-1]) {
			out[i].Note = "a later rule names the same path"
		}
	}
	return out
}

func (v *View) traceNet(op Connect) []Considered {
	var out []Considered
	for class := range v.net.classes(op.To.Host) {
		for _, i := range slices.Backward(class) {
			r := &v.net.rules[i]
			out = append(out, Considered{ID: NetRuleID(i), Rule: r, Note: v.net.note(r, op.To, op.Method)})
		}
	}
	return out
}

// note returns the reason why a rule with a matching host did not win.
func (x *netIndex) note(r *NetRule, to Endpoint, method string) string {
	switch {
	case r.Scheme != "" && r.Scheme != to.Scheme:
		return "another scheme"
	case to.Scheme == Stream && r.Scheme == "" && r.Allow && !Plain(r, x.rules):
		return "only a rule with scheme = \"tcp\" allows a stream"
	case r.Port == 0 && DefaultPort(to.Scheme) != to.Port:
		return "not the scheme's default port"
	case r.Port != 0 && r.Port != to.Port:
		return "another port"
	case !slices.Equal(r.Path, to.Path[:min(len(r.Path), len(to.Path))]):
		return "another path"
	case len(r.Methods) > 0 && method == "":
		return "about " + strings.Join(r.Methods, ", ") + " alone"
	case len(r.Methods) > 0 && !slices.Contains(r.Methods, method):
		return "another method"
	default:
		return "a more specific or later rule matches"
	}
}

// traceListen lists the rules about listening at an address of the same host.
func (v *View) traceListen(op Listen) []Considered {
	var out []Considered
	for _, i := range slices.Backward(v.net.listens) {
		r := &v.net.rules[i]
		c := Considered{ID: NetRuleID(i), Rule: r, Note: "a more specific or later rule matches"}
		switch {
		case r.binds(op.Host) < 0:
			continue
		case r.listens(op) < 0 && r.Port == 0:
			c.Note = "without a port it is about those above 1023"
		case r.listens(op) < 0:
			c.Note = "another port"
		}
		out = append(out, c)
	}
	return out
}

func (v *View) traceEnv(name string) []Considered {
	var out []Considered
	for i := len(v.env.rules) - 1; i >= 0; i-- {
		r := &v.env.rules[i]
		lit, target := v.env.key(r.Name), v.env.key(name)
		if lit == target && !r.Prefix || r.Prefix && len(target) >= len(lit) && target[:len(lit)] == lit {
			out = append(out, Considered{
				ID: EnvRuleID(i), Rule: r, Note: "a more specific or later rule matches",
			})
		}
	}
	return out
}

func (v *View) traceRun(op Run) []Considered {
	var out []Considered
	for _, r := range v.Programs() {
		if r.Program == op.Program || op.File != nil && r.File != nil && *r.File == op.File.At {
			out = append(out, Considered{ID: r.ID(), Rule: r, Note: "another name of the same file is asked for"})
		}
	}
	return out
}
