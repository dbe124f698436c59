package vscode

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/suggest"
)

var format = importer.Format{
	Name: "vscode", Version: "2026-08",
	Looks: func(d *importer.Document) bool {
		return slices.ContainsFunc(d.Root.Children('{'),
			func(n *jsonc.Node) bool { return strings.HasPrefix(n.Key, "chat.tools.") })
	},
	Read: read,
}

const (
	autoApprove = "chat.tools.terminal.autoApprove"
	// strictWithin begins the keys of which each is known. See decision D197.
	strictWithin = "chat.tools."
)

// reader are the entries about commands.
type reader struct {
	t           *importer.Translation
	d           *importer.Document
	model       Model
	allow, stop []importer.LineRule
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	v := &reader{t: t, d: docs[0], model: Model{Own: true}}
	known := importer.Fields{
		autoApprove: v.entries,
		strictWithin + "terminal.enableAutoApprove": func(n *jsonc.Node) {
			on := v.d.Truth(n, n.Key)
			v.model.Off = v.model.Off || !on
			t.Add(v.d, n, n.Key, "").Become(importer.Carried, "it decides whether entries count")
		},
		strictWithin + "terminal.ignoreDefaultAutoApproveRules": func(n *jsonc.Node) {
			v.model.Own = !v.d.Truth(n, n.Key)
			t.Add(v.d, n, n.Key, "").Become(importer.Carried, "it decides whether VS Code's own entries count")
		},
		strictWithin + "eligibleForAutoApproval": v.eligible,
	}
	for _, key := range otherKeys {
		known[strictWithin+key] = t.Leave(v.d, "", "it is about something else than which commands are approved")
	}
	for _, item := range v.d.Root.Children('{') {
		v.member(item, known)
	}
	if v.d.Root.Kind != '{' {
		v.d.Fault(v.d.Root.From, "VS Code's settings are no object")
	}
	if v.model.Off {
		for _, a := range v.allow {
			a.Entry.Become(importer.LeftOut, "other settings have every command asked about")
		}
		v.allow = nil
	}
	v.own()
	t.CommandRules(v.allow, v.stop)
	return v.model
}

// member reads a setting. Those of other features are not for this reader to know.
func (v *reader) member(n *jsonc.Node, known importer.Fields) {
	switch read, ok := known[n.Key]; {
	case ok:
		read(n)
	case n.Key == "mcp" && n.Member("servers") != nil:
		v.t.ServerTable(v.d, v.d.FromJSON(n.Member("servers")))
	case slices.Contains(oldKeys, n.Key):
		v.d.Fault(n.Begin, "%q is an old form of %q; import with that form", n.Key, autoApprove)
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
		v.d.Fault(n.Begin, "%q is no key below %s in %s%s", n.Key, strings.TrimSuffix(strictWithin, "."), v.d.Version,
			hint)
	case strings.HasPrefix(n.Key, "chat.agent.sandbox"), strings.HasPrefix(n.Key, "chat.agent.allowedNetwork"),
		strings.HasPrefix(n.Key, "chat.agent.deniedNetwork"):
		v.t.Add(v.d, n, n.Key, "").Become(importer.LeftOut,
			"what the sandbox of VS Code permits differs between its versions and tools; write a tool's rules")
	}
}

// eligible reads which tools may be approved unasked.
func (v *reader) eligible(n *jsonc.Node) {
	if n.Kind != '{' {
		v.d.Fault(n.From, "%s is no object", n.Key)
	}
	for _, item := range n.Children('{') {
		if !item.True() && strings.Contains(strings.ToLower(item.Key), "terminal") {
			v.model.Off = true
		}
	}
	v.t.Add(v.d, n, n.Key, "").Become(importer.Carried, "it decides whether entries count")
}

// entries reads the entries: true approves, false asks, null is none.
func (v *reader) entries(n *jsonc.Node) {
	if n.Kind != '{' {
		v.d.Fault(n.From, "%s is no object", n.Key)
	}
	for _, item := range n.Children('{') {
		if item.Key != "" && !importer.Clean(item.Key) {
			v.d.Fault(item.Begin, "%q has characters that are not visible", item.Key)
			continue
		}
		approve, line := item, false
		if item.Kind == '{' {
			approve = nil
			v.d.Object(item, "an entry", importer.Fields{
				"approve":          func(n *jsonc.Node) { approve = n },
				"matchCommandLine": func(n *jsonc.Node) { line = v.d.Truth(n, n.Key) },
			})
		}
		e := v.t.Add(v.d, item, autoApprove+" "+item.Key, "")
		v.model.Replaced = append(v.model.Replaced, item.Key)
		switch {
		case approve != nil && approve.Kind == 'n':
			e.Become(importer.Carried, "it is no entry")
		case approve == nil || approve.Kind != 't' && approve.Kind != 'f':
			v.d.Fault(item.From, "expected true, false, null, or an object with approve")
		case !approve.True():
			v.model.Ask = append(v.model.Ask, item.Key)
			for _, p := range askedPatterns(item.Key) {
				guard := p.Glob != "" && importer.Words(item.Key) != nil
				v.stop = append(v.stop, importer.LineRule{Pattern: p, Entry: e, Guard: guard})
			}
		case line:
			e.Become(importer.LeftOut, "it is about whole lines; a rule judges each command of a line")
		default:
			v.model.Approve = append(v.model.Approve, item.Key)
			v.approved(item.Key, e)
		}
	}
}

// own adds the entries that VS Code has by itself and the settings do not replace.
func (v *reader) own() {
	e := &importer.Entry{Key: "what VS Code asks about by itself"}
	names := []string{"sed"}
	if v.model.Own {
		names = strings.Fields("column date find rg sed sort tree")
		for _, name := range strings.Fields("chmod chown curl dd del erase eval iex irm iwr jq kill ps rd ri rm rmdir sp spps taskkill top wget xargs") {
			if !slices.Contains(v.model.Replaced, name) {
				names = append(names, name)
			}
		}
		for _, line := range []string{"git log", "git show", "git branch", "git -C", "git --no-pager"} {
			v.stop = append(v.stop, importer.LineRule{Pattern: importer.Pattern{Prefix: strings.Fields(line)}, Entry: e,
				Guard: true})
			v.stop = append(v.stop, boundary(line, e)...)
		}
	}
	for _, name := range names {
		v.stop = append(v.stop, importer.LineRule{Pattern: importer.Pattern{Prefix: []string{name}}, Entry: e,
			Guard: true})
		v.stop = append(v.stop, boundary(name, e)...)
	}
}

// ends are the characters of words at which VS Code has a word end.
const ends = "./:=@%+,-"

// boundary are patterns of lines that begin with a text whose last word goes on where VS Code has it end.
func boundary(text string, e *importer.Entry) []importer.LineRule {
	var out []importer.LineRule
	for _, c := range ends {
		out = append(out, importer.LineRule{Pattern: importer.Pattern{Glob: text + string(c) + "**"}, Entry: e,
			Guard: true})
	}
	return out
}

var (
	slashed   = expression.Once{Text: `(?s)^/(.+)/([dgimsuvy]*)$`}
	wordAtEnd = expression.Once{Text: `[A-Za-z0-9_]$`}
	ending    = expression.Once{Text: `^(.*[A-Za-z0-9_)])(\\b(?:\.\*)?\$?|\$)$`}
)

// approved notes the rules of an entry that approves.
func (v *reader) approved(key string, e *importer.Entry) {
	m := slashed.Get().FindStringSubmatch(key)
	if m == nil {
		p := importer.Pattern{Glob: key + "**"}
		if importer.Words(key) != nil && wordAtEnd.Get().MatchString(key) {
			p = importer.Pattern{Prefix: importer.Words(key)}
		}
		v.allow = append(v.allow, importer.LineRule{Pattern: p, Entry: e})
		return
	}
	regex, anchored := strings.CutPrefix(m[1], "^")
	if !anchored || strings.Trim(m[2], "gis") != "" {
		e.Become(importer.LeftOut, "a rule is about words that begin a command")
		return
	}
	end := ""
	if parts := ending.Get().FindStringSubmatch(regex); parts != nil {
		regex, end = parts[1], parts[2]
	}
	for _, p := range importer.ExpressionPatterns(regex, 0) {
		w := importer.Words(strings.TrimSuffix(p.Glob, "*"))
		switch {
		case w == nil || end != "" && !wordAtEnd.Get().MatchString(p.Glob[:len(p.Glob)-1]):
		case end == "$":
			p = importer.Pattern{Exact: w}
		case end != "":
			p = importer.Pattern{Prefix: w}
		}
		v.allow = append(v.allow, importer.LineRule{Pattern: p, Entry: e})
	}
}

// askedPatterns are patterns of at least the lines that an entry which asks matches.
func askedPatterns(key string) []importer.Pattern {
	m := slashed.Get().FindStringSubmatch(key)
	switch {
	case key == "":
		return nil
	case m == nil && strings.ContainsAny(key, `\`):
		return []importer.Pattern{{All: true, Vague: true}}
	case m == nil:
		return append(textPatterns(key), textPatterns("./"+key)...)
	}
	regex, anchored := strings.CutPrefix(m[1], "^")
	if !anchored || strings.Trim(m[2], "gsu") != "" {
		return []importer.Pattern{{All: true, Vague: true}}
	}
	return importer.ExpressionPatterns(regex, 0)
}

// textPatterns are the patterns of a text up to the end of a word.
func textPatterns(text string) []importer.Pattern {
	if importer.Words(text) == nil || !wordAtEnd.Get().MatchString(text) {
		return []importer.Pattern{{Glob: text + "**"}}
	}
	out := []importer.Pattern{{Prefix: importer.Words(text)}}
	for _, l := range boundary(text, nil) {
		out = append(out, l.Pattern)
	}
	return out
}
