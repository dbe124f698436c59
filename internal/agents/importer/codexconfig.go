package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/importer/foreign"
)

var codexConfig = format{
	name: "codex", version: "0.169.0", files: true, text: true,
	looks: func(d *document) bool { return strings.HasSuffix(d.name, "config.toml") },
	read:  readCodexConfig,
}

// codexKeys are keys that are about something else than the permissions of commands.
var codexKeys = strings.Fields(`agents allow_login_shell analytics approval_policy approvals_reviewer apps audio auto_review background_terminal_max_timeout
	chatgpt_base_url check_for_update_on_startup cli_auth_credentials_store commit_attribution compact_prompt debug developer_instructions
	disable_paste_burst experimental_compact_prompt_file experimental_use_unified_exec_tool features feedback file_opener
	forced_chatgpt_workspace_id forced_login_method ghost_snapshot hide_agent_reasoning history hooks instructions log_dir marketplaces
	mcp_oauth_callback_port mcp_oauth_callback_url mcp_oauth_credentials_store memories model
	model_auto_compact_token_limit model_catalog_json model_context_window model_instructions_file
	model_provider model_providers model_reasoning_effort
	model_reasoning_summary model_supports_reasoning_summaries model_verbosity notice notify oss_provider otel personality plan_mode_reasoning_effort
	plugins profiles project_doc_fallback_filenames project_doc_max_bytes project_root_markers projects realtime review_model
	service_tier show_raw_agent_reasoning skills sqlite_home suppress_unstable_features_warning tool_output_token_limit tools tui web_search
	windows windows_wsl_setup_acknowledged zsh_path`)

// codex is the profile that is in force.
type codex struct {
	tomlReader
	root    *source.Table
	entries []codexEntry
	minimal bool
	network bool
	limited bool
	allowed []listed
	denied  []listed
	kept    []string
	only    []string
	dropped []listed
}

// codexEntry is an entry with its absolute path.
type codexEntry struct {
	foreign.CodexEntry
	entry *Entry
}

func readCodexConfig(t *translation, docs []*document) foreign.Policy {
	c := &codex{tomlReader: tomlReader{t: t, d: docs[0]}}
	root, wrong := source.Parse(c.d.name, c.d.text)
	if wrong != nil {
		c.d.faults = append(c.d.faults, &fault{wrong.At.String() + ": " + wrong.Message})
		return foreign.Unconfined{}
	}
	c.root = root
	t.draft.confines, t.own = true, &Entry{Key: "the workspace of Codex"}
	members := tables{
		"shell_environment_policy": c.environment, "sandbox_workspace_write": func(*source.Entry) {}, "sandbox_mode": c.sandboxMode,
		"default_permissions": c.defaultProfile, "permissions": func(*source.Entry) {},
		"profile": func(e *source.Entry) {
			c.wrong(e, "Codex does not start with it: a profile is a file of its own, so import the settings that are in force without it")
		},
	}
	for _, key := range codexKeys {
		members[key] = func(e *source.Entry) {
			c.add(e, e.Key, "").become(LeftOut, "it is about something else than permissions")
		}
	}
	members["mcp_servers"] = func(e *source.Entry) { t.serverTable(c.d, fromTOML(e)) }
	c.table(root, "config.toml", members)
	if c.serversAlone() {
		t.draft.confines = false
		return foreign.Unconfined{}
	}
	if root.Get("sandbox_mode") == nil && root.Get("default_permissions") == nil {
		c.d.fault(0, "neither default_permissions nor sandbox_mode says what commands may do")
	}
	c.files()
	t.hosts(c.allowed, c.denied)
	c.variables()
	return c.model()
}

// serversAlone reports whether the settings are about servers, and nothing about what commands may do.
func (c *codex) serversAlone() bool {
	said := strings.Fields("sandbox_mode default_permissions permissions sandbox_workspace_write shell_environment_policy")
	return c.root.Get("mcp_servers") != nil &&
		!slices.ContainsFunc(said, func(key string) bool { return c.root.Get(key) != nil })
}

// sandboxMode reads the mode. Where there is one, no profile is in force.
func (c *codex) sandboxMode(e *source.Entry) {
	note := c.add(e, e.Key, e.Value.Text)
	open := func(abs, mode string) {
		c.entries = append(c.entries, codexEntry{foreign.CodexEntry{Path: abs, Mode: mode}, c.t.own})
	}
	switch e.Value.Text {
	case "read-only":
		open("/", "read")
		note.become(Narrowed, "the workspace and the base can be read, not every file")
	case "danger-full-access":
		open("/", "write")
		open(c.t.host.Dir, "write")
		note.become(Narrowed, "the workspace can be written, not every file")
	case "workspace-write":
		open("/", "read")
		open(c.t.host.Dir, "write")
		note.become(Narrowed, "the workspace and the base can be read, not every file")
		c.workspaceWrite()
	default:
		c.wrong(e, "expected read-only, workspace-write or danger-full-access")
	}
}

// workspaceWrite reads the settings of the mode of that name.
func (c *codex) workspaceWrite() {
	v := c.root.Get("sandbox_workspace_write")
	if v == nil {
		return
	}
	if v.Table == nil {
		c.d.fault(0, "sandbox_workspace_write is no table")
		return
	}
	tmp := func(e *source.Entry) {
		c.add(e, e.Key, "").become(LeftOut, "a tool has a temporary directory of its own")
	}
	c.table(v.Table, "sandbox_workspace_write", tables{
		"writable_roots": func(e *source.Entry) {
			for i, v := range c.array(e) {
				c.path(c.add(e, elementOf(e.Key, i), v.Text), v.Text, "write", "")
			}
		},
		"network_access": func(e *source.Entry) {
			if c.truth(e) {
				c.add(e, e.Key, "").become(LeftOut, "it opens every host; write that rule yourself")
			} else {
				c.add(e, e.Key, "").become(Carried, "no host is opened")
			}
		},
		"exclude_tmpdir_env_var": tmp, "exclude_slash_tmp": tmp,
	})
}

// defaultProfile reads the profile that is in force, with those that it extends under it.
func (c *codex) defaultProfile(e *source.Entry) {
	note := c.add(e, e.Key, e.Value.Text)
	if c.root.Get("sandbox_mode") != nil {
		note.become(LeftOut, "sandbox_mode switches profiles off")
		return
	}
	note.become(Carried, "it chooses the profile")
	c.profile(e, e.Value.Text, 0)
}

// maxExtends is how many profiles may extend each other.
const maxExtends = 8

func (c *codex) profile(e *source.Entry, name string, depth int) {
	open := func(abs, mode string) {
		c.entries = append(c.entries, codexEntry{foreign.CodexEntry{Path: abs, Mode: mode}, c.t.own})
	}
	all := c.root.Get("permissions")
	switch {
	case name == ":read-only":
		open("/", "read")
	case name == ":workspace":
		open("/", "read")
		open(c.t.host.Dir, "write")
	case depth > maxExtends:
		c.wrong(e, "too many profiles extend each other")
	case all == nil || all.Table == nil || all.Table.Get(name) == nil || all.Table.Get(name).Table == nil:
		c.wrong(e, "there is no profile %q", name)
	default:
		p := all.Table.Get(name).Table
		if base := p.Entry("extends"); base != nil {
			c.profile(base, base.Value.Text, depth+1)
		}
		c.table(p, "a permission profile", tables{
			"description": func(*source.Entry) {}, "extends": func(*source.Entry) {}, "filesystem": c.filesystem, "network": c.networkOf,
			"workspace_roots": func(e *source.Entry) {
				c.add(e, e.Key, "").become(LeftOut, "the workspace alone is carried over")
				c.wrong(e, "further workspace roots are not understood; import without them")
			},
		})
	}
}

// filesystem reads the entries for files.
func (c *codex) filesystem(e *source.Entry) {
	if e.Value.Table == nil {
		c.wrong(e, "expected a table")
		return
	}
	for i := range e.Value.Table.Entries {
		f := &e.Value.Table.Entries[i]
		if f.Key == "glob_scan_max_depth" {
			continue
		}
		if f.Value.Table == nil {
			c.path(c.add(f, "filesystem", f.Key+" "+f.Value.Text), f.Key, f.Value.Text, "")
			continue
		}
		for j := range f.Value.Table.Entries {
			s := &f.Value.Table.Entries[j]
			c.path(c.add(s, "filesystem", f.Key+" "+s.Key+" "+s.Value.Text), f.Key, s.Value.Text, s.Key)
		}
	}
}

// path notes an entry for a path, and a path below it.
func (c *codex) path(e *Entry, text, mode, below string) {
	wrong := func(what string) { c.d.faults = append(c.d.faults, faultOf(e, what)) }
	if mode == "none" {
		mode = "deny"
	}
	abs := text
	switch {
	case !slices.Contains([]string{"read", "write", "deny"}, mode):
		wrong("expected read, write or deny")
	case text == ":minimal" && below == "" && mode != "deny":
		c.minimal = true
		e.become(Narrowed, "the base, as far as it lies in it")
		return
	case text == ":tmpdir" || text == ":slash_tmp":
		e.become(LeftOut, "a tool has a temporary directory of its own")
		return
	case text == ":root":
		abs = "/"
	case text == ":workspace_roots" || text == ":project_roots":
		abs = c.t.host.Dir
	case text == "~" || strings.HasPrefix(text, "~/"):
		abs = c.t.host.Home + text[1:]
	case !path.IsAbs(text) || slices.Contains(strings.Split(text, "/"), ".."):
		wrong("expected an absolute path, or one that begins with ~/ or is one of :root, :minimal, :workspace_roots and :tmpdir")
	}
	if !clean(abs) || below != "" && (!clean(below) || path.IsAbs(below) || slices.Contains(strings.Split(below, "/"), "..")) {
		wrong("expected a path below it")
	}
	abs = path.Join(abs, below)
	for strings.HasSuffix(abs, "/**") {
		abs = strings.TrimSuffix(abs, "/**")
	}
	if strings.ContainsAny(abs, "*?[") && mode != "deny" {
		wrong("a pattern can only deny")
	}
	abs = path.Clean("/" + abs) // "/**" is the root
	// An entry of a profile takes the place of one that a built-in profile has for the same path.
	c.entries = slices.DeleteFunc(c.entries, func(o codexEntry) bool { return o.Path == abs && o.entry == c.t.own })
	c.entries = append(c.entries, codexEntry{foreign.CodexEntry{Path: abs, Mode: mode}, e})
}

// networkOf reads the rules for hosts.
func (c *codex) networkOf(e *source.Entry) {
	if e.Value.Table == nil {
		c.wrong(e, "expected a table")
		return
	}
	other := func(e *source.Entry) {
		c.add(e, "network."+e.Key, "").become(LeftOut, "it is about Codex' proxy, or sockets of this machine")
	}
	members := tables{
		"enabled": func(e *source.Entry) {
			c.network = e.Value.Bool
			c.add(e, "network.enabled", "").become(Carried, "hosts need rules")
		},
		"mode": func(e *source.Entry) {
			c.limited = e.Value.Text != "full"
			c.add(e, "network.mode", e.Value.Text).become(Carried, "it bounds what is carried over")
		},
		"domains": c.domains,
	}
	for _, key := range strings.Fields(`allow_local_binding unix_sockets proxy_url socks_url enable_socks5 enable_socks5_udp allow_upstream_proxy
		dangerously_allow_non_loopback_proxy dangerously_allow_all_unix_sockets`) {
		members[key] = other
	}
	c.table(e.Value.Table, "network", members)
	if !c.network || c.limited {
		for _, l := range c.allowed {
			l.entry.become(LeftOut, "the network is not enabled, or not for all methods")
		}
		c.allowed = nil
	}
}

func (c *codex) domains(e *source.Entry) {
	if e.Value.Table == nil {
		c.wrong(e, "expected a table")
		return
	}
	for i := range e.Value.Table.Entries {
		h := &e.Value.Table.Entries[i]
		list := &c.allowed
		if h.Value.Text != "allow" {
			list = &c.denied
		}
		if h.Value.Text != "allow" && h.Value.Text != "deny" {
			c.wrong(h, "expected allow or deny")
		}
		note := c.add(h, "network.domains", h.Key+" "+h.Value.Text)
		names := []string{h.Key}
		if base, both := strings.CutPrefix(h.Key, "**."); both {
			names = []string{base, "*." + base}
		}
		for _, n := range names {
			*list = append(*list, listed{foreign.Spelled{Path: n}, note})
		}
	}
}

// environment reads which variables commands get.
func (c *codex) environment(e *source.Entry) {
	if e.Value.Table == nil {
		c.wrong(e, "expected a table")
		return
	}
	other := func(e *source.Entry) { c.add(e, e.Key, "").become(LeftOut, "the base's variables alone are passed on") }
	c.table(e.Value.Table, "shell_environment_policy", tables{
		"inherit": func(e *source.Entry) {
			note := c.add(e, "shell_environment_policy.inherit", e.Value.Text)
			switch e.Value.Text {
			case "all":
			case "core":
				c.kept = []string{"HOME", "PATH", "USER"}
			case "none":
				c.kept = []string{}
			default:
				c.wrong(e, "expected all, core or none")
			}
			note.become(Carried, "the others are not passed on")
		},
		"exclude": func(e *source.Entry) {
			for i, v := range c.array(e) {
				c.dropped = append(c.dropped, listed{foreign.Spelled{Path: v.Text}, c.add(e, elementOf("shell_environment_policy.exclude", i), v.Text)})
			}
		},
		"include_only": func(e *source.Entry) {
			only := []string{}
			for i, v := range c.array(e) {
				c.add(e, elementOf("shell_environment_policy.include_only", i), v.Text).become(Carried, "the others are not passed on")
				only = append(only, v.Text)
			}
			c.only = only
		},
		"set": other, "ignore_default_excludes": other, "experimental_use_profile": other,
	})
}
