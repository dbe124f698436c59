package landlock_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestListedUnread: a listed program that may not be read is none of those that the ruleset starts, since starting
// grants reading.
func TestListedUnread(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("bin"), Caps: ir.Caps(ir.Execute)},
		{At: ir.In("lib"), Caps: ir.Caps(ir.Read, ir.Execute)}}
	a, b := ir.In("bin/a"), ir.In("lib/b")
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "bin/a", File: &a, AnyArgs: true},
		{Program: "lib/b", File: &b, AnyArgs: true}}}
	spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, p := range spec.Programs {
		if p.File != "" {
			files = append(files, p.File)
		}
	}
	if !slices.Equal(files, []string{"${workspace}/lib/b"}) {
		t.Errorf("got %q", files)
	}
}

// TestTruncationOfOldLevels: up to the second level, which does not mediate that, each call that empties a file
// without a right to write is refused by the filter, and by Landlock from the third on.
func TestTruncationOfOldLevels(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.Caps(ir.Read)}}
	spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	truncates, _ := landlock.Constant("O_TRUNC")
	for call, args := range map[string][6]uint64{
		"truncate": {1, 0}, "open": {1, uint64(truncates)}, "openat": {0, 1, uint64(truncates)},
	} {
		for abi := 1; abi <= 3; abi++ {
			refused := slices.ContainsFunc(spec.Filter, func(b landlock.Block) bool {
				return b.Applies(abi) &&
					b.Refuses(call, args)
			})
			if refused != (abi < 3) {
				t.Errorf("%s at level %d: refused is %v", call, abi, refused)
			}
		}
	}
}

// TestNothingThroughLinks: a symlink that a rule is written through is no place of the ruleset; a loader opens none.
func TestNothingThroughLinks(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read, ir.Update)}, {At: ir.In("v1/x"),
			Links: []ir.Location{ir.In("lib")}}, {At: ir.In("v1"), Caps: ir.Caps(ir.Read)},
	}
	spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	paths := spec.Paths
	if spec.Supervision != nil {
		paths = slices.Concat(paths, spec.Supervision.Paths)
	}
	for _, p := range paths {
		if p.Path == "${workspace}/lib" {
			t.Errorf("the ruleset has %+v", p)
		}
	}
}
