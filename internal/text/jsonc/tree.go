package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
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
	text []byte
}

// Parse reads a document. It is an error for a name to stand twice in one object: agents do not
// agree on which of the two counts.
func Parse(doc []byte) (*Node, error) {
	text, err := Plain(doc)
	if err != nil {
		return nil, err
	}
	p := parser{text: text}
	p.blanks()
	root := p.value()
	return root, p.twice
}

// parser reads valid JSON.
type parser struct {
	text  []byte
	at    int
	twice error
}

func (p *parser) blanks() {
	for p.at < len(p.text) && isBlank(p.text[p.at]) {
		p.at++
	}
}

func (p *parser) value() *Node {
	n := &Node{Begin: p.at, From: p.at, Kind: p.text[p.at]}
	switch n.Kind {
	case '{', '[':
		p.container(n)
	case '"':
		p.at += text(p.text[p.at:])
	default:
		for p.at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n,]}"), p.text[p.at]) < 0 {
			p.at++
		}
	}
	n.To, n.text = p.at, p.text[n.From:p.at]
	return n
}

// container reads both brackets and the items between them.
func (p *parser) container(n *Node) {
	p.at++
	for p.blanks(); p.text[p.at] != '}' && p.text[p.at] != ']'; p.blanks() {
		begin, key := p.at, ""
		if n.Kind == '{' {
			key = p.value().String()
			p.blanks()
			p.at++ // the colon
			p.blanks()
			if p.twice == nil && n.Member(key) != nil {
				p.twice = fmt.Errorf("found %q twice in one object", key)
			}
		}
		item := p.value()
		item.Begin, item.Key = begin, key
		n.Items = append(n.Items, item)
		if p.blanks(); p.text[p.at] == ',' {
			p.at++
		}
	}
	p.at++
}

// Member is the member of a name, nil without one or where n is no object.
func (n *Node) Member(path ...string) *Node {
	for _, key := range path {
		if n == nil || n.Kind != '{' {
			return nil
		}
		var found *Node
		for _, item := range n.Items {
			if item.Key == key {
				found = item
			}
		}
		n = found
	}
	return n
}

// String is a text, empty for another value.
func (n *Node) String() string {
	var s string
	if n != nil && n.Kind == '"' {
		_ = json.Unmarshal(n.text, &s) // valid, as the document is
	}
	return s
}

// True reports whether the value is true.
func (n *Node) True() bool { return n != nil && n.Kind == 't' }

// Same reports whether a value equals that of a text of JSON.
func (n *Node) Same(text []byte) bool {
	var a, b any
	return json.Unmarshal(n.text, &a) == nil && json.Unmarshal(text, &b) == nil && reflect.DeepEqual(a, b)
}

// Children are the items of a value of a kind, none of another one.
func (n *Node) Children(kind byte) []*Node {
	if n == nil || n.Kind != kind {
		return nil
	}
	return n.Items
}

// Decode reads the value.
func (n *Node) Decode(into any) error { return json.Unmarshal(n.text, into) }
