package fence

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/text/jsonc"
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
