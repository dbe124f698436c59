package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/ir"
)

// Policy is one tool's policy as a person reviews it.
type Policy struct {
	Tool   *ir.Tool
	View   *ir.View
	Ledger ir.Ledger
}

// line is one row of the view: what it is about, the policy, and where it is from.
type line struct {
	head, body, origin, note string
}

// Text renders the policy: a header, one block per resource, and how each system
// holds it. Every line names the place that set it.
func (p *Policy) Text(s Style) string {
	t := p.Tool
	var b strings.Builder
	b.WriteString(s.paint(bold, t.Name) + "    " + t.Source.String())
	if t.Command != nil {
		b.WriteString("    " + clean(shorten(commandText(t.Command), 48)))
	}
	if t.Source.Kind != ir.SourceLocal {
		b.WriteString("\n  not started by accessc; it has no policy\n")
		return b.String()
	}
	fmt.Fprintf(&b, "    risk %s\n", ir.RiskOf(t))
	var lines []line
	lines = append(lines, p.files()...)
	lines = append(lines, p.network()...)
	lines = append(lines, p.environment()...)
	lines = append(lines, p.commands()...)
	lines = append(lines, p.rest()...)
	lines = append(lines, p.idle()...)
	b.WriteString(layout(lines, s))
	b.WriteString("  " + pad("holds", 10) + p.holds(s) + "\n")
	return b.String()
}

func commandText(c *ir.Command) string {
	return strings.Join(append([]string{c.Program}, c.Args...), " ")
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

func layout(lines []line, s Style) string {
	rows := make([][]string, 0, len(lines))
	for _, l := range lines {
		rows = append(rows, []string{"  " + pad(l.head, 8), clean(l.body), clean(l.origin), clean(l.note)})
	}
	var b strings.Builder
	for i, row := range table(rows) {
		if lines[i].note != "" {
			row = strings.TrimSuffix(row, clean(lines[i].note)) + s.paint(yellow, clean(lines[i].note))
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// files lists the regions of the workspace as a tree, then what lies elsewhere.
func (p *Policy) files() []line {
	var out []line
	if r := p.View.Regions(ir.Root{Kind: ir.Workspace}); r != nil {
		p.tree(r, "", "", &out)
	}
	for _, root := range p.View.Roots() {
		if root.Kind == ir.External {
			r := p.View.Regions(root)
			out = append(out, line{
				body: placed(root.Name+" →", r.Caps), origin: originOf(r), note: "external",
			})
		}
	}
	if len(out) == 0 {
		out = append(out, line{body: "denied"})
	}
	out = append(out, p.privateLines()...)
	out[0].head = "files"
	return out
}

// tree renders the named nodes at and below r that begin a region of their own.
func (p *Policy) tree(r *ir.Region, indent, branch string, out *[]line) {
	var kids []*ir.Region
	named(r, &kids)
	*out = append(*out, line{
		body: placed(indent+branch+r.At.Short(), r.Caps), origin: originOf(r), note: p.note(r),
	})
	switch branch {
	case "├─ ":
		indent += "│  "
	case "└─ ":
		indent += "   "
	}
	for i, k := range kids {
		if k.Link {
			continue
		}
		b := "├─ "
		if i == len(kids)-1 {
			b = "└─ "
		}
		p.tree(k, indent, b, out)
	}
}

// named collects the nearest named descendants of r.
func named(r *ir.Region, out *[]*ir.Region) {
	for _, b := range r.Below {
		if b.Named {
			*out = append(*out, b)
		} else {
			named(b, out)
		}
	}
}

// placed puts a path and what is granted there side by side.
func placed(path string, caps ir.CapSet) string { return pad(path, 26) + "  " + caps.String() }

func originOf(r *ir.Region) string {
	if r.Governing.Rule == nil {
		return "no rule"
	}
	return r.Governing.Rule.Origin.String()
}

// note marks regions whose own path is sensitive.
func (p *Policy) note(r *ir.Region) string {
	for _, s := range p.Tool.Sensitive {
		if r.At.Path != "" && s.Covers(r.At.Path) {
			return "sensitive"
		}
	}
	return ""
}

func (p *Policy) privateLines() []line {
	var out []line
	for _, r := range ir.ImpliedRules(p.Tool) {
		out = append(out, line{body: placed(r.At.String(), r.Caps), origin: r.Origin.String()})
	}
	if p.Tool.Base != ir.BaseNone {
		out = append(out, line{
			body:   "outside: base " + p.Tool.Base.String() + ", version " + strconv.Itoa(ir.BaseVersion),
			origin: "explain --base",
		})
	}
	return out
}

func (p *Policy) network() []line {
	if len(p.Tool.Net) == 0 {
		origin := "default"
		if p.Tool.Declared.Net {
			origin = "declared, no rule"
		}
		return []line{{head: "network", body: "denied", origin: origin}}
	}
	var out []line
	for i := range p.Tool.Net {
		r := &p.Tool.Net[i]
		out = append(out, line{body: verb(r.Allow) + " " + r.Subject(), origin: r.Origin.String()})
	}
	out[0].head = "network"
	return out
}

// verb is of one width.
func verb(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny "
}

func envText(r *ir.EnvRule) string {
	if r.Read {
		return r.Subject()
	}
	return "not " + r.Subject()
}

// environment joins names of one origin into a line.
func (p *Policy) environment() []line {
	var out []line
	for i := range p.Tool.Env {
		r := &p.Tool.Env[i]
		name := envText(r)
		n := len(out)
		if n > 0 && out[n-1].origin == r.Origin.String() {
			out[n-1].body += " " + name
			continue
		}
		out = append(out, line{body: name, origin: r.Origin.String()})
	}
	if len(out) == 0 {
		out = append(out, line{body: "nothing", origin: "declared, no rule"})
	}
	out[0].head = "env"
	return out
}

func (p *Policy) commands() []line {
	set := p.Tool.Commands
	if set == nil {
		return []line{{head: "commands", body: "any", origin: "default"}}
	}
	out := []line{}
	for i := range set.Rules {
		r := &set.Rules[i]
		out = append(out, line{body: r.Program + argsText(r), origin: r.Origin.String()})
	}
	if len(out) == 0 {
		out = append(out, line{body: "none", origin: set.Origin.String()})
	}
	out[0].head = "commands"
	return out
}

func argsText(r *ir.CommandRule) string {
	var parts []string
	for _, a := range r.Args {
		parts = append(parts, patternText(a))
	}
	s := " " + strings.Join(parts, " ")
	switch {
	case r.AnyArgs:
		s = " with any arguments"
	case len(parts) == 0:
		s = " with no argument list, so never"
	}
	if !r.AllEnvs {
		s += ", seeing " + strings.Join(r.Envs, " ")
	}
	return s
}

func patternText(a ir.ArgPattern) string {
	words := slices.Clone(a.Words)
	if a.Rest {
		words = append(words, "…")
	}
	return "[" + strings.Join(words, " ") + "]"
}

func (p *Policy) rest() []line {
	var out []line
	for i, l := range p.Tool.Limits {
		head := ""
		if i == 0 {
			head = "limits"
		}
		out = append(out, line{head: head, body: l.Kind.String() + " " + limitText(l), origin: l.Origin.String()})
	}
	for i, a := range p.Tool.Accept {
		head := ""
		if i == 0 {
			head = "accepts"
		}
		out = append(out, line{head: head, body: a.Name + " unheld", origin: a.Origin.String()})
	}
	return out
}

func limitText(l ir.Limit) string {
	switch l.Kind {
	case ir.LimitCPUTime, ir.LimitWallTime:
		return duration(time.Duration(l.Value) * time.Millisecond)
	case ir.LimitMemory, ir.LimitFileSize:
		return size(l.Value)
	case ir.LimitProcesses, ir.LimitOpenFiles:
		return strconv.FormatUint(l.Value, 10)
	default:
		return strconv.FormatUint(l.Value, 10)
	}
}

// duration writes 5m where the standard form is 5m0s.
func duration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// size writes a number of bytes in the largest unit that holds it exactly.
func size(n uint64) string {
	unit := "bytes"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, u
	}
	if unit == "bytes" {
		return strconv.FormatUint(n, 10) + " bytes"
	}
	return strconv.FormatUint(n, 10) + unit
}

// holds sums the ledger up: per platform the weakest that happens, and how often.
func (p *Policy) holds(s Style) string {
	var parts []string
	for _, pl := range ir.Platforms {
		parts = append(parts, s.paint(bold, systemName(pl))+" "+sum(p.Ledger.On(pl, s.level(pl)), s))
	}
	return strings.Join(append(parts, s.paint(dim, "explain --ledger")), "    ")
}

// systemName is how people call a platform.
func systemName(p ir.Platform) string {
	if p == ir.Darwin {
		return "macOS"
	}
	return p.String()
}

// sum counts the cells that are held by less than the system itself.
func sum(l ir.Ledger, s Style) string {
	counts := map[ir.Enforcement]int{}
	for _, row := range l {
		counts[row.Is] += len(row.Rules) * len(row.Aspects)
	}
	var parts []string
	for _, e := range []ir.Enforcement{ir.Unenforced, ir.Cooperative, ir.Coarser, ir.Brokered} {
		if n := counts[e]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+s.held(e))
		}
	}
	if len(parts) == 0 {
		if counts[ir.Stricter] > 0 {
			return s.held(ir.Exact) + " or stricter"
		}
		return s.held(ir.Exact)
	}
	return strings.Join(parts, ", ")
}
