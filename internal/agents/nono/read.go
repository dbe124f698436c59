package nono

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var format = importer.Format{
	Name: "nono", Version: "0.66.0", Files: true,
	Looks: func(d *importer.Document) bool {
		return d.Root.Member("workdir") != nil || d.Root.Member("meta", "name") != nil &&
			(d.Root.Member("filesystem") != nil || d.Root.Member("groups") != nil)
	},
	Read: read,
}

// reader is a profile.
type reader struct {
	t     *importer.Translation
	d     *importer.Document
	model Model
	// grants open places for reading and writing, read and write being set as they are.
	grants []granted
	denies []granted
	hosts  []importer.Listed
}

// granted is an entry for a place.
type granted struct {
	text              string
	read, write, file bool
	entry             *importer.Entry
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	n := &reader{t: t, d: docs[0]}
	n.model.Host, n.model.IsDir, n.model.Workdir = t.Host, importer.Once(importer.IsDir), "none"
	t.Draft.Confines, t.Own = true, &importer.Entry{Key: "the working directory of nono"}
	members := importer.Fields{
		"extends": n.extends, "groups": n.groups, "filesystem": n.filesystem, "workdir": n.workdir,
		"network": n.network, "environment": n.environment,
		"commands": n.commands, "linux": n.linux,
	}
	for _, key := range strings.Fields("command_policies unsafe_macos_seatbelt_rules") {
		members[key] = func(m *jsonc.Node) {
			if len(m.Items) > 0 {
				n.d.Fault(m.Begin, "%s may deny, and is not understood; import without it", m.Key)
			}
		}
	}
	for _, key := range strings.Fields(`$schema meta diagnostics env_credentials secrets hooks session_hooks rollback undo interactive packs command_args
		credential_capture`) {
		members[key] = t.Leave(n.d, "", "it is about something else than what a command may do")
	}
	for _, key := range strings.Fields("security open_urls allow_launch_services allow_gpu") {
		members[key] = t.Leave(n.d, "", "a tool reaches no process but its own, and no services of the machine")
	}
	n.d.Object(n.d.Root, "a profile", members)
	if n.d.Err() == nil {
		n.confine()
		n.connections()
		n.variables()
	}
	return &n.model
}

// extends takes the default profile alone, which is under every other one in any case.
func (n *reader) extends(m *jsonc.Node) {
	names := []string{m.String()}
	if m.Kind == '[' {
		names = nil
		n.d.List(m, "extends", func(_ *jsonc.Node, text string) { names = append(names, text) })
	}
	const own = "nono/profiles/default.json" // takes the place of the program's
	mine := n.t.Host.Exists(path.Join(n.t.Host.Home, ".config", own)) ||
		n.t.Host.Exists(path.Join(filepath.ToSlash(os.Getenv("XDG_CONFIG_HOME")), own))
	if slices.ContainsFunc(names, func(name string) bool { return name != "default" }) || mine {
		n.d.Fault(m.Begin, "extends adds settings that are not here, which may deny: write them into this profile")
		return
	}
	n.t.Add(n.d, m, "extends", "default").Become(importer.Narrowed,
		"of its groups, the base and the places that they deny")
}

func (n *reader) groups(m *jsonc.Node) {
	fate := func(key string, item *jsonc.Node, i int) *importer.Entry {
		return n.t.Add(n.d, item, importer.ElementOf("groups."+key, i), item.String())
	}
	each := func(read func(item *jsonc.Node, i int)) func(*jsonc.Node) {
		return func(m *jsonc.Node) {
			if m.Kind != '[' {
				n.d.Fault(m.From, "groups.%s is no list", m.Key)
			}
			for i, item := range m.Children('[') {
				read(item, i)
			}
		}
	}
	n.d.Object(m, "groups", importer.Fields{
		"include": each(func(item *jsonc.Node, i int) {
			switch name := item.String(); {
			case slices.Contains(openingGroups, name):
				fate("include", item, i).Become(importer.LeftOut,
					"it opens further places: write rules for those that are meant")
			case slices.Contains(coreGroups, name):
				fate("include", item, i).Become(importer.Narrowed, "the base, as far as it lies in it")
			case slices.Contains(denyingGroups, name), slices.Contains(commandGroups, name):
				fate("include", item, i).Become(importer.Carried, "what it denies, no rule grants")
			default:
				n.d.Fault(item.From, "%q is no group whose meaning is known, and may deny", item.String())
			}
		}),
		"exclude": each(func(item *jsonc.Node, i int) {
			switch name := item.String(); {
			case slices.Contains(coreGroups, name):
				n.model.NoSystem = true
				fate("exclude", item, i).Become(importer.Carried, "the base is smaller")
			case slices.Contains(openingGroups, name), slices.Contains(commandGroups, name):
				fate("exclude", item, i).Become(importer.Carried,
					"no rule grants what it opens, or allows the commands that it denies")
			default:
				n.d.Fault(item.From, "%q is no group whose meaning is known", item.String())
			}
		}),
	})
}

func (n *reader) filesystem(m *jsonc.Node) {
	grant := func(to *[]string, read, write, file bool) func(*jsonc.Node) {
		return func(m *jsonc.Node) {
			n.places(m, func(text string, e *importer.Entry, conditional bool) {
				if conditional {
					e.Become(importer.LeftOut, "it holds under a condition")
					return
				}
				*to = append(*to, text)
				n.grants = append(n.grants, granted{text, read, write, file, e})
			})
		}
	}
	s := &n.model
	var ignored []string
	n.d.Object(m, "filesystem", importer.Fields{
		"allow": grant(&s.Allow, true, true, false), "read": grant(&s.Read, true, false, false),
		"write":      grant(&s.Write, false, true, false),
		"allow_file": grant(&s.AllowFile, true, true, true), "read_file": grant(&s.ReadFile, true, false, true),
		"write_file": grant(&ignored, false, true, true),
		"deny": func(m *jsonc.Node) {
			n.places(m, func(text string, e *importer.Entry, _ bool) {
				s.Deny = append(s.Deny, text)
				n.denies = append(n.denies, granted{text: text, entry: e})
			})
		},
		"bypass_protection":    n.t.Leave(n.d, "filesystem", "places that nono denies by itself stay denied"),
		"suppress_save_prompt": n.t.Leave(n.d, "filesystem", "it is about questions"),
		"ignore":               n.t.Leave(n.d, "filesystem", "it is about questions"),
	})
}

// places reads a list of paths, each a text or an object with a condition.
func (n *reader) places(m *jsonc.Node, read func(text string, e *importer.Entry, conditional bool)) {
	key := "filesystem." + m.Key
	if m.Kind != '[' {
		n.d.Fault(m.From, "%s is no list", key)
	}
	for i, item := range m.Children('[') {
		text := item.String()
		if item.Kind == '{' {
			text = item.Member("path").String()
			n.d.Object(item, "an element of "+key, importer.Ignoring("path", "when"))
		}
		if !importer.Clean(text) {
			n.d.Fault(item.From, "an element of %s is no path", key)
			continue
		}
		read(text, n.t.Add(n.d, item, importer.ElementOf(key, i), text), item.Kind == '{')
	}
}

func (n *reader) workdir(m *jsonc.Node) {
	n.d.Object(m, "workdir", importer.Fields{"access": func(m *jsonc.Node) {
		if n.model.Workdir = m.String(); !slices.Contains([]string{"none", "read", "write", "readwrite"}, m.String()) {
			n.d.Fault(m.From, "expected none, read, write or readwrite")
		}
		n.t.Add(n.d, m, "workdir.access", m.String()).Become(importer.Carried, "access.fs .")
	}})
}

func (n *reader) network(m *jsonc.Node) {
	domains := func(m *jsonc.Node) {
		if m.Kind != '[' {
			n.d.Fault(m.From, "network.%s is no list", m.Key)
		}
		n.model.Filtered = n.model.Filtered || len(m.Items) > 0
		for i, item := range m.Children('[') {
			e := n.t.Add(n.d, item, importer.ElementOf("network."+m.Key, i), item.String())
			if item.Kind != '"' {
				e.Become(importer.LeftOut, "it is about a part of a host's requests: write a rule with inspect")
				continue
			}
			n.model.Domains = append(n.model.Domains, item.String())
			n.hosts = append(n.hosts, importer.Listed{Spelled: foreign.Spelled{Path: item.String()}, Entry: e})
		}
	}
	members := importer.Fields{
		"allow_domain": domains, "proxy_allow": domains, "allow_proxy": domains,
		"block": func(m *jsonc.Node) {
			n.model.Block = n.d.Truth(m, "network.block")
			n.t.Add(n.d, m, "network.block", "").Become(importer.Carried, "hosts need rules")
		},
		"network_profile": func(m *jsonc.Node) {
			n.model.Filtered = n.model.Filtered || m.Kind == '"'
			n.t.Add(n.d, m, "network.network_profile", m.String()).Become(importer.LeftOut,
				"its hosts are not here: write rules for those that are meant")
		},
	}
	for _, key := range strings.Fields(`allow_http2 credentials proxy_credentials custom_credentials tls_intercept upstream_proxy external_proxy upstream_bypass
		external_proxy_bypass`) {
		members[key] = n.t.Leave(n.d, "network", "it is about nono's proxy")
	}
	for _, key := range strings.Fields("open_port port_allow allow_port listen_port") {
		members[key] = n.t.Leave(n.d, "network", "services of this machine and listening need rules that you write")
	}
	n.d.Object(m, "network", members)
}

func (n *reader) environment(m *jsonc.Node) {
	names := func(to *[]string) func(*jsonc.Node) {
		return func(m *jsonc.Node) {
			i := 0
			n.d.List(m, "environment."+m.Key, func(item *jsonc.Node, text string) {
				if !importer.Clean(text) || strings.ContainsAny(strings.TrimSuffix(text, "*"), "*?[") {
					n.d.Fault(item.From, "an element of environment.%s is no name, with a * at its end or without",
						m.Key)
				}
				*to = append(*to, text)
				n.t.Add(n.d, item, importer.ElementOf("environment."+m.Key, i), text).Become(importer.Carried,
					"of the base's variables, those that it leaves")
				i++
			})
		}
	}
	if m.Kind == 'n' {
		return
	}
	n.d.Object(m, "environment", importer.Fields{
		"allow_vars": names(&n.model.AllowVars), "deny_vars": names(&n.model.DenyVars),
		"set_vars": n.t.Leave(n.d, "environment", "a rule sets no variable"),
	})
}

func (n *reader) commands(m *jsonc.Node) {
	n.d.Object(m, "commands", importer.Fields{
		"allow": n.t.Leave(n.d, "commands", "no rule allows a command: each is left to a person"),
		"deny": func(m *jsonc.Node) {
			var stop []importer.LineRule
			n.d.List(m, "commands.deny", func(item *jsonc.Node, text string) {
				e := n.t.Add(n.d, item, importer.ElementOf("commands.deny", len(stop)), text)
				n.model.Commands = append(n.model.Commands, text)
				p := importer.Pattern{Prefix: importer.Words(strings.TrimSpace(text))}
				if p.Prefix == nil {
					p.Glob = strings.TrimSpace(text + " *")
				}
				stop = append(stop, importer.LineRule{Pattern: p, Deny: true, Entry: e})
			})
			n.t.CommandRules(nil, stop)
		},
	})
}

func (n *reader) linux(m *jsonc.Node) {
	n.d.Object(m, "linux", importer.Fields{"af_unix_mediation": func(m *jsonc.Node) {
		if m.String() == "pathname" {
			n.d.Fault(m.From, "a tool may connect to sockets in the places that it may write: import without it")
		}
		n.t.Add(n.d, m, "linux.af_unix_mediation", m.String()).Become(importer.Carried, "sockets need rules")
	}})
}
