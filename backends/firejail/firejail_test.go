package firejail_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/firejail"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/mnt"
)

// TestProperty: the sandbox that firejail makes of the emitted text permits the operations that the policy permits, or
// the ledger in the text states the difference.
func TestProperty(t *testing.T) {
	seen := map[string]int{}
	irtest.Check(t, 4000, mnt.Cases, func(rt *rapid.T) {
		mnt.Compare(rt, func(tool *ir.Tool, target backends.Target) mnt.Artifact {
			out, err := firejail.Backend{}.Compile(tool, target)
			if err != nil {
				rt.Fatal(err)
			}
			view := ir.NewView(tool, ir.Linux, ir.Facts{})
			if len(out.Refusals) == 1 && strings.HasPrefix(out.Refusals[0].Why, "nothing is granted in the workspace") {
				for _, name := range append([]string{""}, irtest.Plain...) {
					at, kind := ir.In(name), ir.Dir
					if target.Node != nil {
						kind, _ = target.Node(at.String())
					}
					v := view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(at)})
					by, _ := v.Rule.(*ir.FSRule)
					if kind != ir.Absent && v.Allowed() && !by.ByName() {
						rt.Fatalf("refused, and %s is granted", at)
					}
				}
				seen["refused"]++
				rt.Skip(out.Refusals[0].Why)
			}
			comment, lines, err := firejail.Parse(out.Data)
			if err != nil {
				rt.Fatalf("%v\n%s\n%+v", err, out.Data, out.Refusals)
			}
			ledger, err := backends.Ledger(comment.Ledger)
			if err != nil {
				rt.Fatal(err)
			}
			return mnt.Artifact{View: view, Entries: mnt.Firejail(lines), Ledger: ledger, Loose: true}
		}, seen)
	})
	irtest.Happened(t, seen, "alike", "mounts.whole", "mounts.starts", "mounts.late", "mounts.missing", "mounts.loose", "mounts.covered", "refused")
}

// TestParse: a profile without one of the lines that confine any tool, or with a line that no compiler writes, is
// refused.
func TestParse(t *testing.T) {
	out, err := firejail.Backend{}.Compile(ir.NewTool("t"), backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Data)
	for _, change := range [][2]string{
		{"net none\n", ""}, {"restrict-namespaces", "allow-namespaces"}, {"private-cwd", "include"}, {`"format_version":1`, `"format_version":2`}, {"# ", ""},
		{"env TMPDIR=", "env LD_PRELOAD="}, {"env TMPDIR=", "env "}, {"private-cwd ", "private-cwd TMPDIR="},
	} {
		other := strings.Replace(text, change[0], change[1], 1)
		if other == text {
			t.Fatalf("%s is not in the profile", change[0])
		}
		if _, _, err := firejail.Parse([]byte(other)); !errors.Is(err, firejail.ErrProfile) {
			t.Errorf("%s: %v", change[0], err)
		}
	}
}

// TestNames: a name of which firejail would read another name is refused, by the compiler and in a profile.
func TestNames(t *testing.T) {
	compile := func(name, workspace string) backends.Output {
		tool := ir.NewTool("t")
		tool.FS = []ir.FSRule{{Written: name, At: ir.In(name), Caps: ir.Caps(ir.Read)}}
		facts := ir.Facts{Bindings: &ir.Bindings{Workspace: workspace, Home: "/h"}, Base: []ir.FSRule{}}
		node := func(place string) (ir.NodeKind, string) { return ir.Dir, place }
		out, err := firejail.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: facts, Node: node})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, name := range []string{
		"a*", "a?", "a[b]", "a,b", "a\nb", "secret  key", "dir ", "a\tb", "x #y", "x#y", "#", "x\ry", "x\x01y", "x\x7fy", `x\y`, `x"y`, "${HOME}", "x!y",
	} {
		if out := compile(name, "/w"); out.Data != nil || len(out.Refusals) != 1 {
			t.Errorf("%q: %s, %+v", name, out.Data, out.Refusals)
		}
		if out := compile("a", "/"+name); out.Data != nil || len(out.Refusals) != 1 {
			t.Errorf("a workspace %q: %s, %+v", name, out.Data, out.Refusals)
		}
		text := string(compile("a", "/w").Data) + "blacklist /w/" + name + "\n"
		if _, _, err := firejail.Parse([]byte(text)); !errors.Is(err, firejail.ErrProfile) {
			t.Errorf("a line with %q: %v", name, err)
		}
	}
	for _, name := range []string{"a b", " a/b", "it's", "x$y", "~", "(a)", "x@y", "é"} {
		out := compile(name, "/w")
		if _, lines, err := firejail.Parse(out.Data); err != nil || !strings.Contains(string(out.Data), " /w/"+name+"\n") {
			t.Errorf("%q: %+v, %v, %+v", name, lines, err, out.Refusals)
		}
	}
}

// TestLines: no line is longer than firejail reads, so that no part of the comment is taken for a command.
func TestLines(t *testing.T) {
	tool := ir.NewTool("t")
	for i := range 300 {
		name := fmt.Sprintf("file%d", i)
		tool.FS = append(tool.FS, ir.FSRule{Written: name, At: ir.In(name), Caps: ir.Caps(ir.Read)})
	}
	for i := range 300 {
		tool.Accept = append(tool.Accept, ir.Acceptance{Gap: ir.Gap(fmt.Sprintf("gap number %d is long", i))})
	}
	out, err := firejail.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	comment, _, err := firejail.Parse(out.Data)
	if err != nil || len(comment.Accept) != 300 || len(out.Data) < 10_000 {
		t.Fatalf("%d bytes: %v", len(out.Data), err)
	}
	for l := range strings.Lines(string(out.Data)) {
		if len(l) > 8000 {
			t.Errorf("a line of %d bytes begins %s", len(l), l[:40])
		}
	}
	long := ir.NewTool("t")
	name := strings.Repeat("directory/", 820) + "file"
	long.FS = []ir.FSRule{{Written: name, At: ir.In(name), Caps: ir.Caps(ir.Read)}}
	if out, err = (firejail.Backend{}).Compile(long, backends.Target{Form: backends.Portable}); err != nil || out.Data != nil || len(out.Refusals) != 1 {
		t.Errorf("a place of %d bytes: %v, %+v", len(name), err, out.Refusals)
	}
}

// TestStarts: a policy under which firejail starts nothing is refused, a policy under which it starts is not.
// Cause: that nothing is granted in the workspace, that places lie in more directories of / than firejail replaces, and
// that firejail replaces a directory of /usr as a whole, showed only at the start.
func TestStarts(t *testing.T) {
	node := func(place string) (ir.NodeKind, string) { return ir.Dir, place }
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("/top%d/x", i))
		}
		return out
	}
	for name, c := range map[string]struct {
		workspace string
		rules     []string
		why       string
	}{
		"the workspace":           {"/w/s", []string{"/w/s"}, ""},
		"a place in it":           {"/w/s", []string{"/w/s/a/b"}, ""},
		"a directory around it":   {"/w/s", []string{"/w"}, "nothing is granted in the workspace"},
		"one around both":         {"/w/s", []string{"/w", "/w/s/a"}, "nothing is granted in the workspace"},
		"a place beside it":       {"/w/s", []string{"/w/sa"}, "nothing is granted in the workspace"},
		"nothing":                 {"/w/s", nil, "nothing is granted in the workspace"},
		"as many as it takes":     {"/w/s", append(many(63), "/w/s"), ""},
		"one more":                {"/w/s", append(many(64), "/w/s"), "these are in 65"},
		"one more that is whole":  {"/w/s", append(many(63), "/w/s", "/top64"), ""},
		"one in /usr":             {"/w/s", append(many(62), "/w/s", "/usr/lib/a", "/usr/share/b"), "these are in 65"},
		"a whole directory in it": {"/w/s", append(many(63), "/w/s", "/usr/lib"), ""},
		"a part of /sys":          {"/w/s", []string{"/w/s", "/sys/kernel"}, "single places of /sys"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := ir.NewTool("t")
			tool.Base, tool.Protects, tool.FS = ir.BaseNone, false, nil
			facts := ir.Facts{Bindings: &ir.Bindings{Workspace: c.workspace, Home: "/w/h"}, Base: []ir.FSRule{}}
			for _, place := range c.rules {
				r := ir.FSRule{Written: place, At: ir.Sys(strings.TrimPrefix(place, "/")), Caps: ir.Caps(ir.Read)}
				if in, below := strings.CutPrefix(place+"/", c.workspace+"/"); below {
					r.At = ir.In(strings.TrimSuffix(in, "/"))
					tool.FS = append(tool.FS, r)
					continue
				}
				facts.Base = append(facts.Base, r)
			}
			out, err := firejail.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: facts, Node: node})
			if err != nil || (c.why == "") != (out.Data != nil) {
				t.Fatalf("%v, %+v\n%s", err, out.Refusals, out.Data)
			}
			if c.why != "" && !strings.Contains(out.Refusals[0].Why, c.why) {
				t.Errorf("%+v", out.Refusals)
			}
		})
	}
}
