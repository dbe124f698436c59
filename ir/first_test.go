package ir_test

import (
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestFirstRuleNamed has verdicts name the rule that decides where it is the first one of the
// policy, and no rule where none matches.
func TestFirstRuleNamed(t *testing.T) {
	tool := policy(t, "a rcud\na/b rud")
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	for path, want := range map[string]ir.Rule{"a": &tool.FS[0], "a/x": &tool.FS[0], "a/b": &tool.FS[1], "c": nil} {
		got := v.Decide(ir.Access{Cap: ir.Read, On: in(path)})
		if got.Rule != want || (got.Reason == ir.ReasonRule) != (want != nil) {
			t.Errorf("%s: %v by %v, want %v", path, got.Reason, got.Rule, want)
		}
	}
	got := v.Decide(ir.Rename{Src: in("a/b"), Dst: in("a/c"), SrcKind: ir.Dir, DstKind: ir.Absent})
	if got.Reason != ir.ReasonPinned || got.Pin != &tool.FS[1] || got.Rule != ir.Rule(&tool.FS[1]) {
		t.Errorf("a/b: %+v", got)
	}
	got = v.Decide(ir.Rename{Src: in("a"), Dst: in("c"), SrcKind: ir.Dir, DstKind: ir.Absent})
	if got.Allowed() {
		t.Errorf("a: %+v", got)
	}
}

// TestFirstExternalRule is asked about the target of an external rule that is the policy's first.
func TestFirstExternalRule(t *testing.T) {
	v := ir.NewView(policy(t, "ext:fork r"), ir.Linux, ir.Facts{})
	at := ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}, Path: "a"}
	got := v.Decide(ir.Access{Cap: ir.Read, On: ir.Place{At: at, Asked: true, Lexical: "fork/a"}})
	if !got.Allowed() || got.Reason != ir.ReasonRule {
		t.Errorf("%+v", got)
	}
}

// TestTiesByName has the cases of Ties in which one condition decides.
func TestTiesByName(t *testing.T) {
	rule := func(scheme string, port uint16, path ...string) *ir.NetRule {
		return &ir.NetRule{Host: host("a"), Scheme: scheme, Port: port, Path: path}
	}
	for _, c := range []struct {
		a, b *ir.NetRule
		want bool
	}{
		{rule("http", 0), rule("http", 0), true},
		{rule("http", 0), rule("https", 0), false},
		{rule("http", 0), rule("", 80), true},
		{rule("http", 0), rule("", 443), false},
		{rule("", 80), rule("", 81), false},
		{rule("", 80), rule("", 80), true},
		{rule("x", 0), rule("", 80), false},
		{rule("x", 0), rule("x", 0), false},
		{rule("", 0), rule("", 0), true},
		{rule("", 0, "p"), rule("", 0, "q"), false},
		{rule("", 0, "p"), rule("", 0, "p"), true},
		{rule("http", 0), rule("http", 80), false},
	} {
		if got := c.a.Ties(c.b); got != c.want || c.b.Ties(c.a) != c.want {
			t.Errorf("%+v and %+v: got %v, %v, want %v", *c.a, *c.b, got, c.b.Ties(c.a), c.want)
		}
	}
}

// TestWithin: a path lies in a directory by components; empty and / hold everything.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"a", "a", true}, {"a/b", "a", true}, {"a/b", "a/", true}, {"ab", "a", false}, {"a", "a/b", false}, {"a", "", true}, {"", "", true}, {"", "a", false},
		{"/a", "/a/", false}, {"/a/", "/a", true}, {"/a", "/", true}, {"/", "/", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/", "/a", false},
	} {
		if got := ir.Within(c.path, c.dir); got != c.want {
			t.Errorf("%q in %q: got %v", c.path, c.dir, got)
		}
	}
}

// TestLocateByComponents finds the deepest root of an absolute path, by components.
func TestLocateByComponents(t *testing.T) {
	b := ir.Bindings{Workspace: "/w", Home: "/w/home", Temp: "/tmp/t"}
	for abs, want := range map[string]ir.Location{
		"/w":        ir.In(""),
		"/w/a/b":    ir.In("a/b"),
		"/wa":       ir.Sys("wa"),
		"/":         ir.Sys(""),
		"/tmp/t2":   ir.Sys("tmp/t2"),
		"/w/home":   {Root: ir.Root{Kind: ir.Home}},
		"/w/home/x": {Root: ir.Root{Kind: ir.Home}, Path: "x"},
		"/tmp/t/x":  {Root: ir.Root{Kind: ir.Temp}, Path: "x"},
	} {
		if got := b.Locate(abs); got != want {
			t.Errorf("%s: got %+v, want %+v", abs, got, want)
		}
	}
	same := ir.Bindings{Workspace: "/w", Home: "/w"}
	if got := same.Locate("/w/a"); got != ir.In("a") {
		t.Errorf("a home that is the workspace: got %+v", got)
	}
}

// TestImpliedRulesNamed has verdicts on the base name its rules, the first one included.
func TestImpliedRulesNamed(t *testing.T) {
	tool := ir.NewTool("t")
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	for _, want := range ir.ImpliedRules(tool) {
		got := v.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(want.At)})
		rule, ok := got.Rule.(*ir.FSRule)
		if got.Reason != ir.ReasonRule || !ok || rule.At != want.At {
			t.Errorf("%+v: %+v", want.At, got)
		}
	}
}

// TestFaultOfProgram refuses a program whose path cannot be evaluated, and lets the commands
// decide about a missing program.
func TestFaultOfProgram(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "make", AnyArgs: true, AllEnvs: true}}}
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	for _, program := range []string{"make", "cc"} {
		got := v.Decide(ir.Run{Program: program, File: &ir.Place{Fault: ir.ReasonEscape}})
		if got.Allowed() || got.Reason != ir.ReasonEscape {
			t.Errorf("%s escapes: %+v", program, got)
		}
	}
	listed := v.Decide(ir.Run{Program: "make", File: &ir.Place{Fault: ir.ReasonMissing}})
	other := v.Decide(ir.Run{Program: "cc", File: &ir.Place{Fault: ir.ReasonMissing}})
	if listed.Reason == other.Reason || other.Allowed() {
		t.Errorf("missing: make %+v, cc %+v", listed, other)
	}
}

// TestOwnProgramDoubled adds the tool's own program to the list, unless it stands there.
func TestOwnProgramDoubled(t *testing.T) {
	file, other := ir.In("bin/run"), ir.In("bin/other")
	for _, c := range []struct {
		program string
		file    *ir.Location
		want    int
	}{
		{"bin/run", nil, 1},
		{"run", &file, 1},
		{"bin/run", &other, 2},
		{"walk", &file, 2},
	} {
		tool := ir.NewTool("t")
		tool.Command = &ir.Command{Program: "bin/run"}
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: c.program, File: c.file, AnyArgs: true, AllEnvs: true}}}
		v := ir.NewView(tool, ir.Linux, ir.Facts{Program: &file, Bindings: &ir.Bindings{Workspace: "/w"}})
		if got := len(v.Programs()); got != c.want {
			t.Errorf("%s %v: %d programs, want %d", c.program, c.file, got, c.want)
		}
	}
}
