package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/ir/compare"
)

// TestDroppedDenies: a list without its duplicates grants no more than with them, or it is an error: a deny that a
// layer repeats behind a grant was dropped, and the grant won.
func TestDroppedDenies(t *testing.T) {
	emptyEnvironment(t)
	dir := t.TempDir()
	kinds := map[string][]string{
		"fs":  {`{ path = "a" }`, `{ path = "a", read = true }`, `{ path = "a", read = true, write = true }`},
		"env": {`{ name = "CI" }`, `{ name = "CI", read = true }`},
		"net": {`{ host = "h.example" }`, `{ host = "h.example", allow = true }`},
		"may": {`{ path = "a" }`, `{ path = "a", read = true }`},
	}
	compile := func(kind, tail string, rules []string) (diag.List, compare.Policy) {
		res := compileText(t, dir, "[tools.t]\nsource = \"local\"\ncommand = \"ls\"\n[tools.t.access."+kind+"]\nvalue = ["+
			strings.Join(rules, ", ")+"]\n"+tail)
		if res.Findings.Failed() {
			return res.Findings, compare.Policy{}
		}
		return res.Findings, compare.Policy{Tool: res.Program.Tools[0]}
	}
	errors := 0
	for kind, rules := range kinds {
		for n := range 3 * 3 * 3 * 3 {
			var list []string
			for i := n; len(list) < 4; i /= 3 {
				list = append(list, rules[i%len(rules)])
			}
			_, all := compile(kind, "", list)
			found, fewer := compile(kind, "dedup = true", list)
			if found.Failed() {
				errors++
				continue
			}
			for _, d := range compare.Policies(all, fewer) {
				if d.Wider {
					t.Errorf("%s %q: %s is granted without the duplicates: %v", kind, list, d.What, found)
				}
			}
		}
	}
	if errors == 0 {
		t.Error("no list was refused")
	}
	narrower := []string{kinds["fs"][2], kinds["fs"][1], kinds["fs"][2]}
	found, _ := compile("fs", "dedup = true", narrower)
	warned := slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == diag.DedupChanges && d.Severity == diag.Warning })
	if found.Failed() || !warned {
		t.Errorf("a list that grants less is no warning: %v", found)
	}
}
