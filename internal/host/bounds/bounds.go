// Package bounds compares the policies of tools with the maximum of a machine (package maximum), or with one that an
// administrator tries out.
//
// A maximum is written like tools, and compiled like a tool of the same workspace; nothing of it is merged with a
// policy. Each of its tables is a bound of its own, so their order has no meaning, and a table for some tools never
// permits them more: their names are the repository's. Package compare decides, so a policy is within a maximum if and
// only if no operation is permitted by the policy and denied by a table. What its comparison cannot decide counts as
// above.
package bounds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// Bounds is a maximum in a workspace. It is immutable once it is made.
type Bounds struct {
	*Maximum
	// policies are those of the tables, nil for a table without access.
	policies []*ir.Tool
	// resolver finds the places of external rules. portable is true for policies that are not about this host.
	resolver  *resolve.Resolver
	portable  bool
	targets   map[string]string
	platforms []ir.Platform
}

// In compiles the maximum for a workspace, by the options of the policies that it bounds. locate finds the files of the
// programs that it lists. With an error among the findings nothing may be started there.
func (m *Maximum) In(opts compiler.Options, locate func(*ir.Tool)) (*Bounds, diag.List, error) {
	b := &Bounds{Maximum: m, policies: make([]*ir.Tool, len(m.tables)), targets: map[string]string{},
		platforms: opts.Platforms}
	layer := source.Layer{Kind: ir.LayerUser, File: m.file}
	var tools []source.Entry
	for i, t := range m.tables {
		if t.access != nil {
			tools = append(tools, like(nameOf(i), t))
		}
	}
	if len(tools) == 0 {
		return b, nil, nil
	}
	at := m.tables[0].at
	layer.Root = source.NewTable(source.Entry{Key: "tools", At: at, Value: tableOf(at, tools...)})
	only := source.Request{Only: &layer, Home: opts.Layers.Home}
	opts.Layers, opts.Apart, opts.Planned, opts.Unfit = only, false, nil, nil
	if opts.Approved != nil {
		opts.Approved = func(string, string) (bool, string) { return true, "" } // an upper bound grants nothing
	}
	res, err := compiler.Compile(opts)
	if err != nil {
		return nil, nil, err
	}
	findings := slices.DeleteFunc(res.Findings, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	for i := range findings {
		findings[i].Path = m.pathIn(findings[i].Path)
	}
	if res.Program == nil || findings.Failed() {
		return b, findings, nil
	}
	b.resolver, b.portable = res.Resolver, opts.Approved == nil
	for _, x := range res.Bindings {
		b.targets[x.RulePath] = x.Target
	}
	for i, t := range m.tables {
		p, ok := res.Program.Tool(nameOf(i))
		if !ok {
			continue
		}
		if p.Accept = t.accept; p.Commands != nil && locate != nil {
			locate(p)
		}
		b.policies[i] = p
	}
	return b, nil, nil
}

// nameOf is the name of a table's tool while the maximum is compiled.
func nameOf(i int) string { return top + "-" + strconv.Itoa(i) }

// pathIn is the path of a key of the maximum, by its path while the maximum is compiled.
func (m *Maximum) pathIn(path string) string {
	rest := strings.TrimPrefix(path, "tools."+top+"-")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	if i, err := strconv.Atoi(rest[:end]); err == nil && i < len(m.tables) && rest != path {
		return m.tables[i].path + rest[end:]
	}
	return path
}

// like is a table as a tool.
func like(name string, t table) source.Entry {
	word := func(key, text string) source.Entry {
		return source.Entry{Key: key, At: t.at, Value: &source.Value{Kind: source.StringKind, At: t.at, Text: text}}
	}
	v := tableOf(t.at, word("source", ir.SourceLocal.String()), word("command", "accessc"), *t.access)
	return source.Entry{Key: name, At: t.at, Value: v}
}

func tableOf(at ir.Pos, entries ...source.Entry) *source.Value {
	return &source.Value{Kind: source.TableKind, At: at, Table: source.NewTable(entries...)}
}

// Excess is something that a policy permits and a table of the maximum does not.
type Excess struct {
	compare.Difference // from the maximum to the policy
	// Table is the path of the table, and At its place.
	Table string
	At    ir.Pos
}

// Stamp is that of the file.
func (b *Bounds) Stamp() maximum.Stamp { return b.stamp }

// Above returns what a tool's policy permits above the maximum; nothing if and only if it is within. accept are the
// gaps that its start accepts besides its own. targets are the places of its external rules, by their paths.
func (b *Bounds) Above(t *ir.Tool, accept []string, targets map[string]string) []Excess {
	if t.Source.Kind != ir.SourceLocal {
		return nil // its host starts it
	}
	p := *t
	p.Accept = slices.Clone(t.Accept)
	for _, gap := range accept {
		p.Accept = append(p.Accept, ir.Acceptance{Gap: ir.Gap(gap), Origin: ir.Origin{Label: "--accept " + gap}})
	}
	is, lost := b.placed(&p, targets)
	var out []Excess
	for i, table := range b.tables {
		if !table.about(t.Name) {
			continue
		}
		for _, d := range append(b.compared(table, b.policies[i], is), lost...) {
			if d.Wider && b.matters(d) {
				out = append(out, Excess{d, table.path, table.at})
			}
		}
	}
	return out
}

// Over returns what the policy of a child permits above that of its parent, on this host. targets are the places of the
// external rules of both.
func Over(parent, child *ir.Tool, r *resolve.Resolver, targets map[string]string, portable bool,
	platforms []ir.Platform) []Excess {
	b := &Bounds{Maximum: &Maximum{tables: []table{{path: parent.Name}}}, policies: []*ir.Tool{parent}, resolver: r,
		portable: portable, targets: targets, platforms: platforms}
	out := b.Above(child, nil, targets)
	if main := slices.DeleteFunc(slices.Clone(out), aside); len(main) > 0 {
		return main
	}
	return out
}

// aside reports whether another excess suffices for a reader.
func aside(x Excess) bool { return x.Beside }

// compared are the differences of a table and a policy.
func (b *Bounds) compared(t table, most, is *ir.Tool) []compare.Difference {
	if most == nil {
		return unheld(t, is)
	}
	// The table says nothing of what the tool is and when it is invoked.
	placed, lost := b.placed(most, b.targets)
	m := *placed
	m.Name, m.Source, m.Command, m.Run, m.Constraints = is.Name, is.Source, is.Command, is.Run, is.Constraints
	own := *is
	own.May, own.MayNet = nil, nil
	out := append(compare.Policies(compare.Policy{Tool: &m}, compare.Policy{Tool: &own}), lost...)
	if len(is.May)+len(is.MayNet) == 0 {
		return out
	}
	// Whatever the user may grant while the tool runs has to be within, too.
	may := m
	may.FS, may.Net = is.May, is.MayNet
	if is.May == nil {
		may.FS = []ir.FSRule{}
	}
	if is.MayNet == nil {
		may.Net = []ir.NetRule{}
	}
	for _, d := range compare.Policies(compare.Policy{Tool: &m}, compare.Policy{Tool: &may}) {
		d.Kind, d.What, d.Example = compare.Live, "be granted "+d.What, ""
		out = append(out, d)
	}
	return out
}

// unheld are the gaps that a policy accepts and a table without access does not.
func unheld(t table, is *ir.Tool) (out []compare.Difference) {
	for _, a := range is.Accept {
		may := func(o ir.Acceptance) bool { return o.Gap == a.Gap }
		if t.acceptAt != nil && !slices.ContainsFunc(t.accept, may) {
			out = append(out, compare.Difference{
				Kind: compare.Unheld, Wider: true, What: "accept the gap", Where: string(a.Gap),
			})
		}
	}
	return out
}

// matters reports whether a difference is one on the systems that the policies are compiled for.
func (b *Bounds) matters(d compare.Difference) bool {
	return len(d.Platforms) == 0 || len(b.platforms) == 0 ||
		slices.ContainsFunc(d.Platforms, func(p ir.Platform) bool { return slices.Contains(b.platforms, p) })
}

// placed is a policy whose external rules stand at the places that they lead to on this host: a name of one policy may
// be a symlink in a place of another. A rule whose place is not known is a difference, but in a portable policy, which
// starts nothing here.
func (b *Bounds) placed(t *ir.Tool, targets map[string]string) (_ *ir.Tool, lost []compare.Difference) {
	external := func(r ir.FSRule) bool { return r.At.Root.Kind == ir.External }
	if !slices.ContainsFunc(t.FS, external) {
		return t, nil
	}
	out := *t
	out.FS = slices.Clone(t.FS)
	for i := range out.FS {
		at := &out.FS[i].At
		if !external(out.FS[i]) {
			continue
		}
		abs, ok := targets[at.Root.Name]
		if !ok {
			found, err := b.resolver.Rule(at.Root.Name)
			if err != nil || b.portable && found.Kind == ir.Absent {
				if b.portable {
					out.FS[i].Caps = 0
					continue
				}
				lost = append(lost, compare.Difference{
					Resource: ir.FS, Wider: true, What: "reach", Where: at.Root.Name + ", whose place is not known",
				})
				continue
			}
			abs = found.Abs
		}
		top, rest, _ := strings.Cut(strings.TrimSuffix(abs, "/")+"/"+at.Path, "/")
		*at = ir.Location{Root: ir.Root{Kind: ir.External, Name: top + "/"}, Path: strings.TrimSuffix(rest, "/")}
	}
	return &out, lost
}

// few bounds the findings about a tool: the first say what has to change.
const few = 3

// Findings words what a tool's policy has above the maximum. path is the tool's key in the configuration, and at its
// place, for what no rule of it permits; both are empty for a tool that no layer names.
func (b *Bounds) Findings(above []Excess, path string, at ir.Pos) (out diag.List) {
	if main := slices.DeleteFunc(slices.Clone(above), aside); len(main) > 0 {
		above = main
	}
	for i, x := range above[:min(len(above), few)] {
		d := diag.New(diag.AboveMaximum, at, 1)
		d.Path, d.Label = path, "it may "+x.Says()
		if at.File == "" {
			d.At = x.At
		}
		if rule := x.New.Rule; rule != nil && rule.Source().Pos.File != "" {
			d.At = rule.Source().Pos
		}
		bound := diag.Related{At: x.At, Note: "nothing of " + x.Table + " permits it"}
		if rule := x.Old.Rule; rule != nil && rule.Source().Pos.File == b.file.Name {
			bound = diag.Related{At: rule.Source().Pos, Note: "this rule of the maximum decides"}
		}
		if bound.At != d.At {
			d.Related = []diag.Related{bound}
		}
		switch last := i == min(len(above), few)-1; {
		case last && len(above) > few:
			d.Hint = strconv.Itoa(len(above)-few) + " more; take them away, or ask who administers this machine"
		case last:
			d.Hint = "take the permission away, or ask who administers this machine for a wider maximum"
		}
		out.Add(d)
	}
	return out
}

// Says describes the permission.
func (x Excess) Says() string {
	switch s := x.What + " " + x.Where; {
	case x.Kind == compare.Bound && x.Limits[1] == 0:
		return fmt.Sprintf("use any %s, and the maximum is %d", x.Where, x.Limits[0])
	case x.Kind == compare.Bound:
		return fmt.Sprintf("use %s up to %d, and the maximum is %d", x.Where, x.Limits[1], x.Limits[0])
	case x.Kind == compare.Credentials:
		return x.What + " at " + x.Where
	case x.Example != "":
		return s + `, such as "` + x.Example + `"`
	default:
		return s
	}
}
