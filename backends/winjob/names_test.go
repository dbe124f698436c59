package winjob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// named compiles a policy, and returns the entries for names on a volume as "path dacl grants".
func named(t *testing.T, tool *ir.Tool, objects map[string]ir.NodeKind) (out []string) {
	t.Helper()
	spec, _, refusals := Build(tool, backends.Target{Form: backends.Portable})
	if len(refusals) > 0 {
		t.Fatal(refusals)
	}
	found, err := spec.Files.Named(listing(objects))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		out = append(out, fmt.Sprint(strings.TrimPrefix(e.Path, `${workspace}\`), " ", e.DACL, " ", e.Grants))
	}
	return out
}

// namesAt adds a rule by name.
func namesAt(tool *ir.Tool, at string, caps ir.CapSet, names ...string) {
	tool.FS = append(tool.FS, ir.FSRule{Written: at, At: ir.In(at), Names: names, Caps: caps})
}

// TestNamed: names that are there get lists of their own where a rule by name decides about them and grants something
// else than the directory around: in any case of letters, and not where a longer path decides or a link leads away.
func TestNamed(t *testing.T) {
	tool := toolWith(t, ".: read update", "closed: ", "fixtures/.env: read update", "src/deep/x: read")
	namesAt(tool, "", 0, ".env", "*.pem")
	namesAt(tool, "", ir.Caps(ir.Read, ir.Update), "same.*")
	namesAt(tool, "closed", ir.Caps(ir.Read), "open")
	objects := map[string]ir.NodeKind{}
	for _, p := range strings.Fields(`.env a/.ENV a/b/k.pem/ a/b/k.pem/in a/b/k.pem/x.pem fixtures/.env closed/.env closed/open/ closed/open/f
		same.x src/deep/x src/deep/.env other`) {
		at := `${workspace}\` + strings.ReplaceAll(strings.TrimSuffix(p, "/"), "/", `\`)
		for up := parentOf(at); up != ""; up = parentOf(up) {
			objects[up] = ir.Dir
		}
		if objects[at] = ir.File; strings.HasSuffix(p, "/") {
			objects[at] = ir.Dir
		}
	}
	got := named(t, tool, objects)
	slices.Sort(got)
	want := []string{
		`.env protected []`, `a\.ENV protected []`, `a\b\k.pem protected []`, `closed\open grant [open read]`,
		`src\deep\.env protected []`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestNamesInNoPlace: a rule by name whose place NTFS cannot hold is about no file. Cause: its place was written like any
// other, and a name with a backslash became a directory with another in it, in which the rule then granted.
func TestNamesInNoPlace(t *testing.T) {
	for _, at := range []string{`b\s`, "a:b", "a/b?"} {
		tool := toolWith(t, ".: read")
		namesAt(tool, at, ir.All, "a*")
		spec, _, refusals := Build(tool, backends.Target{Form: backends.Portable})
		want := []Unmatched{{`${workspace}\` + strings.ReplaceAll(at, "/", `\`), "fs[1]"}}
		if len(refusals) > 0 || len(spec.Files.Patterns) > 0 || !slices.Equal(spec.Files.Unmatched, want) {
			t.Errorf("%s: %v, %v, %v", at, refusals, spec.Files.Patterns, spec.Files.Unmatched)
		}
	}
}

// TestNamesThatAToolMakes: what a rule by name takes away is open in a file that the tool makes, whose list it chooses.
// Cause: the row about execute said exact where the directory around has create and no execute.
func TestNamesThatAToolMakes(t *testing.T) {
	tool := toolWith(t, ".: read create")
	namesAt(tool, "", 0, ".env")
	for _, starts := range []bool{true, false} {
		if !starts {
			tool.Commands = &ir.CommandSet{}
		}
		_, ledger, _ := Build(tool, backends.Target{Form: backends.Portable})
		for _, a := range []ir.Aspect{ir.AspectUpdate, ir.AspectDelete, ir.AspectExecute} {
			row, _ := ledger.Cell(ir.FS, "fs[1]", a, ir.Windows, 1)
			if want := a != ir.AspectExecute || starts; (row.Is == ir.Weaker && row.Cites(whyOwn)) != want {
				t.Errorf("%s, programs %v: %+v", a, starts, row)
			}
		}
	}
}

// TestNamedStops: what cannot be searched, or is more than a loader holds open, has no start.
func TestNamedStops(t *testing.T) {
	tool := toolWith(t, ".: read")
	namesAt(tool, "", 0, ".env")
	spec, _, _ := Build(tool, backends.Target{Form: backends.Portable})
	same := func(c Child, n int) func(string) ([]Child, error) {
		return func(string) ([]Child, error) { return slices.Repeat([]Child{c}, n), nil }
	}
	for what, list := range map[string]func(string) ([]Child, error){
		"cannot be searched":        func(string) ([]Child, error) { return nil, errors.New("closed") },
		"have names of the rule":    same(Child{Name: ".env"}, maxNamed+1),
		"names are below the":       same(Child{Name: "x", Dir: true}, 1024),
		"more than 1048576 names":   same(Child{Name: "x"}, maxSearched+1),
		"more than 4096 files have": same(Child{Name: ".ENV"}, maxNamed+1),
	} {
		if found, err := spec.Files.Named(list); err == nil || !strings.Contains(err.Error(), what) || found != nil {
			t.Errorf("%s: got %d names, %v", what, len(found), err)
		}
	}
	if found, err := spec.Files.Named(same(Child{Name: ".env", Dir: true, Link: true}, 9)); err != nil || found != nil {
		t.Errorf("links: got %v, %v", found, err)
	}
}

// TestNamesInNames: a name that is made in a directory which a rule by name is about has that rule's rights, and its own
// rule says so. Only the rule on the place around was looked at.
func TestNamesInNames(t *testing.T) {
	tool := toolWith(t)
	namesAt(tool, "", ir.Caps(ir.Read, ir.Create), "*")
	namesAt(tool, "", ir.Caps(ir.Read), "ab")
	_, ledger, _ := Build(tool, backends.Target{Form: backends.Portable})
	row, _ := ledger.Cell(ir.FS, "fs[1]", ir.AspectCreate, ir.Windows, ir.BestTier)
	if row.Is != ir.Weaker || row.Gap != ir.GapFSNames || !row.Cites(whyByName) {
		t.Errorf("got %+v", row)
	}
}
