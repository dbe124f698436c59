package layerfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// tables are the tables that may contain tools and servers.
var tables = [][]string{{"conversation", "tools"}, {"tools"}, {ir.ServersTable}}

// Text is the text of a layer.
type Text struct {
	Bytes []byte // of the file
	root  *source.Table
}

// Parse reads the text of a layer; name is its name in findings.
func Parse(name string, text []byte) (Text, error) {
	root, finding := source.Parse(name, text)
	if finding != nil {
		return Text{}, fmt.Errorf("%s: %s", finding.At, finding.Label)
	}
	return Text{text, root}, nil
}

// Get walks down tables; nil is no value.
func (t *Text) Get(keys ...string) *source.Value {
	at := t.root
	for i, k := range keys {
		v := at.Get(k)
		if v == nil || i == len(keys)-1 {
			return v
		}
		at = v.Table
	}
	return nil
}

// Tool returns the path of the table of a tool. like is a configuration path of the tool in some
// layer, whose spelling is used where this layer does not name the tool.
func (t *Text) Tool(tool, like string) []string {
	at := tables[0]
	for _, s := range tables[1:] {
		if strings.HasPrefix(like, s[0]+".") {
			at = s
		}
	}
	for _, s := range tables {
		if t.Get(append(slices.Clone(s), tool)...) != nil {
			at = s
		}
	}
	return append(slices.Clone(at), tool)
}

// List returns the path of a list of a tool's access, and its items. Tool explains like.
func (t *Text) List(tool, like, list string) (path []string, items []*source.Value) {
	path = append(t.Tool(tool, like), "access", list)
	v := t.Get(path...)
	if v != nil && v.Kind == source.TableKind {
		path = append(path, "value")
		v = v.Table.Get("value")
	}
	if v == nil {
		return path, nil
	}
	return path, v.Array
}

// Tools are the tools and servers that the layer names.
func (t *Text) Tools() []string {
	var out []string
	for _, s := range tables {
		if v := t.Get(s...); v != nil && v.Table != nil {
			for _, e := range v.Table.Entries {
				out = append(out, e.Key)
			}
		}
	}
	return out
}
