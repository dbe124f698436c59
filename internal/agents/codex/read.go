package codex

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
)

var configFormat = importer.Format{
	Name: "codex", Version: "0.169.0", Files: true, Text: true,
	Looks: func(d *importer.Document) bool { return strings.HasSuffix(d.Name, "config.toml") },
	Read:  readConfig,
}

// reader is the profile that is in force.
type reader struct {
	importer.TOMLReader
	root    *source.Table
	entries []located
	minimal bool
	network bool
	limited bool
	allowed []importer.Listed
	denied  []importer.Listed
	kept    []string
	only    []string
	dropped []importer.Listed
}

// located is an entry with its absolute path.
type located struct {
	Entry
	entry *importer.Entry
}

func readConfig(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	c := &reader{TOMLReader: importer.TOMLReader{T: t, D: docs[0]}}
	root, wrong := source.Parse(c.D.Name, c.D.Text)
	if wrong != nil {
		c.D.Faults = append(c.D.Faults, &importer.Fault{Text: wrong.At.String() + ": " + wrong.Message})
		return foreign.Unconfined{}
	}
	c.root = root
	t.Draft.Confines, t.Own = true, &importer.Entry{Key: "the workspace of Codex"}
	members := importer.Tables{
		"shell_environment_policy": c.environment, "sandbox_workspace_write": func(*source.Entry) {},
		"sandbox_mode":        c.sandboxMode,
		"default_permissions": c.defaultProfile, "permissions": func(*source.Entry) {},
		"profile": func(e *source.Entry) {
			c.Wrong(e, "Codex does not start with it: a profile is a file of its own, so import the settings that are in force without it")
		},
	}
	for _, key := range otherKeys {
		members[key] = func(e *source.Entry) {
			c.Add(e, e.Key, "").Become(importer.LeftOut, "it is about something else than permissions")
		}
	}
	members["mcp_servers"] = func(e *source.Entry) { t.ServerTable(c.D, importer.FromTOML(e)) }
	c.Table(root, "config.toml", members)
	if c.serversAlone() {
		t.Draft.Confines = false
		return foreign.Unconfined{}
	}
	if root.Get("sandbox_mode") == nil && root.Get("default_permissions") == nil {
		c.D.Fault(0, "neither default_permissions nor sandbox_mode says what commands may do")
	}
	c.files()
	t.Hosts(c.allowed, c.denied)
	c.variables()
	return c.model()
}

// serversAlone reports whether the settings are about servers, and nothing about what commands may do.
func (c *reader) serversAlone() bool {
	said := strings.Fields("sandbox_mode default_permissions permissions sandbox_workspace_write shell_environment_policy")
	return c.root.Get("mcp_servers") != nil &&
		!slices.ContainsFunc(said, func(key string) bool { return c.root.Get(key) != nil })
}

// sandboxMode reads the mode. Where there is one, no profile is in force.
func (c *reader) sandboxMode(e *source.Entry) {
	note := c.Add(e, e.Key, e.Value.Text)
	open := func(abs, mode string) {
		c.entries = append(c.entries, located{Entry{Path: abs, Mode: mode}, c.T.Own})
	}
	switch e.Value.Text {
	case "read-only":
		open("/", "read")
		note.Become(importer.Narrowed, "the workspace and the base can be read, not every file")
	case "danger-full-access":
		open("/", "write")
		open(c.T.Host.Dir, "write")
		note.Become(importer.Narrowed, "the workspace can be written, not every file")
	case "workspace-write":
		open("/", "read")
		open(c.T.Host.Dir, "write")
		note.Become(importer.Narrowed, "the workspace and the base can be read, not every file")
		c.workspaceWrite()
	default:
		c.Wrong(e, "expected read-only, workspace-write or danger-full-access")
	}
}

// workspaceWrite reads the settings of the mode of that name.
func (c *reader) workspaceWrite() {
	v := c.root.Get("sandbox_workspace_write")
	if v == nil {
		return
	}
	if v.Table == nil {
		c.D.Fault(0, "sandbox_workspace_write is no table")
		return
	}
	tmp := func(e *source.Entry) {
		c.Add(e, e.Key, "").Become(importer.LeftOut, "a tool has a temporary directory of its own")
	}
	c.Table(v.Table, "sandbox_workspace_write", importer.Tables{
		"writable_roots": func(e *source.Entry) {
			for i, v := range c.Array(e) {
				c.path(c.Add(e, importer.ElementOf(e.Key, i), v.Text), v.Text, "write", "")
			}
		},
		"network_access": func(e *source.Entry) {
			if c.Truth(e) {
				c.Add(e, e.Key, "").Become(importer.LeftOut, "it opens every host; write that rule yourself")
			} else {
				c.Add(e, e.Key, "").Become(importer.Carried, "no host is opened")
			}
		},
		"exclude_tmpdir_env_var": tmp, "exclude_slash_tmp": tmp,
	})
}

// defaultProfile reads the profile that is in force, with those that it extends under it.
func (c *reader) defaultProfile(e *source.Entry) {
	note := c.Add(e, e.Key, e.Value.Text)
	if c.root.Get("sandbox_mode") != nil {
		note.Become(importer.LeftOut, "sandbox_mode switches profiles off")
		return
	}
	note.Become(importer.Carried, "it chooses the profile")
	c.profile(e, e.Value.Text, 0)
}

// maxExtends is how many profiles may extend each other.
const maxExtends = 8

func (c *reader) profile(e *source.Entry, name string, depth int) {
	open := func(abs, mode string) {
		c.entries = append(c.entries, located{Entry{Path: abs, Mode: mode}, c.T.Own})
	}
	all := c.root.Get("permissions")
	switch {
	case name == ":read-only":
		open("/", "read")
	case name == ":workspace":
		open("/", "read")
		open(c.T.Host.Dir, "write")
	case depth > maxExtends:
		c.Wrong(e, "too many profiles extend each other")
	case all == nil || all.Table == nil || all.Table.Get(name) == nil || all.Table.Get(name).Table == nil:
		c.Wrong(e, "there is no profile %q", name)
	default:
		p := all.Table.Get(name).Table
		if base := p.Entry("extends"); base != nil {
			c.profile(base, base.Value.Text, depth+1)
		}
		c.Table(p, "a permission profile", importer.Tables{
			"description": func(*source.Entry) {}, "extends": func(*source.Entry) {}, "filesystem": c.filesystem,
			"network": c.networkOf,
			"workspace_roots": func(e *source.Entry) {
				c.Add(e, e.Key, "").Become(importer.LeftOut, "the workspace alone is carried over")
				c.Wrong(e, "further workspace roots are not understood; import without them")
			},
		})
	}
}

// filesystem reads the entries for files.
func (c *reader) filesystem(e *source.Entry) {
	if e.Value.Table == nil {
		c.Wrong(e, "expected a table")
		return
	}
	for i := range e.Value.Table.Entries {
		f := &e.Value.Table.Entries[i]
		if f.Key == "glob_scan_max_depth" {
			continue
		}
		if f.Value.Table == nil {
			c.path(c.Add(f, "filesystem", f.Key+" "+f.Value.Text), f.Key, f.Value.Text, "")
			continue
		}
		for j := range f.Value.Table.Entries {
			s := &f.Value.Table.Entries[j]
			c.path(c.Add(s, "filesystem", f.Key+" "+s.Key+" "+s.Value.Text), f.Key, s.Value.Text, s.Key)
		}
	}
}

// path notes an entry for a path, and a path below it.
func (c *reader) path(e *importer.Entry, text, mode, below string) {
	wrong := func(what string) { c.D.Faults = append(c.D.Faults, importer.FaultOf(e, what)) }
	if mode == "none" {
		mode = "deny"
	}
	abs := text
	switch {
	case !slices.Contains([]string{"read", "write", "deny"}, mode):
		wrong("expected read, write or deny")
	case text == ":minimal" && below == "" && mode != "deny":
		c.minimal = true
		e.Become(importer.Narrowed, "the base, as far as it lies in it")
		return
	case text == ":tmpdir" || text == ":slash_tmp":
		e.Become(importer.LeftOut, "a tool has a temporary directory of its own")
		return
	case text == ":root":
		abs = "/"
	case text == ":workspace_roots" || text == ":project_roots":
		abs = c.T.Host.Dir
	case text == "~" || strings.HasPrefix(text, "~/"):
		abs = c.T.Host.Home + text[1:]
	case !path.IsAbs(text) || slices.Contains(strings.Split(text, "/"), ".."):
		wrong("expected an absolute path, or one that begins with ~/ or is one of :root, :minimal, :workspace_roots and :tmpdir")
	}
	if !importer.Clean(abs) || below != "" &&
		(!importer.Clean(below) || path.IsAbs(below) || slices.Contains(strings.Split(below, "/"), "..")) {
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
	c.entries = slices.DeleteFunc(c.entries, func(o located) bool { return o.Path == abs && o.entry == c.T.Own })
	c.entries = append(c.entries, located{Entry{Path: abs, Mode: mode}, e})
}
