package seatbelt

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/sbpl"
)

func byNameAt(line int, path string, caps ir.CapSet, names ...string) ir.FSRule {
	r := ruleAt(line, path, caps)
	r.Names = names
	return r
}

// TestComponent: the expression of a pattern matches the names that the policy says it matches.
func TestComponent(t *testing.T) {
	patterns := append([]string{
		`*.pem`, `[]a]`, `[a^-]`, `[^]a]`, `[!-~]`, `\*`, `a\[`, `k*`, `secret?`, `ü`, `*ü*`, `[a-z]x`, `[^a-y]`, `$h`,
		`d'e`, `(p)`, `a+`, `a.b`, `[.]x`, `a:b`, `[[:]]`,
	}, irtest.Patterns...)
	names := append([]string{
		"", "a", "A", "B", "x.pem", "X.PEM", "]", "^", "-", "~", "!", "*", "a[", "key", "K", "\u212a", "secrets",
		"ſecrets", "SECRETſ", "ü", "Ü", "xüx",
		"zx", "z", "a+", "aa", "a.b", "aXb", ".x", "a:b", ":", "[", "[]", ":]",
	}, irtest.Names...)
	for _, pattern := range patterns {
		tool := ir.NewTool("t")
		tool.FS = []ir.FSRule{byNameAt(1, "", ir.All, pattern)}
		view, re := ir.NewView(tool, ir.Darwin, ir.Facts{}), regexp.MustCompile("^"+component(pattern)+"$")
		for _, name := range names {
			wide := strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII })
			if name == "" || wide && !byBytes(pattern) && !strings.Contains(pattern, "ü") {
				continue // the row says so
			}
			want := view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(ir.In(name))}).Allowed()
			if got := re.MatchString(name); got != want {
				t.Errorf("%s (%s) on %q: %v, want %v", pattern, re, name, got, want)
			}
			if got := re.MatchString(norm.NFD.String(name)); byBytes(pattern) && got != want {
				t.Errorf("%s (%s) on %q, decomposed: %v, want %v", pattern, re, name, got, want)
			}
		}
	}
}

// TestByBytes: a pattern that the engine of the system may read otherwise has rows that say so, and no other has. Cause:
// the row about metadata said exact.
func TestByBytes(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*.pem": false, ".env": false, "[a-c]*": false, "k": false, `\?`: false, "?": true, "[^a]": true, "ü": true,
		"[ä-ö]": true, "a*é": true,
	} {
		tool := ir.NewTool("t")
		tool.FS = []ir.FSRule{ruleAt(1, "", ir.All), byNameAt(2, "", 0, pattern)}
		out := compile(t, tool, backends.Target{Form: backends.Portable})
		for _, a := range []ir.Aspect{ir.AspectRead, ir.AspectUpdate, ir.AspectMetadata} {
			row, ok := out.Ledger.Cell(ir.FS, "fs[1]", a, ir.Darwin, 0)
			if got := row.Is == ir.Weaker && row.Gap == ir.GapFSNames && row.Cites(start.WhyBytes); !ok || got != want {
				t.Errorf("%s: %+v", pattern, row)
			}
		}
	}
}

// TestNearestName: of two rules by name that grant different things the name nearest to the end decides, as far down
// as the profile tells, and nothing is granted where it cannot.
func TestNearestName(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{ruleAt(1, "", ir.Caps(ir.Read)), byNameAt(2, "", ir.All, "open"), byNameAt(3, "", 0, "shut",
		"*.key")}
	host := exampleHost()
	host.Temp = "/private/tmp/run"
	out := compile(t, tool, resolved(host))
	if out.Refusals != nil {
		t.Fatal(out.Refusals)
	}
	p, err := sbpl.Parse(string(out.Data), Parameters(tool, host, proxyPort))
	if err != nil {
		t.Fatal(err)
	}
	view := ir.NewView(tool, ir.Darwin, ir.Facts{})
	for _, names := range [][2]string{{"open", "shut"}, {"shut", "open"}, {"OPEN", "a.Key"}, {"open/shut", "open"}} {
		for between := range deepest + 3 {
			for tail := range deepest + 3 {
				path := "d/" + names[0] + strings.Repeat("/x", between) + "/" + names[1] + strings.Repeat("/y", tail)
				got, err := p.Allows("file-write-data", sbpl.Request{Path: host.Workspace + "/" + path})
				want := view.Decide(ir.Access{Cap: ir.Update, On: ir.Direct(ir.In(path))}).Allowed() && tail <= deepest
				if err != nil || got != want {
					t.Errorf("%s: %v, %v, want %v", path, got, err, want)
				}
			}
		}
	}
	row, _ := out.Ledger.Cell(ir.FS, "fs[1]", ir.AspectUpdate, ir.Darwin, 0)
	if row.Is != ir.Stricter || !row.Cites(start.WhyDeep) {
		t.Errorf("the row is %+v", row)
	}
}

// TestTreeWithNames: no directory is cloned in which a name may be that is not to be read; a file is.
func TestTreeWithNames(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{ruleAt(1, "", ir.All), byNameAt(2, "src", 0, ".env")}
	host := exampleHost()
	host.Temp = "/private/tmp/run"
	p, err := sbpl.Parse(string(compile(t, tool, resolved(host)).Data), Parameters(tool, host, proxyPort))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{"": "false true", "/src": "false true", "/src/lib": "false true",
		"/doc": "true true", "/src/.env": "false false"} {
		dir, err := p.Allows(opClone, sbpl.Request{Path: host.Workspace + at, Kind: "DIRECTORY"})
		file, err2 := p.Allows(opClone, sbpl.Request{Path: host.Workspace + at + "/f", Kind: "REGULAR-FILE"})
		if got := fmt.Sprint(dir, file); got != want || err != nil || err2 != nil {
			t.Errorf("%s: %s, %v, %v, want %s", at, got, err, err2, want)
		}
	}
}

// TestPatternsOfControls: a pattern that a profile cannot spell is refused, and the refusal names the rule.
func TestPatternsOfControls(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{byNameAt(1, "", 0, "a\n*")}
	out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil || out.Data != nil || len(out.Refusals) != 1 || out.Refusals[0].Rule != ir.Rule(&tool.FS[0]) {
		t.Errorf("%v, %v", out.Refusals, err)
	}
}
