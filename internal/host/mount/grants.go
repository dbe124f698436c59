package mount

import (
	"fmt"
	"slices"

	"github.com/accessc/accessc/compiler/edit"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/ir"
)

// rule is an fs rule of the local layer, as far as mounting cares.
type rule struct {
	// path is the written path, ".." collapsed; empty for the workspace itself.
	path            string
	external, mount bool
}

// grantList is the fs list of one tool in the local layer.
type grantList struct {
	tool string
	// path leads to the array, which may be there or not.
	path  []string
	rules []rule
}

// layer is the text of the local layer while it is edited.
type layer struct{ layerfile.Text }

func parseLayer(text []byte) (*layer, error) {
	l := &layer{}
	return l, l.set(text)
}

func (l *layer) set(text []byte) error {
	var err error
	l.Text, err = layerfile.Parse(localName, text)
	return err
}

// list returns the fs list of a tool. like is a configuration path of the tool in some layer,
// whose spelling is used where this layer does not name the tool.
func (l *layer) list(tool, like string) grantList {
	g := grantList{tool: tool}
	var items []*source.Value
	g.path, items = l.List(tool, like, "fs")
	for _, item := range items {
		g.rules = append(g.rules, readRule(item))
	}
	return g
}

// lists returns the fs lists of every tool that the layer names.
func (l *layer) lists() []grantList {
	var out []grantList
	for _, tool := range l.Tools() {
		out = append(out, l.list(tool, ""))
	}
	return out
}

func readRule(v *source.Value) rule {
	var r rule
	if v.Table == nil {
		return r
	}
	if p := v.Table.Get("path"); p != nil {
		if path, err := resolve.Spelling(p.Text); err == nil && !path.Direct {
			r.path = path.Lexical
		}
	}
	yes := func(key string) bool {
		b := v.Table.Get(key)
		return b != nil && b.Bool
	}
	r.external, r.mount = yes("external"), yes("mount")
	return r
}

// isMount reports whether mounting wrote the rule for a link.
func (r rule) isMount() bool { return r.mount && r.external }

// isDefault reports whether mounting wrote the rule to keep the tool's workspace.
func (r rule) isDefault() bool { return r.mount && !r.external && r.path == "" }

// add writes rules at the end of a tool's list.
func (l *layer) add(g grantList, items ...edit.Item) error {
	for _, item := range items {
		text, err := edit.Append(l.Bytes, g.path, item)
		if err == nil {
			err = l.set(text)
		}
		if err != nil {
			return fmt.Errorf("%s: cannot write the rule of %s: %w", localName, g.tool, err)
		}
	}
	return nil
}

// remove takes the rules that match out of a tool's list.
func (l *layer) remove(g grantList, match func(rule) bool) error {
	for i, r := range slices.Backward(g.rules) {
		if !match(r) {
			continue
		}
		text, err := edit.Remove(l.Bytes, g.path, i)
		if err == nil {
			err = l.set(text)
		}
		if err != nil {
			return fmt.Errorf("%s: cannot take a rule of %s out: %w", localName, g.tool, err)
		}
	}
	return nil
}

// defaultItem is the policy of a tool for which no layer has an fs rule. Writing another
// rule would take it away.
// See decision D26.
func defaultItem() edit.Item {
	item := edit.Item{edit.String("path", ".")}
	item = append(item, capItem(ir.DefaultFS()[0].Caps)...)
	return append(item, edit.Bool("mount", true))
}

// linkItem is the rule of a mount.
func linkItem(name string, caps ir.CapSet) edit.Item {
	item := edit.Item{edit.String("path", name), edit.Bool("external", true)}
	item = append(item, capItem(caps)...)
	return append(item, edit.Bool("mount", true))
}

func capItem(caps ir.CapSet) edit.Item {
	var item edit.Item
	for _, f := range []struct {
		key string
		set ir.CapSet
	}{{"read", ir.Caps(ir.Read)}, {"write", ir.Write}, {"execute", ir.Caps(ir.Execute)}} {
		if caps&f.set == f.set {
			item = append(item, edit.Bool(f.key, true))
		}
	}
	return item
}
