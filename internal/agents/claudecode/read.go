package claudecode

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/srt"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/ir"
)

var format = importer.Format{
	Name: "claude-code", Version: "2.1.330", Several: true, Files: true,
	Looks: func(d *importer.Document) bool {
		return d.Root.Member("permissions") != nil || d.Root.Member("sandbox") != nil
	},
	Read: read,
}

// reader are the settings of Claude Code, those of several files together.
type reader struct {
	rules      []ruleOf
	mode       string
	moded      *importer.Entry // that of the mode
	noBypass   bool
	additional []importer.Listed
	sandbox    srt.Sandbox
	// on is true if a file turns the sandbox on, off if one turns it off, which wins; asks if one has
	// commands in the sandbox asked about.
	on, off, asks bool
}

// ruleOf is a rule with the list that it stands in: allow, ask or deny.
type ruleOf struct {
	list string
	ToolRule
	entry *importer.Entry
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	c := &reader{}
	for _, d := range docs {
		members := importer.Fields{
			"permissions": func(n *jsonc.Node) { c.permissions(t, d, n) },
			"sandbox":     func(n *jsonc.Node) { c.sandboxed(t, d, n) },
		}
		for _, key := range otherSettings {
			members[key] = t.Leave(d, "", "it is about something else than permissions")
		}
		for _, key := range unknownSettings(d.Root) {
			members[key] = t.Leave(d, "", "not known in "+d.Version)
		}
		for _, key := range []string{"disabledMcpjsonServers", "deniedMcpServers"} {
			members[key] = c.shutServers(t, d)
		}
		if len(docs) > 1 {
			managedAlone(d)
		}
		d.Object(d.Root, "the settings", members)
	}
	if c.noBypass && c.mode == "bypassPermissions" {
		c.mode = "default"
	}
	t.Draft.Confines = true
	t.Own = &importer.Entry{Key: "the working directory of Claude Code"}
	box := c.box()
	c.files(t, box)
	if box != nil {
		t.Hosts(c.domains(box.Allowed, "allow"), c.domains(box.Denied, "deny", "ask"))
		for _, l := range box.Hidden {
			t.Draft.Env = append(t.Draft.Env, importer.EnvRule{Name: l.Path, Read: false, From: l.Entry.From()})
			l.Entry.Become(importer.Carried, "access.env %s", l.Path)
		}
	}
	c.fetches(t)
	c.lines(t)
	c.servers(t)
	return c.model(t, box)
}

// managedAlone refuses managed settings beside other files, if they take the effect of those away.
func managedAlone(d *importer.Document) {
	for _, n := range []*jsonc.Node{d.Root.Member("allowManagedPermissionRulesOnly"),
		d.Root.Member("sandbox", "network", "allowManagedDomainsOnly")} {
		if n.True() {
			d.Fault(n.Begin, "%s leaves the rules of other files without effect: import this file alone", n.Key)
		}
	}
}

// permissions reads the rules.
func (c *reader) permissions(t *importer.Translation, d *importer.Document, n *jsonc.Node) {
	rules := func(n *jsonc.Node) {
		i := 0
		d.List(n, "permissions."+n.Key, func(item *jsonc.Node, text string) {
			c.rule(t, d, item, n.Key, i, text)
			i++
		})
	}
	no := func(why string) func(*jsonc.Node) { return t.Leave(d, "permissions", why) }
	d.Object(n, "permissions", importer.Fields{
		"allow": rules, "ask": rules, "deny": rules,
		"defaultMode": func(n *jsonc.Node) { c.setMode(t, d, n) },
		"additionalDirectories": func(n *jsonc.Node) {
			t.Paths(d, n, "permissions.additionalDirectories", &c.additional)
		},
		"disableBypassPermissionsMode":         func(n *jsonc.Node) { c.noBypass = true; no("a rule asks nobody to bypass it")(n) },
		"disableAutoMode":                      no("no mode decides here"),
		"blockReadsOutsideWorkingDirectories":  no("nothing outside of the workspace is granted but the base and what is listed"),
		"blockWritesOutsideWorkingDirectories": no("nothing outside of the workspace is granted but what is listed"),
		"denyInsteadOfPrompting":               no("the host decides whether it asks"),
		"blockReadsExemptPaths":                no("it counts in settings that a program sends, and grants nothing"),
		"workingDirectoriesAsGiven":            no("it counts in settings that a program sends, and grants nothing"),
		"workingDirectoriesExclude":            func(n *jsonc.Node) { c.excludes(t, d, n) },
	})
}

// excludes reads directories that count as outside of the working directories, which may narrow.
func (c *reader) excludes(t *importer.Translation, d *importer.Document, n *jsonc.Node) {
	d.List(n, "permissions."+n.Key, func(item *jsonc.Node, _ string) {
		d.Fault(item.From, "a working directory with exceptions is not understood")
	})
	t.Leave(d, "permissions", "it counts in settings that a program sends")(n)
}

// setMode reads the mode. Of two different ones it is not known which counts.
func (c *reader) setMode(t *importer.Translation, d *importer.Document, n *jsonc.Node) {
	mode := n.String()
	if mode == "manual" {
		mode = "default"
	}
	if !slices.Contains([]string{"default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"}, mode) ||
		c.mode != "" && c.mode != mode {
		d.Fault(n.From, "permissions.defaultMode is none that is known, or not that of the other files")
		return
	}
	c.mode = mode
	e := t.Add(d, n, "permissions.defaultMode", mode)
	c.moded = e
	switch mode {
	case "acceptEdits":
		e.Become(importer.Carried, "the workspace may be written")
	case "bypassPermissions":
		e.Become(importer.Narrowed, "the workspace may be written; commands need rules")
	case "plan":
		e.Become(importer.Carried, "nothing may be written, and rulesets.%s asks about every command", t.Draft.Ruleset)
	case "dontAsk":
		e.Become(importer.Narrowed, "rulesets.%s denies what no rule allows", t.Draft.Ruleset)
	default:
		e.Become(importer.Carried, "what no rule decides is not granted")
	}
}

var ruleForm = expression.Once{Text: `(?s)^([A-Za-z_][A-Za-z0-9_-]*)(?:\((.*)\))?$`}

// rule reads one rule.
func (c *reader) rule(t *importer.Translation, d *importer.Document, n *jsonc.Node, list string, i int, text string) {
	form := &ruleForm
	if strings.HasPrefix(text, serverWord) {
		form = &serverForm
	}
	m := form.Get().FindStringSubmatch(text)
	if m == nil || !importer.Clean(text) {
		d.Fault(n.From, "%q is no rule: expected TOOL or TOOL(SPECIFIER)", text)
		return
	}
	home := ir.Within(d.Path, path.Join(t.Host.Home, ".claude")) &&
		!strings.HasPrefix(t.Host.Dir, t.Host.Home+"/.claude/")
	r := ruleOf{list, ToolRule{Tool: m[1], Spec: m[2], Project: !home},
		t.Add(d, n, importer.ElementOf("permissions."+list, i), text)}
	r.Whole = !strings.Contains(text, "(") || slices.Contains([]string{"", "*", ":*"}, m[2]) &&
		(r.Tool == "Bash" || r.Tool == "WebFetch")
	switch {
	case slices.Contains([]string{"Read", "Edit", "Write"}, r.Tool):
		if list != "allow" && strings.Contains(r.Spec, `\`) {
			d.Fault(n.From, "a backslash in a path that is denied is not understood")
		}
	case !slices.Contains([]string{"Bash", "WebFetch"}, r.Tool) && !strings.HasPrefix(r.Tool, serverWord):
		r.entry.Become(importer.LeftOut, "no rule here is about this tool")
	}
	c.rules = append(c.rules, r)
}

// sandboxed reads the sandbox.
func (c *reader) sandboxed(t *importer.Translation, d *importer.Document, n *jsonc.Node) {
	members := srt.SandboxFields(t, d, &c.sandbox, "sandbox")
	members["enabled"] = func(n *jsonc.Node) {
		on := d.Truth(n, "sandbox.enabled")
		c.on, c.off = c.on || on, c.off || !on
		t.Add(d, n, "sandbox.enabled", "").Become(importer.Carried, "the tool runs confined in any case")
	}
	members["autoAllowBashIfSandboxed"] = func(n *jsonc.Node) {
		c.asks = c.asks || !d.Truth(n, "sandbox.autoAllowBashIfSandboxed")
		t.Add(d, n, "sandbox.autoAllowBashIfSandboxed", "").Become(importer.Narrowed,
			"commands need rules of the ruleset")
	}
	for _, key := range []string{"excludedCommands", "allowUnsandboxedCommands", "enableWeakerNestedSandbox",
		"enableWeakerNetworkIsolation",
		"allowAppleEvents", "allowNestedUserNamespaces"} {
		members[key] = t.Leave(d, "sandbox", "nothing runs outside of the sandbox, or in a weaker one")
	}
	for _, key := range []string{"failIfUnavailable", "ignoreViolations", "ripgrep", "enabledPlatforms", "bwrapPath",
		"socatPath"} {
		members[key] = t.Leave(d, "sandbox", "it is about how Claude Code starts its sandbox")
	}
	d.Object(n, "sandbox", members)
}

// box is the sandbox as it applies, nil where it is off.
func (c *reader) box() *srt.Sandbox {
	if c.on && !c.off {
		return &c.sandbox
	}
	for _, l := range slices.Concat(c.sandbox.DenyRead, c.sandbox.AllowRead, c.sandbox.AllowWrite, c.sandbox.DenyWrite,
		c.sandbox.Allowed, c.sandbox.Denied, c.sandbox.Hidden) {
		l.Entry.Become(importer.LeftOut, "the sandbox is not enabled")
	}
	return nil
}

// of are the rules of a tool in some of the lists.
func (c *reader) of(tool string, lists ...string) []ruleOf {
	var out []ruleOf
	for _, r := range c.rules {
		if r.Tool == tool && slices.Contains(lists, r.list) {
			out = append(out, r)
		}
	}
	return out
}

// model is the evaluation of the settings.
func (c *reader) model(t *importer.Translation, box *srt.Sandbox) foreign.Policy {
	out := &Model{Host: t.Host, Mode: c.mode, AutoAllow: !c.asks}
	for _, r := range c.rules {
		switch r.list {
		case "allow":
			out.Allow = append(out.Allow, r.ToolRule)
		case "ask":
			out.Ask = append(out.Ask, r.ToolRule)
		default:
			out.Deny = append(out.Deny, r.ToolRule)
		}
	}
	for _, l := range c.additional {
		out.Additional = append(out.Additional, l.Path)
	}
	if box != nil {
		out.Sandbox = box.Model(t.Host)
		out.Sandbox.AllowWrite = append(out.Sandbox.AllowWrite, foreign.Spelled{Path: "."})
		for _, r := range c.of("WebFetch", "allow") {
			out.Sandbox.AllowedDomains = append(out.Sandbox.AllowedDomains, strings.TrimPrefix(r.Spec, "domain:"))
		}
	}
	return out
}
