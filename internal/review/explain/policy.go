package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// Policy is a tool's policy in the form for review.
type Policy struct {
	Tool   *ir.Tool
	View   *ir.View
	Ledger ir.Ledger
	// Traps are the calls that a supervisor sees on Linux, as the artifact for the loader lists
	// them; none without a supervisor.
	Traps []landlock.Trap
	// Repository are the parts of a linked work tree's repository that the base lets be read on this host. Secret is
	// set where they are not read for a credential.
	Repository []string
	Secret     bool
	// Program is the path of the tool's own program where it may be read and started outside of the base, else empty.
	Program string
	// Now are the existing names that rules by name are about, nil where nobody looked.
	Now map[*ir.FSRule][]ir.Location
	// Later are the files of this workspace that the tool may change and that its user runs outside of the sandbox.
	Later []LaterDoc
}

// line is a row of the view: its subject, the policy, and its origin.
type line struct {
	head, body, origin, note string
	// word stands before the body, in a column of its own.
	word string
	// at is set where a line is about a place in the file system: its path below the lines
	// above, drawn with branches, and the grant there.
	at *placed
	// grants are the words by which a page finds the line.
	grants []string
}

// text is the body with the word before it, without a column.
func (l *line) text() string { return strings.TrimPrefix(l.word+" "+l.body, " ") }

// placed is a path and the grant there.
type placed struct {
	branches, path string
	caps           ir.CapSet
}

func at(path string, caps ir.CapSet) *placed { return &placed{path: path, caps: caps} }

// Text renders the policy: a header, one block per resource, and how each system
// holds it. Every line names the place that set it.
func (g *Group) Text(s Style) string {
	t := g.Tool
	var b strings.Builder
	head := t.Name + "    " + t.Source.String()
	b.WriteString(s.paint(bold, t.Name) + strings.TrimPrefix(head, t.Name))
	if t.Command != nil {
		b.WriteString("    " + shorten(clean(commandText(t.Command)), s.room(48, head+"        risk critical")))
	}
	if t.Source.Kind != ir.SourceLocal {
		b.WriteString("\n  not started by accessc; it has no policy\n")
		return b.String()
	}
	fmt.Fprintf(&b, "    risk %s\n", ir.RiskOf(t))
	b.WriteString(layout(g.rows(), s))
	b.WriteString("  " + pad("holds", 10) + g.holds(s) + "\n")
	return b.String()
}

// lines are the rows of all resources. The first of each has a head.
func (p *Policy) lines() []line {
	return slices.Concat(p.files(), p.exposed(), p.network(), p.environment(), p.commands(), p.may(),
		p.rest(), p.idle(), p.removed())
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

// files lists the regions of the workspace as a tree, then the regions elsewhere.
func (p *Policy) files() []line {
	var out []line
	if r := p.View.Regions(ir.Root{Kind: ir.Workspace}); r != nil {
		p.tree(r, "", "", &out)
	}
	for _, root := range p.View.Roots() {
		if root.Kind == ir.External {
			p.external(p.View.Regions(root), &out)
		}
	}
	if len(out) == 0 {
		out = append(out, line{body: "denied"})
	}
	out = append(out, p.privateLines()...)
	out[0].head = "files"
	return out
}

// external renders the target of an external rule, and the rules below it.
func (p *Policy) external(r *ir.Region, out *[]line) {
	path := r.At.Root.Name
	if !r.At.Root.Direct() {
		path += " →"
	}
	i := len(*out)
	p.tree(r, "", "", out)
	(*out)[i].at.path, (*out)[i].note = path, "external"
}

// tree renders the named nodes at and below r that begin a region of their own.
func (p *Policy) tree(r *ir.Region, indent, branch string, out *[]line) {
	var kids []*ir.Region
	named(r, &kids)
	*out = append(*out, line{
		at: &placed{indent + branch, r.At.Short(), r.Caps}, origin: originOf(r), note: p.note(r),
		grants: capWords(r.Caps),
	})
	switch branch {
	case "├─ ":
		indent += "│  "
	case "└─ ":
		indent += "   "
	}
	*out = append(*out, p.byName(r, indent)...)
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

// named collects the nearest descendants of r that a rule of the policy is written for.
// The regions of protected paths are one line together.
func named(r *ir.Region, out *[]*ir.Region) {
	for _, b := range r.Below {
		if b.Named && !b.Guarded() || counts(b) {
			*out = append(*out, b)
		} else {
			named(b, out)
		}
	}
}

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

// exposed lists the sensitive patterns that some grant reaches, and the grants.
func (p *Policy) exposed() []line {
	var out []line
	for _, e := range ir.Exposures(p.View) {
		var names []string
		for _, r := range e.By[:min(len(e.By), maxPlaces)] {
			names = append(names, r.At.Short())
		}
		if len(e.By) > maxPlaces {
			names = append(names, "…")
		}
		by := "below " + strings.Join(names, ", ")
		origin := e.By[0].Governing.Rule.Origin.String()
		if n := len(out); n > 0 && out[n-1].note == by && out[n-1].origin == origin {
			out[n-1].body += " " + e.Pattern
			continue
		}
		out = append(out, line{body: e.Pattern, origin: origin, note: by})
	}
	if len(out) > 0 {
		out[0].head = "exposes"
	}
	return out
}

func (p *Policy) privateLines() []line {
	var out []line
	for _, r := range ir.ImpliedRules(p.Tool) {
		out = append(out, line{at: at(r.At.String(), r.Caps), origin: r.Origin.String()})
	}
	out = append(out, p.protected()...)
	out = append(out, p.later()...)
	if p.Tool.Base != ir.BaseNone {
		out = append(out, line{
			body:   "outside: base " + p.Tool.Base.String() + ", version " + strconv.Itoa(ir.BaseVersion),
			origin: "explain --base",
		})
	}
	if p.Program != "" {
		body := clean("outside: read execute of its program: " + p.Program)
		out = append(out, line{body: body, origin: p.Tool.Command.Origin.String()})
	}
	return append(out, p.repository()...)
}

// maxLater bounds the names of files that are run later.
const maxLater = 6

// later is the line on files that the tool may change and that its user runs.
func (p *Policy) later() []line {
	if len(p.Later) == 0 {
		return nil
	}
	var names []string
	for _, l := range p.Later[:min(len(p.Later), maxLater)] {
		names = append(names, l.Path)
	}
	body := "run later by you: " + strings.Join(names, " ")
	if n := len(p.Later) - maxLater; n > 0 {
		body += " and " + strconv.Itoa(n) + " more"
	}
	return []line{{body: body, origin: "this host"}}
}

// repository is the line on the repository of a linked work tree.
func (p *Policy) repository() []line {
	switch {
	case p.Tool.Base != ir.BaseSystem:
	case p.Secret:
		const why = "its configuration may hold a credential"
		return []line{{body: "outside: not this work tree's repository", origin: "this host", note: why}}
	case len(p.Repository) > 0:
		body := "outside: read of this work tree's repository: " + strings.Join(p.Repository, " ")
		return []line{{body: clean(body), origin: "this host"}}
	}
	return nil
}

// protected counts the paths that keep their contents where the policy grants writing
// around them, in the workspace and in each place of an external rule.
func (p *Policy) protected() (out []line) {
	for _, root := range p.View.Roots() {
		n, amends := 0, false
		p.View.Regions(root).WalkRoot(func(r *ir.Region) {
			if r.Guarded() {
				n++
				amends = amends || p.View.Amends(r.At)
			}
		})
		where := ""
		if root.Kind == ir.External {
			where = " of this repository in " + root.Name
		}
		if n > 0 {
			out = append(out, line{body: "not written: " + plural.Count(n, "protected path") + where,
				origin: "explain --base"})
		}
		if amends {
			out = append(out, line{body: "git's configuration" + where + ": variables of branches alone",
				origin: "linux"})
		}
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
	if !slices.ContainsFunc(p.Tool.Net, func(r ir.NetRule) bool { return r.Allow }) {
		out = append(out, line{body: "denied", origin: "declared, no rule allows"})
	}
	for i := range p.Tool.Net {
		r := &p.Tool.Net[i]
		out = append(out, line{
			body: verb(r.Allow) + " " + r.Subject(), origin: r.Origin.String(), note: netNote(r),
			grants: word(r.Allow, "network"),
		})
	}
	out[0].head = "network"
	return out
}

// netNote says how connections are treated that a rule is about.
func netNote(r *ir.NetRule) string {
	var out []string
	if r.Inspect {
		out = append(out, "inspected")
	}
	if r.Opaque {
		out = append(out, "not looked at")
	}
	if r.Credential != nil {
		out = append(out, "sends "+r.Credential.String())
	}
	return strings.Join(out, ", ")
}

func capWords(caps ir.CapSet) []string {
	var out []string
	for _, c := range caps.List() {
		out = append(out, c.String())
	}
	return out
}

// word returns the grant of a line, if it has a grant.
func word(granted bool, what string) []string {
	if !granted {
		return nil
	}
	return []string{what}
}

// verb is of a constant width.
func verb(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny "
}

func envText(r *ir.EnvRule) string {
	switch {
	case r.Value != "":
		return r.Subject() + "=" + r.Value
	case r.Read:
		return r.Subject()
	default:
		return "not " + r.Subject()
	}
}

// environment joins names of the same origin into a line.
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
		out = append(out, line{body: name, origin: r.Origin.String(), grants: word(r.Read, "env")})
	}
	if !slices.ContainsFunc(p.Tool.Env, func(r ir.EnvRule) bool { return r.Read }) {
		out = append([]line{{body: "nothing", origin: "declared, no rule grants"}}, out...)
	}
	out[0].head = "env"
	return out
}

func (p *Policy) commands() []line {
	set := p.Tool.Commands
	if set == nil {
		return []line{{head: "commands", body: "any", origin: "default", grants: word(true, "run")}}
	}
	out := []line{}
	for _, r := range p.View.Programs() {
		l := line{body: r.Program + argsText(r), origin: r.Origin.String(),
			grants: word(r.AnyArgs || len(r.Args) > 0, "run")}
		if r.Origin.Layer == ir.LayerImplied {
			l.note = r.Origin.Label
		}
		out = append(out, l)
	}
	if len(set.Rules) == 0 {
		out = append([]line{{body: "none listed", origin: set.Origin.String()}}, out...)
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
	if p.Tool.HomeShared {
		out = append(out, line{head: "shares",
			body: "its home: tools that share it can run what others of them wrote there"})
	}
	for i, a := range p.Tool.Accept {
		head := ""
		if i == 0 {
			head = "accepts"
		}
		out = append(out, line{head: head, body: string(a.Gap) + " not enforced", origin: a.Origin.String()})
	}
	return out
}

// holds summarises the ledger: per platform the weakest enforcement, and how often it occurs.
func (p *Policy) holds(s Style) string {
	var parts []string
	wide := margin
	for _, pl := range ir.Platforms {
		t := count(p.Ledger.On(pl, s.level(pl)))
		wide += utf8.RuneCountInString(systemName(pl)+" "+t.String()) + len(holdsGap)
		parts = append(parts, s.paint(bold, systemName(pl))+" "+s.paint(heldColor(t.weakest()), t.String()))
	}
	gap := holdsGap
	if wide += len(seeLedger); s.Width > 0 && wide > s.Width {
		gap = "\n" + strings.Repeat(" ", margin)
	}
	return strings.Join(append(parts, s.paint(dim, seeLedger)), gap)
}

const holdsGap, seeLedger = "    ", "explain --ledger"

// systemName returns the common name of a platform.
func systemName(p ir.Platform) string {
	if p == ir.Darwin {
		return "macOS"
	}
	return p.String()
}
