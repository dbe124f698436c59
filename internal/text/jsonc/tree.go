package jsonc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// Node is a value of a document, with its place there.
type Node struct {
	// From and To are the places of the value; Begin is that of its key, or From without one.
	Begin, From, To int
	// Key is the name of a member.
	Key string
	// Items are the members of an object or the elements of a list.
	Items []*Node
	// Kind is '{', '[', '"', or the first character of another value.
	Kind byte
	// text is the value without comments.
	text string
}

// Parse reads a document. It is an error for a name to stand twice in one object: agents do not
// agree on which of the two counts.
func Parse(doc []byte) (*Node, error) {
	text, err := Plain(doc)
	if err != nil {
		return nil, err
	}
	return node(strictjson.Raw(text).Value())
}

// node is a value with all in it.
func node(v strictjson.Value) (*Node, error) {
	n := &Node{Begin: v.Index, From: v.Index, To: v.Index + len(v.Raw), Kind: v.Raw[0], text: v.Raw}
	var err error
	v.ForEach(func(key, value strictjson.Value) bool {
		if n.Kind == '{' && n.Member(key.Str) != nil {
			err = fmt.Errorf("found %q twice in one object", key.Str)
			return false
		}
		var item *Node
		if item, err = node(value); err == nil {
			item.Key = key.Str
			if n.Kind == '{' {
				item.Begin = key.Index
			}
			n.Items = append(n.Items, item)
		}
		return err == nil
	})
	return n, err
}

// Member is the member of a name, nil without one or where n is no object.
func (n *Node) Member(path ...string) *Node {
	for _, key := range path {
		if n == nil || n.Kind != '{' {
			return nil
		}
		i := slices.IndexFunc(n.Items, func(item *Node) bool { return item.Key == key })
		if i < 0 {
			return nil
		}
		n = n.Items[i]
	}
	return n
}

// String is a text, empty for another value.
func (n *Node) String() string {
	if n == nil {
		return ""
	}
	return strictjson.Raw(n.text).Value().Str
}

// True reports whether the value is true.
func (n *Node) True() bool { return n != nil && n.Kind == 't' }

// Same reports whether a value equals that of a text of JSON.
func (n *Node) Same(text []byte) bool {
	var a, b any
	return json.Unmarshal([]byte(n.text), &a) == nil && json.Unmarshal(text, &b) == nil && reflect.DeepEqual(a, b)
}

// Children are the items of a value of a kind, none of another one.
func (n *Node) Children(kind byte) []*Node {
	if n == nil || n.Kind != kind {
		return nil
	}
	return n.Items
}

// Decode reads the value.
func (n *Node) Decode(into any) error { return json.Unmarshal([]byte(n.text), into) }
