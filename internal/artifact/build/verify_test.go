package build_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// ruled is a ruleset of one rule.
func ruled(o ruleset.Outcome) []*ruleset.Set {
	return []*ruleset.Set{{Name: "dev", Root: "/w", Shell: shell.Bash, Rules: []*ruleset.Rule{{Outcome: o, Matcher: ruleset.Prefix{{"go", "test"}}}}}}
}

// built writes a build of a confined tool, one that is not and a ruleset, and returns its manifest.
func built(t *testing.T) (dir string, m *build.Manifest) {
	t.Helper()
	p := program("one", "mcp-x")
	p.Tools[1].Constraints = &ir.Constraints{MaxInvocations: 3}
	dir = t.TempDir()
	write(t, requestWith(p, ruled(ruleset.Allow)), dir)
	data, err := os.ReadFile(filepath.Join(dir, build.ManifestFile))
	must(t, err)
	m, err = build.ParseManifest(data)
	must(t, err)
	return dir, m
}

func verify(t *testing.T, m *build.Manifest, dir string) []build.Class {
	t.Helper()
	problems, err := build.Verify(m, dir, registry.All)
	must(t, err)
	var out []build.Class
	for _, p := range problems {
		if p.Detail == "" {
			t.Errorf("%s says nothing", p.Class)
		}
		out = append(out, p.Class)
	}
	return out
}

// TestVerify: a build verifies, and every way to tamper with it is found and named.
func TestVerify(t *testing.T) {
	dir, m := built(t)
	if got := verify(t, m, dir); len(got) > 0 {
		t.Fatalf("a build does not verify: %v", got)
	}
	type state struct {
		dir string
		m   *build.Manifest
	}
	replace := func(t *testing.T, s state, file, old, new string) {
		data, err := os.ReadFile(filepath.Join(s.dir, file))
		must(t, err)
		if !bytes.Contains(data, []byte(old)) {
			t.Fatalf("%s has no %s", file, old)
		}
		must(t, os.WriteFile(filepath.Join(s.dir, file), bytes.ReplaceAll(data, []byte(old), []byte(new)), 0o644))
	}
	tests := map[build.Class]func(t *testing.T, s state){
		build.ManifestHash:  func(_ *testing.T, s state) { s.m.Policy = "sha256:00" },
		build.RulesetPolicy: func(_ *testing.T, s state) { s.m.Rulesets[0].Rules[0].Outcome = "perhaps" },
		build.RulesetHash:   func(_ *testing.T, s state) { s.m.Rulesets[0].Rules[0].Outcome = "deny" },
		build.RulesetLedger: func(_ *testing.T, s state) { s.m.Rulesets[0].Is = "exact" },
		build.ToolName:      func(_ *testing.T, s state) { s.m.Tools = append(s.m.Tools, s.m.Tools[0]) },
		build.ToolPolicy:    func(_ *testing.T, s state) { s.m.Tools[slices.IndexFunc(s.m.Tools, confined)].Policy = nil },
		build.ToolHash: func(t *testing.T, s state) {
			// A policy that was edited by hand after the build.
			e := &s.m.Tools[slices.IndexFunc(s.m.Tools, confined)]
			data, err := json.Marshal(e.Policy)
			must(t, err)
			must(t, json.Unmarshal(bytes.Replace(data, []byte(`"PATH"`), []byte(`"PATX"`), 1), e.Policy))
		},
		build.ToolSummary: func(_ *testing.T, s state) { s.m.Tools[slices.IndexFunc(s.m.Tools, confined)].Risk = "low" },
		build.ToolLedger: func(_ *testing.T, s state) {
			s.m.Tools[slices.IndexFunc(s.m.Tools, confined)].Ledger[0].Is = "supervised"
		},
		build.ArtifactMissing: func(t *testing.T, s state) { must(t, os.Remove(filepath.Join(s.dir, "one", "seatbelt.sb"))) },
		build.ArtifactHash:    func(t *testing.T, s state) { replace(t, s, "one/seatbelt.sb", "deny", "allow") },
		build.ArtifactUnlisted: func(_ *testing.T, s state) {
			delete(s.m.Tools[slices.IndexFunc(s.m.Tools, confined)].Artifacts, "winjob.json")
		},
		build.ArtifactUnknown: func(t *testing.T, s state) {
			must(t, os.WriteFile(filepath.Join(s.dir, "one", "x.sh"), []byte("x"), 0o644))
			s.m.Tools[slices.IndexFunc(s.m.Tools, confined)].Artifacts["x.sh"] = build.Hash([]byte("x"))
		},
		build.ArtifactDiffers: func(t *testing.T, s state) {
			// The artifact and its hash were changed.
			replace(t, s, "one/landlock.json", "PATH", "PATX")
			data, err := os.ReadFile(filepath.Join(s.dir, "one", "landlock.json"))
			must(t, err)
			s.m.Tools[slices.IndexFunc(s.m.Tools, confined)].Artifacts["landlock.json"] = build.Hash(data)
		},
	}
	for class, tamper := range tests {
		t.Run(string(class), func(t *testing.T) {
			dir, m := built(t)
			tamper(t, state{dir, m})
			if got := verify(t, m, dir); !slices.Contains(got, class) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func confined(e build.Entry) bool { return e.Confined }

// TestVerifyRulesets: the seal is over the rulesets too, and a name stands once.
func TestVerifyRulesets(t *testing.T) {
	dir, m := built(t)
	r := &m.Rulesets[0]
	r.Rules[0].Outcome = "deny"
	bare, err := r.Bare()
	must(t, err)
	r.Hash = build.Hash(bare)
	if got := verify(t, m, dir); !slices.Equal(got, []build.Class{build.ManifestHash}) {
		t.Errorf("a rule and its hash were changed together: %v", got)
	}
	_, m = built(t)
	m.Rulesets = append(m.Rulesets, m.Rulesets[0])
	if got := verify(t, m, dir); !slices.Contains(got, build.RulesetPolicy) {
		t.Errorf("a name stands twice: %v", got)
	}
}

// TestRulesetsInManifest: another verdict changes the manifest and nothing else, a build of some
// tools leaves rulesets alone, and they are read back for comparison.
func TestRulesetsInManifest(t *testing.T) {
	dir := t.TempDir()
	write(t, requestWith(program("one"), ruled(ruleset.Allow)), dir)
	if changes := diff(t, requestWith(program("one"), ruled(ruleset.Deny)), dir); len(changes) != 1 || changes[0].Path != build.ManifestFile {
		t.Errorf("%v", changes)
	}
	if changes := diff(t, requestWith(program("one"), ruled(ruleset.Deny), "one"), dir); len(changes) != 0 {
		t.Errorf("a build of one tool: %v", changes)
	}
	data, err := os.ReadFile(filepath.Join(dir, build.ManifestFile))
	must(t, err)
	m, err := build.ParseManifest(data)
	must(t, err)
	sets, err := m.Sets()
	if err != nil || len(sets) != 1 || sets[0].Decide(ruleset.Operation{Command: "go test ./..."}, ruleset.Host{}).Outcome != ruleset.Allow {
		t.Errorf("%v, %v", sets, err)
	}
}

// TestVerifyStaysInside: a manifest's names lead nowhere else.
func TestVerifyStaysInside(t *testing.T) {
	dir, m := built(t)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	must(t, os.MkdirAll(outside, 0o755))
	m.Tools[0].Name, m.Tools[1].Artifacts = "../outside", map[string]string{"../../outside/x": "sha256:00"}
	must(t, os.WriteFile(filepath.Join(outside, "x"), []byte("x"), 0o644))
	got := verify(t, m, dir)
	for _, c := range got {
		if c == build.ArtifactHash {
			t.Errorf("a file outside of the directory was read: %v", got)
		}
	}
	if !slices.Contains(got, build.ToolName) || !slices.Contains(got, build.ArtifactUnknown) {
		t.Errorf("got %v", got)
	}
}

// TestVerifyForeign: the constraints of a tool that is not confined are vouched for.
func TestVerifyForeign(t *testing.T) {
	dir, m := built(t)
	i := slices.IndexFunc(m.Tools, func(e build.Entry) bool { return !e.Confined })
	m.Tools[i].Constraints.MaxInvocations = 300
	if got := verify(t, m, dir); !slices.Equal(got, []build.Class{build.ToolHash}) {
		t.Errorf("got %v", got)
	}
	if m.Tools[i].Constraints = nil; !slices.Contains(verify(t, m, dir), build.ToolHash) {
		t.Error("constraints that are gone were not missed")
	}
}

// TestVerifyResolved: the hashes of a resolved build are checked; its compilation depends on
// another host and is not.
func TestVerifyResolved(t *testing.T) {
	dir := t.TempDir()
	p := program("one")
	write(t, build.Request{
		Program: p, Backends: registry.All[:1], Form: backends.Resolved,
		Facts: func(*ir.Tool) ir.Facts { return ir.Facts{Bindings: &ir.Bindings{Workspace: "/w", Home: "/h"}} },
	}, dir)
	m := manifest(t, dir)
	if got := verify(t, m, dir); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	file := filepath.Join(dir, "one", registry.All[0].File())
	data, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(data), "/w", "/x", 1)), 0o644))
	if got := verify(t, m, dir); !slices.Equal(got, []build.Class{build.ArtifactHash}) {
		t.Errorf("got %v", got)
	}
}
