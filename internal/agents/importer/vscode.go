package importer

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/suggest"
)

var vscodeFormat = format{
	name: "vscode", version: "2026-08",
	looks: func(d *document) bool {
		return slices.ContainsFunc(d.root.Children('{'), func(n *jsonc.Node) bool { return strings.HasPrefix(n.Key, "chat.tools.") })
	},
	read: readVSCode,
}

const (
	autoApprove = "chat.tools.terminal.autoApprove"
	// strictWithin begins the keys of which each is known. See decision D197.
	strictWithin = "chat.tools."
)

// vscodeKeys are keys below chat.tools that are not about which commands are approved.
var vscodeKeys = strings.Fields(`edits.autoApprove global.autoApprove memory.enabled terminal.autoApproveWorkspaceNpmScripts terminal.autoReplyToPrompts
	terminal.backgroundNotifications terminal.blockDetectedFileWrites terminal.detachBackgroundProcesses terminal.enforceTimeoutFromModel
	terminal.idlePollInterval terminal.idleSilenceTimeoutMs terminal.outputCompaction terminal.outputDeltas terminal.outputLocation
	terminal.preventShellHistory terminal.shellIntegrationTimeout terminal.terminalProfile.linux terminal.terminalProfile.osx
	terminal.terminalProfile.windows urls.autoApprove`)

// oldKeys are those that VS Code reads in place of the new one, or beside it.
var oldKeys = strings.Fields(`chat.agent.terminal.allowList chat.agent.terminal.autoApprove chat.agent.terminal.denyList
	github.copilot.chat.agent.terminal.allowList github.copilot.chat.agent.terminal.denyList`)

// vscode are the entries about commands.
type vscode struct {
	t           *translation
	d           *document
	model       foreign.VSCode
	allow, stop []lineRule
}

func readVSCode(t *translation, docs []*document) foreign.Policy {
	v := &vscode{t: t, d: docs[0], model: foreign.VSCode{Own: true}}
	known := fields{
		autoApprove: v.entries,
		strictWithin + "terminal.enableAutoApprove": func(n *jsonc.Node) {
			on := v.d.truth(n, n.Key)
			v.model.Off = v.model.Off || !on
			t.add(v.d, n, n.Key, "").become(Carried, "it decides whether entries count")
		},
		strictWithin + "terminal.ignoreDefaultAutoApproveRules": func(n *jsonc.Node) {
			v.model.Own = !v.d.truth(n, n.Key)
			t.add(v.d, n, n.Key, "").become(Carried, "it decides whether VS Code's own entries count")
		},
		strictWithin + "eligibleForAutoApproval": v.eligible,
	}
	for _, key := range vscodeKeys {
		known[strictWithin+key] = t.leave(v.d, "", "it is about something else than which commands are approved")
	}
	for _, item := range v.d.root.Children('{') {
		v.member(item, known)
	}
	if v.d.root.Kind != '{' {
		v.d.fault(v.d.root.From, "VS Code's settings are no object")
	}
	if v.model.Off {
		for _, a := range v.allow {
			a.entry.become(LeftOut, "other settings have every command asked about")
		}
		v.allow = nil
	}
	v.own()
	t.commandRules(v.allow, v.stop)
	return v.model
}

// member reads a setting. Those of other features are not for this reader to know.
func (v *vscode) member(n *jsonc.Node, known fields) {
	switch read, ok := known[n.Key]; {
	case ok:
		read(n)
	case n.Key == "mcp" && n.Member("servers") != nil:
		v.t.serverTable(v.d, v.d.fromJSON(n.Member("servers")))
	case slices.Contains(oldKeys, n.Key):
		v.d.fault(n.Begin, "%q is an old form of %q; import with that form", n.Key, autoApprove)
	case strings.HasPrefix(n.Key, strictWithin):
		var names []string
		for key := range known {
			names = append(names, key)
		}
		slices.Sort(names)
		hint := suggest.Hint(n.Key, names)
		if hint != "" {
			hint = "; " + hint
		}
		v.d.fault(n.Begin, "%q is no key below %s in %s%s", n.Key, strings.TrimSuffix(strictWithin, "."), v.d.version, hint)
	case strings.HasPrefix(n.Key, "chat.agent.sandbox"), strings.HasPrefix(n.Key, "chat.agent.allowedNetwork"), strings.HasPrefix(n.Key, "chat.agent.deniedNetwork"):
		v.t.add(v.d, n, n.Key, "").become(LeftOut, "what the sandbox of VS Code permits differs between its versions and tools; write a tool's rules")
	}
}

// eligible reads which tools may be approved unasked.
func (v *vscode) eligible(n *jsonc.Node) {
	if n.Kind != '{' {
		v.d.fault(n.From, "%s is no object", n.Key)
	}
	for _, item := range n.Children('{') {
		if !item.True() && strings.Contains(strings.ToLower(item.Key), "terminal") {
			v.model.Off = true
		}
	}
	v.t.add(v.d, n, n.Key, "").become(Carried, "it decides whether entries count")
}

// entries reads the entries: true approves, false asks, null is none.
func (v *vscode) entries(n *jsonc.Node) {
	if n.Kind != '{' {
		v.d.fault(n.From, "%s is no object", n.Key)
	}
	for _, item := range n.Children('{') {
		if item.Key != "" && !clean(item.Key) {
			v.d.fault(item.Begin, "%q has characters that are not visible", item.Key)
			continue
		}
		approve, line := item, false
		if item.Kind == '{' {
			approve = nil
			v.d.object(item, "an entry", fields{
				"approve":          func(n *jsonc.Node) { approve = n },
				"matchCommandLine": func(n *jsonc.Node) { line = v.d.truth(n, n.Key) },
			})
		}
		e := v.t.add(v.d, item, autoApprove+" "+item.Key, "")
		v.model.Replaced = append(v.model.Replaced, item.Key)
		switch {
		case approve != nil && approve.Kind == 'n':
			e.become(Carried, "it is no entry")
		case approve == nil || approve.Kind != 't' && approve.Kind != 'f':
			v.d.fault(item.From, "expected true, false, null, or an object with approve")
		case !approve.True():
			v.model.Ask = append(v.model.Ask, item.Key)
			for _, p := range askedPatterns(item.Key) {
				guard := p.glob != "" && words(item.Key) != nil
				v.stop = append(v.stop, lineRule{pattern: p, entry: e, guard: guard})
			}
		case line:
			e.become(LeftOut, "it is about whole lines; a rule judges each command of a line")
		default:
			v.model.Approve = append(v.model.Approve, item.Key)
			v.approved(item.Key, e)
		}
	}
}

// own adds the entries that VS Code has by itself and the settings do not replace.
func (v *vscode) own() {
	e := &Entry{Key: "what VS Code asks about by itself"}
	names := []string{"sed"}
	if v.model.Own {
		names = strings.Fields("column date find rg sed sort tree")
		for _, name := range strings.Fields("chmod chown curl dd del erase eval iex irm iwr jq kill ps rd ri rm rmdir sp spps taskkill top wget xargs") {
			if !slices.Contains(v.model.Replaced, name) {
				names = append(names, name)
			}
		}
		for _, line := range []string{"git log", "git show", "git branch", "git -C", "git --no-pager"} {
			v.stop = append(v.stop, lineRule{pattern: pattern{prefix: strings.Fields(line)}, entry: e, guard: true})
			v.stop = append(v.stop, boundary(line, e)...)
		}
	}
	for _, name := range names {
		v.stop = append(v.stop, lineRule{pattern: pattern{prefix: []string{name}}, entry: e, guard: true})
		v.stop = append(v.stop, boundary(name, e)...)
	}
}

// ends are the characters of words at which VS Code has a word end.
const ends = "./:=@%+,-"

// boundary are patterns of lines that begin with a text whose last word goes on where VS Code has it end.
func boundary(text string, e *Entry) []lineRule {
	var out []lineRule
	for _, c := range ends {
		out = append(out, lineRule{pattern: pattern{glob: text + string(c) + "**"}, entry: e, guard: true})
	}
	return out
}

var (
	slashed   = expression.Once{Text: `(?s)^/(.+)/([dgimsuvy]*)$`}
	wordAtEnd = expression.Once{Text: `[A-Za-z0-9_]$`}
	ending    = expression.Once{Text: `^(.*[A-Za-z0-9_)])(\\b(?:\.\*)?\$?|\$)$`}
)

// approved notes the rules of an entry that approves.
func (v *vscode) approved(key string, e *Entry) {
	m := slashed.Get().FindStringSubmatch(key)
	if m == nil {
		p := pattern{glob: key + "**"}
		if words(key) != nil && wordAtEnd.Get().MatchString(key) {
			p = pattern{prefix: words(key)}
		}
		v.allow = append(v.allow, lineRule{pattern: p, entry: e})
		return
	}
	regex, anchored := strings.CutPrefix(m[1], "^")
	if !anchored || strings.Trim(m[2], "gis") != "" {
		e.become(LeftOut, "a rule is about words that begin a command")
		return
	}
	end := ""
	if parts := ending.Get().FindStringSubmatch(regex); parts != nil {
		regex, end = parts[1], parts[2]
	}
	for _, p := range expressionPatterns(regex, 0) {
		w := words(strings.TrimSuffix(p.glob, "*"))
		switch {
		case w == nil || end != "" && !wordAtEnd.Get().MatchString(p.glob[:len(p.glob)-1]):
		case end == "$":
			p = pattern{exact: w}
		case end != "":
			p = pattern{prefix: w}
		}
		v.allow = append(v.allow, lineRule{pattern: p, entry: e})
	}
}

// askedPatterns are patterns of at least the lines that an entry which asks matches.
func askedPatterns(key string) []pattern {
	m := slashed.Get().FindStringSubmatch(key)
	switch {
	case key == "":
		return nil
	case m == nil && strings.ContainsAny(key, `\`):
		return []pattern{{all: true, vague: true}}
	case m == nil:
		return append(textPatterns(key), textPatterns("./"+key)...)
	}
	regex, anchored := strings.CutPrefix(m[1], "^")
	if !anchored || strings.Trim(m[2], "gsu") != "" {
		return []pattern{{all: true, vague: true}}
	}
	return expressionPatterns(regex, 0)
}

// textPatterns are the patterns of a text up to the end of a word.
func textPatterns(text string) []pattern {
	if words(text) == nil || !wordAtEnd.Get().MatchString(text) {
		return []pattern{{glob: text + "**"}}
	}
	out := []pattern{{prefix: words(text)}}
	for _, l := range boundary(text, nil) {
		out = append(out, l.pattern)
	}
	return out
}
