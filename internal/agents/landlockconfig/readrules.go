package landlockconfig

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/ir"
)

// granted is a place of the rules with the rights there, those of the rules around it included. Written are
// those rights that no rule whose path leads over a symlink gives, since such a rule is left out.
type granted struct {
	abs             string
	rights, written rightSet
	entry           *importer.Entry
	caps            []string
}

// The rights that the kernel asks for where no directory is, and those that a capability needs.
var (
	fileSet      = rightSetOf("execute", "write_file", "read_file", "truncate", "ioctl_dev")
	deleteRights = rightSetOf("remove_file", "remove_dir", "refer")
	createRights = rightSetOf("make_dir", "make_reg", "make_sock", "make_fifo", "make_sym", "write_file", "refer")
)

// files writes rules for the paths that rights are granted on.
func (c *reader) files() {
	t := c.t
	places := c.places()
	// Rights add up from the top.
	slices.SortStableFunc(places, func(a, b *granted) int { return cmp.Compare(len(a.abs), len(b.abs)) })
	for _, p := range places {
		if c.file(p) {
			p.rights &= fileSet
			p.written &= fileSet
		}
	}
	for _, p := range places {
		for _, o := range places {
			if ir.Within(p.abs, o.abs) {
				p.rights |= o.rights
				p.written |= o.written
			}
		}
		p.caps = c.capabilities(p)
	}
	c.unrestricted()
	c.moves(places)
	written := map[string][]string{}
	for _, p := range places {
		if t.Outside(p.abs) == "" {
			c.write(p, written)
		}
	}
}

// places are the workspace and the places of all rules, each with the rights that its rule gives.
func (c *reader) places() []*granted {
	t := c.t
	out := []*granted{{abs: t.Host.Dir, entry: t.Own}}
	for _, r := range c.rules {
		abs, why := c.locate(r.text)
		if why == "" {
			if why := t.Outside(abs); why != "" {
				c.outside(r, abs, why)
			}
			out = append(out, &granted{abs: abs, rights: r.rights, written: r.rights, entry: r.entry})
			continue
		}
		if r.others {
			r.entry.Become(importer.Narrowed, "without %s: %s", r.text, why)
		} else {
			r.entry.Become(importer.LeftOut, "%s", why)
		}
		// The kernel counts these rights where it judges a move.
		if abs != "" && t.Outside(abs) == "" {
			target := &importer.Entry{File: r.entry.File, Line: r.entry.Line, Col: r.entry.Col,
				Key: r.entry.Key + ", where it leads", Text: t.Spell(abs)}
			out = append(out, &granted{abs: abs, rights: r.rights, entry: target})
		}
	}
	return out
}

// locate is the place of a path, and the reason why no rule is about it.
func (c *reader) locate(text string) (abs, why string) {
	if !path.IsAbs(text) {
		text = c.t.Host.Dir + "/" + text
	}
	abs = path.Clean(text)
	real := c.t.Host.Follow(abs)
	switch {
	case !importer.Clean(text) || text == c.t.Host.Dir+"/" || slices.Contains(strings.Split(text, "/"), ".."):
		return "", `it is no path, or one with ".."`
	case !c.t.Host.Exists(real):
		return "", "nothing is there now, and landlockconfig passes over it"
	case real != abs && (c.t.Outside(abs) == "" || c.t.Outside(real) == ""):
		return real, "its path leads over a symlink: name " + real
	}
	return real, ""
}

// outside settles a rule for a place that no rule here is about.
func (c *reader) outside(r pathRule, abs, why string) {
	base := []string{"/", "/bin", "/dev", "/etc", "/lib", "/lib64", "/opt", "/proc", "/sbin", "/usr"}
	switch {
	case ir.Within(c.t.Host.Dir, abs):
		r.entry.Become(importer.Narrowed, "of %s the workspace, and the base as far as it lies in it", abs)
	case slices.ContainsFunc(base[1:], func(dir string) bool { return ir.Within(abs, dir) }):
		r.entry.Become(importer.Narrowed, "the base, as far as it lies in it")
	default:
		r.entry.Become(importer.LeftOut, "%s", why)
	}
}

// has reports whether all of some rights are permitted by those at a place. Moving files to another directory needs
// a rule also where nothing handles it.
func (c *reader) has(at, need rightSet) bool {
	return need&(c.handled|rightSetOf("refer"))&^at == 0
}

// file reports whether a place is something other than a directory.
func (c *reader) file(p *granted) bool { return c.t.Host.Exists(p.abs) && !importer.IsDir(p.abs) }

// capabilities are those whose every part the rights permit.
func (c *reader) capabilities(p *granted) []string {
	var out []string
	read := rightSetOf("read_file", "read_dir")
	if c.file(p) {
		read = rightSetOf("read_file")
	}
	if c.has(p.written, read) {
		out = append(out, "read")
		if c.has(p.written, rightSetOf("execute")) {
			out = append(out, "execute")
		}
	}
	for _, one := range []struct {
		name string
		need rightSet
	}{{"create", createRights}, {"update", rightSetOf("write_file", "truncate")}, {"delete", deleteRights}} {
		if c.has(p.written, one.need) {
			out = append(out, one.name)
		}
	}
	return out
}

// unrestricted notes the rights that no ruleset handles: every file of the machine permits them.
func (c *reader) unrestricted() {
	var open []string
	for _, r := range allRights {
		if c.handled&rightSetOf(r) == 0 && r != "refer" && r != "ioctl_dev" && r != "make_char" && r != "make_block" {
			open = append(open, r)
		}
	}
	if len(open) > 0 {
		e := &importer.Entry{Key: "rights that no ruleset handles", Text: strings.Join(open, " ")}
		e.Become(importer.Narrowed, "they are open on every file of the machine; here the workspace and its rules alone have them")
		c.t.Entries = append(c.t.Entries, e)
	}
}

// moves takes capabilities away that would let files move where the kernel refuses it: to a place with rights
// that they did not have, or between directories of which one does not grant refer.
func (c *reader) moves(places []*granted) {
	here := slices.DeleteFunc(slices.Clone(places), func(p *granted) bool { return c.t.Outside(p.abs) != "" })
	lose := func(p *granted, name, why string) {
		if slices.Contains(p.caps, name) {
			p.caps = slices.DeleteFunc(slices.Clone(p.caps), func(n string) bool { return n == name })
			p.entry.Become(importer.Narrowed, "%s is not granted: %s", name, why)
			if p.entry != c.t.Own && !slices.Contains(c.t.Entries, p.entry) {
				c.t.Entries = append(c.t.Entries, p.entry)
			}
		}
	}
	creates := func(p *granted) bool { return slices.Contains(p.caps, "create") }
	for _, to := range here {
		for _, from := range here {
			gains := to.rights & c.handled &^ from.rights
			moved := slices.Contains(from.caps, "delete") || slices.Contains(from.caps, "read") &&
				slices.Contains(from.caps, "update")
			file := gains&fileSet != 0 && !gainsMore(from.caps, to.caps, "read", "update", "execute")
			if moved && (file || gains != 0 &&
				!gainsMore(from.caps, to.caps, "read", "update", "execute", "create", "delete")) {
				lose(to, "create", "files could come from "+c.t.Spell(from.abs)+", which has fewer rights")
			}
		}
	}
	if !slices.ContainsFunc(here, creates) {
		return
	}
	for _, p := range here {
		if slices.Contains(p.caps, "read") && !c.has(p.rights, rightSetOf("refer")) {
			lose(p, "update", "without refer no file of it may get another name elsewhere")
		}
	}
}

// gainsMore reports whether a place has one of some capabilities that another one lacks, for which the rules
// refuse a move as well.
func gainsMore(from, to []string, of ...string) bool {
	return slices.ContainsFunc(of, func(name string) bool {
		return slices.Contains(to, name) && !slices.Contains(from, name)
	})
}

// write adds the rule of a place, where its capabilities are not those around it.
func (c *reader) write(p *granted, written map[string][]string) {
	t := c.t
	if r := missing(p.written, p.caps, !c.file(p)); len(r) > 0 && p.entry != t.Own {
		p.entry.Become(importer.Narrowed, "access.fs %s, without %s, which no rule can say alone", t.Spell(p.abs),
			strings.Join(r, " "))
	}
	around, inside := written[p.abs]
	if inside {
		p.entry.Become(importer.Carried, "access.fs %s", t.Spell(p.abs))
		return
	}
	for dir := p.abs; !inside && dir != path.Dir(dir); dir = path.Dir(dir) {
		around, inside = written[dir]
	}
	if inside && slices.Equal(around, p.caps) || !inside && p.abs != t.Host.Dir && len(p.caps) == 0 {
		p.entry.Become(importer.Carried, "the rules around %s say the same", t.Spell(p.abs))
		return
	}
	written[p.abs] = p.caps
	r := importer.FSRule{Path: t.Spell(p.abs), Fine: p.caps, From: p.entry.From()}
	r.External = len(p.caps) > 0 && !ir.Within(p.abs, t.Host.Dir)
	t.Draft.FS = append(t.Draft.FS, r)
	p.entry.Become(importer.Carried, "access.fs %s", r.Path)
}

// missing are the rights that none of some capabilities stands for.
func missing(have rightSet, caps []string, dir bool) []string {
	need := map[string]rightSet{
		"read": rightSetOf("read_file", "read_dir"), "execute": rightSetOf("execute"), "create": createRights,
		"update": rightSetOf("write_file", "truncate"), "delete": deleteRights,
	}
	// Of these, rules never grant the first three; the last goes with others.
	said := rightSetOf("make_char", "make_block", "ioctl_dev", "refer")
	for _, c := range caps {
		said |= need[c]
	}
	if !dir {
		said |= ^fileSet
	}
	var out []string
	for _, r := range allRights {
		if have&^said&rightSetOf(r) != 0 {
			out = append(out, r)
		}
	}
	return out
}

// network writes rules for ports.
func (c *reader) network() {
	t := c.t
	if !c.connects {
		e := &importer.Entry{Key: "connect_tcp, which no ruleset handles"}
		e.Become(importer.LeftOut, "every host is open; write that rule yourself")
		t.Entries = append(t.Entries, e)
	}
	if !c.binds {
		e := &importer.Entry{Key: "bind_tcp, which no ruleset handles"}
		e.Become(importer.LeftOut, "every port may be listened at; write that rule yourself")
		t.Entries = append(t.Entries, e)
	}
	may := map[uint16]bool{}
	for _, p := range c.connectTo {
		if p.port == 0 {
			p.entry.Become(importer.LeftOut, "nothing can be connected to at port 0")
			continue
		}
		if !may[p.port] {
			t.Draft.Net = append(t.Draft.Net,
				importer.NetRule{Host: "*", Port: p.port, Allow: true, From: p.entry.From()})
		}
		may[p.port] = true
		p.entry.Become(importer.Narrowed, "access.net *, port %d: names and public addresses, by HTTP and TLS alone",
			p.port)
	}
	for _, p := range c.bindTo {
		switch {
		case p.port == 0:
			p.entry.Become(importer.LeftOut, "port 0 lets the system choose one; write a rule to listen without a port")
		case c.connects && !may[p.port]:
			p.entry.Become(importer.LeftOut,
				"a tool may connect to what it listens at, and connect_tcp is not allowed there")
		default:
			t.Draft.Net = append(t.Draft.Net,
				importer.NetRule{Host: "*", Port: p.port, Listen: true, Allow: true, From: p.entry.From()})
			p.entry.Become(importer.Carried, "access.net listen, port %d", p.port)
		}
	}
}
