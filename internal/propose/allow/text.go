package allow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/edit"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/layerfile"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

func array(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = tomltext.String(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// writer puts additions into the text of a layer.
type writer struct {
	layer *layer
	text  layerfile.Text
	tool  *ir.Tool
	// rules are the written rules, in words.
	rules []string
}

// write is the text of the layer with additions. It marks those that the layer has by now.
func (l *layer) write(t *ir.Tool, adds []*addition) (*writer, error) {
	w := &writer{layer: l, tool: t}
	var err error
	if w.text, err = layerfile.Parse(l.Name, l.old); err != nil {
		return nil, err
	}
	if !t.Declared.FS && slices.ContainsFunc(adds, func(a *addition) bool { return a.fs != nil }) {
		// A list that is declared loses its default.
		for _, r := range ir.DefaultFS() {
			if err := w.file(r, nil); err != nil {
				return nil, err
			}
		}
	}
	for _, write := range []func(*addition) error{w.writeFS, w.writeNet, w.writeEnv, w.writeProgram, w.writeLate, w.writeExtends} {
		for _, a := range adds {
			if err := write(a); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// access is the table of the tool's access.
func (w *writer) access() []string { return append(w.text.Tool(w.tool.Name, w.like()), "access") }

// like is the path of the tool's table in the layer that has defined it.
func (w *writer) like() string { return w.tool.Source.Origin.Path }

func (w *writer) writeFS(a *addition) error {
	if a.fs == nil {
		return nil
	}
	before := len(w.rules)
	err := w.file(*a.fs, a.notes)
	a.idle = len(w.rules) == before
	return err
}

func (w *writer) writeNet(a *addition) error {
	if a.net == nil {
		return nil
	}
	return w.append("net", a.net, a.notes)
}

func (w *writer) writeEnv(a *addition) error {
	if a.env == "" {
		return nil
	}
	return w.append("env", edit.Item{edit.String("name", a.env), edit.Bool("read", true)}, a.notes)
}

func (w *writer) writeProgram(a *addition) error {
	if a.program == nil {
		return nil
	}
	at := append(w.access(), "commands")
	text, err := edit.Set(w.text.Bytes, at, *a.program, a.notes...)
	w.rules = append(w.rules, a.words())
	return w.set(text, err)
}

// late is the setting by which a tool gets a supervisor.
var late = edit.String("late", "open")

func (w *writer) writeLate(a *addition) error {
	if !a.late {
		return nil
	}
	text, err := edit.Set(w.text.Bytes, w.access(), late, a.notes...)
	w.rules = append(w.rules, a.words())
	return w.set(text, err)
}

func (w *writer) writeExtends(a *addition) error {
	if a.extends == nil {
		return nil
	}
	if w.layer.extends(w.tool) != nil {
		a.idle = true // it waits for the approval of its places
		return nil
	}
	text, err := edit.Set(w.text.Bytes, w.access(), a.list(), a.notes...)
	w.rules = append(w.rules, a.words())
	return w.set(text, err)
}

// file writes a rule on files: into the one that the layer has on the path, or behind the others.
func (w *writer) file(r ir.FSRule, notes []string) error {
	item := capFields(r.Caps)
	at, items := w.text.List(w.tool.Name, w.like(), "fs")
	for i, v := range items {
		if r.External && hasOuter(v, r) {
			return nil // it waits for the approval of its target
		}
		if path, has, ok := written(v); ok && !r.External && path == r.At.Path {
			// An explicit false would win over a further write = true.
			if slices.ContainsFunc(
				ir.Capabilities[:],
				func(c ir.Capability) bool { on, says := has[c.String()]; return says && !on },
			) {
				continue
			}
			missing := r.Caps
			for _, c := range r.Caps.List() {
				if has[c.String()] || has["write"] && ir.Write.Has(c) {
					missing = missing &^ ir.Caps(c)
				}
			}
			if missing == 0 {
				return nil // it has them, and another rule was in the way
			}
			if text, err := edit.Extend(w.text.Bytes, at, i, capFields(missing), notes...); err == nil {
				w.rules = append(w.rules, r.At.Short()+": "+r.Caps.String())
				return w.set(text, nil)
			}
		}
	}
	head := edit.Item{edit.String("path", r.At.Short())}
	if r.External {
		head = edit.Item{edit.String("path", r.At.Root.Name), edit.Bool("external", true)}
	}
	return w.append("fs", append(head, item...), notes)
}

// written is the path of a rule on files, and the capabilities that it grants by their keys. A rule by name is about no
// place.
func written(v *source.Value) (at string, has map[string]bool, ok bool) {
	if v.Table == nil || v.Table.Get("external") != nil || v.Table.Get("names") != nil {
		return "", nil, false
	}
	p := v.Table.Get("path")
	if p == nil || p.Kind != source.StringKind {
		return "", nil, false
	}
	at, err := resolve.Lexical(p.Text)
	has = map[string]bool{}
	for _, e := range v.Table.Entries {
		has[e.Key] = e.Value.Bool
	}
	return at, has, err == nil
}

// hasOuter reports whether a written rule is an external one, and grants everything that another
// one would.
func hasOuter(v *source.Value, r ir.FSRule) bool {
	if v.Table == nil || v.Table.Get("names") != nil ||
		v.Table.Get("external") == nil || !v.Table.Get("external").Bool {
		return false
	}
	at := v.Table.Get("path")
	return at != nil && at.Text == r.At.Root.Name && !slices.ContainsFunc(r.Caps.List(), func(c ir.Capability) bool {
		on := v.Table.Get(c.String())
		return on == nil || !on.Bool
	})
}

func capFields(caps ir.CapSet) edit.Item {
	var item edit.Item
	for _, c := range caps.List() {
		switch {
		case caps.Contains(ir.Write) && c == ir.Create:
			item = append(item, edit.Bool("write", true))
		case caps.Contains(ir.Write) && ir.Write.Has(c):
		default:
			item = append(item, edit.Bool(c.String(), true))
		}
	}
	return item
}

func (w *writer) append(list string, item edit.Item, notes []string) error {
	at, _ := w.text.List(w.tool.Name, w.like(), list)
	text, err := edit.Append(w.text.Bytes, at, item, notes...)
	if err := w.set(text, err); err != nil {
		return err
	}
	w.rules = append(w.rules, list+": "+item.String())
	return nil
}

func (w *writer) set(text []byte, err error) error {
	if err == nil {
		w.text, err = layerfile.Parse(w.layer.Name, text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.layer.Name, err)
	}
	return nil
}
