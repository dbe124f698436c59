package hostfacts

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/internal/workspace"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/test/irtest"
)

// hostile is a layer that a tool would like to have.
const hostile = `
[tools.t.access]
protected = "none"
net = [{ host = "*", allow = true }]
env = [{ name = "*", read = true }]
[tools.evil]
source = "local"
`

// repository is a workspace in memory that tools change.
type repository struct {
	t    *rapid.T
	root string
	tree fstest.MapFS
	// member is the pattern of members, nested the directory of a workspace in the tree; empty for none.
	member, nested string
}

// names are those of the trees that are drawn: few, so that they meet.
var names = []string{"a", "b", "ab", "x.toml", "access.toml", "link"}

// parts are those of patterns.
var parts = []string{"*", "**", "a*", "?b", "[ab]", "{a,b}", "a", "b", "link"}

func (r *repository) draw(from []string, what string) string {
	return rapid.SampledFrom(from).Draw(r.t, what)
}

func (r *repository) chance(n int, what string) bool {
	return rapid.IntRange(1, n).Draw(r.t, what) == 1
}

func (r *repository) path(most int) string {
	var out []string
	for range rapid.IntRange(1, most).Draw(r.t, "depth") {
		out = append(out, r.draw(names, "name"))
	}
	return strings.Join(out, "/")
}

// pattern is one of extends, with a file that it matches.
func (r *repository) pattern() string {
	var out []string
	for range rapid.IntRange(0, 2).Draw(r.t, "parts") {
		out = append(out, r.draw(parts, "part"))
	}
	out = append(out, r.draw([]string{"*.toml", "access.toml", "x.*", "*access.toml", "[x]*.toml"}, "last"))
	return strings.Join(out, "/")
}

// instance is a name that a pattern matches.
func (r *repository) instance(pattern string) string {
	var out []string
	for part := range strings.SplitSeq(pattern, "/") {
		switch part {
		case "*":
			part = r.draw(names, "instance")
		case "**":
			if r.chance(2, "none") {
				continue
			}
			part = r.draw(names, "instance")
		case "?b":
			part = "ab"
		case "{a,b}", "[ab]":
			part = r.draw([]string{"a", "b"}, "instance")
		case "a*":
			part = r.draw([]string{"a", "ab"}, "instance")
		}
		out = append(out, strings.NewReplacer("[x]*", "x", "*access", "access", "x.*", "x.toml", "*.toml", "x.toml").Replace(part))
	}
	return strings.Join(out, "/")
}

// put adds a file unless another kind of node is in the way, or a file is on the way.
func (r *repository) put(name string, f *fstest.MapFile) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if n := r.tree[at]; n != nil && !n.Mode.IsDir() {
			return false
		}
	}
	for other := range r.tree {
		if other == name || strings.HasPrefix(other, name+"/") {
			return false
		}
	}
	r.tree[name] = f
	return true
}

func layer(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), Mode: 0o644} }

func linkTo(target string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

// grow draws a tree and its configuration, and returns the patterns.
func (r *repository) grow() []string {
	r.tree = fstest.MapFS{}
	var patterns []string
	for range rapid.IntRange(1, 2).Draw(r.t, "patterns") {
		p := r.pattern()
		if r.put(r.instance(p), layer("# none\n")) {
			patterns = append(patterns, p)
			if later := r.instance(p); r.chance(2, "dangling") {
				r.put(later, linkTo(strings.Repeat("../", strings.Count(later, "/"))+"a/later.toml"))
			}
		}
	}
	members := ""
	if r.chance(2, "members") {
		r.member = r.draw([]string{"*", "a/*", "a", "*/b"}, "member")
		members = "members = [\"" + r.member + "\"]\n"
	}
	for range rapid.IntRange(0, 2).Draw(r.t, "links") {
		r.put(r.path(2), linkTo(r.draw([]string{"a", "../a", "b/x.toml", "nowhere", "../b/ab", "a/later.toml"}, "target")))
	}
	if r.chance(2, "nested") {
		r.nested = "b/" + r.path(1)
		r.put(r.nested+"/accessc.toml", layer("[tools.inner]\nsource = \"local\"\n"))
	}
	r.put("a/hostile", layer(hostile))
	r.put("b/dir/"+r.draw([]string{"x.toml", "access.toml"}, "prepared"), layer(hostile))
	text := members + "extends = [\"" + strings.Join(patterns, "\", \"") + "\"]\n"
	if len(patterns) == 0 {
		text = members
	}
	// A path at which only another tool has a rule is a name like any other to a tool: such a rule draws ACC048 (RATIONALE D159).
	finer := ""
	if r.chance(2, "rule") {
		finer = ", { path = \"" + r.path(2) + "\", " + r.draw([]string{"write = true", "read = true", "read = true, create = true"}, "caps") + " }"
	}
	for _, tool := range []string{"t", "u"} {
		text += "[tools." + tool + "]\nsource = \"local\"\n[tools." + tool + ".access]\nfs = [{ path = \".\", read = true, write = true }" + finer + "]\n"
	}
	r.put("accessc.toml", layer(text))
	return patterns
}

// policy is what the tools may do, and where tools start: empty where a mistake stops all of it.
func (r *repository) policy() (string, *Result) {
	res, err := Compile(Options{
		Options: compiler.Options{Root: r.root, Tree: r.tree, Layers: source.Request{Shared: true}, Platforms: []ir.Platform{ir.Linux}},
		State:   userdir.Dir(path.Join(r.root, "state")), Untested: true,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if res.Program == nil {
		return "", res
	}
	var docs []irjson.ToolDoc
	for _, t := range res.Program.Tools {
		docs = append(docs, irjson.Tool(t))
	}
	text, err := json.Marshal(docs)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text), res
}

// further are the workspaces in the tree, and those of them where tools start that nobody sends there.
func (r *repository) further(res *Result) (all, listed []string) {
	all, _, err := workspace.Further(r.tree)
	if err != nil {
		r.t.Fatal(err)
	}
	unlisted := func(dir string) bool { return !source.IsMember(res.Members, dir) }
	return all, slices.DeleteFunc(slices.Clone(all), unlisted)
}

// permitted reports whether a rule by itself lets a tool write a protected path, or nothing is protected from it: its author wants that.
func permitted(res *Result) bool {
	for _, t := range res.Program.Tools {
		if !t.Protects {
			return true
		}
		protected := slices.Concat(ir.ProtectedPaths(), res.Protected(t))
		for _, rule := range t.FS {
			covered := func(p ir.ProtectedPath) bool { return p.Covers(rule.At.Path) }
			if rule.Caps&ir.Write != 0 && slices.ContainsFunc(protected, covered) {
				return true
			}
		}
	}
	return false
}

// change does one thing that a tool may do by its policy, and returns its kind; empty where the tool may not, or nothing can
// be done.
func (r *repository) change(res *Result, v *ir.View, b *ir.Bindings, patterns []string) string {
	at := func(name string, follow bool) (ir.Place, ir.NodeKind) {
		place, kind, err := res.Resolver.Asked(name, follow, b)
		if err != nil {
			place.Fault = ir.ReasonOutside
		}
		return place, kind
	}
	may := func(op ir.Operation) bool { return v.Decide(op).Allowed() }
	wanted := func() string {
		all := []string{"accessc.toml", ".accessc/local.toml", ".jp/config.toml"}
		switch {
		case len(patterns) > 0 && r.chance(2, "matches"):
			return r.instance(r.draw(patterns, "pattern"))
		case r.member != "" && r.chance(2, "listed"):
			return r.instance(r.member) + r.draw([]string{"", "/accessc.toml", "/.jp/x"}, "of a member")
		case r.chance(4, "mark"):
			return r.path(2) + "/" + r.draw(all, "mark")
		case r.chance(4, "target"):
			return "a/later.toml"
		case r.chance(2, "existing"):
			return r.draw(slices.Sorted(maps.Keys(r.tree)), "existing")
		}
		return r.path(3)
	}
	kind := r.draw([]string{"file", "through", "symlink", "write", "remove", "move", "hard link"}, "kind")
	name := wanted()
	follow := kind == "through" || kind == "write"
	dst, is := at(name, follow)
	if dst.Fault != 0 || dst.At.Root.Kind != ir.Workspace {
		return ""
	}
	to := dst.At.Path
	switch kind {
	case "write":
		if is != ir.File || !may(ir.Access{Cap: ir.Update, On: dst}) {
			return ""
		}
		r.tree[to] = layer(hostile)
		return kind
	case "remove":
		if r.tree[to] == nil || !may(ir.Access{Cap: ir.Delete, On: dst, Name: ir.NameFile}) {
			return ""
		}
		delete(r.tree, to)
		return kind
	}
	made := fstest.MapFS{}
	for dir := path.Dir(to); dir != "."; dir = path.Dir(dir) {
		on, is := at(dir, false)
		switch {
		case is == ir.Dir:
		case is != ir.Absent || on.Fault != 0 || !may(ir.Access{Cap: ir.Create, On: on, Name: ir.NameDir}):
			return ""
		}
	}
	from := r.draw([]string{"a/hostile", "b/dir", "b", "a", cmp.Or(r.nested, "ab")}, "from")
	src, srcIs := at(from, false)
	switch kind {
	case "file", "through":
		if is != ir.Absent || !may(ir.Access{Cap: ir.Create, On: dst, Name: ir.NameFile}) {
			return ""
		}
		made[to] = layer(hostile)
	case "symlink":
		if is != ir.Absent || !may(ir.Access{Cap: ir.Create, On: dst, Name: ir.NameLink}) {
			return ""
		}
		up := strings.Repeat("../", strings.Count(to, "/"))
		made[to] = linkTo(up + r.draw([]string{"a/hostile", "b/dir", "nowhere", "a"}, "leads"))
	case "hard link":
		if is != ir.Absent || srcIs != ir.File || !may(ir.Link{Src: src, Dst: dst}) {
			return ""
		}
		made[to] = layer(hostile)
	case "move":
		if is != ir.Absent || srcIs == ir.Absent || from == to || strings.HasPrefix(to, from+"/") ||
			!may(ir.Rename{Src: src, Dst: dst, SrcKind: srcIs, DstKind: is}) {
			return ""
		}
		for name, f := range r.tree {
			if rest, in := strings.CutPrefix(name, from); in && (rest == "" || rest[0] == '/') {
				delete(r.tree, name)
				made[to+rest] = f
			}
		}
	}
	maps.Copy(r.tree, made)
	return kind
}

// TestNamesChangeNoPolicy: whatever one tool does to the names of the workspace, no tool may do anything else afterwards, and no
// tool stops starting. Causes that it finds: patterns of extends whose first part has a wildcard protected nothing, nor did names of
// layers below the root; a symlink to nothing stopped every start; and a directory with a workspace of its own could be moved to
// where members are listed.
func TestNamesChangeNoPolicy(t *testing.T) {
	root := t.TempDir()
	seen := map[string]int{}
	irtest.Check(t, 5000, 20, func(t *rapid.T) {
		r := &repository{t: t, root: root}
		patterns := r.grow()
		before, res := r.policy()
		switch {
		case before == "":
			seen["a mistake"]++
			return
		case permitted(res):
			seen["a rule for it"]++
			return
		}
		further, started := r.further(res)
		for range 20 {
			tool, _ := res.Program.Tool(r.draw([]string{"t", "u"}, "tool"))
			facts := res.Facts(tool)
			old := maps.Clone(r.tree)
			kind := r.change(res, ir.NewView(tool, ir.Linux, facts), facts.Bindings, patterns)
			if kind == "" {
				seen["refused"]++
				continue
			}
			seen[kind]++
			after, now := r.policy()
			switch {
			case after == "":
				t.Fatalf("%s: no tool starts any more: %v\nbefore %v\nafter %v", kind, now.Findings, show(old), show(r.tree))
			case after != before:
				t.Fatalf("%s: another policy\nbefore %v\nafter %v", kind, show(old), show(r.tree))
			}
			all, listed := r.further(now)
			if len(all) > len(further) || len(listed) > len(started) {
				t.Fatalf("%s: workspaces %v, tools start in %v, before %v, %v\nbefore %v\nafter %v",
					kind, all, listed, further, started, show(old), show(r.tree))
			}
			res, further, started = now, all, listed
		}
	})
	irtest.Happened(t, seen, "file", "through", "symlink", "write", "remove", "move", "hard link", "refused")
}

// show lists a tree.
func show(tree fstest.MapFS) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		switch f := tree[name]; {
		case f.Mode&fs.ModeSymlink != 0:
			b.WriteString("\n  " + name + " -> " + string(f.Data))
		case name == "accessc.toml":
			b.WriteString("\n  " + name + ":\n" + string(f.Data))
		default:
			b.WriteString("\n  " + name)
		}
	}
	return b.String()
}
