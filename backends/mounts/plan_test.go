package mounts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/ir"
)

// lines writes mounts in a form to compare.
func lines(p *mounts.Plan) string {
	var b strings.Builder
	for _, m := range p.Mounts {
		fmt.Fprintf(&b, "%s %s", m.Kind, m.Place)
		for word, is := range map[string]bool{" write": m.Mode == mounts.ReadWrite, " read": m.Mode == mounts.ReadOnly} {
			if is {
				b.WriteString(word)
			}
		}
		for _, mark := range []struct {
			word string
			is   bool
		}{{" noexec", m.NoExec}, {" pin", m.Pin}, {" leads", m.Leads && m.Kind == mounts.Hide}, {" -> " + m.To, m.To != ""}} {
			if mark.is {
				b.WriteString(mark.word)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// host is a target whose files are in a list; names that end in a slash are directories, and
// NAME=TO is a symbolic link.
func host(b ir.Bindings, base []ir.FSRule, files ...string) backends.Target {
	return backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &b, Base: base}, Node: func(place string) (ir.NodeKind, string) {
		for _, f := range files {
			name, to, link := strings.Cut(f, "=")
			switch {
			case link && name == place:
				return ir.Dir, to
			case name == place+"/":
				return ir.Dir, place
			case name == place:
				return ir.File, place
			}
		}
		return ir.Absent, place
	}}
}

func rule(path string, caps ...ir.Capability) ir.FSRule {
	return ir.FSRule{Written: path, At: ir.In(path), Caps: ir.Caps(caps...), Origin: ir.Origin{Layer: ir.LayerWorkspace}}
}

func write(path string) ir.FSRule { return rule(path, ir.Capabilities[:]...) }

// TestLayout: each kind of mount where it belongs.
func TestLayout(t *testing.T) {
	for name, c := range map[string]struct {
		base  ir.BaseName
		rules []ir.FSRule
		files []string
		links []ir.FSRule
		want  string
	}{
		"an exception of each kind": {
			rules: []ir.FSRule{write(""), rule("secret"), rule("keys"), rule("docs", ir.Read), rule("gone")},
			files: []string{"/h/ws/secret", "/h/ws/keys/", "/h/ws/docs/"},
			want: `lead /h
bind /h/home write
bind /h/ws write
bind /h/ws/docs read noexec
hide /h/ws/keys
hide /h/ws/secret
bind ${tmp} write
`,
		},
		"a place in one that is closed": {
			rules: []ir.FSRule{write(""), rule("keys"), rule("keys/a/public", ir.Read, ir.Execute)},
			files: []string{"/h/ws/keys/", "/h/ws/keys/a/", "/h/ws/keys/a/public"},
			want: `lead /h
bind /h/home write
bind /h/ws write
hide /h/ws/keys leads
lead /h/ws/keys/a
bind /h/ws/keys/a/public read
bind ${tmp} write
`,
		},
		"names that lead to an exception do not move": {
			rules: []ir.FSRule{write(""), rule("a/b/secret"), rule("docs", ir.Read, ir.Execute), rule("docs/x/secret")},
			files: []string{"/h/ws/a/", "/h/ws/a/b/", "/h/ws/a/b/secret", "/h/ws/docs/", "/h/ws/docs/x/", "/h/ws/docs/x/secret"},
			want: `lead /h
bind /h/home write
bind /h/ws write
bind /h/ws/a write pin
bind /h/ws/a/b write pin
hide /h/ws/a/b/secret
bind /h/ws/docs read
hide /h/ws/docs/x/secret
bind ${tmp} write
`,
		},
		"a workspace of which a part is granted": {
			rules: []ir.FSRule{rule("src/lib", ir.Read)},
			files: []string{"/h/ws/src/", "/h/ws/src/lib/"},
			want: `lead /h
bind /h/home write
lead /h/ws
lead /h/ws/src
bind /h/ws/src/lib read noexec
bind ${tmp} write
`,
		},
		"the base": {
			base:  ir.BaseSystem,
			rules: []ir.FSRule{},
			links: []ir.FSRule{
				{At: ir.Sys("usr"), Caps: ir.Caps(ir.Read, ir.Execute)}, {At: ir.Sys("etc/hosts"), Caps: ir.Caps(ir.Read)},
				{At: ir.Sys("dev/null"), Caps: ir.Caps(ir.Read, ir.Update)}, {At: ir.Sys("dev/tty"), Caps: ir.Caps(ir.Read, ir.Update)},
				{At: ir.Sys("dev/shm"), Caps: ir.All.Without(ir.Execute)}, {At: ir.Sys("proc/self"), Caps: ir.Caps(ir.Read)},
			},
			files: []string{"/usr/", "/etc/", "/etc/hosts", "/bin=/usr/bin", "/lib64=/usr/lib64", "/opt=/srv/opt", "/dev/", "/proc/"},
			want: `link /bin -> /usr/bin
devices /dev
memory /dev/shm write noexec
lead /etc
bind /etc/hosts read noexec
lead /h
bind /h/home write
lead /h/ws
link /lib64 -> /usr/lib64
processes /proc
bind /usr read
bind ${tmp} write
`,
		},
		"single devices": {
			base:  ir.BaseMinimal,
			rules: []ir.FSRule{},
			links: []ir.FSRule{{At: ir.Sys("dev/null"), Caps: ir.Caps(ir.Read, ir.Update)}, {At: ir.Sys("dev/urandom"), Caps: ir.Caps(ir.Read)}},
			files: []string{"/dev/", "/dev/null", "/dev/urandom"},
			want: `lead /dev
device /dev/null write
device /dev/urandom read
lead /h
bind /h/home write
lead /h/ws
bind ${tmp} write
`,
		},
	} {
		tool := ir.NewTool("t")
		tool.Base, tool.FS, tool.Declared.FS, tool.Protects = ir.BaseNone, c.rules, true, false
		if c.base != 0 {
			tool.Base = c.base
		}
		for i := range c.links {
			c.links[i].Origin.Layer = ir.LayerBase
		}
		plan := mounts.New(tool, host(ir.Bindings{Workspace: "/h/ws", Home: "/h/home"}, c.links, c.files...))
		if diff := cmp.Diff(c.want, lines(plan)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// TestWholeLedger: a ledger states every cell once, with a sentence for each cause and a gap where a
// start is to accept it, whatever the program can do.
func TestWholeLedger(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{write(""), rule(".env"), rule("out", ir.Create), rule("bin", ir.Execute)}
	tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAny}, Allow: true}, {Host: ir.Host{Kind: ir.HostAny}, Listen: true, Allow: true}, {Host: ir.Host{Kind: ir.HostAny}, Listen: true}}
	tool.Env = []ir.EnvRule{{Name: "A", Read: true}, {Name: "B"}}
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git", AnyArgs: true, AllEnvs: true}, {Program: "make"}}}
	for _, k := range ir.LimitKinds {
		tool.Limits = append(tool.Limits, ir.Limit{Kind: k, Value: 1})
	}
	tool.May, tool.MayNet = []ir.FSRule{rule("x", ir.Read)}, []ir.NetRule{{Allow: true}}
	plan := mounts.New(tool, backends.Target{Form: backends.Portable})
	for _, m := range []mounts.Means{
		{}, {NoExec: true, NoSockets: true, NewSession: true, OwnProcesses: true, Forwards: true, Limit: mounts.Rlimits},
	} {
		ledger := plan.Ledger(m)
		for _, c := range plan.View().Cells() {
			row, ok := ledger.Cell(c.Resource, c.ID, c.Aspect, 0, 0)
			count := 0
			for _, r := range ledger {
				if r.Resource == c.Resource && slices.Contains(r.Rules, c.ID) && slices.Contains(r.Aspects, c.Aspect) {
					count++
				}
			}
			if !ok || count != 1 || row.Is == ir.Unstated || row.Is != ir.Exact && len(row.Causes) == 0 || !row.Is.Held() && !row.Gap.Known() {
				t.Errorf("%+v: %s %s has %d rows: %+v", m, c.ID, c.Aspect, count, row)
			}
			for _, cause := range row.Causes {
				if mounts.Sentences()[cause.ID] == "" {
					t.Errorf("%s has no sentence", cause)
				}
			}
		}
	}
}

// TestKnownHost: where all places are known to be there, no row speaks of missing ones.
func TestKnownHost(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Base, tool.Protects = ir.BaseNone, false
	tool.FS = []ir.FSRule{write(""), rule(".env"), rule("docs", ir.Read)}
	b := ir.Bindings{Workspace: "/w", Home: "/h"}
	for files, late := range map[string]bool{"/w/.env /w/docs/": false, "/w/docs/": true} {
		ledger := mounts.New(tool, host(b, nil, strings.Fields(files)...)).Ledger(mounts.Means{})
		row, _ := ledger.Cell(ir.FS, "fs[1]", ir.AspectRead, 0, 0)
		if (row.Gap == ir.GapFSLate) != late {
			t.Errorf("%s: %+v", files, row)
		}
		if row, _ := ledger.Cell(ir.FS, "fs[2]", ir.AspectOthers, 0, 0); row.Gap != ir.GapFSReplaced {
			t.Errorf("a place in one that grants more: %+v", row)
		}
		if row, _ := ledger.Cell(ir.FS, "fs[0]", ir.AspectOthers, 0, 0); row.Is != ir.Assumed {
			t.Errorf("a place in nothing: %+v", row)
		}
	}
}

// TestProtectedLink: a symbolic link to a protected place cannot be a mount, and the ledger says so beside what it says
// about places that are missing.
func TestProtectedLink(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS, tool.Declared.FS = []ir.FSRule{write("")}, true
	says := func(to string) bool {
		target := host(ir.Bindings{Workspace: "/w", Home: "/h"}, nil)
		target.Node = func(place string) (ir.NodeKind, string) {
			switch place {
			case "/w":
				return ir.Dir, place
			case "/w/.envrc":
				return ir.File, to
			}
			return ir.Absent, place
		}
		p := mounts.New(tool, target)
		for _, r := range p.Ledger(mounts.Means{NoSockets: true}) {
			if slices.Contains(r.Aspects, ir.AspectMove) && r.Gap == ir.GapFSProtected && slices.ContainsFunc(r.Causes, func(c ir.Cause) bool { return c.ID == "mounts.link" }) {
				return true
			}
		}
		return false
	}
	if !says("/w/conf/envrc") {
		t.Error("no row says that the link can be moved")
	}
	if says("/w/.envrc") {
		t.Error("a row is about a link, and there is none")
	}
}
