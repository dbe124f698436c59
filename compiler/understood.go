package compiler

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
)

// A policy that is written and not understood never runs as another policy: a misspelt table would leave a tool
// the default, which is wide. In accessc's own files every key is known, or an error. The files of another
// program are its own, and there a key is an error that reads like accessc's.
// See decision D12.

// rootKeys are the keys of a layer, toolKeys the keys of a tool that accessc reads.
var (
	rootKeys = []string{
		"accessc", agentsTable, "conversation", "extends", "layers", "members", "rulesets", ir.ServersTable, "tools",
	}
	toolKeys = []string{"access", "command", "constraints", "enable", "risk", "run", "source"}
)

// hostKeys are the keys of a tool that its host reads, with the host. The tables of tools have the form of jp's:
// https://github.com/dcdpr/jp, the structure ToolConfig.
var hostKeys = map[string]string{
	"description": "jp", "examples": "jp", "format": "jp", "options": "jp", "parameters": "jp", "questions": "jp",
	"result": "jp", "style": "jp", "summary": "jp",
}

// policyFormat is the number of the format of policies.
const policyFormat = 1

// foreign reports whether a layer is a file of another program: below .jp in the workspace, or outside of it.
func (c *compilation) foreign(l source.Layer) bool {
	path := filepath.ToSlash(l.File.Path)
	if rest, inside := strings.CutPrefix(path, c.res.Resolver.Root+"/"); inside {
		path = rest
	}
	return slices.Contains(strings.Split(path, "/"), ".jp")
}

// understood reports what the root of a layer says in vain. The tables of tools are looked at when they are read.
func (c *compilation) understood(l source.Layer) {
	s := scope{c: c, layer: l.Kind, foreign: c.foreign(l)}
	keys := rootKeys
	if !l.Trusts {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == "layers" })
	}
	s.fields(l.Root, "a layer", keys)
	if v := l.Root.Get("accessc"); v != nil && (v.Kind != source.IntegerKind || v.Int != policyFormat) {
		s.key("accessc").report(diag.BadValue, v, "expected 1, the format of policies that this accessc reads")
	}
	switch e := l.Root.Entry("conversation"); {
	case e == nil:
	case e.Value.Kind == source.TableKind:
		s.key(e.Key).fields(e.Value.Table, "the table conversation", []string{"tools"})
	case s.foreign:
		s.key(e.Key).lists(e)
	default:
		s.key(e.Key).expect(e.Value, "a table")
	}
}

// fields reports the keys of a table that nobody reads, or in another program's file, that read like accessc's.
func (s scope) fields(t *source.Table, what string, keys []string) {
	for i := range t.Entries {
		s.key(t.Entries[i].Key).field(&t.Entries[i], what, keys)
	}
}

// field reports an entry of a table, unless its key is known; what is in it is looked at elsewhere if accessc
// reads it.
func (s scope) field(e *source.Entry, what string, keys []string) {
	known := slices.Contains(keys, e.Key)
	switch _, host := hostKeys[e.Key]; {
	case known && (host || e.Key == "enable"):
		s.lists(e)
		return
	case known, strings.HasPrefix(e.Key, "x-"):
		return
	}
	hint := suggest.Hint(e.Key, keys)
	part := strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(e.Key, "-", "_")), "access_")
	if slices.Contains(accessKeys, part) {
		hint = "write access." + part + " in the table of a tool"
	}
	switch {
	case !s.foreign:
		d := diag.New(diag.UnknownKey, e.At, e.Span)
		d.Message = "unknown key in " + what
		ours := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return hostKeys[k] != "" })
		d.Path, d.Label, d.Hint = s.path, `found "`+e.Key+`", expected `+listing(ours), hint
		s.c.findings.Add(d)
	case resembles(e.Key, keys), slices.Contains(constraintKeys, e.Key),
		accessKinds[e.Key] == e.Value.Kind && slices.Contains(accessKeys, e.Key) && slices.Contains(keys, "access"):
		s.nearly(e, `found "`+e.Key+`", which accessc does not read`, hint)
	default:
		s.lists(e)
	}
}

// nearly reports an entry that reads like a part of the policy, where nobody reads it.
func (s scope) nearly(e *source.Entry, label, hint string) {
	d := diag.New(diag.NearlyAccess, e.At, e.Span)
	d.Path, d.Label, d.Hint = s.path, label, hint
	s.c.findings.Add(d)
}

// resembles reports whether a key has the letters of a known key but for case and hyphens, is one edit away from
// it, or two from access.
func resembles(key string, keys []string) bool {
	folded := strings.ToLower(strings.ReplaceAll(key, "-", "_"))
	return suggest.Near(folded, "access", 2) || slices.ContainsFunc(keys, func(k string) bool {
		return suggest.Near(folded, k, 1)
	})
}

// lists reports lists of rules, and tables of access, at and below an entry of another program's file.
func (s scope) lists(e *source.Entry) {
	v := e.Value
	if v.Kind == source.TableKind && suggest.Near(strings.ToLower(e.Key), "access", 2) &&
		v.Table.HasAny(accessKeys...) {
		s.nearly(e, "found a table of access where no tool is", "write it in the table of a tool")
		return
	}
	if v.Kind == source.ArrayKind && slices.ContainsFunc(v.Array, ruleShaped) {
		s.nearly(e, "found a list of rules where accessc reads none",
			"write it as access.fs, access.net or access.env of a tool")
		return
	}
	tables := []*source.Value{v}
	if v.Kind == source.ArrayKind {
		tables = v.Array
	}
	for _, t := range tables {
		if t.Kind == source.TableKind {
			for i := range t.Table.Entries {
				s.key(t.Table.Entries[i].Key).lists(&t.Table.Entries[i])
			}
		}
	}
}

// ruleShaped reports whether a value has the form of a rule: what it is about, and a capability.
func ruleShaped(v *source.Value) bool {
	if v.Kind != source.TableKind {
		return false
	}
	return v.Table.HasAny("path", "host", "name") &&
		v.Table.HasAny("read", "write", "create", "update", "delete", "execute", "allow", "listen")
}

// knownToTools are the keys of the table of a tool, defaultKeys the keys of the table of defaults.
var (
	knownToTools = slices.Concat(toolKeys, slices.Sorted(maps.Keys(hostKeys)))
	defaultKeys  = slices.DeleteFunc(slices.Clone(knownToTools), func(k string) bool {
		return k == "command" || k == "constraints" || k == "risk" || k == "source"
	})
)
