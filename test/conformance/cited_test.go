package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/evidence"
	"github.com/accessc/accessc/ir"
)

// uncited are the cases that no row of a system names, with the reason.
var uncited = map[string]map[string]string{"windows": {
	"limits-limit": "nothing holds the number of open files",
	"net-listen":   "a tool may listen, and cannot see that no connection comes",
}}

// ofMac begins the names of the cases about profiles of macOS; rows of Windows name none of them.
const ofMac = "mac-"

// ownRows are the rows that the policy of a case has in the ledger of a system, for its hosted machines.
func ownRows(t *testing.T, name, system string) ir.Ledger {
	t.Helper()
	c, err := load(name, system)
	if err != nil {
		t.Fatal(err)
	}
	return ledgerOf(t, probeTool(t, c), system)
}

// cites reports whether a row has a case among its evidence.
func cites(r ir.Row, name string) bool { return slices.Contains(build.CasesOf(r), "conformance/"+name) }

// cited names the cells of rows that have a case among their evidence: "fs.read fs[1]".
func cited(rows ir.Ledger, name string) []string {
	var out []string
	for _, r := range rows {
		for _, a := range r.Aspects {
			one := r
			one.Aspects = []ir.Aspect{a}
			for _, rule := range r.Rules {
				if cites(one, name) {
					out = append(out, fmt.Sprintf("%s.%s %s", r.Resource, a, rule))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestCited: a row that a case's own policy has names the case, on macOS and on Windows, so that no case
// runs there for nothing; and the rows name only cases that there are. Cause: no row named those about macOS.
func TestCited(t *testing.T) {
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"darwin", "windows"} {
		for _, name := range all {
			rows := ownRows(t, name, system)
			_, excused := uncited[system][name]
			excused = excused || system == "windows" && strings.HasPrefix(name, ofMac)
			if got := cited(rows, name); (len(got) == 0) != excused {
				t.Errorf("%s: the policy of %s has the rows %v about it, excused %v", system, name, got, excused)
			}
			for _, r := range rows {
				for _, e := range build.CasesOf(r) {
					if file, ok := strings.CutPrefix(e, "conformance/"); !ok || !slices.Contains(all, file) {
						t.Errorf("%s: there is no case %s", system, e)
					}
				}
			}
		}
	}
}

// TestReportsNameRows: the row of a report is one of the case's own policy on the system that is asked.
func TestReportsNameRows(t *testing.T) {
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	reports := 0
	for _, name := range all {
		for _, system := range []string{"darwin", "windows"} {
			c, err := load(name, system)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range c.steps {
				row, _, _ := strings.Cut(s.about, ":")
				if s.want != report || row == "no row" {
					continue
				}
				reports++
				if !slices.ContainsFunc(ownRows(t, name, system), func(r ir.Row) bool {
					return slices.ContainsFunc(r.Aspects, func(a ir.Aspect) bool { return r.Resource.String()+"."+string(a) == row })
				}) {
					t.Errorf("%s on %s: do:%d is about %q", name, system, s.line, row)
				}
			}
		}
	}
	if reports < 5 {
		t.Errorf("%d reports name a row", reports)
	}
}

// turned are, for each case about macOS, the rows of its own policy that are not seen without it.
var turned = map[string][]string{
	"mac-access":      {"read base", "read fs[1]"},
	"mac-arguments":   {"forward default"},
	"mac-case":        {"create,delete fs[1]", "create,delete home,tmp,fs[0],fs[2],base,default", "read fs[1]", "read fs[2]", "read home,tmp,fs[0]"},
	"mac-clone":       {"read fs[1],fs[3]", "read fs[2]", "read home,tmp,fs[0]"},
	"mac-image":       {"execute fs[1]"},
	"mac-map":         {"execute fs[2],default", "execute home,tmp,fs[0],fs[1]", "read base", "read fs[2]"},
	"mac-minimal":     {"execute base", "read base"},
	"mac-mktemp":      {"create,delete,move,others home,tmp,fs[0],fs[1],base,default"},
	"mac-new-file":    {"create fs[1]"},
	"mac-rename-over": {"delete fs[2]", "update fs[3],base"},
	"mac-set-id":      {"metadata home,tmp,fs[1]"},
	"mac-swap":        {"create,delete fs[1]", "move fs[1]", "move home,tmp,fs[0],fs[2],default"},
	"mac-times":       {"metadata fs[2]", "metadata home,tmp,fs[1]", "metadata,socket fs[0],fs[3],default"},
	"mac-unicode":     {"read fs[1]", "read fs[2]", "read home,tmp,fs[0]"},
}

// TestSeen: a document of evidence in which all cases passed on a Mac turns each row that names some; without
// one of them, or where it failed, exactly the rows that name it are not seen.
func TestSeen(t *testing.T) {
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	whole := results(t, all, "", "")
	for _, name := range all {
		want, mac := turned[name]
		if mac != strings.HasPrefix(name, ofMac) {
			t.Errorf("%s: is in the table %v", name, mac)
		}
		if !mac {
			continue
		}
		missing, failed := results(t, all, name, ""), results(t, all, "", name)
		var got []string
		for _, r := range ownRows(t, name, "darwin") {
			tests := build.CasesOf(r)
			if seen := whole.Seen(ir.Darwin, tests); (len(seen) == 1) != (len(tests) > 0) || whole.Seen(ir.Windows, tests) != nil {
				t.Errorf("%s: %s %v is seen on %q", name, r.Resource, r.Rules, seen)
			}
			lost := whole.Seen(ir.Darwin, tests) != nil && missing.Seen(ir.Darwin, tests) == nil
			if lost != (len(tests) > 0 && failed.Seen(ir.Darwin, tests) == nil) {
				t.Errorf("%s: %s %v is otherwise where it failed", name, r.Resource, r.Rules)
			}
			if lost {
				got = append(got, joined(r.Aspects)+" "+joined(r.Rules))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s turns %q, expected %q", name, got, want)
		}
	}
}

func joined[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ",")
}

// results is a document of a Mac on which all cases passed, but for one that was not asked and one that failed.
func results(t *testing.T, all []string, absent, failed string) *evidence.Document {
	t.Helper()
	r := evidence.Run{Platform: "darwin", System: "macOS 26.1", Build: "25B78", Arch: "arm64", Commit: strings.Repeat("a", 40), Passed: []string{}, Failed: []string{}}
	for _, name := range all {
		switch name {
		case absent:
		case failed:
			r.Failed = append(r.Failed, "conformance/"+name)
		default:
			r.Passed = append(r.Passed, "conformance/"+name)
		}
	}
	text, err := json.Marshal(evidence.Document{Format: evidence.Format, Version: evidence.Version, Runs: []evidence.Run{r}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := evidence.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDocumentedQuestions: the page on macOS has each case about it in its table of questions, with the aspects of the rows
// that name it.
func TestDocumentedQuestions(t *testing.T) {
	page, err := os.ReadFile("../../docs/platforms/macos.md")
	if err != nil {
		t.Fatal(err)
	}
	says := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| [^|]* \\| `(mac-[a-z-]+)` \\| ([^|]*) \\| [^|]* \\|$").FindAllStringSubmatch(string(page), -1) {
		says[m[1]] = m[2]
	}
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if !strings.HasPrefix(name, ofMac) {
			continue
		}
		var aspects []string
		for _, cell := range cited(ownRows(t, name, "darwin"), name) {
			what, _, _ := strings.Cut(cell, " ")
			aspects = append(aspects, "`"+what+"`")
		}
		slices.Sort(aspects)
		if got := strings.Join(slices.Compact(aspects), ", "); says[name] != got {
			t.Errorf("%s: the page says %q, expected %q", name, says[name], got)
		}
		delete(says, name)
	}
	if len(says) > 0 {
		t.Errorf("the page has questions without a case: %v", says)
	}
}
