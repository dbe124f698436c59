package explain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// hostileSet is a ruleset in which a text stands wherever one may.
func hostileSet(text string) *ruleset.Set {
	words := strings.ReplaceAll(text, " ", "_")
	rule := func(o ruleset.Outcome, m ruleset.Matcher, k ...ruleset.Kind) *ruleset.Rule {
		return &ruleset.Rule{
			Outcome: o, Kinds: k, Matcher: m, Match: []string{text}, NotMatch: []string{text}, Reason: text,
			Origin: ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: text, Line: 1}, Path: text},
		}
	}
	return &ruleset.Set{Name: text, Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{
		rule(ruleset.Allow, ruleset.Command{Names: []string{words}, Subcommands: []string{text}}),
		rule(ruleset.Allow, ruleset.Prefix{{words, text}}),
		rule(ruleset.Deny, ruleset.All{ruleset.Command{Names: []string{words}}, ruleset.Flags{"-" + text}, ruleset.Args{{text, "**"}}, ruleset.Within("/w/" + text)}),
		rule(ruleset.Allow, ruleset.Hosts{text, "*"}, ruleset.Fetch),
	}}
}

// TestHostileRuleset: nothing of a hostile ruleset is markup of a page, and nothing of it is invisible
// in other documents.
func TestHostileRuleset(t *testing.T) {
	for _, text := range append(hostile, "\x1b[31mred", "a\nb") {
		s := hostileSet(text)
		r := NewRuleset(s)
		changes := RulesetChanges(nil, []*ruleset.Set{s})
		if len(changes) != 1 || len(changes[0].Differences) == 0 {
			t.Fatalf("%q: %+v", text, changes)
		}
		for _, out := range []string{r.Text(Style{}), r.Markdown(), ChangesText(changes, Style{}), ChangesMarkdown(changes), WideningsText(Widenings(changes))} {
			if i := strings.IndexAny(out, "\x00\x1b\u202e\u2028"); i >= 0 {
				t.Errorf("%q is invisible in %q", text, out[i:min(i+40, len(out))])
			}
		}
		for _, write := range []func(*bytes.Buffer) error{
			func(b *bytes.Buffer) error { return HTML(b, nil, []*Ruleset{r}, Style{}) },
			func(b *bytes.Buffer) error { return ChangesHTML(b, changes) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			for mark, n := range map[string]int{"<script": 1, "</script": 1, "<style": 1, "<img": 0, "<svg": 0, "<base": 0, "<meta": 4} {
				if got := strings.Count(b.String(), mark); got != n {
					t.Errorf("%q: %d of %s, want %d", text, got, mark, n)
				}
			}
		}
	}
}
