package fence

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/ir"
)

var format = importer.Format{
	Name: "fence", Version: "0.1.66", Files: true,
	Looks: func(d *importer.Document) bool {
		base := path.Base(strings.ReplaceAll(d.Name, `\`, "/"))
		return base == "fence.json" || base == "fence.jsonc" || d.Root.Member("command", "deny") != nil &&
			(d.Root.Member("network") != nil || d.Root.Member("filesystem") != nil)
	},
	Read: read,
}

// reader are its settings.
type reader struct {
	t                                          *importer.Translation
	d                                          *importer.Document
	denyRead, allowRead, allowWrite, denyWrite []importer.Listed
	allowed, denied                            []importer.Listed
	defaultDeny, strict, argv                  bool
	defaults                                   bool
	stops                                      []importer.Listed
	accepted                                   []string
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	f := &reader{t: t, d: docs[0], defaults: true}
	t.Draft.Confines, t.Own = true, &importer.Entry{Key: "the working directory of fence"}
	f.document(docs[0], nil)
	if docs[0].Err() == nil && len(t.Faults) == 0 {
		f.confine()
		t.Hosts(f.allowed, f.denied)
		f.commands()
	}
	return f.model()
}

// document reads a file of settings behind the file that it extends: lists are joined, a switch that bounds what can be
// read is on if one of them turns it on, and of other values the later one counts.
func (f *reader) document(d *importer.Document, above []string) {
	f.base(d, above)
	f.d = d
	t := f.t
	leave := func(why string) func(*jsonc.Node) { return t.Leave(d, "", why) }
	d.Object(d.Root, "fence's settings", importer.Fields{
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

// maxExtends is how many files may extend each other.
const maxExtends = 10

// base reads the file that another one extends, by its path from there. A name is that of a part of fence.
func (f *reader) base(d *importer.Document, above []string) {
	n := d.Root.Member("extends")
	if n == nil {
		return
	}
	name := n.String()
	above = append(above[:len(above):len(above)], d.Path)
	switch {
	case !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") && !path.IsAbs(name) ||
		!importer.Clean(name):
		d.Fault(n.Begin, `extends adds settings that are not here: import what "fence config show" prints`)
		return
	case !path.IsAbs(name):
		name = path.Join(path.Dir(filepath.ToSlash(d.Name)), name)
	}
	under, err := importer.OpenDocument(name)
	if err == nil {
		err = under.JSON()
	}
	switch {
	case err != nil:
		d.Fault(n.Begin, "extends: %v", err)
		return
	case slices.Contains(above, under.Path) || len(above) > maxExtends:
		d.Fault(n.Begin, "the files extend each other without an end: %s", name)
		return
	}
	under.Version = d.Version
	f.t.Add(d, n, "extends", n.String()).Become(importer.Carried, "its settings stand under these")
	f.document(under, above)
	if err := under.Err(); err != nil {
		f.t.Faults = append(f.t.Faults, err)
	}
}

func (f *reader) network(n *jsonc.Node) {
	t, d := f.t, f.d
	members := importer.Fields{
		"allowedDomains": func(n *jsonc.Node) { t.Domains(d, n, "network.allowedDomains", &f.allowed) },
		"deniedDomains":  func(n *jsonc.Node) { t.Domains(d, n, "network.deniedDomains", &f.denied) },
	}
	for _, key := range strings.Fields("allowUnixSockets allowAllUnixSockets allowLocalBinding allowLocalOutbound allowLocalOutboundPorts") {
		members[key] = t.Leave(d, "network", "sockets and services of this machine need rules that you write")
	}
	for _, key := range strings.Fields("httpProxyPort socksProxyPort upstreamProxy defaultAction") {
		members[key] = t.Leave(d, "network", "it is about fence's proxy; a host without a rule is denied")
	}
	d.Object(n, "network", members)
}

func (f *reader) filesystem(n *jsonc.Node) {
	t, d := f.t, f.d
	paths := func(list *[]importer.Listed, denies bool) func(*jsonc.Node) {
		return func(n *jsonc.Node) {
			t.Paths(d, n, "filesystem."+n.Key, list)
			for _, l := range *list {
				if denies && strings.ContainsAny(l.Path, `{\`) {
					d.Faults = append(d.Faults,
						importer.FaultOf(l.Entry, "braces and backslashes in a path that is denied are not understood"))
				}
			}
		}
	}
	flag := func(to *bool, why string) func(*jsonc.Node) {
		return func(n *jsonc.Node) {
			on := d.Truth(n, "filesystem."+n.Key)
			*to = *to || on
			t.Add(d, n, "filesystem."+n.Key, "").Become(importer.Carried, "%s", why)
		}
	}
	d.Object(n, "filesystem", importer.Fields{
		"denyRead": paths(&f.denyRead, true), "denyWrite": paths(&f.denyWrite, true),
		"allowRead": paths(&f.allowRead, false), "allowWrite": paths(&f.allowWrite, false),
		"defaultDenyRead": flag(&f.defaultDeny, "it bounds what can be read"),
		"strictDenyRead":  flag(&f.strict, "it bounds what can be read"),
		"allowExecute": t.Leave(d, "filesystem",
			"a rule that lets files be executed lets them be read and listed; write it where that is meant"),
		"wslInterop": t.Leave(d, "filesystem", "it is about how fence works"),
		"allowGitConfig": t.Leave(d, "filesystem",
			".git/config is a protected path; write a rule for it if it is meant"),
	})
}

func (f *reader) command(n *jsonc.Node) {
	t, d := f.t, f.d
	d.Object(n, "command", importer.Fields{
		"deny": func(n *jsonc.Node) {
			i := -1
			d.List(n, "command.deny", func(item *jsonc.Node, text string) {
				i++
				if !importer.Clean(text) || len(strings.Fields(text)) == 0 {
					d.Fault(item.From, "an element of command.deny is no command")
					return
				}
				f.stops = append(f.stops,
					importer.Listed{Spelled: foreign.Spelled{Path: text},
						Entry: t.Add(d, item, importer.ElementOf("command.deny", i), text)})
			})
		},
		"allow": func(n *jsonc.Node) {
			i := 0
			d.List(n, "command.allow", func(item *jsonc.Node, text string) {
				t.Add(d, item, importer.ElementOf("command.allow", i), text).Become(importer.LeftOut,
					"a rule that denies wins here, and other commands are left to a person")
				i++
			})
		},
		"useDefaults": func(n *jsonc.Node) {
			f.defaults = d.Truth(n, "command.useDefaults")
			t.Add(d, n, "command.useDefaults", "").Become(importer.Carried, "no rule allows a command")
		},
		"acceptSharedBinaryCannotRuntimeDeny": func(n *jsonc.Node) {
			d.List(n, "acceptSharedBinaryCannotRuntimeDeny",
				func(_ *jsonc.Node, text string) { f.accepted = append(f.accepted, text) })
			t.Add(d, n, "command."+n.Key, "").Become(importer.Carried, "it bounds which programs may start")
		},
		"runtimeExecPolicy": func(n *jsonc.Node) {
			if f.argv = n.String() == "argv"; !f.argv && n.String() != "path" {
				d.Fault(n.From, "expected path or argv")
			}
			t.Add(d, n, "command.runtimeExecPolicy", n.String()).Become(importer.Carried,
				"it bounds which programs may start")
		},
	})
}

// confine writes rules for files. Everything that denies wins.
func (f *reader) confine() {
	t := f.t
	noRead, noReadNames := t.Located(f.denyRead)
	noWrite, noWriteNames := t.Located(f.denyWrite)
	yesRead, names := t.Located(f.allowRead)
	yesWrite, more := t.Located(f.allowWrite)
	for _, p := range append(names, more...) {
		p.Entry.Become(importer.LeftOut, "a rule knows no patterns")
	}
	yesRead, yesWrite = slices.DeleteFunc(yesRead, braced), slices.DeleteFunc(slices.DeleteFunc(yesWrite, braced),
		obeyed)
	noRead, noWrite, yesRead, yesWrite = t.Closed(noRead), t.Closed(noWrite), t.Opened(yesRead), t.Opened(yesWrite)
	opened := t.Roots(slices.Concat(yesRead, yesWrite))
	masked, kept := t.EveryName(noReadNames, opened, importer.Closes),
		t.EveryName(noWriteNames, opened, importer.KeepsFrom)
	for _, root := range opened {
		if importer.Deepest(yesWrite, root) >= 0 ||
			slices.ContainsFunc(yesWrite, func(p importer.Point) bool { return ir.Within(p.Abs, root) }) {
			kept = append(kept, instructionsBelow(t, root)...)
		}
	}
	listedOnly := f.defaultDeny || f.strict
	t.Files(slices.Concat(noRead, yesRead, yesWrite, noWrite, masked, kept), func(abs string) importer.Access {
		read := importer.Deepest(noRead, abs) < 0 && importer.Deepest(masked, abs) < 0
		read = read && (!listedOnly || importer.Deepest(yesRead, abs) >= 0 || importer.Deepest(yesWrite, abs) >= 0)
		return importer.Access{Read: read, Write: read && importer.Deepest(yesWrite, abs) >= 0 &&
			importer.Deepest(noWrite, abs) < 0 && importer.Deepest(kept, abs) < 0 && instructs(abs) == ""}
	})
}

// braced reports whether a place has alternatives in braces, and says so.
func braced(p importer.Point) bool {
	if strings.Contains(p.Entry.Text, "{") {
		p.Entry.Become(importer.LeftOut, "a rule knows no patterns")
		return true
	}
	return false
}

// obeyed reports whether a place is one that fence never lets a command write, and says so.
func obeyed(p importer.Point) bool {
	if name := instructs(p.Abs); name != "" {
		p.Entry.Become(importer.LeftOut, "fence never lets %s be written", name)
		return true
	}
	return false
}

// instructs is the name of instructing that a place has or lies in, empty if there is none.
func instructs(abs string) string {
	for _, name := range importer.Instructing {
		if strings.Contains(abs+"/", "/"+name+"/") {
			return name
		}
	}
	return ""
}

// instructionsBelow are the names below a directory that fence never lets commands write: in the directory itself,
// and below it where they exist.
func instructionsBelow(t *importer.Translation, root string) []importer.Point {
	var patterns []string
	for _, name := range importer.Instructing {
		patterns = append(patterns, root+"/**/"+name)
	}
	found, err := importer.Matching(root, "s", patterns...)
	if err != nil {
		t.Faults = append(t.Faults, err)
	}
	var out []importer.Point
	for _, abs := range found {
		out = append(out, importer.Point{Abs: t.Host.Follow(abs),
			Entry: &importer.Entry{Key: "fence lets no command write it"}})
	}
	return out
}

// commands writes rules for the commands that are denied. Where fence holds the processes of a command to them, too,
// no program starts, since no rule denies a single one.
func (f *reader) commands() {
	t := f.t
	var stop []importer.LineRule
	for _, l := range f.stops {
		words := importer.Words(l.Path)
		p := importer.Pattern{Prefix: words}
		if words == nil || strings.HasSuffix(l.Path, "=") ||
			slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "=") }) {
			p = importer.Pattern{Glob: l.Path + "*"}
		}
		single := len(strings.Fields(l.Path)) == 1 && !slices.Contains(f.accepted, path.Base(l.Path))
		if (single || f.argv) && t.Draft.Closed == nil {
			t.Draft.Closed = l.Entry
		}
		if single || f.argv {
			l.Entry.Become(importer.Narrowed,
				"rulesets.%s; processes start no program but those that you list in access.commands", t.Draft.Ruleset)
		}
		stop = append(stop, importer.LineRule{Pattern: p, Deny: true, Entry: l.Entry})
	}
	t.CommandRules(nil, stop)
	if f.defaults {
		e := &importer.Entry{Key: "the commands that fence denies by itself"}
		e.Become(importer.Narrowed, "processes start no program but those that you list in access.commands")
		t.Entries = append(t.Entries, e)
		if t.Draft.Closed == nil {
			t.Draft.Closed = e
		}
	}
}

// model is the evaluation of the settings.
func (f *reader) model() foreign.Policy {
	spelled := func(list []importer.Listed) []foreign.Spelled {
		var out []foreign.Spelled
		for _, l := range list {
			out = append(out, l.Spelled)
		}
		return out
	}
	texts := func(list []importer.Listed) []string {
		var out []string
		for _, l := range list {
			out = append(out, l.Path)
		}
		return out
	}
	return &Model{
		Host: f.t.Host, DenyRead: spelled(f.denyRead), AllowRead: spelled(f.allowRead),
		AllowWrite: spelled(f.allowWrite), DenyWrite: spelled(f.denyWrite),
		DefaultDeny: f.defaultDeny, Strict: f.strict, AllowedDomains: texts(f.allowed), DeniedDomains: texts(f.denied),
		Denied: texts(f.stops), Unenforced: f.accepted, Defaults: f.defaults, Argv: f.argv,
	}
}
