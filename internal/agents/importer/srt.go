package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/agents"
	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/ir"
)

var srtFormat = format{
	name: "srt", version: "0.0.83", files: true,
	looks: func(d *document) bool {
		return d.root.Member("filesystem") != nil && d.root.Member("network") != nil
	},
	read: readSRT,
}

// sandbox are the lists of srt, which Claude Code has as well.
type sandbox struct {
	denyRead, allowRead, allowWrite, denyWrite []listed
	allowed, denied                            []listed
	hidden                                     []listed
	disabled, gitConfig                        bool
}

// listed is an entry of a list.
type listed struct {
	foreign.Spelled
	entry *Entry
}

func readSRT(t *translation, docs []*document) foreign.Policy {
	d, s := docs[0], &sandbox{}
	members := t.sandboxFields(d, s, "")
	for _, key := range []string{"enableWeakerNestedSandbox", "enableWeakerNetworkIsolation", "allowNestedUserNamespaces", "allowAppleEvents", "allowPty"} {
		members[key] = t.leave(d, "", "it makes srt permit more; nothing here does so")
	}
	for _, key := range []string{"ignoreViolations", "ripgrep", "mandatoryDenySearchDepth", "git", "seccomp", "bwrapPath", "socatPath", "javaAgentJarPath", "windows"} {
		members[key] = t.leave(d, "", "it is about how srt works")
	}
	d.object(d.root, "srt's settings", members)
	for _, missing := range []string{"filesystem", "network"} {
		if d.root.Member(missing) == nil {
			d.fault(d.root.From, "there is no %q, without which srt refuses its settings", missing)
		}
	}
	t.draft.confines = true
	t.own = &Entry{Key: "the working directory of srt"}
	t.confine(s)
	return s.model(t.host)
}

// sandboxFields are the members of a sandbox's settings.
func (t *translation) sandboxFields(d *document, s *sandbox, within string) fields {
	key := func(name string) string { return strings.TrimPrefix(within+"."+name, ".") }
	paths := func(list *[]listed, name string) func(*jsonc.Node) {
		return func(n *jsonc.Node) { t.paths(d, n, key("filesystem."+name), list) }
	}
	domains := func(list *[]listed, name string) func(*jsonc.Node) {
		return func(n *jsonc.Node) { t.domains(d, n, key("network."+name), list) }
	}
	network := fields{
		"allowedDomains": domains(&s.allowed, "allowedDomains"), "deniedDomains": domains(&s.denied, "deniedDomains"),
		"strictAllowlist": func(n *jsonc.Node) {
			t.add(d, n, key("network.strictAllowlist"), "").become(Carried, "a host without a rule is denied in any case")
		},
	}
	for _, name := range []string{"allowUnixSockets", "allowAllUnixSockets", "allowLocalBinding", "allowMachLookup"} {
		network[name] = t.leave(d, key("network"), "sockets and services of this machine need rules that you write")
	}
	for _, name := range []string{"httpProxyPort", "socksProxyPort", "mitmProxy", "parentProxy", "tlsTerminate", "refuseOpaqueTunnels", "requireHostMatch",
		"ambiguousRequestTarget", "stripResponseHeaders", "allowPlaintextHeaderSet", "deniedDomainReasons", "allowManagedDomainsOnly"} {
		network[name] = t.leave(d, key("network"), "it is about srt's proxy")
	}
	network["deniedResolvedAddresses"] = func(n *jsonc.Node) {
		within := n.Kind == '['
		for _, item := range n.Children('[') {
			within = within && slices.Contains(agents.Internal, item.String())
		}
		if within {
			t.add(d, n, key("network.deniedResolvedAddresses"), "").become(Carried, "no name leads there unless a rule names the address")
			return
		}
		d.fault(n.Begin, "%s: no rule denies an address to which a name leads; import without it, and without the names that may lead there", key("network.deniedResolvedAddresses"))
	}
	return fields{
		"filesystem": func(n *jsonc.Node) {
			d.object(n, key("filesystem"), fields{
				"denyRead": paths(&s.denyRead, "denyRead"), "allowRead": paths(&s.allowRead, "allowRead"),
				"allowWrite": paths(&s.allowWrite, "allowWrite"), "denyWrite": paths(&s.denyWrite, "denyWrite"),
				"disabled": func(n *jsonc.Node) {
					if s.disabled = d.truth(n, key("filesystem.disabled")); s.disabled {
						t.add(d, n, key("filesystem.disabled"), "true").become(Narrowed, "the workspace alone is opened, not every file of the machine")
					}
				},
				"allowGitConfig": func(n *jsonc.Node) {
					s.gitConfig = d.truth(n, key("filesystem.allowGitConfig"))
					t.add(d, n, key("filesystem.allowGitConfig"), "").become(LeftOut, ".git/config is a protected path; write a rule for it if it is meant")
				},
			})
		},
		"network":     func(n *jsonc.Node) { d.object(n, key("network"), network) },
		"credentials": func(n *jsonc.Node) { t.credentials(d, n, key("credentials"), s) },
	}
}

// paths reads a list of paths.
func (t *translation) paths(d *document, n *jsonc.Node, key string, list *[]listed) {
	for i, item := range n.Children('[') {
		text, literal := item.String(), false
		if item.Kind == '{' {
			d.object(item, "an element of "+key, fields{
				"path":    func(n *jsonc.Node) { text = n.String() },
				"literal": func(n *jsonc.Node) { literal = n.True() },
			})
			if !literal {
				d.fault(item.From, `expected {"path": …, "literal": true}`)
			}
		}
		if !clean(text) {
			d.fault(item.From, "an element of %s is no path", key)
			continue
		}
		e := t.add(d, item, elementOf(key, i), text)
		*list = append(*list, listed{foreign.Spelled{Path: text, Literal: literal}, e})
	}
	if n.Kind != '[' {
		d.fault(n.From, "%s is no list", key)
	}
}

// domains reads a list of hosts.
func (t *translation) domains(d *document, n *jsonc.Node, key string, list *[]listed) {
	i := 0
	d.list(n, key, func(item *jsonc.Node, text string) {
		*list = append(*list, listed{foreign.Spelled{Path: text}, t.add(d, item, elementOf(key, i), text)})
		i++
	})
}

// credentials reads the files and variables that commands do not get. A value that srt masks is
// withheld.
func (t *translation) credentials(d *document, n *jsonc.Node, key string, s *sandbox) {
	about := func(what, name string, hide func(text string, e *Entry)) func(*jsonc.Node) {
		return func(n *jsonc.Node) {
			for i, item := range n.Children('[') {
				text, mode := item.Member(name).String(), item.Member("mode").String()
				d.object(item, "an element of "+key+"."+what, ignoring(name, "mode", "extract", "onExtractNoMatch", "decode", "maskClaims", "maskDuplicates", "injectHosts"))
				if !clean(text) || mode != "deny" && mode != "mask" {
					d.fault(item.From, "an element of %s.%s needs %q, and a mode: deny or mask", key, what, name)
					continue
				}
				e := t.add(d, item, elementOf(key+"."+what, i), text)
				if mode == "mask" {
					e.become(Narrowed, "the tool does not see it at all, not even masked; credential of a net rule puts secrets into requests")
				}
				hide(text, e)
			}
		}
	}
	d.object(n, key, fields{
		"files": about("files", "path", func(text string, e *Entry) {
			s.denyRead = append(s.denyRead, listed{foreign.Spelled{Path: text}, e})
		}),
		"envVars": about("envVars", "name", func(text string, e *Entry) {
			s.hidden = append(s.hidden, listed{foreign.Spelled{Path: text}, e})
		}),
		"awsPairs":             t.leave(d, key, "it is about srt's proxy"),
		"sigv4":                t.leave(d, key, "it is about srt's proxy"),
		"allowPlaintextInject": t.leave(d, key, "it is about srt's proxy"),
	})
}

// ignoring are members that were read already, or that say nothing about permissions.
func ignoring(names ...string) fields {
	out := fields{}
	for _, n := range names {
		out[n] = func(*jsonc.Node) {}
	}
	return out
}

// model is the evaluation of the lists.
func (s *sandbox) model(h foreign.Host) *foreign.SRT {
	entries := func(list []listed) []foreign.Spelled {
		var out []foreign.Spelled
		for _, l := range list {
			out = append(out, l.Spelled)
		}
		return out
	}
	words := func(list []listed) []string {
		var out []string
		for _, l := range list {
			out = append(out, l.Path)
		}
		return out
	}
	return &foreign.SRT{
		Host: h, DenyRead: entries(s.denyRead), AllowRead: entries(s.allowRead), AllowWrite: entries(s.allowWrite), DenyWrite: entries(s.denyWrite),
		Disabled: s.disabled, GitConfig: s.gitConfig, AllowedDomains: words(s.allowed), DeniedDomains: words(s.denied), Hidden: words(s.hidden),
	}
}

// located are the entries of a list by their absolute paths; those with wildcards apart.
func (t *translation) located(list []listed) (plain, patterns []point) {
	for _, l := range list {
		text := strings.TrimRight(l.Path, "/")
		if !l.Literal {
			text = strings.TrimSuffix(text, "/**")
		}
		switch {
		case text == "~" || strings.HasPrefix(text, "~/"):
			text = t.host.Home + text[1:]
		case !path.IsAbs(text) && text != "":
			text = t.host.Dir + "/" + text
		}
		p := point{abs: path.Clean("/" + text), entry: l.entry}
		if !l.Literal && strings.ContainsAny(p.abs, "*?[]") {
			patterns = append(patterns, p)
			continue
		}
		plain = append(plain, p)
	}
	return plain, patterns
}

// closed are the places of entries that deny: those that their paths lead to.
func (t *translation) closed(points []point) []point {
	out := slices.Clone(points)
	for i, p := range out {
		out[i].abs = t.host.Follow(p.abs)
	}
	return out
}

// opened are the places of entries that allow. Over a symlink they open nothing.
func (t *translation) opened(points []point) []point {
	var out []point
	for _, p := range points {
		if t.host.Follow(p.abs) != p.abs {
			p.entry.become(LeftOut, "its path leads over a symlink")
			continue
		}
		p.opens = true
		out = append(out, p)
	}
	return out
}

// confine writes the rules for files, hosts and variables.
func (t *translation) confine(s *sandbox) {
	noRead, noReadNames := t.located(s.denyRead)
	yesRead, yesReadNames := t.located(s.allowRead)
	yesWrite, yesWriteNames := t.located(s.allowWrite)
	noWrite, noWriteNames := t.located(s.denyWrite)
	for _, p := range slices.Concat(yesReadNames, yesWriteNames) {
		p.entry.become(LeftOut, "a rule knows no patterns")
	}
	noRead, noWrite = t.closed(noRead), t.closed(noWrite)
	yesRead, yesWrite = t.opened(yesRead), t.opened(yesWrite)
	for i := range yesRead {
		yesRead[i].opens = false // reading is carried over in the workspace alone
	}
	if s.disabled {
		noRead, noReadNames, noWrite, noWriteNames, yesRead, yesWrite = nil, nil, nil, nil, nil, []point{{abs: t.host.Dir, entry: t.own, opens: true}}
	}
	opened := t.roots(yesWrite)
	masked := t.everyName(noReadNames, opened, closes)
	kept := t.everyName(noWriteNames, opened, keepsFrom)
	if !s.disabled {
		kept = append(kept, t.instructions(yesWrite, s.gitConfig)...)
	}
	points := slices.Concat(noRead, yesRead, yesWrite, noWrite, masked, kept)
	t.files(points, func(abs string) access {
		read := deepest(noRead, abs) <= deepest(yesRead, abs) && deepest(masked, abs) < 0
		write := deepest(yesWrite, abs) >= 0 && deepest(noWrite, abs) < 0 && deepest(kept, abs) < 0
		return access{read: read, write: read && write}
	})
	for _, l := range s.hidden {
		t.draft.env = append(t.draft.env, envRule{l.Path, false, l.entry.from()})
		l.entry.become(Carried, "access.env %s", l.Path)
	}
	t.hosts(s.allowed, s.denied)
}

// deepest is the length of the longest of the places around a path, -1 for none.
func deepest(points []point, abs string) int {
	out := -1
	for _, p := range points {
		if ir.Within(abs, p.abs) {
			out = max(out, len(p.abs))
		}
	}
	return out
}

// everyName resolves patterns that deny.
func (t *translation) everyName(patterns []point, opened []string, what denial) []point {
	var out []point
	for _, p := range patterns {
		out = append(out, t.names(p, opened, what)...)
	}
	return out
}

// instructing are files that the next shell, git, an editor or an agent takes instructions from.
var instructing = []string{".bash_profile", ".bashrc", ".claude/agents", ".claude/commands", ".git/config", ".git/hooks", ".gitconfig", ".gitmodules", ".idea",
	".mcp.json", ".profile", ".ripgreprc", ".vscode", ".zprofile", ".zshrc"}

// instructions are the names of files that the next shell, git or an agent obeys, which srt never lets
// commands write: in the workspace itself, and below it where they exist.
func (t *translation) instructions(writable []point, gitConfig bool) []point {
	if deepest(writable, t.host.Dir) < 0 && !slices.ContainsFunc(writable, func(p point) bool { return ir.Within(p.abs, t.host.Dir) }) {
		return nil
	}
	names := instructing
	if gitConfig {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == ".git/config" })
	}
	return t.always(names)
}

// always are names that a program keeps from being written at any depth.
func (t *translation) always(names []string) []point {
	var patterns []string
	for _, name := range names {
		patterns = append(patterns, t.host.Dir+"/**/"+name)
	}
	found, err := matching(t.host.Dir, "s", patterns...)
	if err != nil {
		t.faults = append(t.faults, err)
	}
	var out []point
	for _, abs := range found {
		out = append(out, point{abs: t.host.Follow(abs), entry: &Entry{Key: "no list of the settings lets it be written"}})
	}
	return out
}

// elementOf is the path of an element.
func elementOf(key string, i int) string { return key + "[" + itoa(i) + "]" }
