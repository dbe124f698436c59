package importer

import (
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
)

// Listed is an entry of a list.
type Listed struct {
	foreign.Spelled
	Entry *Entry
}

// Paths reads a list of paths.
func (t *Translation) Paths(d *Document, n *jsonc.Node, key string, list *[]Listed) {
	for i, item := range n.Children('[') {
		text, literal := item.String(), false
		if item.Kind == '{' {
			d.Object(item, "an element of "+key, Fields{
				"path":    func(n *jsonc.Node) { text = n.String() },
				"literal": func(n *jsonc.Node) { literal = n.True() },
			})
			if !literal {
				d.Fault(item.From, `expected {"path": …, "literal": true}`)
			}
		}
		if !Clean(text) {
			d.Fault(item.From, "an element of %s is no path", key)
			continue
		}
		e := t.Add(d, item, ElementOf(key, i), text)
		*list = append(*list, Listed{Spelled: foreign.Spelled{Path: text, Literal: literal}, Entry: e})
	}
	if n.Kind != '[' {
		d.Fault(n.From, "%s is no list", key)
	}
}

// Domains reads a list of hosts.
func (t *Translation) Domains(d *Document, n *jsonc.Node, key string, list *[]Listed) {
	i := 0
	d.List(n, key, func(item *jsonc.Node, text string) {
		*list = append(*list, Listed{Spelled: foreign.Spelled{Path: text},
			Entry: t.Add(d, item, ElementOf(key, i), text)})
		i++
	})
}

// Ignoring are members that were read already, or that say nothing about permissions.
func Ignoring(names ...string) Fields {
	out := Fields{}
	for _, n := range names {
		out[n] = func(*jsonc.Node) {}
	}
	return out
}

// ElementOf is the path of an element.
func ElementOf(key string, i int) string { return key + "[" + itoa(i) + "]" }
