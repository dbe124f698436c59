package firejail_test

import (
	"errors"
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
			comment, lines, err := firejail.Parse(out.Data)
			if err != nil {
				rt.Fatalf("%v\n%s", err, out.Data)
			}
			ledger, err := backends.Ledger(comment.Ledger)
			if err != nil {
				rt.Fatal(err)
			}
			return mnt.Artifact{View: ir.NewView(tool, ir.Linux, ir.Facts{}), Entries: mnt.Firejail(lines), Ledger: ledger}
		}, seen)
	})
	irtest.Happened(t, seen, 50_000, "alike", "mounts.whole", "mounts.starts", "mounts.late", "mounts.missing", "mounts.loose", "mounts.covered")
}

// TestParse: a profile without one of the lines that confine any tool, or with one that no compiler writes, is
// refused, and so is a path that firejail would read as more than one.
func TestParse(t *testing.T) {
	out, err := firejail.Backend{}.Compile(ir.NewTool("t"), backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Data)
	for _, change := range [][2]string{
		{"net none\n", ""}, {"restrict-namespaces", "allow-namespaces"}, {"private-cwd", "include"}, {`"format_version":1`, `"format_version":2`}, {"# ", ""},
	} {
		other := strings.Replace(text, change[0], change[1], 1)
		if other == text {
			t.Fatalf("%s is not in the profile", change[0])
		}
		if _, _, err := firejail.Parse([]byte(other)); !errors.Is(err, firejail.ErrProfile) {
			t.Errorf("%s: %v", change[0], err)
		}
	}
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{Written: "a*", At: ir.In("a*"), Caps: ir.Caps(ir.Read)}}
	if out, err := (firejail.Backend{}).Compile(tool, backends.Target{Form: backends.Portable}); err != nil || out.Data != nil || len(out.Refusals) != 1 {
		t.Errorf("a pattern: %+v, %v", out, err)
	}
}
