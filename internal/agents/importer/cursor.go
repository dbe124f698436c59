package importer

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var cursorFormat = format{
	name: "cursor", version: "3.23", files: true,
	looks: func(d *document) bool {
		return strings.HasSuffix(d.path, "/.cursor/sandbox.json") || slices.ContainsFunc([]string{"additionalReadwritePaths", "additionalReadonlyPaths", "networkPolicy"}, func(key string) bool {
			return d.root.Member(key) != nil
		})
	},
	read: readCursor,
}

// cursor is a sandbox.json.
type cursor struct {
	t                *translation
	d                *document
	model            foreign.Cursor
	write, protected []listed
	allowed, denied  []listed
}

func readCursor(t *translation, docs []*document) foreign.Policy {
	c := &cursor{t: t, d: docs[0], model: foreign.Cursor{Host: t.host}}
	t.draft.confines, t.own = true, &Entry{Key: "the workspace of Cursor"}
	tmp := t.leave(c.d, "", "a tool has a temporary directory and caches of its own")
	c.d.object(c.d.root, "sandbox.json", fields{
		"$schema": t.leave(c.d, "", "it is for editors"), "disableTmpWrite": tmp, "enableSharedBuildCache": tmp,
		"type": c.kind, "readBoundary": c.boundary, "networkPolicy": c.network,
		"additionalReadwritePaths": func(n *jsonc.Node) { c.list(n, n.Key, &c.write) },
		"additionalReadonlyPaths":  func(n *jsonc.Node) { c.list(n, n.Key, &c.protected) },
		"additionalReadPaths":      t.leave(c.d, "", "a rule to read places outside of the workspace is yours to write"),
	})
	c.ignored()
	c.files()
	c.hosts()
	return &c.model
}

// kind reads the kind of the sandbox.
func (c *cursor) kind(n *jsonc.Node) {
	e := c.t.add(c.d, n, n.Key, n.String())
	switch n.String() {
	case "workspace_readwrite":
		e.become(Carried, "the workspace may be written")
	case "workspace_readonly":
		c.model.ReadOnly = true
		e.become(Carried, "nothing may be written")
	case "insecure_none":
		c.model.Unconfined = true
		e.become(Narrowed, "the workspace alone is opened, not every file of the machine, and no host")
	default:
		c.d.fault(n.From, "expected workspace_readwrite, workspace_readonly or insecure_none")
	}
}

// boundary reads the files that commands may read.
func (c *cursor) boundary(n *jsonc.Node) {
	e := c.t.add(c.d, n, n.Key, n.String())
	switch n.String() {
	case "system":
		e.become(Narrowed, "the workspace and the base can be read, not every file")
	case "workspace":
		c.model.Bounded = true
		e.become(Carried, "the workspace can be read, and of the base what lies in the system's own directories")
	default:
		c.d.fault(n.From, "expected system or workspace")
	}
}

// list reads a list of paths or hosts.
func (c *cursor) list(n *jsonc.Node, key string, list *[]listed) {
	i := 0
	c.d.list(n, key, func(item *jsonc.Node, text string) {
		if !clean(text) || strings.TrimSpace(text) != text {
			c.d.fault(item.From, "an element of %s is neither a path nor a host", key)
			return
		}
		*list = append(*list, listed{foreign.Spelled{Path: text}, c.t.add(c.d, item, elementOf(key, i), text)})
		i++
	})
}

// network reads the rules for hosts.
func (c *cursor) network(n *jsonc.Node) {
	c.d.object(n, n.Key, fields{
		"default": func(n *jsonc.Node) {
			e := c.t.add(c.d, n, "networkPolicy.default", n.String())
			switch n.String() {
			case "deny":
				e.become(Carried, "a host without a rule is denied")
			case "allow":
				c.model.Everyone = true
				e.become(LeftOut, "it opens every host; write that rule yourself")
			default:
				c.d.fault(n.From, "expected allow or deny")
			}
		},
		"allow": func(n *jsonc.Node) { c.list(n, "networkPolicy.allow", &c.allowed) },
		"deny":  func(n *jsonc.Node) { c.list(n, "networkPolicy.deny", &c.denied) },
	})
}

// ignored refuses a workspace that closes further files to Cursor.
func (c *cursor) ignored() {
	found, err := matching(c.t.host.Dir, "s", c.t.host.Dir+"/**/.cursorignore")
	if err != nil {
		c.t.faults = append(c.t.faults, err)
		return
	}
	for dir := path.Dir(c.t.host.Dir); dir != path.Dir(dir); dir = path.Dir(dir) {
		found = append(found, path.Join(dir, ".cursorignore")) // Cursor may look there as well
	}
	for _, abs := range found {
		if c.t.host.Exists(abs) {
			c.d.fault(0, "%s closes files to commands in the sandbox, and its patterns are not understood; write a rule for each, and import without it", abs)
		}
	}
}

// The names of files that no command writes, and of those that no command reads.
var (
	neverWritten = strings.Fields(`.bash_profile .bashrc .claude .cursor .cursorignore .git .gitconfig .gitmodules .idea .mcp.json .profile .ripgreprc .vscode
		.zprofile .zshrc *.code-workspace`)
	neverRead = strings.Fields(".env .env.* credentials.json id_rsa secrets.json *.key *.pem")
)

// everywhere are names in some directories: at the top, and below it where they exist.
func (c *cursor) everywhere(roots, names []string, what string) []point {
	var out []point
	for _, root := range roots {
		var patterns []string
		for _, name := range names {
			patterns = append(patterns, root+"/**/"+name)
		}
		found, err := matching(root, "s", patterns...)
		if err != nil {
			c.t.faults = append(c.t.faults, err)
		}
		for _, abs := range found {
			out = append(out, point{abs: c.t.host.Follow(abs), entry: &Entry{Key: what}})
		}
	}
	return out
}

// hide closes the names that no command reads, by their names, and returns the places to close besides.
func (c *cursor) hide(roots []string, what string) (out []point) {
	for _, name := range neverRead {
		led, ok := c.t.byName(point{name: name, entry: &Entry{Key: what}}, roots, closes)
		if !ok {
			led = c.everywhere(roots, []string{name}, what)
		}
		out = append(out, led...)
	}
	return out
}

// files writes the rules for files.
func (c *cursor) files() {
	var writes, closed []point
	for _, l := range c.write {
		switch {
		case c.model.ReadOnly:
			l.entry.become(LeftOut, "the sandbox writes nothing")
		case !path.IsAbs(l.Path) || path.Clean(l.Path) != l.Path || strings.ContainsAny(l.Path, `*?[]{}$\`):
			l.entry.become(LeftOut, "it is not certain which place Cursor takes it for; absolute paths alone carry over")
		default:
			writes = append(writes, c.t.opened([]point{{abs: l.Path, entry: l.entry}})...)
		}
	}
	for _, p := range writes { // those that are certain
		c.model.Write = append(c.model.Write, p.abs)
	}
	for _, l := range c.protected {
		c.model.Protected = append(c.model.Protected, l.Path)
	}
	plain, patterns := c.t.located(c.protected)
	for _, p := range patterns {
		c.t.faults = append(c.t.faults, faultOf(p.entry, "a pattern of paths that stay as they are is not understood"))
	}
	closed = c.t.closed(plain)
	if !c.model.ReadOnly {
		writes = append(writes, point{abs: c.t.host.Dir, entry: c.t.own, opens: true})
	}
	var roots []string
	for _, p := range writes {
		if c.t.outside(p.abs) == "" {
			roots = append(roots, p.abs)
		}
	}
	roots = without(append(roots, c.t.host.Dir))
	kept := c.everywhere(roots, neverWritten, "Cursor lets no command write it")
	hidden := c.hide(roots, "Cursor's own list of ignored files")
	c.t.files(slices.Concat(writes, closed, kept, hidden), func(abs string) access {
		read := deepest(hidden, abs) < 0
		return access{read: read, write: read && deepest(writes, abs) >= 0 && deepest(closed, abs) < 0 && deepest(kept, abs) < 0}
	})
}

// hosts writes the rules for hosts.
func (c *cursor) hosts() {
	var allowed, denied []listed
	for _, l := range c.allowed {
		c.model.Allowed = append(c.model.Allowed, l.Path)
		_, err := netip.ParseAddr(strings.Trim(l.Path, "[]"))
		switch {
		case c.model.Unconfined:
			l.entry.become(LeftOut, "the sandbox is off")
		case err == nil || strings.ContainsAny(l.Path, ":/"):
			l.entry.become(LeftOut, "it is not certain what Cursor permits of an address, a port or a path; names alone carry over")
		default:
			allowed = append(allowed, l)
		}
	}
	for _, l := range c.denied {
		c.model.Denied = append(c.model.Denied, l.Path)
		if l.Path == "*" {
			denied = append(denied, l)
			continue
		}
		if strings.ContainsAny(l.Path, "/:") {
			c.t.faults = append(c.t.faults, faultOf(l.entry, "no rule denies addresses to which names lead, or a port of a name; import without it, and without the names that may lead there"))
			continue
		}
		base := strings.TrimPrefix(l.Path, "*.")
		for _, name := range []string{base, "*." + base} {
			if _, err := netip.ParseAddr(base); err != nil || name == base {
				denied = append(denied, listed{foreign.Spelled{Path: name}, l.entry})
			}
		}
	}
	c.t.hosts(allowed, denied)
}
