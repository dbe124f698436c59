package importer

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/ir"
)

var fenceFormat = format{
	name: "fence", version: "0.1.66", files: true,
	looks: func(d *document) bool {
		base := path.Base(strings.ReplaceAll(d.name, `\`, "/"))
		return base == "fence.json" || base == "fence.jsonc" || d.root.Member("command", "deny") != nil && (d.root.Member("network") != nil || d.root.Member("filesystem") != nil)
	},
	read: readFence,
}

// fence are its settings.
type fence struct {
	t                                          *translation
	d                                          *document
	denyRead, allowRead, allowWrite, denyWrite []listed
	allowed, denied                            []listed
	defaultDeny, strict, argv                  bool
	defaults                                   bool
	stops                                      []listed
	accepted                                   []string
}

func readFence(t *translation, docs []*document) foreign.Policy {
	f := &fence{t: t, d: docs[0], defaults: true}
	t.draft.confines, t.own = true, &Entry{Key: "the working directory of fence"}
	f.document(docs[0], nil)
	if docs[0].err() == nil && len(t.faults) == 0 {
		f.confine()
		t.hosts(f.allowed, f.denied)
		f.commands()
	}
	return f.model()
}

// document reads a file of settings behind the file that it extends: lists are joined, a switch that bounds what can be
// read is on if one of them turns it on, and of other values the later one counts.
func (f *fence) document(d *document, above []string) {
	f.base(d, above)
	f.d = d
	t := f.t
	leave := func(why string) func(*jsonc.Node) { return t.leave(d, "", why) }
	d.object(d.root, "fence's settings", fields{
		"$schema": leave("it is for editors"),
		"extends": func(*jsonc.Node) {},
		"network": f.network, "filesystem": f.filesystem, "command": f.command,
		"ssh":             leave("no rule opens a host for ssh, and none allows its commands"),
		"devices":         leave("a tool has the harmless devices, and no others"),
		"macos":           leave("services of macOS need rules that you write"),
		"allowPty":        leave("a tool has its own terminals in any case"),
		"forceNewSession": leave("it is about how fence works"),
	})
}

// maxFenceExtends is how many files may extend each other.
const maxFenceExtends = 10

// base reads the file that another one extends, by its path from there. A name is that of a part of fence.
func (f *fence) base(d *document, above []string) {
	n := d.root.Member("extends")
	if n == nil {
		return
	}
	name := n.String()
	above = append(above[:len(above):len(above)], d.path)
	switch {
	case !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") && !path.IsAbs(name) || !clean(name):
		d.fault(n.Begin, `extends adds settings that are not here: import what "fence config show" prints`)
		return
	case !path.IsAbs(name):
		name = path.Join(path.Dir(filepath.ToSlash(d.name)), name)
	}
	under, err := open(name)
	if err == nil {
		err = under.json()
	}
	switch {
	case err != nil:
		d.fault(n.Begin, "extends: %v", err)
		return
	case slices.Contains(above, under.path) || len(above) > maxFenceExtends:
		d.fault(n.Begin, "the files extend each other without an end: %s", name)
		return
	}
	under.version = d.version
	f.t.add(d, n, "extends", n.String()).become(Carried, "its settings stand under these")
	f.document(under, above)
	if err := under.err(); err != nil {
		f.t.faults = append(f.t.faults, err)
	}
}

func (f *fence) network(n *jsonc.Node) {
	t, d := f.t, f.d
	members := fields{
		"allowedDomains": func(n *jsonc.Node) { t.domains(d, n, "network.allowedDomains", &f.allowed) },
		"deniedDomains":  func(n *jsonc.Node) { t.domains(d, n, "network.deniedDomains", &f.denied) },
	}
	for _, key := range strings.Fields("allowUnixSockets allowAllUnixSockets allowLocalBinding allowLocalOutbound allowLocalOutboundPorts") {
		members[key] = t.leave(d, "network", "sockets and services of this machine need rules that you write")
	}
	for _, key := range strings.Fields("httpProxyPort socksProxyPort upstreamProxy defaultAction") {
		members[key] = t.leave(d, "network", "it is about fence's proxy; a host without a rule is denied")
	}
	d.object(n, "network", members)
}

func (f *fence) filesystem(n *jsonc.Node) {
	t, d := f.t, f.d
	paths := func(list *[]listed, denies bool) func(*jsonc.Node) {
		return func(n *jsonc.Node) {
			t.paths(d, n, "filesystem."+n.Key, list)
			for _, l := range *list {
				if denies && strings.ContainsAny(l.Path, `{\`) {
					d.faults = append(d.faults, faultOf(l.entry, "braces and backslashes in a path that is denied are not understood"))
				}
			}
		}
	}
	flag := func(to *bool, why string) func(*jsonc.Node) {
		return func(n *jsonc.Node) {
			on := d.truth(n, "filesystem."+n.Key)
			*to = *to || on
			t.add(d, n, "filesystem."+n.Key, "").become(Carried, "%s", why)
		}
	}
	d.object(n, "filesystem", fields{
		"denyRead": paths(&f.denyRead, true), "denyWrite": paths(&f.denyWrite, true), "allowRead": paths(&f.allowRead, false), "allowWrite": paths(&f.allowWrite, false),
		"defaultDenyRead": flag(&f.defaultDeny, "it bounds what can be read"), "strictDenyRead": flag(&f.strict, "it bounds what can be read"),
		"allowExecute":   t.leave(d, "filesystem", "a rule that lets files be executed lets them be read and listed; write it where that is meant"),
		"wslInterop":     t.leave(d, "filesystem", "it is about how fence works"),
		"allowGitConfig": t.leave(d, "filesystem", ".git/config is a protected path; write a rule for it if it is meant"),
	})
}

func (f *fence) command(n *jsonc.Node) {
	t, d := f.t, f.d
	d.object(n, "command", fields{
		"deny": func(n *jsonc.Node) {
			i := -1
			d.list(n, "command.deny", func(item *jsonc.Node, text string) {
				i++
				if !clean(text) || len(strings.Fields(text)) == 0 {
					d.fault(item.From, "an element of command.deny is no command")
					return
				}
				f.stops = append(f.stops, listed{foreign.Spelled{Path: text}, t.add(d, item, elementOf("command.deny", i), text)})
			})
		},
		"allow": func(n *jsonc.Node) {
			i := 0
			d.list(n, "command.allow", func(item *jsonc.Node, text string) {
				t.add(d, item, elementOf("command.allow", i), text).become(LeftOut, "a rule that denies wins here, and other commands are left to a person")
				i++
			})
		},
		"useDefaults": func(n *jsonc.Node) {
			f.defaults = d.truth(n, "command.useDefaults")
			t.add(d, n, "command.useDefaults", "").become(Carried, "no rule allows a command")
		},
		"acceptSharedBinaryCannotRuntimeDeny": func(n *jsonc.Node) {
			d.list(n, "acceptSharedBinaryCannotRuntimeDeny", func(_ *jsonc.Node, text string) { f.accepted = append(f.accepted, text) })
			t.add(d, n, "command."+n.Key, "").become(Carried, "it bounds which programs may start")
		},
		"runtimeExecPolicy": func(n *jsonc.Node) {
			if f.argv = n.String() == "argv"; !f.argv && n.String() != "path" {
				d.fault(n.From, "expected path or argv")
			}
			t.add(d, n, "command.runtimeExecPolicy", n.String()).become(Carried, "it bounds which programs may start")
		},
	})
}

// confine writes rules for files. Everything that denies wins.
func (f *fence) confine() {
	t := f.t
	noRead, noReadNames := t.located(f.denyRead)
	noWrite, noWriteNames := t.located(f.denyWrite)
	yesRead, names := t.located(f.allowRead)
	yesWrite, more := t.located(f.allowWrite)
	for _, p := range append(names, more...) {
		p.entry.become(LeftOut, "a rule knows no patterns")
	}
	yesRead, yesWrite = slices.DeleteFunc(yesRead, braced), slices.DeleteFunc(slices.DeleteFunc(yesWrite, braced), obeyed)
	noRead, noWrite, yesRead, yesWrite = t.closed(noRead), t.closed(noWrite), t.opened(yesRead), t.opened(yesWrite)
	opened := t.roots(slices.Concat(yesRead, yesWrite))
	masked, kept := t.everyName(noReadNames, opened, closes), t.everyName(noWriteNames, opened, keepsFrom)
	for _, root := range opened {
		if deepest(yesWrite, root) >= 0 || slices.ContainsFunc(yesWrite, func(p point) bool { return ir.Within(p.abs, root) }) {
			kept = append(kept, t.instructionsBelow(root)...)
		}
	}
	listedOnly := f.defaultDeny || f.strict
	t.files(slices.Concat(noRead, yesRead, yesWrite, noWrite, masked, kept), func(abs string) access {
		read := deepest(noRead, abs) < 0 && deepest(masked, abs) < 0
		read = read && (!listedOnly || deepest(yesRead, abs) >= 0 || deepest(yesWrite, abs) >= 0)
		return access{read: read, write: read && deepest(yesWrite, abs) >= 0 && deepest(noWrite, abs) < 0 && deepest(kept, abs) < 0 && instructs(abs) == ""}
	})
}

// braced reports whether a place has alternatives in braces, and says so.
func braced(p point) bool {
	if strings.Contains(p.entry.Text, "{") {
		p.entry.become(LeftOut, "a rule knows no patterns")
		return true
	}
	return false
}

// obeyed reports whether a place is one that fence never lets a command write, and says so.
func obeyed(p point) bool {
	if name := instructs(p.abs); name != "" {
		p.entry.become(LeftOut, "fence never lets %s be written", name)
		return true
	}
	return false
}

// instructs is the name of instructing that a place has or lies in, empty if there is none.
func instructs(abs string) string {
	for _, name := range instructing {
		if strings.Contains(abs+"/", "/"+name+"/") {
			return name
		}
	}
	return ""
}

// instructionsBelow are the names below a directory that fence never lets commands write: in the directory itself,
// and below it where they exist.
func (t *translation) instructionsBelow(root string) []point {
	var patterns []string
	for _, name := range instructing {
		patterns = append(patterns, root+"/**/"+name)
	}
	found, err := matching(root, "s", patterns...)
	if err != nil {
		t.faults = append(t.faults, err)
	}
	var out []point
	for _, abs := range found {
		out = append(out, point{abs: t.host.Follow(abs), entry: &Entry{Key: "fence lets no command write it"}})
	}
	return out
}

// commands writes rules for the commands that are denied. Where fence holds the processes of a command to them, too,
// no program starts, since no rule denies a single one.
func (f *fence) commands() {
	t := f.t
	var stop []lineRule
	for _, l := range f.stops {
		words := words(l.Path)
		p := pattern{prefix: words}
		if words == nil || strings.HasSuffix(l.Path, "=") || slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "=") }) {
			p = pattern{glob: l.Path + "*"}
		}
		single := len(strings.Fields(l.Path)) == 1 && !slices.Contains(f.accepted, path.Base(l.Path))
		if (single || f.argv) && t.draft.closed == nil {
			t.draft.closed = l.entry
		}
		if single || f.argv {
			l.entry.become(Narrowed, "rulesets.%s; processes start no program but those that you list in access.commands", t.draft.ruleset)
		}
		stop = append(stop, lineRule{pattern: p, deny: true, entry: l.entry})
	}
	t.commandRules(nil, stop)
	if f.defaults {
		e := &Entry{Key: "the commands that fence denies by itself"}
		e.become(Narrowed, "processes start no program but those that you list in access.commands")
		t.entries = append(t.entries, e)
		if t.draft.closed == nil {
			t.draft.closed = e
		}
	}
}

// model is the evaluation of the settings.
func (f *fence) model() foreign.Policy {
	spelled := func(list []listed) []foreign.Spelled {
		var out []foreign.Spelled
		for _, l := range list {
			out = append(out, l.Spelled)
		}
		return out
	}
	texts := func(list []listed) []string {
		var out []string
		for _, l := range list {
			out = append(out, l.Path)
		}
		return out
	}
	return &foreign.Fence{
		Host: f.t.host, DenyRead: spelled(f.denyRead), AllowRead: spelled(f.allowRead), AllowWrite: spelled(f.allowWrite), DenyWrite: spelled(f.denyWrite),
		DefaultDeny: f.defaultDeny, Strict: f.strict, AllowedDomains: texts(f.allowed), DeniedDomains: texts(f.denied),
		Denied: texts(f.stops), Unenforced: f.accepted, Defaults: f.defaults, Argv: f.argv,
	}
}
