package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/jsonrpc"
)

// hooksKey is the member of settings that has the hooks.
const hooksKey = "hooks"

// found is an entry of accessc in a document.
type found struct {
	Entry
	// event, group and at are where it stands; group is -1 where there are none.
	event     string
	group, at int
}

// New is a document with nothing but the hook.
func (a *Agent) New(e Entry) []byte {
	if a.Plugin != nil {
		return a.starting(a.words(e))
	}
	doc, _ := a.add([]byte("{}\n"), e) // an object takes every member
	return doc
}

// add puts the hook into a document that has none.
func (a *Agent) add(doc []byte, e Entry) ([]byte, error) {
	if a.Plugin != nil {
		return nil, fmt.Errorf("the file is not the plugin of accessc")
	}
	if len(bytes.TrimSpace(doc)) == 0 {
		return a.New(e), nil
	}
	doc, err := a.into(doc, nil, "version", strconv.Itoa(a.Version), 0)
	if err == nil {
		doc, err = a.into(doc, nil, hooksKey, "{}", '{')
	}
	for _, ev := range a.Events {
		if err == nil {
			doc, err = a.into(doc, []string{hooksKey}, ev.Name, "[]", '[')
		}
		if err != nil {
			return nil, err
		}
		root, err := jsonc.Parse(doc)
		if err != nil {
			return nil, err
		}
		doc = jsonc.Append(doc, root.Member(hooksKey, ev.Name), "", a.item(e, ev))
	}
	_, err = jsonc.Parse(doc)
	return doc, err
}

// into puts a member into an object unless it is there. The one that is there has a kind, unless
// that is 0.
func (a *Agent) into(doc []byte, path []string, key, value string, kind byte) ([]byte, error) {
	root, err := jsonc.Parse(doc)
	switch {
	case err != nil:
		return nil, err
	case root.Kind != '{':
		return nil, fmt.Errorf("the file is no object")
	case kind == 0 && a.Version == 0:
		return doc, nil
	}
	in := root.Member(path...)
	if there := in.Member(key); there != nil {
		if kind != 0 && there.Kind != kind {
			return nil, fmt.Errorf("%q is no %s there", key, map[byte]string{'{': "object", '[': "list"}[kind])
		}
		return doc, nil
	}
	return jsonc.Append(doc, in, key, []byte(value)), nil
}

// item is the element of an event's list.
func (a *Agent) item(e Entry, ev Event) []byte {
	h := a.Handler(e, a.words(e), ev)
	if !a.Grouped {
		return encode(h)
	}
	return encode(struct {
		Matcher string    `json:"matcher"`
		Hooks   []Handler `json:"hooks"`
	}{everyTool, []Handler{h}})
}

// encode writes a value that always has a JSON form.
func encode(v any) []byte { return bytes.TrimSpace(jsonrpc.Line(v)) }

// find lists the entries of accessc in a document, and whether they are those that add puts there.
func (a *Agent) find(doc []byte) (all []found, exact bool, err error) {
	if a.Plugin != nil {
		return a.findPlugin(doc)
	}
	root, err := jsonc.Parse(doc)
	if err != nil {
		return nil, false, err
	}
	hooks := root.Member(hooksKey)
	a.each(hooks, func(words []string, at found) {
		asks := slices.ContainsFunc(a.Events, func(ev Event) bool { return ev.Name == at.event })
		if e, ours := a.read(words); ours && asks {
			at.Entry = e
			all = append(all, at)
		}
	})
	return all, len(all) > 0 && a.exact(hooks, all), nil
}

// each visits the words of all hooks, and where these stand.
func (a *Agent) each(hooks *jsonc.Node, visit func(words []string, at found)) {
	one := func(n *jsonc.Node, at found) {
		if h := (Handler{}); n.Decode(&h) == nil {
			visit(h.words(), at)
		}
	}
	for _, list := range hooks.Children('{') {
		for g, item := range list.Children('[') {
			if !a.Grouped {
				one(item, found{event: list.Key, group: -1, at: g})
				continue
			}
			for i, h := range item.Member(hooksKey).Children('[') {
				one(h, found{event: list.Key, group: g, at: i})
			}
		}
	}
}

// exact reports whether the entries are those that add puts into a document.
func (a *Agent) exact(hooks *jsonc.Node, all []found) bool {
	if len(all) != len(a.Events) {
		return false
	}
	for _, ev := range a.Events {
		i := slices.IndexFunc(all, func(f found) bool { return f.event == ev.Name })
		if i < 0 {
			return false
		}
		f := all[i]
		item := hooks.Member(f.event).Items[max(f.group, 0)]
		if f.group < 0 {
			item = hooks.Member(f.event).Items[f.at]
		}
		if !item.Same(a.item(all[0].Entry, ev)) {
			return false
		}
	}
	return true
}

// take removes the entries from a document, and the lists and objects that this leaves empty, unless
// the document before the installation had them; nil stands for no such document.
func (a *Agent) take(doc, before []byte) ([]byte, error) {
	if all, _, err := a.look(before); err == nil && len(all) > 0 {
		before, _ = a.take(before, nil) // it was parsed right now
	}
	was, _ := jsonc.Parse(before) // one that cannot be read had nothing
	for {
		all, _, err := a.find(doc)
		if err != nil {
			return nil, err
		}
		root, err := jsonc.Parse(doc)
		switch {
		case err != nil:
			return nil, err
		case len(all) > 0:
			doc = a.takeOne(doc, root, was, all[len(all)-1])
		case a.Version > 0 && was.Member("version") == nil && root.Member("version") != nil &&
			(was != nil || root.Member(hooksKey) == nil):
			return remove(doc, root, "version"), nil
		default:
			return doc, nil
		}
	}
}

// takeOne takes one entry out of a document.
func (a *Agent) takeOne(doc []byte, root, was *jsonc.Node, f found) []byte {
	hooks := root.Member(hooksKey)
	list := hooks.Member(f.event)
	if f.group >= 0 {
		group := list.Items[f.group].Member(hooksKey)
		if len(group.Items) > 1 {
			return jsonc.Remove(doc, group, f.at)
		}
		f.at = f.group
	}
	switch {
	case len(list.Items) > 1 || was.Member(hooksKey, f.event) != nil:
		return jsonc.Remove(doc, list, f.at)
	case len(hooks.Items) > 1 || was.Member(hooksKey) != nil:
		return remove(doc, hooks, f.event)
	default:
		return remove(doc, root, hooksKey)
	}
}

// remove takes a member out of an object.
func remove(doc []byte, in *jsonc.Node, key string) []byte {
	return jsonc.Remove(doc, in, slices.IndexFunc(in.Items, func(n *jsonc.Node) bool { return n.Key == key }))
}
