package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/ir"
)

var claudeFormat = format{
	name: "claude-code", version: "2.1.330", several: true, files: true,
	looks: func(d *document) bool { return d.root.Member("permissions") != nil || d.root.Member("sandbox") != nil },
	read:  readClaude,
}

// claude are the settings of Claude Code, those of several files together.
type claude struct {
	rules      []claudeRule
	mode       string
	moded      *Entry // that of the mode
	noBypass   bool
	additional []listed
	sandbox    sandbox
	// on is true if a file turns the sandbox on, off if one turns it off, which wins; asks if one has
	// commands in the sandbox asked about.
	on, off, asks bool
}

// claudeRule is a rule with the list that it stands in: allow, ask or deny.
type claudeRule struct {
	list string
	foreign.ToolRule
	entry *Entry
}

func readClaude(t *translation, docs []*document) foreign.Policy {
	c := &claude{}
	for _, d := range docs {
		members := fields{
			"permissions": func(n *jsonc.Node) { c.permissions(t, d, n) },
			"sandbox":     func(n *jsonc.Node) { c.sandboxed(t, d, n) },
		}
		for _, key := range otherSettings {
			members[key] = t.leave(d, "", "it is about something else than permissions")
		}
		for _, key := range unknownSettings(d.root) {
			members[key] = t.leave(d, "", "not known in "+d.version)
		}
		for _, key := range []string{"disabledMcpjsonServers", "deniedMcpServers"} {
			members[key] = c.shutServers(t, d)
		}
		if len(docs) > 1 {
			managedAlone(d)
		}
		d.object(d.root, "the settings", members)
	}
	if c.noBypass && c.mode == "bypassPermissions" {
		c.mode = "default"
	}
	t.draft.confines = true
	t.own = &Entry{Key: "the working directory of Claude Code"}
	box := c.box()
	c.files(t, box)
	if box != nil {
		t.hosts(c.domains(box.allowed, "allow"), c.domains(box.denied, "deny", "ask"))
		for _, l := range box.hidden {
			t.draft.env = append(t.draft.env, envRule{l.Path, false, l.entry.from()})
			l.entry.become(Carried, "access.env %s", l.Path)
		}
	}
	c.fetches(t)
	c.lines(t)
	c.servers(t)
	return c.model(t, box)
}

// managedAlone refuses managed settings beside other files, if they take the effect of those away.
func managedAlone(d *document) {
	for _, n := range []*jsonc.Node{d.root.Member("allowManagedPermissionRulesOnly"), d.root.Member("sandbox", "network", "allowManagedDomainsOnly")} {
		if n.True() {
			d.fault(n.Begin, "%s leaves the rules of other files without effect: import this file alone", n.Key)
		}
	}
}

// permissions reads the rules.
func (c *claude) permissions(t *translation, d *document, n *jsonc.Node) {
	rules := func(n *jsonc.Node) {
		i := 0
		d.list(n, "permissions."+n.Key, func(item *jsonc.Node, text string) {
			c.rule(t, d, item, n.Key, i, text)
			i++
		})
	}
	no := func(why string) func(*jsonc.Node) { return t.leave(d, "permissions", why) }
	d.object(n, "permissions", fields{
		"allow": rules, "ask": rules, "deny": rules,
		"defaultMode": func(n *jsonc.Node) { c.setMode(t, d, n) },
		"additionalDirectories": func(n *jsonc.Node) {
			t.paths(d, n, "permissions.additionalDirectories", &c.additional)
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
func (c *claude) excludes(t *translation, d *document, n *jsonc.Node) {
	d.list(n, "permissions."+n.Key, func(item *jsonc.Node, _ string) {
		d.fault(item.From, "a working directory with exceptions is not understood")
	})
	t.leave(d, "permissions", "it counts in settings that a program sends")(n)
}

// setMode reads the mode. Of two different ones it is not known which counts.
func (c *claude) setMode(t *translation, d *document, n *jsonc.Node) {
	mode := n.String()
	if mode == "manual" {
		mode = "default"
	}
	if !slices.Contains([]string{"default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"}, mode) || c.mode != "" && c.mode != mode {
		d.fault(n.From, "permissions.defaultMode is none that is known, or not that of the other files")
		return
	}
	c.mode = mode
	e := t.add(d, n, "permissions.defaultMode", mode)
	c.moded = e
	switch mode {
	case "acceptEdits":
		e.become(Carried, "the workspace may be written")
	case "bypassPermissions":
		e.become(Narrowed, "the workspace may be written; commands need rules")
	case "plan":
		e.become(Carried, "nothing may be written, and rulesets.%s asks about every command", t.draft.ruleset)
	case "dontAsk":
		e.become(Narrowed, "rulesets.%s denies what no rule allows", t.draft.ruleset)
	default:
		e.become(Carried, "what no rule decides is not granted")
	}
}

var ruleForm = expression.Once{Text: `(?s)^([A-Za-z_][A-Za-z0-9_-]*)(?:\((.*)\))?$`}

// rule reads one rule.
func (c *claude) rule(t *translation, d *document, n *jsonc.Node, list string, i int, text string) {
	form := &ruleForm
	if strings.HasPrefix(text, serverWord) {
		form = &serverForm
	}
	m := form.Get().FindStringSubmatch(text)
	if m == nil || !clean(text) {
		d.fault(n.From, "%q is no rule: expected TOOL or TOOL(SPECIFIER)", text)
		return
	}
	home := ir.Within(d.path, path.Join(t.host.Home, ".claude")) && !strings.HasPrefix(t.host.Dir, t.host.Home+"/.claude/")
	r := claudeRule{list, foreign.ToolRule{Tool: m[1], Spec: m[2], Project: !home}, t.add(d, n, elementOf("permissions."+list, i), text)}
	r.Whole = !strings.Contains(text, "(") || slices.Contains([]string{"", "*", ":*"}, m[2]) && (r.Tool == "Bash" || r.Tool == "WebFetch")
	switch {
	case slices.Contains([]string{"Read", "Edit", "Write"}, r.Tool):
		if list != "allow" && strings.Contains(r.Spec, `\`) {
			d.fault(n.From, "a backslash in a path that is denied is not understood")
		}
	case !slices.Contains([]string{"Bash", "WebFetch"}, r.Tool) && !strings.HasPrefix(r.Tool, serverWord):
		r.entry.become(LeftOut, "no rule here is about this tool")
	}
	c.rules = append(c.rules, r)
}

// sandboxed reads the sandbox.
func (c *claude) sandboxed(t *translation, d *document, n *jsonc.Node) {
	members := t.sandboxFields(d, &c.sandbox, "sandbox")
	members["enabled"] = func(n *jsonc.Node) {
		on := d.truth(n, "sandbox.enabled")
		c.on, c.off = c.on || on, c.off || !on
		t.add(d, n, "sandbox.enabled", "").become(Carried, "the tool runs confined in any case")
	}
	members["autoAllowBashIfSandboxed"] = func(n *jsonc.Node) {
		c.asks = c.asks || !d.truth(n, "sandbox.autoAllowBashIfSandboxed")
		t.add(d, n, "sandbox.autoAllowBashIfSandboxed", "").become(Narrowed, "commands need rules of the ruleset")
	}
	for _, key := range []string{"excludedCommands", "allowUnsandboxedCommands", "enableWeakerNestedSandbox", "enableWeakerNetworkIsolation",
		"allowAppleEvents", "allowNestedUserNamespaces"} {
		members[key] = t.leave(d, "sandbox", "nothing runs outside of the sandbox, or in a weaker one")
	}
	for _, key := range []string{"failIfUnavailable", "ignoreViolations", "ripgrep", "enabledPlatforms", "bwrapPath", "socatPath"} {
		members[key] = t.leave(d, "sandbox", "it is about how Claude Code starts its sandbox")
	}
	d.object(n, "sandbox", members)
}

// box is the sandbox as it applies, nil where it is off.
func (c *claude) box() *sandbox {
	if c.on && !c.off {
		return &c.sandbox
	}
	for _, l := range slices.Concat(c.sandbox.denyRead, c.sandbox.allowRead, c.sandbox.allowWrite, c.sandbox.denyWrite, c.sandbox.allowed, c.sandbox.denied, c.sandbox.hidden) {
		l.entry.become(LeftOut, "the sandbox is not enabled")
	}
	return nil
}

// of are the rules of a tool in some of the lists.
func (c *claude) of(tool string, lists ...string) []claudeRule {
	var out []claudeRule
	for _, r := range c.rules {
		if r.Tool == tool && slices.Contains(lists, r.list) {
			out = append(out, r)
		}
	}
	return out
}

// model is the evaluation of the settings.
func (c *claude) model(t *translation, box *sandbox) foreign.Policy {
	out := &foreign.Claude{Host: t.host, Mode: c.mode, AutoAllow: !c.asks}
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
		out.Sandbox = box.model(t.host)
		out.Sandbox.AllowWrite = append(out.Sandbox.AllowWrite, foreign.Spelled{Path: "."})
		for _, r := range c.of("WebFetch", "allow") {
			out.Sandbox.AllowedDomains = append(out.Sandbox.AllowedDomains, strings.TrimPrefix(r.Spec, "domain:"))
		}
	}
	return out
}
