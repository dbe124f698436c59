package nono

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// drawProfile draws a profile of nono, as text and as it is.
func drawProfile(w *suite.World, r *rand.Rand) (string, *Model) {
	m := &Model{Host: w.Host(importer.Refuse), IsDir: importer.Once(importer.IsDir), Workdir: suite.Pick(r, "none", "read", "write", "readwrite")}
	paths := func(n int) []string {
		return suite.Some(r, n, func() string {
			return suite.Pick(r, "$WORKDIR/a", w.Dir+"/src", "~/x", "$HOME/x/y", "~", "/usr", "/etc", "/", "~/.ssh", "~/.bashrc", "$WORKDIR/link", "a", "$TMPDIR", "$WORKDIR/no", "~/x/.env", "$WORKDIR/.env", "$WORKDIR/../x", "$HOMEx", "~/Library/x")
		})
	}
	fs := map[string]any{}
	for key, to := range map[string]*[]string{"allow": &m.Allow, "read": &m.Read, "write": &m.Write, "allow_file": &m.AllowFile, "read_file": &m.ReadFile} {
		if *to = paths(3); len(*to) > 0 {
			fs[key] = *to
		}
	}
	m.Deny = suite.Some(r, 2, func() string { return suite.Pick(r, "$WORKDIR/a/b", "~/x/y", "~/.ssh", "/etc", "$WORKDIR/link", w.Dir) })
	fs["deny"] = m.Deny
	network := map[string]any{}
	if r.IntN(3) == 0 {
		m.Block = true
		network["block"] = true
	}
	hosts := func() string { return suite.Pick(r, "a.test", "*.a.test", "b.a.test", "10.0.0.1", "localhost", "*") }
	if m.Domains = suite.Some(r, 3, hosts); len(m.Domains) > 0 {
		m.Filtered = true
		network[suite.Pick(r, "allow_domain", "proxy_allow", "allow_proxy")] = m.Domains
	}
	vars := func() string { return suite.Pick(r, "PATH", "L*", "LC_*", "LC_A*", "TERM", "H*", "*", "GH_TOKEN") }
	m.AllowVars, m.DenyVars = suite.Some(r, 3, vars), suite.Some(r, 2, vars)
	m.Commands = suite.Some(r, 2, func() string { return suite.Pick(r, "rm", "git", "npm") })
	groups := map[string]any{"include": suite.Some(r, 2, func() string { return suite.Pick(r, "rust_runtime", "deny_credentials", "system_read_linux_core") })}
	if m.NoSystem = r.IntN(4) == 0; m.NoSystem {
		groups["exclude"] = []string{"system_read_linux_core"}
	}
	text, _ := json.Marshal(map[string]any{
		"meta": map[string]any{"name": "x"}, "extends": "default", "filesystem": fs, "network": network, "workdir": map[string]any{"access": m.Workdir},
		"environment": map[string]any{"allow_vars": m.AllowVars, "deny_vars": m.DenyVars}, "commands": map[string]any{"deny": m.Commands}, "groups": groups,
	})
	return string(text), m
}

// For any profile of nono, the result permits nothing that it does not.
func TestNonoNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for _, f := range []string{".ssh/id", "x/.ssh/id", "Library/x/y", "ws/src/.env"} {
		if err := os.MkdirAll(filepath.Join(w.Home, filepath.Dir(f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.Home, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var reads atomic.Int64
	suite.Drawn(t, 1_000, func(r *rand.Rand) error {
		text, model := drawProfile(w, r)
		res, err := w.Run("profile.json", text, importer.Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if err := w.Agrees(r, res, text, model); err != nil {
			return err
		}
		if _, err := suite.LinesAgree(r, w.Home, res.Text, text, model); err != nil {
			return err
		}
		c, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			return err
		}
		view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "LC_AX", "TERM", "TZ", "USER"} {
			if view.Decide(ir.Forward{Name: name}).Allowed() && !model.Passes(name) {
				return fmt.Errorf("%s\n%s\nforwards %s", text, res.Text, name)
			}
		}
		if view.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(ir.In("src/x"))}).Allowed() {
			reads.Add(1)
		}
		return nil
	})
	if reads.Load() == 0 {
		t.Error("nothing may be read")
	}
}

// Profiles of which a part is not here, or may deny what is not understood, are refused with a place.
func TestNonoMistakes(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for text, want := range map[string]string{
		`{"workdir": {"access": "none"}, "extends": "claude-code"}`:                      ":1:33: extends adds settings that are not here",
		`{"workdir": {"access": "none"}, "extends": ["default", "x"]}`:                   "extends adds settings that are not here",
		`{"workdir": {"access": "all"}}`:                                                 "expected none, read, write or readwrite",
		`{"workdir": {}, "groups": {"include": ["unlink_protection"]}}`:                  `"unlink_protection" is no group whose meaning is known, and may deny`,
		`{"workdir": {}, "groups": {"exclude": [{"name": "x", "when": {}}]}}`:            "is no group whose meaning is known",
		`{"workdir": {}, "filesystem": {"deny": ["secrets"]}}`:                           "filesystem.deny[0] secrets: it is not certain from where it counts",
		`{"workdir": {}, "filesystem": {"deny": ["$TMPDIR/x"]}}`:                         "filesystem.deny[0]",
		`{"workdir": {}, "filesystem": {"deny": ["~/**/.env"]}}`:                         "is not understood",
		`{"workdir": {}, "filesystem": {"deny_file": ["~/x"]}}`:                          `"deny_file" is no key of filesystem in nono 0.66.0`,
		`{"workdir": {}, "command_policies": {"commands": {"gh": {}}}}`:                  "command_policies may deny",
		`{"workdir": {}, "unsafe_macos_seatbelt_rules": ["(deny file-read*)"]}`:          "unsafe_macos_seatbelt_rules may deny",
		`{"workdir": {}, "linux": {"af_unix_mediation": "pathname"}}`:                    "import without it",
		`{"workdir": {}, "environment": {"deny_vars": ["A*B"]}}`:                         "an element of environment.deny_vars is no name",
		`{"workdir": {}, "network": {"allow_domain": "a.test"}}`:                         "network.allow_domain is no list",
		`{"workdir": {}, "filesystem": {"allow": [{"path": "~/x", "unless": "linux"}]}}`: `"unless" is no key`,
	} {
		if _, err := w.Run("profile.json", text, importer.Existing); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, expected %q", text, err, want)
		}
	}
	own := filepath.Join(w.Home, ".config/nono/profiles")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run("profile.json", `{"workdir": {"access": "read"}, "extends": "default"}`, importer.Refuse); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(own+"/default.json", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run("profile.json", `{"workdir": {"access": "read"}, "extends": "default"}`, importer.Refuse); err == nil {
		t.Error("a default profile of the user is passed over")
	}
}
