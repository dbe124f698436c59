package ir_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

func host(s string) ir.Host {
	if s == "*" {
		return ir.Host{Kind: ir.HostAny}
	}
	if name, ok := strings.CutPrefix(s, "*."); ok {
		return ir.Host{Kind: ir.HostSuffix, Name: name}
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return ir.Host{Kind: ir.HostAddr, Addr: a}
	}
	return ir.Host{Kind: ir.HostName, Name: s}
}

// TestNet covers matching and precedence of net rules.
func TestNet(t *testing.T) {
	rule := func(h, scheme string, port uint16, path string, allow bool) ir.NetRule {
		r := ir.NetRule{Host: host(h), Scheme: scheme, Port: port, Allow: allow}
		if path != "" {
			r.Path = strings.Split(path, "/")
		}
		return r
	}
	to := func(scheme, h string, port uint16, path string) ir.Endpoint {
		e := ir.Endpoint{Scheme: scheme, Host: host(h), Port: port}
		if path != "" {
			e.Path = strings.Split(path, "/")
		}
		return e
	}
	tests := []struct {
		name  string
		rules []ir.NetRule
		to    ir.Endpoint
		allow bool
	}{
		{"no rule", nil, to("https", "a.com", 443, ""), false},
		{"host", []ir.NetRule{rule("a.com", "", 0, "", true)}, to("https", "a.com", 443, ""), true},
		{"no string prefix of a host", []ir.NetRule{rule("a.com", "", 0, "", true)}, to("https", "a.com.evil.com", 443, ""), false},
		{"only the default port without one", []ir.NetRule{rule("a.com", "", 0, "", true)}, to("https", "a.com", 8443, ""), false},
		{"a port of any scheme", []ir.NetRule{rule("a.com", "", 5432, "", true)}, to("postgres", "a.com", 5432, ""), true},
		{"an unknown scheme has no default port", []ir.NetRule{rule("a.com", "", 0, "", true)}, to("postgres", "a.com", 5432, ""), false},
		{"scheme", []ir.NetRule{rule("a.com", "https", 0, "", true)}, to("http", "a.com", 80, ""), false},
		{"longer path wins", []ir.NetRule{rule("a.com", "", 0, "", true), rule("a.com", "", 0, "admin", false)}, to("https", "a.com", 443, "admin/x"), false},
		{"path by segment", []ir.NetRule{rule("a.com", "", 0, "", true), rule("a.com", "", 0, "admin", false)}, to("https", "a.com", 443, "administration"), true},
		{"scheme and port outweigh one segment", []ir.NetRule{rule("a.com", "https", 443, "", true), rule("a.com", "", 0, "x", false)}, to("https", "a.com", 443, "x"), true},
		{"the last one on a tie", []ir.NetRule{rule("a.com", "https", 0, "", true), rule("a.com", "", 443, "", false)}, to("https", "a.com", 443, ""), false},
		{"any label in front", []ir.NetRule{rule("*.a.com", "", 0, "", true)}, to("https", "x.y.a.com", 443, ""), true},
		{"not the apex", []ir.NetRule{rule("*.a.com", "", 0, "", true)}, to("https", "a.com", 443, ""), false},
		{"exact beats wildcard whatever is given", []ir.NetRule{rule("x.a.com", "", 0, "", false), rule("*.a.com", "https", 443, "p", true)}, to("https", "x.a.com", 443, "p"), false},
		{"the longer wildcard", []ir.NetRule{rule("*.a.com", "", 0, "", true), rule("*.b.a.com", "", 0, "", false)}, to("https", "x.b.a.com", 443, ""), false},
		{"a wildcard that does not match leaves it to the next", []ir.NetRule{rule("*", "", 0, "", true), rule("a.com", "ftp", 0, "", false)}, to("https", "a.com", 443, ""), true},
		{"everything", []ir.NetRule{rule("*", "", 0, "", true)}, to("https", "9.9.9.9", 443, ""), true},
		{"no private address by wildcard", []ir.NetRule{rule("*", "", 0, "", true)}, to("http", "192.168.0.1", 80, ""), false},
		{"no loopback by wildcard", []ir.NetRule{rule("*", "", 0, "", true)}, to("http", "::1", 80, ""), false},
		{"no metadata address by wildcard", []ir.NetRule{rule("*", "", 0, "", true)}, to("http", "169.254.169.254", 80, ""), false},
		{"no unspecified address by wildcard", []ir.NetRule{rule("*", "", 0, "", true)}, to("http", "0.0.0.0", 80, ""), false},
		{"a private address by name", []ir.NetRule{rule("192.168.0.1", "", 0, "", true)}, to("http", "192.168.0.1", 80, ""), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := ir.NewTool("t")
			tool.Net = tt.rules
			v := ir.NewView(tool, ir.Linux, ir.Facts{})
			got := v.Decide(ir.Connect{To: tt.to})
			if got.Allowed() != tt.allow {
				t.Errorf("got %v, want %v", got.Effect, tt.allow)
			}
			if w := v.Trace(ir.Connect{To: tt.to}, got); got.Rule != nil && (len(w) == 0 || !w[0].Wins) {
				t.Errorf("the trace does not start with the winner: %+v", w)
			}
		})
	}
}

// TestTies: a pair ties exactly where some target matches both and neither is more
// specific, which a search over all targets of a small world finds, too.
func TestTies(t *testing.T) {
	schemes, ports, methods := []string{"http", "https", "x", ir.Stream}, []uint16{80, 443, 9}, []string{"", "GET", "POST", "PUT"}
	irtest.Check(t, 4000, 1, func(rt *rapid.T) {
		draw := func(name string) ir.NetRule {
			r := ir.NetRule{Host: host("a")}
			r.Scheme = rapid.SampledFrom(append(schemes, "")).Draw(rt, name+" scheme")
			r.Port = rapid.SampledFrom([]uint16{0, 80, 443, 9}).Draw(rt, name+" port")
			r.Path = rapid.SliceOfN(rapid.SampledFrom([]string{"p", "q"}), 0, 2).Draw(rt, name+" path")
			r.Methods = rapid.SliceOfN(rapid.SampledFrom(methods[1:]), 0, 2).Draw(rt, name+" methods")
			return r
		}
		a, b := draw("a"), draw("b")
		b.Allow = true
		want := false
		for _, s := range schemes {
			for _, p := range ports {
				for _, path := range [][]string{nil, {"p"}, {"q"}, {"p", "p"}, {"p", "q"}, {"q", "p"}, {"q", "q"}} {
					for _, m := range methods {
						to := ir.Connect{To: ir.Endpoint{Scheme: s, Host: host("a"), Port: p, Path: path}, Method: m}
						want = want || decidesBy(to, a, b) && decidesBy(to, b, a)
					}
				}
			}
		}
		if got := a.Ties(&b); got != want {
			rt.Fatalf("%+v and %+v: got %v, want %v", a, b, got, want)
		}
	})
}

// TestEnv compares the index with a scan of all rules.
func TestEnv(t *testing.T) {
	names := []string{"", "A", "AB", "AB_", "ABC", "LD_PRELOAD", "LD_", "BASH_ENV", "B", "HOME"}
	irtest.Check(t, 5000, len(names), func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.Env, tool.Home = nil, ir.HomeReal
		for range rapid.IntRange(0, 6).Draw(rt, "rules") {
			tool.Env = append(tool.Env, ir.EnvRule{
				Name: rapid.SampledFrom(names).Draw(rt, "name"), Prefix: rapid.Bool().Draw(rt, "prefix"),
				Read: rapid.Bool().Draw(rt, "read"),
			})
		}
		view := ir.NewView(tool, ir.Linux, ir.Facts{})
		for _, n := range names {
			if got, want := view.Decide(ir.Forward{Name: n}).Allowed(), naiveEnv(tool.Env, n); got != want {
				rt.Fatalf("%q under %+v: got %v, want %v", n, tool.Env, got, want)
			}
		}
	})
}

func naiveEnv(rules []ir.EnvRule, name string) bool {
	best, read := -1, false
	for _, r := range rules {
		score := 2 * len(r.Name)
		switch {
		case r.Prefix && strings.HasPrefix(name, r.Name):
		case !r.Prefix && name == r.Name:
			score++
		default:
			continue
		}
		if score >= best {
			best, read = score, r.Read && (!r.Prefix || !ir.LoaderVariable(name))
		}
	}
	return read
}

// TestOwnVariables: variables that accessc sets are present unless denied by name.
func TestOwnVariables(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Env = []ir.EnvRule{{Name: "TMPDIR"}, {Name: "", Prefix: true}}
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	for name, want := range map[string]ir.Reason{
		"HOME": ir.ReasonOwn, "XDG_CACHE_HOME": ir.ReasonOwn, ir.ContextVariable: ir.ReasonOwn, "TMPDIR": ir.ReasonRule, "USER": ir.ReasonRule,
	} {
		if got := v.Decide(ir.Forward{Name: name}); got.Reason != want || got.Allowed() != (want == ir.ReasonOwn) {
			t.Errorf("%s: got %v (%v), want %v", name, got.Effect, got.Reason, want)
		}
	}
}

// TestWindowsFoldsNames: variables have no case there.
func TestWindowsFoldsNames(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Env = []ir.EnvRule{{Name: "Path", Read: true}}
	for p, want := range map[ir.Platform]bool{ir.Linux: false, ir.Windows: true} {
		if got := ir.NewView(tool, p, ir.Facts{}).Decide(ir.Forward{Name: "PATH"}).Allowed(); got != want {
			t.Errorf("%v: got %v, want %v", p, got, want)
		}
	}
}

// TestLoaderVariablesAreSorted keeps the binary search honest.
func TestLoaderVariablesAreSorted(t *testing.T) {
	for _, name := range []string{"LD_PRELOAD", "ld_audit", "NODE_OPTIONS", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "PYTHONPATH", "_JAVA_OPTIONS", "AWKPATH"} {
		if !ir.LoaderVariable(name) {
			t.Errorf("%s is no loader variable", name)
		}
	}
	for _, name := range []string{"HOME", "LANG", "ENVIRONMENT", "L", "", "PATH"} {
		if ir.LoaderVariable(name) {
			t.Errorf("%s is a loader variable", name)
		}
	}
}

// TestCommands walks through programs, arguments and the files they are.
func TestCommands(t *testing.T) {
	git, sh := ir.Sys("usr/bin/git"), ir.Sys("usr/bin/dash")
	own := ir.In("bin/tool")
	tool := policy(t, ". rx")
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{
		{Program: "git", File: &git, Args: []ir.ArgPattern{{Words: []string{"status"}, Rest: true}, {Words: []string{"log", "-1"}}}},
		{Program: "none", Args: []ir.ArgPattern{{}}},
		{Program: "never"},
		{Program: "sh", File: &sh, AnyArgs: true},
	}}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Program: &own})
	at := func(l ir.Location) *ir.Place { return ptr(ir.Direct(l)) }
	tests := []struct {
		op     ir.Run
		reason ir.Reason
		allow  bool
	}{
		{ir.Run{Program: "git", Args: []string{"status"}}, ir.ReasonRule, true},
		{ir.Run{Program: "git", Args: []string{"status", "**", "-s"}}, ir.ReasonRule, true},
		{ir.Run{Program: "git", Args: []string{"log", "-1"}}, ir.ReasonRule, true},
		{ir.Run{Program: "git", Args: []string{"log", "-1", "x"}}, ir.ReasonArgs, false},
		{ir.Run{Program: "git"}, ir.ReasonArgs, false},
		{ir.Run{Program: "none"}, ir.ReasonRule, true},
		{ir.Run{Program: "none", Args: []string{""}}, ir.ReasonArgs, false},
		{ir.Run{Program: "never"}, ir.ReasonArgs, false},
		{ir.Run{Program: "sh", Args: []string{"-c", "x"}}, ir.ReasonRule, true},
		{ir.Run{Program: "dash", File: at(sh)}, ir.ReasonRule, true},
		{ir.Run{Program: "ls"}, ir.ReasonCommand, false},
		{ir.Run{Program: "./bin/tool", File: at(own)}, ir.ReasonRule, true},
		{ir.Run{Program: "git", Args: []string{"status"}, File: at(ir.Sys("home/me/git"))}, ir.ReasonCommand, false},
	}
	for _, tt := range tests {
		got := v.Decide(tt.op)
		if got.Allowed() != tt.allow || got.Reason != tt.reason {
			t.Errorf("%+v: got %v (%v), want %v (%v)", tt.op, got.Effect, got.Reason, tt.allow, tt.reason)
		}
	}
	for l, want := range map[ir.Location]bool{git: true, own: true, ir.Sys("usr/bin/ls"): false} {
		if got := v.Decide(ir.Start{On: ir.Direct(l)}).Allowed(); got != want {
			t.Errorf("start %v: got %v, want %v", l, got, want)
		}
	}
	// A listed file is pinned; no other file becomes executable by moving.
	script := ir.In("bin/run")
	moves := policy(t, ". rcudx\nplain rcud")
	moves.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "bin/run", File: &script, AnyArgs: true}}}
	mv := ir.NewView(moves, ir.Linux, ir.Facts{})
	for dst, want := range map[string]ir.Reason{"a": ir.ReasonRule, "bin/run": ir.ReasonPinned, "bin": ir.ReasonPinned} {
		got := mv.Decide(ir.Rename{Src: in("plain/f"), Dst: in(dst), SrcKind: ir.File, DstKind: ir.Absent})
		if got.Reason != want {
			t.Errorf("moving to %s: got %v, want %v", dst, got.Reason, want)
		}
	}
	empty := policy(t, ". rx")
	empty.Commands = &ir.CommandSet{}
	if ir.NewView(empty, ir.Linux, ir.Facts{}).Decide(ir.Run{Program: "ls"}).Allowed() {
		t.Error("an empty table allows a program")
	}
}

// TestProgramNames: a program may be started by the name that its rule or its file has, since
// programs such as git or busybox take their argv[0] for a subcommand. A rule on another name
// of a dispatcher's file does not permit the file's own name.
func TestProgramNames(t *testing.T) {
	git, busybox, python := ir.Sys("usr/bin/git"), ir.Sys("usr/bin/busybox"), ir.Sys("usr/bin/python3.11")
	own, gone := ir.Sys("usr/bin/bash"), ir.In("later")
	words := func(w ...string) []ir.ArgPattern { return []ir.ArgPattern{{Words: w}} }
	tool := policy(t, ". rx")
	tool.Command = &ir.Command{Program: "/bin/sh", Args: []string{"go.sh"}}
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{
		{Program: "bin/run", File: ptr(ir.In("bin/run")), AnyArgs: true},
		{Program: "cat", File: &busybox, AnyArgs: true},
		{Program: "git", File: &git, Args: words("status")},
		{Program: "later", AnyArgs: true},
		{Program: "ls", File: &busybox, Args: words("-l")},
		{Program: "python3", File: &python, AnyArgs: true},
	}}
	base := []ir.FSRule{{At: ir.Sys("usr"), Caps: ir.Caps(ir.Read, ir.Execute)}}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Located: true, Bindings: &ir.Bindings{Workspace: "/ws"}, Program: &own, Base: base})
	tests := []struct {
		file   ir.Location
		argv   []string
		reason ir.Reason
	}{
		{git, []string{"git", "status"}, ir.ReasonRule},
		{git, []string{"/usr/bin/git", "status"}, ir.ReasonRule},
		{git, []string{"-git", "status"}, ir.ReasonRule},
		{git, []string{"git", "rm"}, ir.ReasonArgs},
		{git, []string{"git-rm", "status"}, ir.ReasonName},
		{git, []string{"/x/git-push", "status"}, ir.ReasonName},
		{git, []string{"git/", "status"}, ir.ReasonName},
		{git, []string{"--git", "status"}, ir.ReasonName},
		{git, []string{"", "status"}, ir.ReasonName},
		{git, []string{"-", "status"}, ir.ReasonName},
		{git, []string{"GIT", "status"}, ir.ReasonName},
		{git, []string{"later", "status"}, ir.ReasonName},
		{git, []string{"sh", "status"}, ir.ReasonName},
		{busybox, []string{"cat", "x"}, ir.ReasonRule},
		{busybox, []string{"ls", "-l"}, ir.ReasonRule},
		{busybox, []string{"ls", "x"}, ir.ReasonArgs},
		{busybox, []string{"sh", "-l"}, ir.ReasonName},
		{busybox, []string{"busybox", "sh"}, ir.ReasonName},
		{python, []string{"python3"}, ir.ReasonRule},
		{python, []string{"python3.11", "-c", "1"}, ir.ReasonRule},
		{python, []string{"python"}, ir.ReasonName},
		{own, []string{"sh", "-c", "any"}, ir.ReasonRule},
		{own, []string{"-sh"}, ir.ReasonRule},
		{own, []string{"bash"}, ir.ReasonRule},
		{own, []string{"rbash"}, ir.ReasonName},
		{ir.In("bin/run"), []string{"./bin/run"}, ir.ReasonRule},
		{ir.In("bin/run"), []string{"run"}, ir.ReasonRule},
		{ir.In("bin/run"), []string{"walk"}, ir.ReasonName},
		{gone, []string{"later"}, ir.ReasonMissing},
		{ir.In("other"), []string{"later"}, ir.ReasonMissing},
		{ir.In("other"), []string{"git", "status"}, ir.ReasonCommand},
		{ir.In("other"), []string{"sh"}, ir.ReasonCommand},
	}
	for _, tt := range tests {
		got := v.Decide(ir.Run{Program: tt.argv[0], Args: tt.argv[1:], File: ptr(ir.Direct(tt.file))})
		if got.Reason != tt.reason || got.Allowed() != (tt.reason == ir.ReasonRule) {
			t.Errorf("%v as %q: got %v (%v), want %v", tt.file, tt.argv, got.Effect, got.Reason, tt.reason)
		}
		if got.Rule == nil && got.Reason != ir.ReasonCommand {
			t.Errorf("%v as %q: no rule is named", tt.file, tt.argv)
		}
	}
	fault := v.Decide(ir.Run{Program: "later", File: &ir.Place{Fault: ir.ReasonMissing}})
	if fault.Reason != ir.ReasonMissing {
		t.Errorf("a program that is not found: %v", fault.Reason)
	}
	if last := v.Programs()[6]; last.Program != "/bin/sh" || last.Origin.Layer != ir.LayerImplied || *last.File != own {
		t.Errorf("the tool's own program is shown as %+v", last)
	}
}

// TestOwnProgramListed: a rule on the tool's own program replaces its implied rule; a rule on
// another name of the file does not.
func TestOwnProgramListed(t *testing.T) {
	dash := ir.Sys("usr/bin/dash")
	for name, want := range map[string]ir.Reason{"sh": ir.ReasonArgs, "dash": ir.ReasonRule} {
		tool := policy(t, ". rx")
		tool.Command = &ir.Command{Program: "sh"}
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: name, File: &dash, Args: []ir.ArgPattern{{Words: []string{"x"}}}}}}
		v := ir.NewView(tool, ir.Linux, ir.Facts{Program: &dash})
		if got := v.Decide(ir.Run{Program: "sh", File: ptr(ir.Direct(dash))}); got.Reason != want {
			t.Errorf("%s is listed: got %v, want %v", name, got.Reason, want)
		}
		if got := v.Decide(ir.Run{Program: "dash", File: ptr(ir.Direct(dash))}); got.Reason != ir.ReasonArgs {
			t.Errorf("%s is listed, dash: got %v", name, got.Reason)
		}
	}
}

// TestSensitive: patterns cover names in any directory, trees and stars.
func TestSensitive(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"**/.env", ".env", true}, {"**/.env", "a/b/.env", true}, {"**/.env", ".environment", false}, {"**/.env", ".env/x", false},
		{"**/.env.*", ".env.local", true}, {"**/.env.*", ".env", false}, {"keys/", "keys/a/b", true}, {"keys/", "keys", true},
		{"keys/", "other/keys/a", false}, {"**/keys/", "other/keys/a", true}, {"a/*.pem", "a/x.pem", true}, {"a/*.pem", "a/b/x.pem", false},
		{"**/[ab]?.pem", "x/ax.pem", true}, {"**/[^a]", "x/a", false}, {"a[b", "a[b", true},
		{"~/.ssh/", ".ssh/id", false}, {"*a*b*c", "xaxbxc", true}, {"*a*b*c", "xcxbxa", false}, {"x*", "x", true}, {"ab*ba", "aba", false},
	}
	for _, tt := range tests {
		if got := (ir.SensitivePattern{Pattern: tt.pattern}).Covers(tt.path); got != tt.want {
			t.Errorf("%s covers %s: got %v, want %v", tt.pattern, tt.path, got, tt.want)
		}
	}
}

// TestRisk walks through the classes.
func TestRisk(t *testing.T) {
	net := policy(t, ". r")
	net.Net = []ir.NetRule{{Host: host("a.com"), Allow: true}}
	denied := policy(t, ". r")
	denied.Net = []ir.NetRule{{Host: host("a.com"), Allow: true}, {Host: host("a.com")}}
	oneScheme := policy(t, ". r")
	oneScheme.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAny}, Allow: true}, {Host: ir.Host{Kind: ir.HostAny}, Scheme: "https"}}
	withheld := policy(t, ". r")
	withheld.Env = []ir.EnvRule{{Name: "LD_PRELOAD", Read: true}, {Name: "LD_PRELOAD"}}
	idle := policy(t, ". rx")
	idle.Commands = &ir.CommandSet{}
	loader := policy(t, ". r")
	loader.Env = []ir.EnvRule{{Name: "LD_PRELOAD", Read: true}}
	tests := map[string]struct {
		tool *ir.Tool
		want ir.Risk
	}{
		"reads": {policy(t, ". r"), ir.RiskLow}, "writes": {policy(t, ". r\nout rcud"), ir.RiskMedium},
		"executes": {policy(t, ". rx"), ir.RiskMedium}, "a secret": {policy(t, "cfg/.env r"), ir.RiskMedium},
		"reads outside": {policy(t, "ext:fork r"), ir.RiskMedium}, "writes outside": {policy(t, "ext:fork ru"), ir.RiskHigh},
		"network": {net, ir.RiskHigh}, "loader variable": {loader, ir.RiskHigh},
		"network by one method": {netRules(ir.NetRule{Host: host("a.com"), Methods: []string{"GET"}, Inspect: true, Allow: true}), ir.RiskHigh},
		"a stream":              {netRules(ir.NetRule{Host: host("a.com"), Scheme: ir.Stream, Port: 22, Allow: true}), ir.RiskHigh},
		"listens at loopback":   {netRules(ir.NetRule{Host: host("localhost"), Listen: true, Allow: true}), ir.RiskMedium},
		"listens everywhere":    {netRules(ir.NetRule{Host: host("*"), Listen: true, Port: 80, Allow: true}), ir.RiskHigh},
		"listens nowhere":       {netRules(ir.NetRule{Host: host("*"), Listen: true}), ir.RiskLow},
		"overridden network":    {denied, ir.RiskLow}, "network but for one scheme": {oneScheme, ir.RiskHigh},
		"overridden variable": {withheld, ir.RiskLow}, "overridden write": {policy(t, ". r\nout rcud\nout r"), ir.RiskLow},
		"overridden write outside": {policy(t, "ext:fork ru\next:fork r"), ir.RiskMedium}, "starts nothing": {idle, ir.RiskLow},
		"nothing": {policy(t, ""), ir.RiskLow},
	}
	for name, tt := range tests {
		if got := ir.RiskOf(tt.tool); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

// TestExposed lists the patterns that grants reach, and none without a grant.
func TestExposed(t *testing.T) {
	tool := policy(t, "src r\nkeys r")
	tool.Sensitive = []ir.SensitivePattern{{Pattern: "**/.env"}, {Pattern: "keys"}, {Pattern: "other"}, {Pattern: "~/.ssh/"}}
	if got := ir.Exposed(tool); !slices.Equal(got, []string{"**/.env", "keys"}) {
		t.Errorf("got %v", got)
	}
	if got := ir.Exposed(policy(t, "src")); len(got) != 0 {
		t.Errorf("without a grant: got %v", got)
	}
}

// TestLocate: the deepest root wins, equal roots in a fixed order.
func TestLocate(t *testing.T) {
	b := &ir.Bindings{
		Workspace: "/w", Home: "/w/.home", Temp: "/tmp/x", External: map[string]string{"a": "/ext", "b": "/ext", "c": "/ext/deep"},
	}
	ext := func(n, p string) ir.Location { return ir.Location{Root: ir.Root{Kind: ir.External, Name: n}, Path: p} }
	for abs, want := range map[string]ir.Location{
		"/w": ir.In(""), "/w/a/b": ir.In("a/b"), "/wa": ir.Sys("wa"), "/": ir.Sys(""), "/ext/x": ext("a", "x"),
		"/ext/deep/x": ext("c", "x"), "/w/.home/x": {Root: ir.Root{Kind: ir.Home}, Path: "x"},
	} {
		if got := b.Locate(abs); got != want {
			t.Errorf("%s: got %v, want %v", abs, got, want)
		}
		if back, ok := b.Path(b.Locate(abs)); !ok || back != abs {
			t.Errorf("%s: came back as %s", abs, back)
		}
	}
	root := &ir.Bindings{Workspace: "/"}
	if got := root.Locate("/etc"); got != ir.In("etc") {
		t.Errorf("a workspace at the root: got %v", got)
	}
}
