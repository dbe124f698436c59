package importer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/agents/suite"
)

// A key that takes the effect of entries elsewhere away is not passed over: each of these results
// permitted what the program does not.
func TestEffectElsewhere(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	for _, c := range []struct {
		name, from string
		files      []string
		wrong      string
	}{
		{"no tool for commands", "gemini-settings", []string{`{"tools": {"core": ["ReadFileTool"], "allowed": ["run_shell_command(git)"]}}`}, ""},
		{"no tool at all", "gemini-settings", []string{`{"tools": {"core": [], "allowed": ["run_shell_command(git)"]}}`}, ""},
		{"a profile of another version", "codex", []string{"sandbox_mode = \"workspace-write\"\nprofile = \"p\"\n[profiles.p]\nsandbox_mode = \"read-only\"\n"}, "Codex does not start with it"},
		{"managed rules", "claude-code", []string{`{"allowManagedPermissionRulesOnly": true}`, `{"permissions": {"allow": ["Bash(ls:*)"]}}`}, "import this file alone"},
		{"managed hosts", "claude-code", []string{`{"sandbox": {"enabled": true, "network": {"allowedDomains": ["b.test"]}}}`,
			`{"sandbox": {"enabled": true, "network": {"allowManagedDomainsOnly": true}}}`}, "import this file alone"},
	} {
		req := importer.Request{From: c.from, Patterns: importer.Refuse}
		for i, text := range c.files {
			path := filepath.Join(w.In, fmt.Sprintf("elsewhere%d", i))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			req.Files = append(req.Files, path)
		}
		res, err := w.Imports(req)
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: got %v", c.name, err)
		case c.wrong == "" && (err != nil || strings.Contains(res.Text, "outcome = \"allow\"")):
			t.Errorf("%s: got %+v, %v", c.name, res, err)
		}
	}
	path := filepath.Join(w.In, "shell.json")
	if err := os.WriteFile(path, []byte(`{"tools": {"core": ["ShellTool"], "allowed": ["run_shell_command(git log)"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := w.Imports(importer.Request{Files: []string{path}, From: "gemini-settings", Patterns: importer.Refuse})
	if err != nil || !strings.Contains(res.Text, `prefix = ["git log"]`) {
		t.Errorf("with the tool: got %+v, %v", res, err)
	}
}
