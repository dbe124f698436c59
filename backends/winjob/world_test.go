package winjob

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// world is a policy, the text emitted for it, and a host on which to ask both.
// See decision D77.
type world struct {
	view   *ir.View
	target backends.Target
	ledger ir.Ledger
	spec   *Spec
	ids    map[ir.Rule]ir.RuleID
	// objects are what stands on the host, by path; links are in it as files.
	objects map[string]ir.NodeKind
	links   map[string]bool
	names   []string
	volume  *Volume
	// entries are those of the text and of the names that a loader finds.
	entries []Entry
}

// fault is a deliberate mistake: in the emitted text, or in the ledger.
type fault struct {
	text   func(*Spec)
	ledger func(*ir.Row)
}

// compiled compiles a policy, with a fault if a fault is given, and reads the text back.
func compiled(t *ir.Tool, target backends.Target, f fault) (*world, string) {
	out, err := Backend{}.Compile(t, target)
	if err != nil {
		return nil, err.Error()
	}
	if len(out.Refusals) > 0 {
		return nil, out.Refusals[0].Why
	}
	spec, err := Parse(out.Data)
	if err != nil {
		return nil, err.Error()
	}
	if f.text != nil {
		f.text(spec)
		data, _ := backends.JSON(spec)
		spec = &Spec{}
		if err := strictjson.Unmarshal(data, spec); err != nil {
			return nil, err.Error()
		}
	}
	for i := range out.Ledger {
		if f.ledger != nil {
			f.ledger(&out.Ledger[i])
		}
	}
	w := &world{
		view: ir.NewView(t, ir.Windows, target.Facts), target: target, ledger: out.Ledger, spec: spec,
		ids: map[ir.Rule]ir.RuleID{}, objects: map[string]ir.NodeKind{}, links: map[string]bool{},
	}
	for _, e := range w.view.Entries() {
		w.ids[e.Rule] = e.ID.Stated()
	}
	return w, ""
}

// genTool draws a policy whose files, programs and roots vary.
func genTool(t *rapid.T, names []string) *ir.Tool {
	tool := irtest.ToolByName(t, names, 7)
	tool.Home = rapid.SampledFrom([]ir.HomeKind{ir.HomePrivate, ir.HomePrivate, ir.HomeReal}).Draw(t, "home")
	tool.Base = rapid.SampledFrom([]ir.BaseName{ir.BaseSystem, ir.BaseMinimal, ir.BaseNone}).Draw(t, "base")
	if rapid.IntRange(0, 2).Draw(t, "external") == 0 {
		name := rapid.SampledFrom([]string{"ext", names[0] + "/ext"}).Draw(t, "link")
		tool.FS = append(tool.FS, ir.FSRule{
			Written: name, At: ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}, External: true, Caps: irtest.Caps(t),
		})
	}
	switch rapid.IntRange(0, 5).Draw(t, "commands") {
	case 0:
		tool.Commands = &ir.CommandSet{}
	case 1:
		at := ir.In(irtest.Path(t, names, 3))
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "p", File: &at, AnyArgs: true, AllEnvs: true}}}
	}
	return tool
}

// genTarget draws a portable target, a host, or a host whose private home lies in
// the workspace.
func genTarget(t *rapid.T, tool *ir.Tool, names []string) backends.Target {
	kind := rapid.IntRange(0, 3).Draw(t, "target")
	if kind == 0 {
		return backends.Target{Form: backends.Portable}
	}
	b := &ir.Bindings{Workspace: "C:/ws", Home: "D:/state/home", External: map[string]string{}}
	if kind == 1 {
		b.Home = "C:/ws/" + names[0] + "/" + names[1]
	}
	if tool.Home != ir.HomePrivate {
		b.Home = ""
	}
	for i := range tool.FS {
		if tool.FS[i].External {
			b.External[tool.FS[i].At.Root.Name] = "E:/target"
		}
	}
	irtest.Bind(b, tool, "D:/home")
	if tool.Commands != nil {
		for i := range tool.Commands.Rules {
			// The compiler locates the files that it finds, so that a file in a home in the
			// workspace is the home's.
			abs, _ := b.Path(*tool.Commands.Rules[i].File)
			at := b.Locate(abs)
			tool.Commands.Rules[i].File = &at
		}
	}
	f := ir.Facts{Bindings: b}
	for _, r := range ir.BaseRules(tool.Base, ir.Windows) {
		r.At = ir.Sys(strings.NewReplacer(
			"${SystemRoot}", "C:/Windows", "${ProgramFiles}", "C:/Program Files", "${ProgramFiles(x86)}", "C:/Program Files (x86)",
		).Replace(r.At.Path))
		f.Base = append(f.Base, r)
	}
	if tool.Base == ir.BaseNone {
		f.Base = []ir.FSRule{}
	}
	if rapid.Bool().Draw(t, "program") {
		at := ir.Sys("C:/tools/p.exe")
		f.Program = &at
	}
	return backends.Target{Form: backends.Resolved, Facts: f}
}

// write spells a location as a Windows path, without the code under test.
func (w *world) write(l ir.Location) string {
	if b := w.target.Facts.Bindings; b != nil {
		if abs, ok := b.Path(l); ok {
			return strings.ReplaceAll(strings.TrimPrefix(abs, "/"), "/", `\`)
		}
	}
	if l.Root.Kind == ir.System {
		return strings.ReplaceAll(l.Path, "/", `\`)
	}
	if l.Path == "" {
		return l.Root.String()
	}
	return l.Root.String() + `\` + strings.ReplaceAll(l.Path, "/", `\`)
}

// locate is the inverse of write: the canonical location of a path.
func (w *world) locate(p string) ir.Location {
	roots := []ir.Root{{Kind: ir.Workspace}, {Kind: ir.Home}, {Kind: ir.Temp}}
	for _, r := range w.view.Roots() {
		if r.Kind == ir.External {
			roots = append(roots, r)
		}
	}
	for _, r := range roots {
		if rest, ok := strings.CutPrefix(p, r.String()); ok && (rest == "" || rest[0] == '\\') {
			return ir.Location{Root: r, Path: strings.ReplaceAll(strings.TrimPrefix(rest, `\`), `\`, "/")}
		}
	}
	if b := w.target.Facts.Bindings; b != nil {
		return b.Locate(strings.ReplaceAll(p, `\`, "/"))
	}
	return ir.Sys(strings.ReplaceAll(p, `\`, "/"))
}

// populate draws the nodes of the host: the roots, most paths of rules and all without which a
// loader refuses to start, and some more.
func (w *world) populate(t *rapid.T, names []string) {
	w.names = names
	need := map[string]bool{}
	for _, e := range w.spec.Files.Entries {
		need[e.Path] = e.Absent != AbsentSkip
		w.links[e.Path] = e.ReparsePoint
		if strings.Count(e.Path, `\`) == 0 || e.Absent == AbsentCreate {
			w.exist(e.Path, ir.Dir)
		}
	}
	for _, r := range w.view.Roots() {
		w.view.Regions(r).Walk(func(n *ir.Region) {
			p := w.write(n.At)
			if r.Kind != ir.System && (need[p] || rapid.IntRange(0, 3).Draw(t, "exists") > 0) {
				w.exist(p, irtest.Kind(t, ir.File, ir.Dir))
			}
		})
	}
	for range 12 {
		w.exist(w.write(irtest.Place(t, names)), irtest.Kind(t, ir.File, ir.Dir))
	}
	w.system()
}

// system adds a program in the system's directories and a program elsewhere.
func (w *world) system() {
	for _, a := range w.spec.Files.Ambient {
		w.objects[a.Path] = ir.Dir
		w.objects[a.Path+`\x.exe`] = ir.File
	}
	w.objects[`C:\tools`] = ir.Dir
	w.objects[`C:\tools\p.exe`] = ir.File
	w.objects[`C:\tools\q.exe`] = ir.File
}

// exist adds an object and the directories that lead to it, nothing below a link.
func (w *world) exist(p string, kind ir.NodeKind) {
	for dir := p; ; {
		i := strings.LastIndexByte(dir, '\\')
		if i < 0 {
			break
		}
		if dir = dir[:i]; w.links[dir] {
			return
		}
	}
	if w.links[p] {
		kind = ir.File
	}
	if w.objects[p] != ir.Dir {
		w.objects[p] = kind
	}
	if l := w.locate(p); l.Root.Kind == ir.System {
		delete(w.objects, p)
		return
	} else if l.Path == "" {
		w.objects[p] = ir.Dir
	}
	if i := strings.LastIndexByte(p, '\\'); i >= 0 {
		w.exist(p[:i], ir.Dir)
	}
}

func genWorld(t *rapid.T, f fault) (*world, string) {
	names := rapid.SampledFrom([][]string{irtest.Plain, irtest.Names}).Draw(t, "names")
	tool := genTool(t, names)
	w, why := compiled(tool, genTarget(t, tool, names), f)
	if why != "" {
		return nil, why
	}
	w.populate(t, names)
	v, err := w.spec.Mount(w.objects)
	if err != nil {
		return nil, err.Error()
	}
	w.volume = v
	found, err := w.spec.Files.Named(listing(w.objects))
	if err != nil {
		return nil, err.Error()
	}
	w.entries = slices.Concat(w.spec.Files.Entries, found)
	return w, ""
}

// paths lists the objects, in order.
func (w *world) paths() []string {
	out := make([]string, 0, len(w.objects))
	for p := range w.objects {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// somewhere draws an object or a free name in a directory.
func (w *world) somewhere(t *rapid.T, paths []string) string {
	p := rapid.SampledFrom(paths).Draw(t, "path")
	if w.volume.Kind(p) == ir.Dir && rapid.Bool().Draw(t, "in it") {
		return p + `\` + rapid.SampledFrom(w.names).Draw(t, "name")
	}
	return p
}

// governs returns the identifier of the rule that decides at a path.
func (w *world) governs(p string) ir.RuleID {
	if r := w.decide(ir.Access{Cap: ir.Read, On: w.place(p)}).Rule; r != nil {
		return w.ids[r]
	}
	return "default"
}

func (w *world) place(p string) ir.Place { return ir.Direct(w.locate(p)) }

func (w *world) decide(op ir.Operation) ir.Verdict { return w.view.Decide(op) }

// cell returns the enforcement of an aspect of the rule at a path in an AppContainer.
func (w *world) cell(p string, a ir.Aspect) ir.Row {
	row, _ := w.ledger.Cell(ir.FS, w.governs(p), a, ir.Windows, ir.BestTier)
	return row
}

// entry returns the emitted entry on a path.
func (w *world) entry(p string) (Entry, bool) {
	i := slices.IndexFunc(w.entries, func(e Entry) bool { return e.Path == p })
	if i < 0 {
		return Entry{}, false
	}
	return w.entries[i], true
}

// tool returns a tool with the given file rules, written as "path: capabilities".
func toolWith(tb testing.TB, rules ...string) *ir.Tool {
	tb.Helper()
	tool := ir.NewTool("fmt")
	tool.Protects = false
	tool.FS, tool.Declared.FS = nil, true
	for _, line := range rules {
		p, caps, _ := strings.Cut(line, ": ")
		r := ir.FSRule{Written: p, At: ir.In(strings.TrimPrefix(p, "."))}
		if strings.HasPrefix(p, ".") && len(p) > 1 {
			r.At = ir.In(p)
		}
		for word := range strings.FieldsSeq(caps) {
			c, ok := ir.ParseCapability(word)
			if !ok {
				tb.Fatalf("capability %q", word)
			}
			r.Caps = r.Caps.With(c)
		}
		tool.FS = append(tool.FS, r)
	}
	return tool
}
