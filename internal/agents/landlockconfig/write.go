package landlockconfig

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "landlockconfig" }

// File implements backends.Backend.
func (Backend) File() string { return "landlockconfig.json" }

// Platform implements backends.Backend.
func (Backend) Platform() ir.Platform { return ir.Linux }

// Compile implements backends.Backend. The ledger is in the artifact.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	g := newGrants(t, target)
	paths, refusals := g.paths()
	if refusals != nil {
		return backends.Output{Refusals: refusals}, nil
	}
	h := Header{Header: backends.Header{Format: documentFormat, Version: formatVersion, Form: target.Form.String()},
		Tool: t.Name}
	for _, a := range t.Accept {
		h.Accept = append(h.Accept, string(a.Gap))
	}
	ledger := g.ledger()
	about, err := document(h, ledger)
	if err != nil {
		return backends.Output{}, err
	}
	all := []string{"abi.all"}
	data, err := backends.JSON(Config{
		ABI: ABI, Variable: append([]Variable{about}, g.variables...), Ruleset: []Ruleset{{all, all, all}},
		PathBeneath: paths, NetPort: g.ports(),
	})
	return backends.Output{Data: data, Elsewhere: ledger}, err
}

// grants are the rights that a policy lets the kernel be given: a lower bound.
type grants struct {
	tool   *ir.Tool
	target backends.Target
	view   *ir.View
	// tops are the trees of the roots that are not known to lie in another, byRule the regions that
	// a rule governs.
	tops   []*ir.Region
	byRule map[ir.RuleID][]*ir.Region
	// named stand for the names in a region that rules by name are about.
	named map[*ir.Region][]*ir.Region
	// lacks are the capabilities that some region at or below a place does not want granted, has the capabilities that
	// are granted there.
	lacks, has map[*ir.Region]ir.CapSet
	variables  []Variable
	// withheldGain is gainsWithheld, once.
	withheldGain bool
	// withholds is true where some region has less than the policy grants.
	withholds bool
	// connects and binds are the ports that the configuration opens.
	connects, binds []uint16
}

func newGrants(t *ir.Tool, target backends.Target) *grants {
	facts := ir.Facts{}
	if target.Form == backends.Resolved {
		facts = target.Facts
	}
	g := &grants{
		tool: t, target: target, view: ir.NewView(t, ir.Linux, facts), byRule: map[ir.RuleID][]*ir.Region{},
		named: map[*ir.Region][]*ir.Region{}, lacks: map[*ir.Region]ir.CapSet{}, has: map[*ir.Region]ir.CapSet{},
	}
	for _, r := range g.view.Tree() {
		if r.Above == nil {
			g.tops = append(g.tops, r)
			g.findLacks(r)
			g.grant(r, 0)
		}
	}
	g.withheldGain = g.gainsWithheld()
	g.connects, g.binds = g.openPorts(), g.openListeners()
	return g
}

// wants are the capabilities that a region permits granting. Starting a program takes reading it, and
// create with delete would let a rename replace a file, which needs update. Nothing is granted on a
// symlink, and on the places that are another file for each process.
func wants(r *ir.Region) ir.CapSet {
	switch out := r.Caps; {
	case r.Link, r.Through, own(r):
		return 0
	case !out.Has(ir.Read) && out.Has(ir.Execute):
		return replaces(out.Without(ir.Execute))
	default:
		return replaces(out)
	}
}

func replaces(c ir.CapSet) ir.CapSet {
	if c.Contains(names) && !c.Has(ir.Update) {
		return c.Without(ir.Create)
	}
	return c
}

// names are the capabilities on the names in a directory.
const names = ir.CapSet(1<<ir.Create | 1<<ir.Delete)

// own reports whether r is a place of the base that is the tool's own only by a supervisor.
func own(r *ir.Region) bool { return r.At.Root.Kind == ir.System && ir.LinuxOwn(r.At.Path) }

func (g *grants) findLacks(r *ir.Region) ir.CapSet {
	lacks := ir.All &^ wants(r)
	if r.Link {
		lacks = names &^ replaces(r.Caps) // it has no contents
	}
	for _, n := range g.names(r) {
		g.lacks[n] = ir.All &^ wants(n)
		lacks |= g.lacks[n]
	}
	for _, b := range r.Below {
		lacks |= g.findLacks(b)
	}
	g.lacks[r] = lacks
	g.byRule[r.ID()] = append(g.byRule[r.ID()], r)
	return lacks
}

// names makes regions for the names in r that rules by name are about. Landlock knows no names, so what a rule by
// name withholds is granted nowhere around them.
// See decision D263.
func (g *grants) names(r *ir.Region) []*ir.Region {
	for _, n := range backends.NamedIn(r) {
		in := &ir.Region{At: r.At.Child(n.Rule.Names[0]), Name: n.Rule.Names[0], Caps: n.Caps, Governing: n.Entry,
			Above: r}
		g.named[r] = append(g.named[r], in)
		g.byRule[n.ID] = append(g.byRule[n.ID], in)
	}
	return g.named[r]
}

// whole is granted on r itself, and so on all that lies below it.
func (g *grants) whole(r *ir.Region) ir.CapSet { return wants(r) &^ g.lacks[r] }

func (g *grants) grant(r *ir.Region, above ir.CapSet) {
	above |= g.whole(r)
	g.has[r] = above
	g.withholds = g.withholds || !r.Link && !r.Through && !own(r) && above != r.Caps
	for _, n := range g.named[r] {
		g.has[n] = above
		g.withholds = g.withholds || above != n.Caps
	}
	for _, b := range r.Below {
		g.grant(b, above)
	}
}

// rightsOf returns the rights of capabilities, in the order of the kernel's bits. A move or link between directories
// needs refer on both, and lets no file gain a right.
func rightsOf(at ir.Location, c ir.CapSet) []string {
	dir := at.Root.Kind != ir.System || !strings.HasPrefix(at.Path, "dev/")
	var out []string
	add := func(has bool, rights ...string) {
		if has {
			out = append(out, rights...)
		}
	}
	add(c.Has(ir.Execute), "execute")
	add(c.Has(ir.Update), "write_file")
	add(c.Has(ir.Read), "read_file")
	add(c.Has(ir.Read) && dir, "read_dir")
	add(c.Has(ir.Delete) && dir, "remove_dir", "remove_file")
	add(c.Has(ir.Create) && dir, "make_dir", "make_reg", "make_sock", "make_fifo", "make_sym")
	add(refers(c) && dir, "refer")
	add(c.Has(ir.Update), "truncate")
	add(!dir && slices.Contains(terminals, at.Path), "ioctl_dev")
	return out
}

func refers(c ir.CapSet) bool { return c&names != 0 || c.Contains(ir.Caps(ir.Read, ir.Update)) }

// terminals are devices whose modes programs set.
var terminals = []string{"dev/ptmx", "dev/pts/ptmx"}

// paths lists the grants, places with the same rights together.
func (g *grants) paths() (out []Paths, refusals []backends.Refusal) {
	var add func(r *ir.Region, above ir.CapSet)
	add = func(r *ir.Region, above ir.CapSet) {
		if here := g.whole(r); here&^above != 0 {
			rights, place := rightsOf(r.At, here), g.place(r.At)
			if !utf8.ValidString(place) {
				refusals = append(refusals,
					backends.Refusal{Rule: r.Governing.Rule, Why: "JSON cannot say a path that is not UTF-8"})
			}
			i := slices.IndexFunc(out, func(p Paths) bool { return slices.Equal(p.Access, rights) })
			if i < 0 {
				i, out = len(out), append(out, Paths{Access: rights})
			}
			out[i].Parent = append(out[i].Parent, place)
			above |= here
		}
		for _, b := range r.Below {
			add(b, above)
		}
	}
	for _, top := range g.tops {
		add(top, 0)
	}
	return out, refusals
}

// place writes a location, with a variable for a root that is not bound.
func (g *grants) place(at ir.Location) string {
	if b := g.target.Facts.Bindings; at.Root.Kind == ir.System || g.target.Form == backends.Resolved && b != nil {
		if abs, bound := b.Path(at); bound {
			return literal(abs)
		}
	}
	name := variableOf(at.Root)
	if !slices.ContainsFunc(g.variables, func(v Variable) bool { return v.Name == name }) {
		g.variables = append(g.variables, Variable{Name: name})
	}
	if at.Path == "" {
		return "${" + name + "}"
	}
	return "${" + name + "}/" + literal(at.Path)
}
