package compiler

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/merge"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// draft is the content of the layers read so far about a tool.
type draft struct {
	name  string
	first *source.Entry
	// usersOwn is true where only the user's own file mentions the name.
	usersOwn bool
	// server is where a server is defined, nil for a tool.
	server *ir.Origin

	source  *draftSource
	command *ir.Command
	run     string

	constraints *ir.Constraints
	// constrained holds every place that wrote constraints.
	constrained []accessAt
	// after are the values of only_after in it.
	after []textAt

	// access holds every place that wrote an access table, for findings about the
	// table as a whole.
	access []accessAt

	extends   merge.List[*presetDraft]
	fs        merge.List[*fsDraft]
	may       merge.List[*mayDraft]
	net       merge.List[*netDraft]
	env       merge.List[*envDraft]
	sensitive merge.List[*textDraft]
	accept    merge.List[*textDraft]
	tests     merge.List[*testDraft]
	commands  map[string]*commandDraft
	// commandsAt is set when some layer declared the commands table.
	commandsAt *ir.Origin
	limits     map[ir.LimitKind]ir.Limit
	// base is a layer's word where based is true, otherwise the default.
	base  ir.BaseName
	based bool
	// everywhere are the patterns of the table of defaults.
	everywhere []*textDraft
	home       ir.HomeKind
	homeShared bool
	lateOpen   bool
	// unprotected is the value by which a layer takes the list of protected paths away, nil for
	// none.
	unprotected *source.Value
	enable      enabled
	leastRisk   *source.Value
	risk        ir.Risk
	removed     []ir.Removal
}

type draftSource struct {
	text  string
	value *source.Value
	path  string
	layer ir.Layer
}

type accessAt struct {
	entry *source.Entry
	path  string
}

func newDraft(name string, first *source.Entry) *draft {
	return &draft{
		name: name, first: first, commands: map[string]*commandDraft{}, limits: map[ir.LimitKind]ir.Limit{},
		base: ir.BaseSystem, home: ir.HomePrivate,
	}
}

// path is the shorter of the configuration paths of the tool.
func (d *draft) path() string {
	if d.server != nil {
		return serverPrefix + tomltext.Key(d.name)
	}
	return "tools." + tomltext.Key(d.name)
}

// apply merges a layer's table of the tool over the draft.
func (d *draft) apply(s scope, t *source.Table) {
	d.enable.read(t)
	for i := range t.Entries {
		e := &t.Entries[i]
		in := s.key(e.Key)
		switch e.Key {
		case "source":
			if text, ok := in.str(e.Value); ok && d.server == nil {
				d.source = &draftSource{text, e.Value, in.path, s.layer}
			}
		case "command":
			if c := in.command(e); c != nil {
				d.command = c
			}
		case "run":
			if text, ok := in.str(e.Value); ok {
				d.run = text
			}
		case "risk":
			if word, ok := in.oneOf(e.Value, "low", "medium", "high"); ok {
				d.leastRisk, d.risk = e.Value, ir.ParseRisk(word)
			}
		case "constraints":
			d.constrained = append(d.constrained, accessAt{e, in.path})
			if c, after := in.constraints(e); c != nil {
				d.constraints, d.after = c, after
			}
		case "access":
			d.access = append(d.access, accessAt{e, in.path})
			if table := in.table(e.Value, "a table of fs, net, env and commands"); table != nil {
				d.applyAccess(in, table)
			}
		default:
			in.field(e, "the table of a tool", knownToTools)
		}
	}
}

var accessKeys = []string{
	"extends", "fs", "net", "env", "commands", "sensitive_paths", "limits", "tests", "base", "home", "accept",
	"protected", "late", "may",
}

// accessKinds are the values that the keys of access take most often. Beside access a value of another
// kind, such as a table of variables in env, is more likely another program's.
var accessKinds = map[string]source.Kind{
	"extends": source.ArrayKind, "fs": source.ArrayKind, "net": source.ArrayKind, "env": source.ArrayKind,
	"sensitive_paths": source.ArrayKind, "tests": source.ArrayKind, "accept": source.ArrayKind, "may": source.ArrayKind,
	"commands": source.TableKind, "limits": source.TableKind,
	"base": source.StringKind, "home": source.StringKind, "protected": source.StringKind, "late": source.StringKind,
}

func (d *draft) applyAccess(s scope, t *source.Table) {
	s.known(t, "an access table", accessKeys...)
	for i := range t.Entries {
		e := &t.Entries[i]
		in := s.key(e.Key)
		switch e.Key {
		case "extends":
			mergeList(in, e, &d.extends, scope.presetName, nil, nil)
		case "fs":
			mergeList(in, e, &d.fs, scope.fsRule, fsWinner, &d.removed)
		case "may":
			mergeList(in, e, &d.may, scope.mayRule, mayWinner, &d.removed)
		case "net":
			mergeList(in, e, &d.net, scope.netRule, netWinner, &d.removed)
		case "env":
			mergeList(in, e, &d.env, scope.envRule, envWinner, &d.removed)
		case "sensitive_paths":
			mergeList(in, e, &d.sensitive, scope.sensitivePath, nil, nil)
		case "accept":
			mergeList(in, e, &d.accept, scope.acceptance, nil, nil)
		case "tests":
			mergeList(in, e, &d.tests, scope.test, nil, nil)
		case "commands":
			d.applyCommands(in, e)
		case "limits":
			d.applyLimits(in, e)
		case "base":
			if word, ok := in.oneOf(e.Value, "system", "minimal", "none"); ok {
				d.base, _ = ir.ParseBase(word)
				d.based = true
			}
		case "home":
			if word, ok := in.oneOf(e.Value, "private", "shared", "real"); ok {
				d.home, d.homeShared, _ = ir.ParseHome(word)
			}
		case "late":
			if word, ok := in.oneOf(e.Value, "closed", "open"); ok {
				d.lateOpen = word == "open"
			}
		case "protected":
			if word, ok := in.oneOf(e.Value, "default", "none"); ok {
				d.unprotected = nil
				if word == "none" {
					d.unprotected = e.Value
				}
			}
		}
	}
}

// finish turns a draft into a tool. Drafts that name no source define no tool and
// yield nil: layers often carry settings of tools that another file defines.
func (c finisher) finish(d *draft) *ir.Tool {
	src, ok := c.finishSource(d)
	if !ok {
		return nil
	}
	c.checkName(d)
	if d.enable.over(c.enable) == off {
		c.res.disabled[d.name] = true
	}
	t := ir.NewTool(d.name)
	t.Source, t.Command, t.Run, t.Constraints = src, d.command, d.run, d.constraints
	if src.Kind != ir.SourceLocal {
		return c.finishForeign(t, d)
	}
	c.inherit(d)
	t.Run = cmp.Or(d.run, c.run)
	t.Base, t.Home, t.HomeShared, t.LateOpen = d.base, d.home, d.homeShared, d.lateOpen
	c.finishProtected(t, d)
	c.finishFS(t, d)
	c.finishMay(t, d)
	c.finishNet(t, d)
	c.finishEnv(t, d)
	c.finishCommands(t, d)
	c.finishLists(t, d)
	t.LeastRisk, t.Removed = d.risk, d.removed
	c.checkPlaceholders(t)
	return t
}

// finishProtected takes the list of protected paths away where a layer says so.
func (c finisher) finishProtected(t *ir.Tool, d *draft) {
	if d.unprotected == nil {
		return
	}
	t.Protects = false
	f := c.report(diag.Unprotected, d.path()+".access.protected", d.unprotected,
		"the tool may change files that later run code outside of the sandbox")
	f.Hint = "write a rule for the path that the tool has to change, such as .github/workflows, and remove this"
}

// finishForeign refuses access on a tool that accessc does not start. Its entry in
// the program carries no policy.
func (c finisher) finishForeign(t *ir.Tool, d *draft) *ir.Tool {
	for _, a := range d.access {
		f := diag.New(diag.AccessNotLocal, a.entry.At, a.entry.Span)
		f.Path, f.Label = a.path, "this tool's source is "+d.source.text
		f.Related = []diag.Related{{At: d.source.value.At, Note: "set here"}}
		f.Hint = "a builtin tool is confined by its host; remove the rule"
		if t.Source.Kind == ir.SourceMCP {
			f.Hint = "the host of an MCP server confines it; remove the rule"
		}
		c.findings.Add(f)
	}
	if d.leastRisk != nil {
		c.report(diag.AccessNotLocal, d.path()+".risk", d.leastRisk, "this tool's source is "+d.source.text).Hint =
			"risk is about the grants of a tool that accessc starts; remove it"
	}
	return &ir.Tool{
		Name: t.Name, Source: t.Source, Command: t.Command, Run: t.Run, Base: ir.BaseNone, Home: ir.HomeReal,
		Constraints: t.Constraints, Disabled: t.Source.Kind == ir.SourceMCP && c.res.disabled[d.name],
	}
}

func (c finisher) finishSource(d *draft) (ir.Source, bool) {
	if d.server != nil {
		return ir.Source{Kind: ir.SourceLocal, Origin: *d.server}, true
	}
	if d.source == nil {
		if c.elsewhere(d) {
			return ir.Source{}, false
		}
		for _, a := range slices.Concat(d.access, d.constrained) {
			f := diag.New(diag.AccessNoSource, a.entry.At, a.entry.Span)
			f.Path, f.Label = a.path, "no configuration file says how this tool is run"
			f.Hint = `add source = "local" and a command to the tool, or correct its name`
			c.findings.Add(f)
		}
		return ir.Source{}, false
	}
	word, detail, dotted := strings.Cut(d.source.text, ".")
	for _, k := range []ir.SourceKind{ir.SourceLocal, ir.SourceBuiltin, ir.SourceMCP} {
		if k.String() == word && (!dotted || detail != "") {
			return ir.Source{
				Kind: k, Detail: detail,
				Origin: ir.Origin{Layer: d.source.layer, Pos: d.source.value.At, Path: d.source.path},
			}, true
		}
	}
	words := []string{"local", "builtin", "mcp"}
	f := c.report(diag.BadSource, d.source.path, d.source.value,
		`found "`+d.source.text+`", expected local, builtin or mcp, alone or with a dotted name`)
	f.Hint = suggest.Hint(word, words)
	return ir.Source{}, false
}

// elsewhere reports whether rules are about a tool of another workspace: only the user's own layer has them, and no
// tool here has a name like it, of which the rules could be meant to take something away.
// See decision D12.
func (c finisher) elsewhere(d *draft) bool {
	return d.usersOwn && suggest.Hint(d.name, c.sourced) == ""
}

// finishLists fills in what needs no resolution.
func (c finisher) finishLists(t *ir.Tool, d *draft) {
	for _, p := range slices.Concat(d.everywhere, d.sensitive.Items()) {
		t.Sensitive = append(t.Sensitive, ir.SensitivePattern{Pattern: p.text, Origin: p.origin})
	}
	for _, a := range d.accept.Items() {
		t.Accept = append(t.Accept, ir.Acceptance{Gap: ir.Gap(a.text), Origin: a.origin})
	}
	for _, x := range d.tests.Items() {
		t.Tests = append(t.Tests, x.assertions...)
	}
	for _, k := range ir.LimitKinds {
		if l, ok := d.limits[k]; ok {
			t.Limits = append(t.Limits, l)
		}
	}
}
