package rulejson_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/rulejson"
	"github.com/accessc/accessc/ruleset/shell"
)

// example has every condition and every field.
func example(root string) *ruleset.Set {
	execute := []ruleset.Kind{ruleset.Execute}
	return &ruleset.Set{Name: "dev", Root: root, Shell: shell.POSIX, Rules: []*ruleset.Rule{
		{
			Outcome: ruleset.Deny, Kinds: execute, Reason: "no", Match: []string{"rm -rf x"}, NotMatch: []string{"rm x"},
			Matcher: ruleset.All{ruleset.Command{Names: []string{"rm"}}, ruleset.Not{Matcher: ruleset.Flags{"-r"}}},
			Origin:  ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: 3, Col: 9}, Path: "rulesets.dev.rules[0]"},
		},
		{Outcome: ruleset.Allow, Kinds: execute, Matcher: ruleset.Any{
			ruleset.Command{Names: []string{"git"}, Subcommands: []string{"stash list"}}, ruleset.Prefix{{"go", "test"}}, ruleset.Group("safe_npm"),
			ruleset.Args{{}, {"a", "**"}}, ruleset.Within(root), ruleset.PipedToShell{},
		}},
		{Outcome: ruleset.Allow, Kinds: []ruleset.Kind{ruleset.Read, ruleset.Edit}, Matcher: ruleset.Within(root + "/src/a")},
		{Outcome: ruleset.Allow, Kinds: []ruleset.Kind{ruleset.Fetch}, Matcher: ruleset.Hosts{"*.example.com"}},
		{Outcome: ruleset.Deny, Kinds: []ruleset.Kind{ruleset.Think}},
		{Outcome: ruleset.Ask, Kinds: []ruleset.Kind{ruleset.Other}},
	}}
}

// TestRoundTrip: the text form is read back as it was, for a workspace at another place.
func TestRoundTrip(t *testing.T) {
	data, err := json.Marshal(rulejson.Doc(example("/a/b")))
	if err != nil || strings.Contains(string(data), "/a/b") || strings.Contains(string(data), "null") {
		t.Fatalf("%v: %s", err, data)
	}
	var doc rulejson.SetDoc
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if got, err := doc.Set("/other"); err != nil || !reflect.DeepEqual(got, example("/other")) {
		t.Errorf("found %+v, %v", got, err)
	}
}

// TestBare: the bytes for the hash are about verdicts, and nothing else.
func TestBare(t *testing.T) {
	bare := func(change func(*ruleset.Set)) string {
		s := example("/w")
		change(s)
		out, err := rulejson.Doc(s).Bare()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	same := bare(func(*ruleset.Set) {})
	for _, change := range []func(*ruleset.Set){
		func(s *ruleset.Set) { s.Rules[0].Origin.Pos.Line++ },
		func(s *ruleset.Set) { s.Rules[0].Reason, s.Rules[0].Match = "", nil },
	} {
		if bare(change) != same {
			t.Error("the bytes tell rulesets apart that decide alike")
		}
	}
	for _, change := range []func(*ruleset.Set){
		func(s *ruleset.Set) { s.Rules[0].Outcome = ruleset.Allow },
		func(s *ruleset.Set) { s.Rules[2].Kinds = s.Rules[2].Kinds[:1] },
		func(s *ruleset.Set) { s.Rules[2].Matcher = ruleset.Within("/w/src") },
		func(s *ruleset.Set) { s.Rules[0], s.Rules[1] = s.Rules[1], s.Rules[0] },
		func(s *ruleset.Set) { s.Shell = shell.Bash },
	} {
		if bare(change) == same {
			t.Error("the bytes do not tell rulesets apart")
		}
	}
}

// TestRefused: documents that are no rulesets.
func TestRefused(t *testing.T) {
	const rule = `{"name":"a","shell":"bash","rules":[{"outcome":"allow","operation":["execute"],"when":%s}]}`
	for _, bad := range []string{
		`{"name":"a","shell":"zsh","rules":[]}`,
		`{"name":"a","shell":"bash","rules":[{"outcome":"unknown","operation":["execute"]}]}`,
		`{"name":"a","shell":"bash","rules":[{"outcome":"deny","operation":["x"]}]}`,
		`{"name":"a","shell":"bash","rules":[{"outcome":"deny","operation":["think"],"origin":{"layer":"x"}}]}`,
		strings.ReplaceAll(rule, "%s", `{}`),
		strings.ReplaceAll(rule, "%s", `{"command":["a"],"flags":["-f"]}`),
		strings.ReplaceAll(rule, "%s", `{"subcommands":["a"],"flags":["-f"]}`),
		strings.ReplaceAll(rule, "%s", `{"any":[{"command":["a"]},{}]}`),
		strings.ReplaceAll(rule, "%s", `{"prefix":[[]]}`),
		strings.ReplaceAll(rule, "%s", `{"all":[null]}`),
		strings.ReplaceAll(rule, "%s", `{"not":{}}`),
	} {
		var doc rulejson.SetDoc
		if err := json.Unmarshal([]byte(bad), &doc); err != nil {
			t.Fatal(err)
		}
		if _, err := doc.Set("/w"); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
}
