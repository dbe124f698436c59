package denial

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// Grant is the configuration that would permit the operation when it is added behind the
// existing configuration, and false where no single addition does, or none that should be made.
// Decide has permitted the operation under every proposal.
func (d *Denial) Grant() (string, bool) {
	g := d.grant()
	return g.toml, g.ok
}

func (d *Denial) grant() *grant {
	if d.proposed == nil {
		d.proposed = d.find()
	}
	return d.proposed
}

func (d *Denial) find() *grant {
	if d.View == nil || d.Why != "" {
		return &grant{}
	}
	switch ir.Describe(d.Operation).Resource {
	case ir.Net:
		return d.network()
	case ir.FS:
		out := &grant{}
		for _, change := range d.changes() {
			if !change.writable() || !d.permits(change) {
				continue
			}
			if out.reserved = d.reserved(change); out.reserved == "" {
				return &grant{toml: change.toml(d.View.Tool), ok: true}
			}
		}
		return out
	case ir.Env, ir.Commands, ir.Limits, ir.Process:
	}
	return &grant{}
}

// Rules are the rules on files that would permit the operation when they are added behind the
// existing rules; false where no rules in the workspace do.
func (d *Denial) Rules() ([]ir.FSRule, bool) {
	for _, c := range d.changes() {
		if c.target == "" && c.writable() && d.permits(c) {
			return c.rules, true
		}
	}
	return nil, false
}

// change is an addition to the filesystem rules of a tool.
type change struct {
	rules []ir.FSRule
	// target is where the symlink of an external rule must lead; empty without an external
	// rule.
	target string
}

// changes are the candidate additions, the smaller first: on the places themselves, then, for a
// move, on the directories that hold them, since a rule pins the name of its path, and at last on
// these and the rules on the places alike: a rule that grants the same as its directory pins nothing.
func (d *Denial) changes() []change {
	needs := d.needs()
	if len(needs) == 0 {
		return nil
	}
	above := map[ir.Location]ir.CapSet{}
	for at, caps := range needs {
		switch at.Root.Kind {
		case ir.Workspace, ir.External:
		case ir.System:
			if _, socket := d.Operation.(ir.Dial); socket {
				return nil // the program that listens there may act for the tool
			}
			if c, ok := d.outside(at, caps); ok && len(needs) == 1 {
				return []change{c}
			}
			return nil
		case ir.Home, ir.Temp:
			return nil
		default:
			return nil
		}
		if dir, ok := at.Parent(); ok {
			above[dir] |= caps
		}
	}
	out := []change{d.raised(needs)}
	if len(needs) > 1 && len(above) > 0 {
		out = append(out, d.raised(above))
		alike := maps.Clone(above)
		for at, caps := range needs {
			dir, ok := at.Parent()
			if ok && slices.ContainsFunc(d.View.Tool.FS, func(r ir.FSRule) bool { return !r.ByName() && r.At == at }) {
				alike[at] |= caps | above[dir] | d.granted(dir)
			}
		}
		out = append(out, d.raised(alike))
	}
	return out
}

// needs are the capabilities that the operation requires, by place.
func (d *Denial) needs() map[ir.Location]ir.CapSet {
	out := map[ir.Location]ir.CapSet{}
	about := ir.Describe(d.Operation)
	for i, p := range about.Places {
		out[p.At] |= about.Needs[i] | d.Wants
	}
	return out
}

// raised adds one rule per place, with the capabilities granted there already and the needed
// capabilities: the longest path wins in full. All below an external rule is the rule's.
func (d *Denial) raised(needs map[ir.Location]ir.CapSet) change {
	byName := map[string]ir.FSRule{}
	for at, caps := range needs {
		if at.Root.Kind == ir.External {
			at = ir.Location{Root: at.Root}
		}
		r := ir.FSRule{At: at, External: at.Root.Kind == ir.External, Caps: caps | d.granted(at)}
		name := at.Short()
		r.Caps |= byName[name].Caps
		byName[name] = r
	}
	var c change
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		c.rules = append(c.rules, byName[name])
	}
	return c
}

// granted are the capabilities at a place now.
func (d *Denial) granted(at ir.Location) ir.CapSet {
	var s ir.CapSet
	for _, c := range ir.Capabilities {
		if d.View.Decide(ir.Access{Cap: c, On: ir.Direct(at)}).Allowed() {
			s = s.With(c)
		}
	}
	return s
}

// systemDirectories hold the system, its configuration and secrets, and the kernel's own files.
// The base grants as much of them as every tool needs.
var systemDirectories = []string{"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run",
	"sbin", "sys", "usr"}

// SystemDirectories are the directories at the root for which no rule is proposed.
func SystemDirectories() []string { return slices.Clone(systemDirectories) }

// outside is an external rule for a place outside of the workspace. It is false for the
// system's own directories and for directories at the root, which are not for tools.
func (d *Denial) outside(at ir.Location, caps ir.CapSet) (change, bool) {
	first, _, deeper := strings.Cut(at.Path, "/")
	if !deeper || slices.Contains(systemDirectories, first) || strings.HasPrefix(first, "(") || d.Roots == nil {
		return change{}, false
	}
	name := path.Base(at.Path)
	root := ir.Root{Kind: ir.External, Name: name}
	return change{
		rules:  []ir.FSRule{{At: ir.Location{Root: root}, External: true, Caps: caps}},
		target: "/" + at.Path,
	}, true
}

// writable reports whether rules can spell the paths (docs/checks.md, ACC037).
func (c change) writable() bool {
	return !slices.ContainsFunc(c.rules, func(r ir.FSRule) bool {
		p := r.At.Spelled()
		return len(p) > maxPath || !utf8.ValidString(p) ||
			strings.ContainsFunc(p, func(r rune) bool { return r == '"' || r == '\\' || unicode.IsControl(r) })
	})
}

// maxPath is the longest path of a rule, in bytes.
const maxPath = 800

// permits asks the policy with the addition.
func (d *Denial) permits(c change) bool {
	tool := *d.View.Tool
	tool.FS = slices.Concat(tool.FS, c.rules)
	roots, on := d.Roots, (*ir.Place)(nil)
	if c.target != "" {
		bound := *roots
		bound.External = map[string]string{}
		maps.Copy(bound.External, roots.External)
		root := c.rules[0].At.Root
		bound.External[root.Name] = c.target
		at := ir.Direct(ir.Location{Root: root})
		roots, on = &bound, &at
	}
	v := ir.NewView(&tool, d.View.Platform, ir.Facts{Bindings: roots, Base: []ir.FSRule{}})
	return !slices.ContainsFunc(d.questions(on), func(op ir.Operation) bool { return !v.Decide(op).Allowed() })
}

// questions are the operations that must all be permitted: the operation, with each capability
// that the call needed. on, if not nil, replaces the only place of the operation.
func (d *Denial) questions(on *ir.Place) []ir.Operation {
	at := func(p ir.Place) ir.Place {
		if on != nil {
			return *on
		}
		return p
	}
	switch op := d.Operation.(type) {
	case ir.Access:
		var out []ir.Operation
		for _, c := range d.Wants.With(op.Cap).List() {
			out = append(out, ir.Access{Cap: c, On: at(op.On)})
		}
		return out
	case ir.Dial:
		return []ir.Operation{ir.Dial{On: at(op.On)}}
	case ir.Start:
		return []ir.Operation{ir.Start{On: at(op.On), Interpreter: op.Interpreter}}
	default:
		return []ir.Operation{d.Operation}
	}
}

// toml writes the addition. A list that is not declared loses its default when it gets a rule,
// so the default goes first.
func (c change) toml(t *ir.Tool) string {
	var b strings.Builder
	if c.target != "" {
		fmt.Fprintf(&b, "# through a symlink: ln -s %s %s\n", shellword.Quote(c.target),
			shellword.Quote(c.rules[0].At.Root.Name))
	}
	rules := c.rules
	if !t.Declared.FS {
		rules = slices.Concat(ir.DefaultFS(), rules)
	}
	for i, r := range rules {
		if i > 0 {
			b.WriteByte('\n')
		}
		table(&b, t, "fs")
		fmt.Fprintf(&b, "path = %s\n", tomltext.String(r.At.Spelled()))
		if r.External {
			b.WriteString("external = true\n")
		}
		caps := r.Caps
		for _, one := range caps.List() {
			switch {
			case caps.Contains(ir.Write) && one == ir.Create:
				b.WriteString("write = true\n")
			case caps.Contains(ir.Write) && ir.Write.Has(one):
			default:
				fmt.Fprintf(&b, "%s = true\n", one)
			}
		}
	}
	return b.String()
}

func table(b *strings.Builder, t *ir.Tool, list string) {
	fmt.Fprintf(b, "[[%s.access.%s]]\n", tableOf(t), list)
}

// tableOf is the table of a tool in the configuration.
func tableOf(t *ir.Tool) string {
	if t.Server() {
		return ir.ServersTable + "." + tomltext.Key(t.Name)
	}
	return "conversation.tools." + tomltext.Key(t.Name)
}
