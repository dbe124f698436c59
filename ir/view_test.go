package ir_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// policy reads a compact policy: one rule per line, a path and capability letters
// (r, c, u, d, x), with "ext:NAME" for an external rule.
func policy(t *testing.T, text string) *ir.Tool {
	t.Helper()
	letters := map[rune]ir.Capability{'r': ir.Read, 'c': ir.Create, 'u': ir.Update, 'd': ir.Delete, 'x': ir.Execute}
	tool := ir.NewTool("t")
	tool.FS, tool.Declared.FS = nil, true
	for line := range strings.Lines(text) {
		path, caps, _ := strings.Cut(strings.TrimSpace(line), " ")
		if path == "" {
			continue
		}
		r := ir.FSRule{At: ir.In(strings.TrimPrefix(path, "."))}
		if strings.HasPrefix(path, ".") && path != "." {
			r.At = ir.In(path)
		}
		if name, ok := strings.CutPrefix(path, "ext:"); ok {
			r.External, r.At = true, ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}
		}
		for _, l := range caps {
			c, ok := letters[l]
			if !ok {
				t.Fatalf("unknown capability letter %q", l)
			}
			r.Caps = r.Caps.With(c)
		}
		tool.FS = append(tool.FS, r)
	}
	return tool
}

func in(path string) ir.Place { return ir.Direct(ir.In(path)) }

// TestMoves walks through the rules on renames, links and exchanges. Every reason that can refuse a move is here.
func TestMoves(t *testing.T) {
	tests := []struct {
		name   string
		policy string
		op     ir.Operation
		reason ir.Reason
		allow  bool
	}{
		{"within a region", ". rcudx", ir.Rename{Src: in("a"), Dst: in("b"), SrcKind: ir.File, DstKind: ir.Absent}, ir.ReasonRule, true},
		{"over a file needs update", ". rcd", ir.Rename{Src: in("a"), Dst: in("b"), SrcKind: ir.File, DstKind: ir.File}, ir.ReasonRule, false},
		{"over a directory needs delete and create", ". rud", ir.Rename{Src: in("a"), Dst: in("b"), SrcKind: ir.Dir, DstKind: ir.Dir}, ir.ReasonRule, false},
		{"onto something unknown needs everything", ". rcd", ir.Rename{Src: in("a"), Dst: in("b"), SrcKind: ir.File}, ir.ReasonRule, false},
		{"a denied file out of its place", ". rcud\n.env", ir.Rename{Src: in(".env"), Dst: in("e2"), SrcKind: ir.File, DstKind: ir.Absent}, ir.ReasonRule, false},
		{"the parent of a denied file", ". rcud\nsub/deep/.key", ir.Rename{Src: in("sub"), Dst: in("s2"), SrcKind: ir.Dir, DstKind: ir.Absent}, ir.ReasonPinned, false},
		{"the grandparent's neighbour", ". rcud\nsub/deep/.key", ir.Rename{Src: in("other"), Dst: in("o2"), SrcKind: ir.Dir, DstKind: ir.Absent}, ir.ReasonRule, true},
		{"a prepared directory into place", ". rcud\ntools/bin rx", ir.Rename{Src: in("prepared"), Dst: in("tools"), SrcKind: ir.Dir, DstKind: ir.Absent}, ir.ReasonPinned, false},
		{"a redundant rule pins nothing", ". rcud\nsrc rcud", ir.Rename{Src: in("src"), Dst: in("s2"), SrcKind: ir.Dir, DstKind: ir.Absent}, ir.ReasonRule, true},
		{"into a region with more", "inbox d\nout rcu", ir.Rename{Src: in("inbox/f"), Dst: in("out/f"), SrcKind: ir.File, DstKind: ir.Absent}, ir.ReasonNoGain, false},
		{"a file gains nothing by create", "inbox rd\nout rcd", ir.Rename{Src: in("inbox/f"), Dst: in("out/f"), SrcKind: ir.File, DstKind: ir.Absent}, ir.ReasonRule, true},
		{"a directory gains by create", "inbox rd\nout rcd", ir.Rename{Src: in("inbox/d"), Dst: in("out/d"), SrcKind: ir.Dir, DstKind: ir.Absent}, ir.ReasonNoGain, false},
		{"a drop box takes what loses", "src rcud\nbox cu", ir.Rename{Src: in("src/f"), Dst: in("box/f"), SrcKind: ir.File, DstKind: ir.Absent}, ir.ReasonRule, true},
		{"the workspace itself", ". rcudx", ir.Rename{Src: in(""), Dst: in("b"), SrcKind: ir.Dir, DstKind: ir.Absent}, ir.ReasonRoot, false},
		{"the symlink of a mount", ". rcud\next:fork rcud", ir.Rename{Src: in("fork"), Dst: in("f2"), SrcKind: ir.File, DstKind: ir.Absent}, ir.ReasonPinned, false},
		{"link within a region", ". rcu", ir.Link{Src: in("a"), Dst: in("b")}, ir.ReasonRule, true},
		{"link needs update of its source", ". rc", ir.Link{Src: in("a"), Dst: in("b")}, ir.ReasonRule, false},
		{"link of a denied file", ". rcud\n.env", ir.Link{Src: in(".env"), Dst: in("e2")}, ir.ReasonRule, false},
		{"link that gains execute", ". rcux\nsrc ru", ir.Link{Src: in("src/a"), Dst: in("b")}, ir.ReasonNoGain, false},
		{"link onto a rule's path", ". rcud\nb rc", ir.Link{Src: in("a"), Dst: in("b")}, ir.ReasonPinned, false},
		{"exchange within a region", ". rcud", ir.Exchange{A: in("a"), B: in("b"), AKind: ir.File, BKind: ir.File}, ir.ReasonRule, true},
		{"exchange with a lesser region", ". rcud\nlow rud", ir.Exchange{A: in("a"), B: in("low/b"), AKind: ir.File, BKind: ir.Dir}, ir.ReasonRule, false},
		{"copy to a new name", ". rc", ir.Copy{Src: in("a"), Dst: in("b"), DstKind: ir.Absent}, ir.ReasonRule, true},
		{"copy over a file", ". rc", ir.Copy{Src: in("a"), Dst: in("b"), DstKind: ir.File}, ir.ReasonRule, false},
		{"copy from what cannot be read", ". rcud\n.env", ir.Copy{Src: in(".env"), Dst: in("b"), DstKind: ir.Absent}, ir.ReasonRule, false},
		{"deleting the workspace", ". rcudx", ir.Access{Cap: ir.Delete, On: in("")}, ir.ReasonRoot, false},
		{"connecting to a socket file is update", ". rcd", ir.Dial{On: in("s")}, ir.ReasonRule, false},
		{"a script needs its interpreter", ". rx", ir.Start{On: in("s"), Interpreter: ptr(in("nothing/sh"))}, ir.ReasonRule, true},
		{"a script needs read", "s x\nsh rx", ir.Start{On: in("s"), Interpreter: ptr(in("sh"))}, ir.ReasonRule, false},
		{"no rule", "src r", ir.Access{Cap: ir.Read, On: in("docs")}, ir.ReasonDefault, false},
		{"a fault of the path", ". r", ir.Access{Cap: ir.Read, On: ir.Place{Fault: ir.ReasonLoop}}, ir.ReasonLoop, false},
		{"nothing", ". rcudx", nil, ir.ReasonNone, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := ir.NewView(policy(t, tt.policy), ir.Linux, ir.Facts{}).Decide(tt.op)
			if v.Allowed() != tt.allow || v.Reason != tt.reason {
				t.Errorf("got %v (%v), want %v (%v)", v.Effect, v.Reason, tt.allow, tt.reason)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

// TestPinNamesTheRule: a refusal names the rule that would have been carried.
func TestPinNamesTheRule(t *testing.T) {
	v := ir.NewView(policy(t, ". rcud\nsub/deep/.key"), ir.Linux, ir.Facts{})
	got := v.Decide(ir.Rename{Src: in("sub"), Dst: in("s2"), SrcKind: ir.Dir, DstKind: ir.Absent})
	if got.Pin == nil || got.Pin.At != ir.In("sub/deep/.key") {
		t.Errorf("got %+v, want the rule on sub/deep/.key", got.Pin)
	}
}

// TestAsked covers paths as asked for: leaving the workspace is allowed only through the
// external rule that wins for the lexical path.
func TestAsked(t *testing.T) {
	v := ir.NewView(policy(t, ". r\next:fork r\next:vendor/x ru"), ir.Linux, ir.Facts{})
	ext := func(name, path string) ir.Location {
		return ir.Location{Root: ir.Root{Kind: ir.External, Name: name}, Path: path}
	}
	tests := []struct {
		lexical string
		at      ir.Location
		c       ir.Capability
		reason  ir.Reason
		allow   bool
	}{
		{"fork/a", ext("fork", "a"), ir.Read, ir.ReasonRule, true},
		{"fork/a", ext("fork", "a"), ir.Update, ir.ReasonRule, false},
		{"vendor/x/a", ext("vendor/x", "a"), ir.Update, ir.ReasonRule, true},
		{"link/a", ext("fork", "a"), ir.Read, ir.ReasonEscape, false},
		{"fork/x", ext("vendor/x", ""), ir.Read, ir.ReasonEscape, false},
		{"fork/secrets", ir.Sys("etc"), ir.Read, ir.ReasonEscape, false},
		{"fork", ir.In("fork"), ir.Read, ir.ReasonRule, true},
		{"a", ir.In("b"), ir.Read, ir.ReasonRule, true},
		{"a", ir.Location{Root: ir.Root{Kind: ir.Home}}, ir.Read, ir.ReasonEscape, false},
	}
	for _, tt := range tests {
		got := v.Decide(ir.Access{Cap: tt.c, On: ir.Place{At: tt.at, Asked: true, Lexical: tt.lexical}})
		if got.Allowed() != tt.allow || got.Reason != tt.reason {
			t.Errorf("%s → %v: got %v (%v), want %v (%v)", tt.lexical, tt.at, got.Effect, got.Reason, tt.allow, tt.reason)
		}
	}
}

// TestAskedWithoutBase: a path outside is an escape also where the policy says nothing about
// the system at all. It used to be no match, since there is no region there.
func TestAskedWithoutBase(t *testing.T) {
	tool := policy(t, ". r")
	tool.Base = ir.BaseNone
	v := ir.NewView(tool, ir.Linux, ir.Facts{})
	got := v.Decide(ir.Access{Cap: ir.Read, On: ir.Place{At: ir.Sys("etc"), Asked: true, Lexical: "link"}})
	if got.Allowed() || got.Reason != ir.ReasonEscape {
		t.Errorf("got %v (%v)", got.Effect, got.Reason)
	}
}

// TestBaseAndRoots: undeclared places are judged by the base, the deepest root wins, and a root that is bound inside
// another root cannot be moved there.
func TestBaseAndRoots(t *testing.T) {
	tool := policy(t, ". rcud")
	b := &ir.Bindings{Workspace: "/home/me", Home: "/home/me/.local/state/t", Temp: "/tmp/run"}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: b})
	read := func(abs string) bool {
		return v.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(b.Locate(abs))}).Allowed()
	}
	for abs, want := range map[string]bool{
		"/usr/bin/env": true, "/etc/passwd": true, "/etc/shadow": false, "/etc/ssl/private/key": false, "/var/log/x": false,
		"/home/me/x": true, "/home/other": false, "/tmp/run/x": true, "/tmp/other": false, "/sys/kernel": false,
		"/home/me/.local/state/t/x": true,
	} {
		if got := read(abs); got != want {
			t.Errorf("read %s: got %v, want %v", abs, got, want)
		}
	}
	move := ir.Rename{Src: in(".local"), Dst: in("l2"), SrcKind: ir.Dir, DstKind: ir.Absent}
	if got := v.Decide(move); got.Reason != ir.ReasonPinned {
		t.Errorf("moving what holds the private home: got %v, want %v", got.Reason, ir.ReasonPinned)
	}
	if got := b.Locate("/home/me/.local/state/t/a"); got.Root.Kind != ir.Home || got.Path != "a" {
		t.Errorf("got %v, want the private home", got)
	}
}

// TestPlatformsHaveBases: every platform has every base, and BaseNone is empty.
func TestPlatformsHaveBases(t *testing.T) {
	for _, p := range ir.Platforms {
		for _, b := range []ir.BaseName{ir.BaseSystem, ir.BaseMinimal} {
			if len(ir.BaseRules(b, p)) == 0 {
				t.Errorf("%v has no base %v", p, b)
			}
		}
		if n := len(ir.BaseRules(ir.BaseNone, p)); n != 0 {
			t.Errorf("%v: the base none has %d rules", p, n)
		}
	}
}

// TestTrace: the winner comes first and without a note, the others say why they lost.
func TestTrace(t *testing.T) {
	v := ir.NewView(policy(t, ". r\nsrc r\nsrc ru\nsrc/gen rcud"), ir.Linux, ir.Facts{})
	op := ir.Access{Cap: ir.Read, On: in("src/a")}
	got := v.Trace(op, v.Decide(op))
	want := []ir.RuleID{"fs[2]", "fs[1]", "fs[0]"}
	if len(got) != len(want) {
		t.Fatalf("got %d rules, want %d", len(got), len(want))
	}
	for i, c := range got {
		if c.ID != want[i] || c.Wins != (i == 0) || (c.Note == "") != (i == 0) {
			t.Errorf("%d: got %s, wins %v, note %q", i, c.ID, c.Wins, c.Note)
		}
	}
}

// TestInTemp: a view for another temporary directory answers as a view that is made for it, and is none where a
// directory pins a name of another root.
func TestInTemp(t *testing.T) {
	names := []string{"a", "b", "h", "t"}
	shared, own := 0, 0
	irtest.Check(t, 2000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, names, 5)
		b := ir.Bindings{
			Workspace: rapid.SampledFrom([]string{"/w", "/t/w", "/h/w"}).Draw(rt, "workspace"),
			Home:      rapid.SampledFrom([]string{"", "/h", "/w/h", "/t/x/h"}).Draw(rt, "home"),
			Temp:      rapid.SampledFrom([]string{"", "/t", "/w/t", "/h/a/t", "/h", "/t/x"}).Draw(rt, "before"),
		}
		irtest.Bind(&b, tool, "/h/user")
		before := b
		view := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: &before})
		b.Temp = rapid.SampledFrom([]string{"/t", "/w/t", "/h/a/t", "/h", "/elsewhere", "/t/x"}).Draw(rt, "temp")
		got, ok := view.InTemp(b.Temp)
		if !ok {
			own++
			return
		}
		shared++
		want := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: &b})
		if !reflect.DeepEqual(got.Tree(), want.Tree()) {
			rt.Fatalf("%+v: another tree", b)
		}
		for range 20 {
			src, dst := ir.Direct(irtest.Place(rt, names)), ir.Direct(irtest.Place(rt, names))
			for _, op := range []ir.Operation{
				ir.Access{Cap: ir.Read, On: src}, ir.Access{Cap: ir.Delete, On: src},
				ir.Rename{Src: src, Dst: dst, SrcKind: irtest.Kind(rt, ir.File, ir.Dir), DstKind: ir.Absent},
			} {
				if g, w := got.Decide(op), want.Decide(op); !reflect.DeepEqual(g, w) {
					rt.Fatalf("%+v: %v: %v, not %v", b, op, g, w)
				}
			}
		}
	})
	if shared == 0 || own == 0 {
		t.Errorf("%d shared, %d not", shared, own)
	}
}
