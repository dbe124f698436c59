package importer

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/ir"
)

var nonoFormat = format{
	name: "nono", version: "0.66.0", files: true,
	looks: func(d *document) bool {
		return d.root.Member("workdir") != nil || d.root.Member("meta", "name") != nil && (d.root.Member("filesystem") != nil || d.root.Member("groups") != nil)
	},
	read: readNono,
}

// nono is a profile.
type nono struct {
	t     *translation
	d     *document
	model foreign.Nono
	// grants open places for reading and writing, read and write being set as they are.
	grants []nonoGrant
	denies []nonoGrant
	hosts  []listed
}

// nonoGrant is an entry for a place.
type nonoGrant struct {
	text              string
	read, write, file bool
	entry             *Entry
}

// nonoGroups are groups that only open places, or deny places that no rule grants.
var (
	nonoOpening = strings.Fields(`system_write_linux system_write_macos linux_runtime_state linux_sysfs_read linux_temp_read
		user_caches_macos user_caches_linux claude_cache_linux user_tools node_runtime opencode_linux python_runtime rust_runtime go_runtime
		go_runtime_linux go_runtime_macos java_runtime homebrew_macos homebrew_linux claude_code_macos codex_macos claude_code_linux
		vscode_macos vscode_linux nix_runtime git_config`)
	nonoCore    = []string{"system_read_linux_core", "system_read_macos"}
	nonoDenying = strings.Fields(`deny_credentials deny_keychains_macos deny_keychains_linux deny_browser_data_macos deny_browser_data_linux
		deny_macos_private deny_shell_history deny_shell_configs`)
	nonoCommands = []string{"dangerous_commands", "dangerous_commands_macos", "dangerous_commands_linux"}
)

func readNono(t *translation, docs []*document) foreign.Policy {
	n := &nono{t: t, d: docs[0]}
	n.model.Host, n.model.IsDir, n.model.Workdir = t.host, once(isDir), "none"
	t.draft.confines, t.own = true, &Entry{Key: "the working directory of nono"}
	members := fields{
		"extends": n.extends, "groups": n.groups, "filesystem": n.filesystem, "workdir": n.workdir, "network": n.network, "environment": n.environment,
		"commands": n.commands, "linux": n.linux,
	}
	for _, key := range strings.Fields("command_policies unsafe_macos_seatbelt_rules") {
		members[key] = func(m *jsonc.Node) {
			if len(m.Items) > 0 {
				n.d.fault(m.Begin, "%s may deny, and is not understood; import without it", m.Key)
			}
		}
	}
	for _, key := range strings.Fields(`$schema meta diagnostics env_credentials secrets hooks session_hooks rollback undo interactive packs command_args
		credential_capture`) {
		members[key] = t.leave(n.d, "", "it is about something else than what a command may do")
	}
	for _, key := range strings.Fields("security open_urls allow_launch_services allow_gpu") {
		members[key] = t.leave(n.d, "", "a tool reaches no process but its own, and no services of the machine")
	}
	n.d.object(n.d.root, "a profile", members)
	if n.d.err() == nil {
		n.confine()
		n.connections()
		n.variables()
	}
	return &n.model
}

// extends takes the default profile alone, which is under every other one in any case.
func (n *nono) extends(m *jsonc.Node) {
	names := []string{m.String()}
	if m.Kind == '[' {
		names = nil
		n.d.list(m, "extends", func(_ *jsonc.Node, text string) { names = append(names, text) })
	}
	const own = "nono/profiles/default.json" // takes the place of the program's
	mine := n.t.host.Exists(path.Join(n.t.host.Home, ".config", own)) || n.t.host.Exists(path.Join(filepath.ToSlash(os.Getenv("XDG_CONFIG_HOME")), own))
	if slices.ContainsFunc(names, func(name string) bool { return name != "default" }) || mine {
		n.d.fault(m.Begin, "extends adds settings that are not here, which may deny: write them into this profile")
		return
	}
	n.t.add(n.d, m, "extends", "default").become(Narrowed, "of its groups, the base and the places that they deny")
}

func (n *nono) groups(m *jsonc.Node) {
	fate := func(key string, item *jsonc.Node, i int) *Entry {
		return n.t.add(n.d, item, elementOf("groups."+key, i), item.String())
	}
	each := func(read func(item *jsonc.Node, i int)) func(*jsonc.Node) {
		return func(m *jsonc.Node) {
			if m.Kind != '[' {
				n.d.fault(m.From, "groups.%s is no list", m.Key)
			}
			for i, item := range m.Children('[') {
				read(item, i)
			}
		}
	}
	n.d.object(m, "groups", fields{
		"include": each(func(item *jsonc.Node, i int) {
			switch name := item.String(); {
			case slices.Contains(nonoOpening, name):
				fate("include", item, i).become(LeftOut, "it opens further places: write rules for those that are meant")
			case slices.Contains(nonoCore, name):
				fate("include", item, i).become(Narrowed, "the base, as far as it lies in it")
			case slices.Contains(nonoDenying, name), slices.Contains(nonoCommands, name):
				fate("include", item, i).become(Carried, "what it denies, no rule grants")
			default:
				n.d.fault(item.From, "%q is no group whose meaning is known, and may deny", item.String())
			}
		}),
		"exclude": each(func(item *jsonc.Node, i int) {
			switch name := item.String(); {
			case slices.Contains(nonoCore, name):
				n.model.NoSystem = true
				fate("exclude", item, i).become(Carried, "the base is smaller")
			case slices.Contains(nonoOpening, name), slices.Contains(nonoCommands, name):
				fate("exclude", item, i).become(Carried, "no rule grants what it opens, or allows the commands that it denies")
			default:
				n.d.fault(item.From, "%q is no group whose meaning is known", item.String())
			}
		}),
	})
}

func (n *nono) filesystem(m *jsonc.Node) {
	grant := func(to *[]string, read, write, file bool) func(*jsonc.Node) {
		return func(m *jsonc.Node) {
			n.places(m, func(text string, e *Entry, conditional bool) {
				if conditional {
					e.become(LeftOut, "it holds under a condition")
					return
				}
				*to = append(*to, text)
				n.grants = append(n.grants, nonoGrant{text, read, write, file, e})
			})
		}
	}
	s := &n.model
	var ignored []string
	n.d.object(m, "filesystem", fields{
		"allow": grant(&s.Allow, true, true, false), "read": grant(&s.Read, true, false, false), "write": grant(&s.Write, false, true, false),
		"allow_file": grant(&s.AllowFile, true, true, true), "read_file": grant(&s.ReadFile, true, false, true), "write_file": grant(&ignored, false, true, true),
		"deny": func(m *jsonc.Node) {
			n.places(m, func(text string, e *Entry, _ bool) {
				s.Deny = append(s.Deny, text)
				n.denies = append(n.denies, nonoGrant{text: text, entry: e})
			})
		},
		"bypass_protection":    n.t.leave(n.d, "filesystem", "places that nono denies by itself stay denied"),
		"suppress_save_prompt": n.t.leave(n.d, "filesystem", "it is about questions"),
		"ignore":               n.t.leave(n.d, "filesystem", "it is about questions"),
	})
}

// places reads a list of paths, each a text or an object with a condition.
func (n *nono) places(m *jsonc.Node, read func(text string, e *Entry, conditional bool)) {
	key := "filesystem." + m.Key
	if m.Kind != '[' {
		n.d.fault(m.From, "%s is no list", key)
	}
	for i, item := range m.Children('[') {
		text := item.String()
		if item.Kind == '{' {
			text = item.Member("path").String()
			n.d.object(item, "an element of "+key, ignoring("path", "when"))
		}
		if !clean(text) {
			n.d.fault(item.From, "an element of %s is no path", key)
			continue
		}
		read(text, n.t.add(n.d, item, elementOf(key, i), text), item.Kind == '{')
	}
}

func (n *nono) workdir(m *jsonc.Node) {
	n.d.object(m, "workdir", fields{"access": func(m *jsonc.Node) {
		if n.model.Workdir = m.String(); !slices.Contains([]string{"none", "read", "write", "readwrite"}, m.String()) {
			n.d.fault(m.From, "expected none, read, write or readwrite")
		}
		n.t.add(n.d, m, "workdir.access", m.String()).become(Carried, "access.fs .")
	}})
}

func (n *nono) network(m *jsonc.Node) {
	domains := func(m *jsonc.Node) {
		if m.Kind != '[' {
			n.d.fault(m.From, "network.%s is no list", m.Key)
		}
		n.model.Filtered = n.model.Filtered || len(m.Items) > 0
		for i, item := range m.Children('[') {
			e := n.t.add(n.d, item, elementOf("network."+m.Key, i), item.String())
			if item.Kind != '"' {
				e.become(LeftOut, "it is about a part of a host's requests: write a rule with inspect")
				continue
			}
			n.model.Domains = append(n.model.Domains, item.String())
			n.hosts = append(n.hosts, listed{foreign.Spelled{Path: item.String()}, e})
		}
	}
	members := fields{
		"allow_domain": domains, "proxy_allow": domains, "allow_proxy": domains,
		"block": func(m *jsonc.Node) {
			n.model.Block = n.d.truth(m, "network.block")
			n.t.add(n.d, m, "network.block", "").become(Carried, "hosts need rules")
		},
		"network_profile": func(m *jsonc.Node) {
			n.model.Filtered = n.model.Filtered || m.Kind == '"'
			n.t.add(n.d, m, "network.network_profile", m.String()).become(LeftOut, "its hosts are not here: write rules for those that are meant")
		},
	}
	for _, key := range strings.Fields(`allow_http2 credentials proxy_credentials custom_credentials tls_intercept upstream_proxy external_proxy upstream_bypass
		external_proxy_bypass`) {
		members[key] = n.t.leave(n.d, "network", "it is about nono's proxy")
	}
	for _, key := range strings.Fields("open_port port_allow allow_port listen_port") {
		members[key] = n.t.leave(n.d, "network", "services of this machine and listening need rules that you write")
	}
	n.d.object(m, "network", members)
}

func (n *nono) environment(m *jsonc.Node) {
	names := func(to *[]string) func(*jsonc.Node) {
		return func(m *jsonc.Node) {
			i := 0
			n.d.list(m, "environment."+m.Key, func(item *jsonc.Node, text string) {
				if !clean(text) || strings.ContainsAny(strings.TrimSuffix(text, "*"), "*?[") {
					n.d.fault(item.From, "an element of environment.%s is no name, with a * at its end or without", m.Key)
				}
				*to = append(*to, text)
				n.t.add(n.d, item, elementOf("environment."+m.Key, i), text).become(Carried, "of the base's variables, those that it leaves")
				i++
			})
		}
	}
	if m.Kind == 'n' {
		return
	}
	n.d.object(m, "environment", fields{
		"allow_vars": names(&n.model.AllowVars), "deny_vars": names(&n.model.DenyVars),
		"set_vars": n.t.leave(n.d, "environment", "a rule sets no variable"),
	})
}

func (n *nono) commands(m *jsonc.Node) {
	n.d.object(m, "commands", fields{
		"allow": n.t.leave(n.d, "commands", "no rule allows a command: each is left to a person"),
		"deny": func(m *jsonc.Node) {
			var stop []lineRule
			n.d.list(m, "commands.deny", func(item *jsonc.Node, text string) {
				e := n.t.add(n.d, item, elementOf("commands.deny", len(stop)), text)
				n.model.Commands = append(n.model.Commands, text)
				stop = append(stop, lineRule{pattern: commandPattern(text+" *", false), deny: true, entry: e})
			})
			n.t.commandRules(nil, stop)
		},
	})
}

func (n *nono) linux(m *jsonc.Node) {
	n.d.object(m, "linux", fields{"af_unix_mediation": func(m *jsonc.Node) {
		if m.String() == "pathname" {
			n.d.fault(m.From, "a tool may connect to sockets in the places that it may write: import without it")
		}
		n.t.add(n.d, m, "linux.af_unix_mediation", m.String()).become(Carried, "sockets need rules")
	}})
}

// locate is the absolute path of an entry, or why it is not certain.
func (n *nono) locate(text string) (abs, why string) {
	h := n.t.host
	for _, v := range [][2]string{{"~", h.Home}, {"$HOME", h.Home}, {"$WORKDIR", h.Dir}} {
		if text == v[0] || strings.HasPrefix(text, v[0]+"/") {
			text = v[1] + text[len(v[0]):]
			break
		}
	}
	switch {
	case !path.IsAbs(text):
		return "", "it is not certain from where it counts"
	case strings.ContainsAny(text, "$*?[") || slices.Contains(strings.Split(text, "/"), ".."):
		return "", `a path with variables, wildcards or ".." is not understood`
	}
	return path.Clean(text), ""
}

// opening is the place that an entry opens; false where it opens none here, which its fate says.
func (n *nono) opening(g nonoGrant) (point, bool) {
	abs, why := n.locate(g.text)
	switch h := n.t.host; {
	case why != "":
	case h.Follow(abs) != abs:
		why = "its path leads over a symlink"
	case !h.Exists(abs):
		why = "nothing is there now, and nono passes over it"
	case isDir(abs) == g.file:
		why = "nono opens directories and files by different lists"
	case ir.Within(abs, path.Join(h.Home, "Library")):
		why = "nono denies parts of it"
	case g.file && !g.read:
		why = "a rule that lets a file be written lets it be removed as well"
	}
	if why != "" {
		g.entry.become(LeftOut, "%s", why)
		return point{}, false
	}
	if g.file && g.write {
		g.entry.become(Narrowed, "access.fs %s, for reading: a rule that lets a file be written lets it be removed as well", n.t.spell(abs))
	}
	return point{abs: abs, entry: g.entry, opens: true}, true
}

// confine writes rules for files. Everything that denies wins.
func (n *nono) confine() {
	t := n.t
	var reads, writes, shut []point
	for _, g := range n.grants {
		p, ok := n.opening(g)
		if ok && g.read {
			reads = append(reads, p)
		}
		if ok && g.write && !g.file {
			writes = append(writes, p)
		}
	}
	if here := (point{abs: t.host.Dir, entry: t.own, opens: true}); n.model.Workdir != "none" {
		if strings.HasPrefix(n.model.Workdir, "read") {
			reads = append(reads, here)
		}
		if strings.HasSuffix(n.model.Workdir, "write") {
			writes = append(writes, here)
		}
	}
	for _, g := range n.denies {
		abs, why := n.locate(g.text)
		if why != "" {
			t.faults = append(t.faults, faultOf(g.entry, why))
			continue
		}
		shut = append(shut, point{abs: t.host.Follow(abs), entry: g.entry})
	}
	for _, name := range nonoHome {
		shut = append(shut, point{abs: t.host.Follow(path.Join(t.host.Home, name)), entry: &Entry{Key: "nono denies it by itself"}})
	}
	t.files(slices.Concat(reads, writes, shut), func(abs string) access {
		if deepest(shut, abs) >= 0 {
			return access{}
		}
		return access{read: deepest(reads, abs) >= 0, write: deepest(writes, abs) >= 0}
	})
}

// nonoHome are places of the home that required groups deny.
var nonoHome = []string{
	".1password", ".aws", ".azure", ".bash_history", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".config/BraveSoftware",
	".config/chromium", ".config/fish", ".config/gcloud", ".config/google-chrome", ".config/microsoft-edge", ".config/op", ".config/opera",
	".config/vivaldi", ".credentials", ".docker", ".env", ".envrc", ".gcloud", ".git-credentials", ".gnupg", ".history", ".keys", ".kube",
	".local/share/keyrings", ".mozilla/firefox", ".netrc", ".npmrc", ".op", ".password-store", ".pki", ".profile", ".python_history", ".secrets",
	".ssh", ".terraform.d", ".vault-token", ".zlogin", ".zlogout", ".zprofile", ".zsh_history", ".zshenv", ".zshrc", "Library",
}

// connections writes rules for hosts.
func (n *nono) connections() {
	switch {
	case n.model.Block:
		for _, l := range n.hosts {
			l.entry.become(LeftOut, "the network is blocked")
		}
		return
	case !n.model.Filtered:
		e := &Entry{Key: "network, which nothing blocks"}
		e.become(LeftOut, "every host is open; write that rule yourself")
		n.t.entries = append(n.t.entries, e)
	}
	n.t.hosts(n.hosts, nil)
}

// variables takes names of the base away that nono does not pass on.
func (n *nono) variables() {
	covered := func(list []string, name string, some bool) bool {
		return slices.ContainsFunc(list, func(p string) bool {
			begin, wild := strings.CutSuffix(p, "*")
			stem := strings.TrimSuffix(name, "*")
			return p == name || wild && strings.HasPrefix(stem, begin) || some && strings.HasSuffix(name, "*") && strings.HasPrefix(begin, stem)
		})
	}
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TERM"} {
		if len(n.model.AllowVars) > 0 && !covered(n.model.AllowVars, name, false) || covered(n.model.DenyVars, name, true) {
			n.t.draft.env = append(n.t.draft.env, envRule{name, false, "the variables that nono passes on"})
		}
	}
}
