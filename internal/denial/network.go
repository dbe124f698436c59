package denial

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// The longest parts of a sentence, in characters: a target and the subject of a rule, and the
// configuration to add.
const (
	maxTarget   = 160
	maxProposal = 500
)

// Sentence says in one line that an operation on the network was refused, which rule denied it
// or that none grants it, and which rule would. Answers of the proxy, answers about names, and
// the lines of a report share it.
func Sentence(v *ir.View, op ir.Operation, verdict ir.Verdict) string {
	return (&Denial{View: v, Operation: op, Verdict: verdict}).sentence()
}

func (d *Denial) sentence() string {
	target, _ := d.targets()
	s := d.Verb() + " " + cut(target, maxTarget) + " is denied"
	switch r := d.Verdict.Rule; {
	case d.Why != "":
		s += ": " + d.Why
	case r == nil:
		s += ": no net rule of " + cut(d.tool(), maxTarget) + " grants it"
	default:
		s += " by the rule " + cut(r.Subject(), maxTarget)
		if place := r.Source().String(); place != "" {
			s += " (" + place + ")"
		}
	}
	if _, ok := d.proposal(); ok && len(d.grant().inline) <= maxProposal {
		s += "; to allow it, add " + d.grant().inline
	}
	return visible.Line(s)
}

// network is a rule that grants the operation.
func (d *Denial) network() *grant {
	fields, ok := d.NetRule()
	if !ok {
		return &grant{}
	}
	var lines []string
	for _, f := range fields {
		lines = append(lines, f[0]+" = "+f[1])
	}
	var b strings.Builder
	table(&b, d.View.Tool, "net")
	b.WriteString(strings.Join(lines, "\n") + "\n")
	inline := "{ " + strings.Join(lines, ", ") + " } to " + tableOf(d.View.Tool) + ".access.net"
	return &grant{toml: b.String(), inline: inline, ok: true}
}

// NetRule is the rule on the network that would permit the operation when it is added behind the
// existing rules, as keys and values of TOML.
func (d *Denial) NetRule() (fields [][2]string, ok bool) {
	for _, r := range d.netRules() {
		if spelled(r) && d.reaches(r) {
			return netFields(r), true
		}
	}
	return nil, false
}

// netRules are the candidates. Where rules tell paths and methods apart it is a rule for the
// path and method. The second says the port even if it is the scheme's: it wins over rules that
// do not.
func (d *Denial) netRules() []ir.NetRule {
	if op, ok := d.Operation.(ir.Listen); ok {
		r := ir.NetRule{Host: op.Host, Port: op.Port, Listen: true, Allow: true}
		if op.Host.Kind == ir.HostAddr && op.Host.Addr.IsUnspecified() {
			r.Host = ir.Host{Kind: ir.HostAny}
		}
		return []ir.NetRule{r}
	}
	op, _ := d.Operation.(ir.Connect)
	r := ir.NetRule{Host: op.To.Host, Scheme: op.To.Scheme, Port: op.To.Port, Allow: true}
	if d.View.Finer(op.To) {
		if r.Path = op.To.Path; len(r.Path) > 0 && r.Path[len(r.Path)-1] == "" {
			r.Path = r.Path[:len(r.Path)-1]
		}
		if op.Method != "" {
			r.Methods = []string{op.Method}
		}
		r.Inspect = r.Scheme == "https" && len(r.Path)+len(r.Methods) > 0
	}
	exact := r
	if r.Port == ir.DefaultPort(r.Scheme) {
		r.Port = 0
	}
	return []ir.NetRule{r, exact}
}

// spelled reports whether a configuration can have the path and the methods of a rule.
func spelled(r ir.NetRule) bool {
	for _, m := range r.Methods {
		if strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
			return false
		}
	}
	return !slices.Contains(r.Path, "") && !strings.ContainsAny(strings.Join(r.Path, ""), "?#/")
}

// reaches asks the policy with a further rule. A name without a port was asked for as such.
func (d *Denial) reaches(r ir.NetRule) bool {
	tool := *d.View.Tool
	tool.Net = append(slices.Clone(tool.Net), r)
	v := ir.NewView(&tool, d.View.Platform, ir.Facts{Base: []ir.FSRule{}})
	if op, ok := d.Operation.(ir.Connect); ok && op.To.Port == 0 {
		return v.Named(op.To.Host).Allowed()
	}
	return v.Decide(d.Operation).Allowed()
}

// netFields are the fields of a rule in a configuration.
func netFields(r ir.NetRule) [][2]string {
	out := [][2]string{{"host", tomltext.String(r.Host.String())}}
	if r.Scheme != "" {
		out = append(out, [2]string{"scheme", tomltext.String(r.Scheme)})
	}
	if r.Port != 0 {
		out = append(out, [2]string{"port", strconv.Itoa(int(r.Port))})
	}
	if len(r.Path) > 0 {
		out = append(out, [2]string{"path_prefix", tomltext.String("/" + strings.Join(r.Path, "/"))})
	}
	for _, m := range r.Methods {
		out = append(out, [2]string{"methods", "[" + tomltext.String(m) + "]"})
	}
	if r.Inspect {
		out = append(out, [2]string{"inspect", "true"})
	}
	if r.Listen {
		out = append(out, [2]string{"listen", "true"})
	}
	return append(out, [2]string{"allow", "true"})
}
