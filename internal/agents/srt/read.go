package srt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/ir"
)

var format = importer.Format{
	Name: "srt", Version: "0.0.83", Files: true,
	Looks: func(d *importer.Document) bool {
		return d.Root.Member("filesystem") != nil && d.Root.Member("network") != nil
	},
	Read: read,
}

// Sandbox are the lists of srt, which Claude Code has as well.
type Sandbox struct {
	DenyRead, AllowRead, AllowWrite, DenyWrite []importer.Listed
	Allowed, Denied                            []importer.Listed
	Hidden                                     []importer.Listed
	disabled, gitConfig                        bool
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	d, s := docs[0], &Sandbox{}
	members := SandboxFields(t, d, s, "")
	for _, key := range []string{"enableWeakerNestedSandbox", "enableWeakerNetworkIsolation",
		"allowNestedUserNamespaces", "allowAppleEvents", "allowPty"} {
		members[key] = t.Leave(d, "", "it makes srt permit more; nothing here does so")
	}
	for _, key := range []string{"ignoreViolations", "ripgrep", "mandatoryDenySearchDepth", "git", "seccomp",
		"bwrapPath", "socatPath", "javaAgentJarPath", "windows"} {
		members[key] = t.Leave(d, "", "it is about how srt works")
	}
	d.Object(d.Root, "srt's settings", members)
	for _, missing := range []string{"filesystem", "network"} {
		if d.Root.Member(missing) == nil {
			d.Fault(d.Root.From, "there is no %q, without which srt refuses its settings", missing)
		}
	}
	t.Draft.Confines = true
	t.Own = &importer.Entry{Key: "the working directory of srt"}
	confine(t, s)
	return s.Model(t.Host)
}

// SandboxFields are the members of a sandbox's settings.
func SandboxFields(t *importer.Translation, d *importer.Document, s *Sandbox, within string) importer.Fields {
	key := func(name string) string { return strings.TrimPrefix(within+"."+name, ".") }
	paths := func(list *[]importer.Listed, name string) func(*jsonc.Node) {
		return func(n *jsonc.Node) { t.Paths(d, n, key("filesystem."+name), list) }
	}
	domains := func(list *[]importer.Listed, name string) func(*jsonc.Node) {
		return func(n *jsonc.Node) { t.Domains(d, n, key("network."+name), list) }
	}
	network := importer.Fields{
		"allowedDomains": domains(&s.Allowed, "allowedDomains"), "deniedDomains": domains(&s.Denied, "deniedDomains"),
		"strictAllowlist": func(n *jsonc.Node) {
			t.Add(d, n, key("network.strictAllowlist"), "").Become(importer.Carried,
				"a host without a rule is denied in any case")
		},
	}
	for _, name := range []string{"allowUnixSockets", "allowAllUnixSockets", "allowLocalBinding", "allowMachLookup"} {
		network[name] = t.Leave(d, key("network"), "sockets and services of this machine need rules that you write")
	}
	for _, name := range []string{"httpProxyPort", "socksProxyPort", "mitmProxy", "parentProxy", "tlsTerminate",
		"refuseOpaqueTunnels", "requireHostMatch",
		"ambiguousRequestTarget", "stripResponseHeaders", "allowPlaintextHeaderSet", "deniedDomainReasons",
		"allowManagedDomainsOnly"} {
		network[name] = t.Leave(d, key("network"), "it is about srt's proxy")
	}
	network["deniedResolvedAddresses"] = func(n *jsonc.Node) {
		within := n.Kind == '['
		for _, item := range n.Children('[') {
			within = within && slices.Contains(writer.Internal, item.String())
		}
		if within {
			t.Add(d, n, key("network.deniedResolvedAddresses"), "").Become(importer.Carried,
				"no name leads there unless a rule names the address")
			return
		}
		d.Fault(n.Begin, "%s: no rule denies an address to which a name leads; import without it, and without the names that may lead there", key("network.deniedResolvedAddresses"))
	}
	return importer.Fields{
		"filesystem": func(n *jsonc.Node) {
			d.Object(n, key("filesystem"), importer.Fields{
				"denyRead": paths(&s.DenyRead, "denyRead"), "allowRead": paths(&s.AllowRead, "allowRead"),
				"allowWrite": paths(&s.AllowWrite, "allowWrite"), "denyWrite": paths(&s.DenyWrite, "denyWrite"),
				"disabled": func(n *jsonc.Node) {
					if s.disabled = d.Truth(n, key("filesystem.disabled")); s.disabled {
						t.Add(d, n, key("filesystem.disabled"), "true").Become(importer.Narrowed,
							"the workspace alone is opened, not every file of the machine")
					}
				},
				"allowGitConfig": func(n *jsonc.Node) {
					s.gitConfig = d.Truth(n, key("filesystem.allowGitConfig"))
					t.Add(d, n, key("filesystem.allowGitConfig"), "").Become(importer.LeftOut,
						".git/config is a protected path; write a rule for it if it is meant")
				},
			})
		},
		"network":     func(n *jsonc.Node) { d.Object(n, key("network"), network) },
		"credentials": func(n *jsonc.Node) { credentials(t, d, n, key("credentials"), s) },
	}
}

// credentials reads the files and variables that commands do not get. A value that srt masks is
// withheld.
func credentials(t *importer.Translation, d *importer.Document, n *jsonc.Node, key string, s *Sandbox) {
	about := func(what, name string, hide func(text string, e *importer.Entry)) func(*jsonc.Node) {
		return func(n *jsonc.Node) {
			for i, item := range n.Children('[') {
				text, mode := item.Member(name).String(), item.Member("mode").String()
				d.Object(item, "an element of "+key+"."+what,
					importer.Ignoring(name, "mode", "extract", "onExtractNoMatch", "decode", "maskClaims",
						"maskDuplicates", "injectHosts"))
				if !importer.Clean(text) || mode != "deny" && mode != "mask" {
					d.Fault(item.From, "an element of %s.%s needs %q, and a mode: deny or mask", key, what, name)
					continue
				}
				e := t.Add(d, item, importer.ElementOf(key+"."+what, i), text)
				if mode == "mask" {
					e.Become(importer.Narrowed,
						"the tool does not see it at all, not even masked; credential of a net rule puts secrets into requests")
				}
				hide(text, e)
			}
		}
	}
	d.Object(n, key, importer.Fields{
		"files": about("files", "path", func(text string, e *importer.Entry) {
			s.DenyRead = append(s.DenyRead, importer.Listed{Spelled: foreign.Spelled{Path: text}, Entry: e})
		}),
		"envVars": about("envVars", "name", func(text string, e *importer.Entry) {
			s.Hidden = append(s.Hidden, importer.Listed{Spelled: foreign.Spelled{Path: text}, Entry: e})
		}),
		"awsPairs":             t.Leave(d, key, "it is about srt's proxy"),
		"sigv4":                t.Leave(d, key, "it is about srt's proxy"),
		"allowPlaintextInject": t.Leave(d, key, "it is about srt's proxy"),
	})
}

// Model is the evaluation of the lists.
func (s *Sandbox) Model(h foreign.Host) *Model {
	entries := func(list []importer.Listed) []foreign.Spelled {
		var out []foreign.Spelled
		for _, l := range list {
			out = append(out, l.Spelled)
		}
		return out
	}
	words := func(list []importer.Listed) []string {
		var out []string
		for _, l := range list {
			out = append(out, l.Path)
		}
		return out
	}
	return &Model{
		Host: h, DenyRead: entries(s.DenyRead), AllowRead: entries(s.AllowRead), AllowWrite: entries(s.AllowWrite),
		DenyWrite: entries(s.DenyWrite),
		Disabled:  s.disabled, GitConfig: s.gitConfig, AllowedDomains: words(s.Allowed), DeniedDomains: words(s.Denied),
		Hidden: words(s.Hidden),
	}
}

// confine writes the rules for files, hosts and variables.
func confine(t *importer.Translation, s *Sandbox) {
	noRead, noReadNames := t.Located(s.DenyRead)
	yesRead, yesReadNames := t.Located(s.AllowRead)
	yesWrite, yesWriteNames := t.Located(s.AllowWrite)
	noWrite, noWriteNames := t.Located(s.DenyWrite)
	for _, p := range slices.Concat(yesReadNames, yesWriteNames) {
		p.Entry.Become(importer.LeftOut, "a rule knows no patterns")
	}
	noRead, noWrite = t.Closed(noRead), t.Closed(noWrite)
	yesRead, yesWrite = t.Opened(yesRead), t.Opened(yesWrite)
	for i := range yesRead {
		yesRead[i].Opens = false // reading is carried over in the workspace alone
	}
	if s.disabled {
		noRead, noReadNames, noWrite, noWriteNames, yesRead, yesWrite = nil, nil, nil, nil, nil,
			[]importer.Point{{Abs: t.Host.Dir, Entry: t.Own, Opens: true}}
	}
	opened := t.Roots(yesWrite)
	masked := t.EveryName(noReadNames, opened, importer.Closes)
	kept := t.EveryName(noWriteNames, opened, importer.KeepsFrom)
	if !s.disabled {
		kept = append(kept, Instructions(t, yesWrite, s.gitConfig)...)
	}
	points := slices.Concat(noRead, yesRead, yesWrite, noWrite, masked, kept)
	t.Files(points, func(abs string) importer.Access {
		read := importer.Deepest(noRead, abs) <= importer.Deepest(yesRead, abs) && importer.Deepest(masked, abs) < 0
		write := importer.Deepest(yesWrite, abs) >= 0 && importer.Deepest(noWrite, abs) < 0 &&
			importer.Deepest(kept, abs) < 0
		return importer.Access{Read: read, Write: read && write}
	})
	for _, l := range s.Hidden {
		t.Draft.Env = append(t.Draft.Env, importer.EnvRule{Name: l.Path, Read: false, From: l.Entry.From()})
		l.Entry.Become(importer.Carried, "access.env %s", l.Path)
	}
	t.Hosts(s.Allowed, s.Denied)
}

// Instructions are the names of files that the next shell, git or an agent obeys, which srt never lets
// commands write: in the workspace itself, and below it where they exist.
func Instructions(t *importer.Translation, writable []importer.Point, gitConfig bool) []importer.Point {
	if importer.Deepest(writable, t.Host.Dir) < 0 &&
		!slices.ContainsFunc(writable, func(p importer.Point) bool { return ir.Within(p.Abs, t.Host.Dir) }) {
		return nil
	}
	names := importer.Instructing
	if gitConfig {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == ".git/config" })
	}
	return t.Always(names)
}
