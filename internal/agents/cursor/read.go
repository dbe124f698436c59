package cursor

import (
	"cmp"
	"errors"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/files/bounded"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var format = importer.Format{
	Name: "cursor", Version: "3.23", Files: true,
	Looks: func(d *importer.Document) bool {
		return strings.HasSuffix(d.Path, "/.cursor/sandbox.json") ||
			slices.ContainsFunc([]string{"additionalReadwritePaths", "additionalReadonlyPaths", "networkPolicy"},
				func(key string) bool {
					return d.Root.Member(key) != nil
				})
	},
	Read: read,
}

// reader is a sandbox.json.
type reader struct {
	t                *importer.Translation
	d                *importer.Document
	model            Model
	write, protected []importer.Listed
	allowed, denied  []importer.Listed
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	c := &reader{t: t, d: docs[0], model: Model{Host: t.Host}}
	t.Draft.Confines, t.Own = true, &importer.Entry{Key: "the workspace of Cursor"}
	tmp := t.Leave(c.d, "", "a tool has a temporary directory and caches of its own")
	c.d.Object(c.d.Root, "sandbox.json", importer.Fields{
		"$schema": t.Leave(c.d, "", "it is for editors"), "disableTmpWrite": tmp, "enableSharedBuildCache": tmp,
		"type": c.kind, "readBoundary": c.boundary, "networkPolicy": c.network,
		"additionalReadwritePaths": func(n *jsonc.Node) { c.list(n, n.Key, &c.write) },
		"additionalReadonlyPaths":  func(n *jsonc.Node) { c.list(n, n.Key, &c.protected) },
		"additionalReadPaths": t.Leave(c.d, "",
			"a rule to read places outside of the workspace is yours to write"),
	})
	c.ignored()
	c.files()
	c.hosts()
	return &c.model
}

// kind reads the kind of the sandbox.
func (c *reader) kind(n *jsonc.Node) {
	e := c.t.Add(c.d, n, n.Key, n.String())
	switch n.String() {
	case "workspace_readwrite":
		e.Become(importer.Carried, "the workspace may be written")
	case "workspace_readonly":
		c.model.ReadOnly = true
		e.Become(importer.Carried, "nothing may be written")
	case "insecure_none":
		c.model.Unconfined = true
		e.Become(importer.Narrowed, "the workspace alone is opened, not every file of the machine, and no host")
	default:
		c.d.Fault(n.From, "expected workspace_readwrite, workspace_readonly or insecure_none")
	}
}

// boundary reads the files that commands may read.
func (c *reader) boundary(n *jsonc.Node) {
	e := c.t.Add(c.d, n, n.Key, n.String())
	switch n.String() {
	case "system":
		e.Become(importer.Narrowed, "the workspace and the base can be read, not every file")
	case "workspace":
		c.model.Bounded = true
		e.Become(importer.Carried, "the workspace can be read, and of the base what lies in the system's own directories")
	default:
		c.d.Fault(n.From, "expected system or workspace")
	}
}

// list reads a list of paths or hosts.
func (c *reader) list(n *jsonc.Node, key string, list *[]importer.Listed) {
	i := 0
	c.d.List(n, key, func(item *jsonc.Node, text string) {
		if !importer.Clean(text) || strings.TrimSpace(text) != text {
			c.d.Fault(item.From, "an element of %s is neither a path nor a host", key)
			return
		}
		*list = append(*list, importer.Listed{Spelled: foreign.Spelled{Path: text},
			Entry: c.t.Add(c.d, item, importer.ElementOf(key, i), text)})
		i++
	})
}

// network reads the rules for hosts.
func (c *reader) network(n *jsonc.Node) {
	c.d.Object(n, n.Key, importer.Fields{
		"default": func(n *jsonc.Node) {
			e := c.t.Add(c.d, n, "networkPolicy.default", n.String())
			switch n.String() {
			case "deny":
				e.Become(importer.Carried, "a host without a rule is denied")
			case "allow":
				c.model.Everyone = true
				e.Become(importer.LeftOut, "it opens every host; write that rule yourself")
			default:
				c.d.Fault(n.From, "expected allow or deny")
			}
		},
		"allow": func(n *jsonc.Node) { c.list(n, "networkPolicy.allow", &c.allowed) },
		"deny":  func(n *jsonc.Node) { c.list(n, "networkPolicy.deny", &c.denied) },
	})
}

// ignored reads the files that close further places to Cursor. A file above the workspace, where Cursor may look as
// well, is refused: its patterns may match the workspace itself.
func (c *reader) ignored() {
	found, err := importer.Matching(c.t.Host.Dir, "s", c.t.Host.Dir+"/**/.cursorignore")
	if err != nil {
		c.t.Faults = append(c.t.Faults, err)
		return
	}
	for _, abs := range found {
		if !c.t.Host.Exists(abs) {
			continue
		}
		text, err := ignoreFile(abs)
		if err != nil {
			c.d.Fault(0, "%s closes files to commands in the sandbox, and cannot be read: %v", abs, err)
			continue
		}
		c.model.Ignored = append(c.model.Ignored, Ignored{path.Dir(abs), text})
	}
	for dir := path.Dir(c.t.Host.Dir); dir != path.Dir(dir); dir = path.Dir(dir) {
		if abs := path.Join(dir, ".cursorignore"); c.t.Host.Exists(abs) {
			c.d.Fault(0, "%s closes files to commands in the sandbox, and lies above the workspace; "+
				"write a rule for each, and import without it", abs)
		}
	}
	if abs := path.Join(c.t.Host.Dir, ".cursorindexingignore"); c.t.Host.Exists(abs) {
		e := &importer.Entry{File: abs, Line: 1, Col: 1, Key: path.Base(abs)}
		e.Become(importer.LeftOut, "it keeps files from the index, and from no command")
		c.t.Entries = append(c.t.Entries, e)
	}
}

// ignoreFile reads a regular file of patterns.
func ignoreFile(abs string) (string, error) {
	if info, err := os.Lstat(abs); err != nil || !info.Mode().IsRegular() {
		return "", cmp.Or(err, errors.New("it is no regular file"))
	}
	f, err := os.Open(abs)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := bounded.Read(f, maxIgnored)
	return string(text), err
}

// maxIgnored bounds a file of patterns, in bytes.
const maxIgnored = 64 << 10

// The names of files that no command writes, and of those that no command reads.
var (
	neverWritten = strings.Fields(`.bash_profile .bashrc .claude .cursor .cursorignore .git .gitconfig .gitmodules .idea .mcp.json .profile .ripgreprc .vscode
		.zprofile .zshrc *.code-workspace`)
	neverRead = strings.Fields(".env .env.* credentials.json id_rsa secrets.json *.key *.pem")
)

// everywhere are names in some directories: at the top, and below it where they exist.
func (c *reader) everywhere(roots, names []string, what string) []importer.Point {
	var out []importer.Point
	for _, root := range roots {
		var patterns []string
		for _, name := range names {
			patterns = append(patterns, root+"/**/"+name)
		}
		found, err := importer.Matching(root, "s", patterns...)
		if err != nil {
			c.t.Faults = append(c.t.Faults, err)
		}
		for _, abs := range found {
			out = append(out, importer.Point{Abs: c.t.Host.Follow(abs), Entry: &importer.Entry{Key: what}})
		}
	}
	return out
}

// hide closes the names that no command reads, by their names, and returns the places to close besides.
func (c *reader) hide(roots []string, what string) (out []importer.Point) {
	for _, name := range neverRead {
		led, ok := c.t.ByName(importer.Point{Name: name, Entry: &importer.Entry{Key: what}}, roots, importer.Closes)
		if !ok {
			led = c.everywhere(roots, []string{name}, what)
		}
		out = append(out, led...)
	}
	return out
}

// files writes the rules for files.
func (c *reader) files() {
	var writes, closed []importer.Point
	for _, l := range c.write {
		switch {
		case c.model.ReadOnly:
			l.Entry.Become(importer.LeftOut, "the sandbox writes nothing")
		case !path.IsAbs(l.Path) || path.Clean(l.Path) != l.Path || strings.ContainsAny(l.Path, `*?[]{}$\`):
			l.Entry.Become(importer.LeftOut,
				"it is not certain which place Cursor takes it for; absolute paths alone carry over")
		default:
			writes = append(writes, c.t.Opened([]importer.Point{{Abs: l.Path, Entry: l.Entry}})...)
		}
	}
	for _, p := range writes { // those that are certain
		c.model.Write = append(c.model.Write, p.Abs)
	}
	for _, l := range c.protected {
		c.model.Protected = append(c.model.Protected, l.Path)
	}
	plain, patterns := c.t.Located(c.protected)
	for _, p := range patterns {
		c.t.Faults = append(c.t.Faults, importer.FaultOf(p.Entry,
			"a pattern of paths that stay as they are is not understood"))
	}
	closed = c.t.Closed(plain)
	if !c.model.ReadOnly {
		writes = append(writes, importer.Point{Abs: c.t.Host.Dir, Entry: c.t.Own, Opens: true})
	}
	var roots []string
	for _, p := range writes {
		if c.t.Outside(p.Abs) == "" {
			roots = append(roots, p.Abs)
		}
	}
	roots = importer.Without(append(roots, c.t.Host.Dir))
	kept := c.everywhere(roots, neverWritten, "Cursor lets no command write it")
	hidden := c.hide(roots, "Cursor's own list of ignored files")
	for _, i := range c.model.Ignored {
		file := strings.TrimPrefix(path.Join(i.Dir, ".cursorignore"), c.t.Host.Dir+"/")
		hidden = append(hidden, c.t.Ignore(file, i.Dir, i.Text, roots)...)
	}
	c.t.Files(slices.Concat(writes, closed, kept, hidden), func(abs string) importer.Access {
		read := importer.Deepest(hidden, abs) < 0
		return importer.Access{Read: read, Write: read && importer.Deepest(writes, abs) >= 0 &&
			importer.Deepest(closed, abs) < 0 && importer.Deepest(kept, abs) < 0}
	})
}

// hosts writes the rules for hosts.
func (c *reader) hosts() {
	var allowed, denied []importer.Listed
	for _, l := range c.allowed {
		c.model.Allowed = append(c.model.Allowed, l.Path)
		_, err := netip.ParseAddr(strings.Trim(l.Path, "[]"))
		switch {
		case c.model.Unconfined:
			l.Entry.Become(importer.LeftOut, "the sandbox is off")
		case err == nil || strings.ContainsAny(l.Path, ":/"):
			l.Entry.Become(importer.LeftOut,
				"it is not certain what Cursor permits of an address, a port or a path; names alone carry over")
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
			c.t.Faults = append(c.t.Faults,
				importer.FaultOf(l.Entry,
					"no rule denies addresses to which names lead, or a port of a name; import without it, and without the names that may lead there"))
			continue
		}
		base := strings.TrimPrefix(l.Path, "*.")
		for _, name := range []string{base, "*." + base} {
			if _, err := netip.ParseAddr(base); err != nil || name == base {
				denied = append(denied, importer.Listed{Spelled: foreign.Spelled{Path: name}, Entry: l.Entry})
			}
		}
	}
	c.t.Hosts(allowed, denied)
}
