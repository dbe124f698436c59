package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const events = `{"Action":"start","Package":"github.com/accessc/accessc/ir"}
{"Action":"output","Package":"github.com/accessc/accessc/ir","Test":"TestLaws","Output":"=== RUN   TestLaws\n"}
{"Action":"output","Package":"github.com/accessc/accessc/ir","Test":"TestLaws","Output":"property TestLaws: 20 runs of 3 cases, seed 7\n"}
{"Action":"output","Package":"github.com/accessc/accessc/ir","Test":"TestMet","Output":"race TestMet: inconclusive, 0 of 2 in 9 rounds\n"}
{"Action":"pass","Package":"github.com/accessc/accessc/ir","Test":"TestLaws","Elapsed":1.5}
{"Action":"skip","Package":"github.com/accessc/accessc/ir","Test":"TestNoWine","Elapsed":0}
{"Action":"output","Package":"github.com/accessc/accessc/ir","Test":"TestBad","Output":"    a_test.go:1: wrong\n"}
{"Action":"fail","Package":"github.com/accessc/accessc/ir","Test":"TestBad","Elapsed":0}
{"Action":"fail","Package":"github.com/accessc/accessc/ir","Elapsed":2}
`

func TestRead(t *testing.T) {
	r, err := read(strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	got := []any{r.passed, r.failed, r.skipped, r.draws, r.races, r.slowest, r.ok()}
	want := []any{
		1, []string{"ir TestBad", "ir"}, []string{"ir TestNoWine"}, []string{"ir: property TestLaws: 20 runs of 3 cases, seed 7"},
		[]string{"ir: race TestMet: inconclusive, 0 of 2 in 9 rounds"}, "ir", false,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if log := r.logs["ir TestBad"]; !strings.Contains(log, "wrong") {
		t.Errorf("log %q", log)
	}
	w := row{what: "./ir", user: "root"}
	w.add(r)
	if d := cmp.Diff("| `ir` | root | 1 | 3 | 60 | 1 | 0 of 1 | 2 |", w.markdown()); d != "" {
		t.Error(d)
	}
}

func TestDifferent(t *testing.T) {
	if d := cmp.Diff("  - a\n  + c\n", different([]string{"a", "b"}, []string{"b", "c"})); d != "" {
		t.Error(d)
	}
}

// TestDocument: the document has the places where the tables end, and keeps everything else.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", document))
	if err != nil {
		t.Fatal(err)
	}
	p := &place{tree: t.TempDir(), commit: "0123abcd"}
	if err := os.Mkdir(filepath.Join(p.tree, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.tree, document)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	rows := []row{
		{what: "./ir", user: "root", runs: 1}, {what: "./internal/gate/acp", user: "root", cases: 2, met: 1},
		{what: "./ir/compare", user: "root", runs: 2, failures: 1}, {what: "./internal/gate", user: "nobody", seeds: 3},
	}
	if err := addSoak(p, rows); err != nil {
		t.Fatal(err)
	}
	if err := addRun(p, "idle", 0, &result{}); err != nil {
		t.Fatal(err)
	}
	changed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var added []string
	for line := range strings.Lines(different(lines(text), lines(changed))) {
		added = append(added, strings.TrimSpace(line))
	}
	at := today() + ", 0123abcd |"
	want := []string{
		"+ | `internal/gate` | nobody | 0 | 0 | 0 | 3 | – | 0 | " + at,
		"+ | `internal/gate` | root | 0 | 0 | 2 | 0 | 1 of 1 | 0 | " + at,
		"+ | `ir` | root | 3 | 0 | 0 | 0 | – | 1 | " + at,
		"+ | idle 1 | 0 | , 0 | ok | " + at,
	}
	if d := cmp.Diff(want, added); d != "" {
		t.Error(d)
	}
}

func lines(text []byte) []string { return strings.Split(string(text), "\n") }

func TestChoose(t *testing.T) {
	all, err := choose(nil)
	if err != nil || len(all) != len(conditions) {
		t.Error(len(all), err)
	}
	chosen, err := choose([]string{"busy4=16", "idle"})
	if err != nil || len(chosen) != 2 || chosen[0].times != 16 || chosen[0].busy != 4 || chosen[1].times != 1 {
		t.Errorf("%+v, %v", chosen, err)
	}
	for _, word := range []string{"busy4=0", "busy4=x", "busy3"} {
		if _, err := choose([]string{word}); err == nil {
			t.Errorf("%s is accepted", word)
		}
	}
}
