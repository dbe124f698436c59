package importer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/agents/suite"
)

// Files that no program writes end in an error, soon and without a result.
func TestHostileFiles(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"deep.json":    `{"filesystem": ` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + `, "network": {}}`,
		"nested.json":  `{"filesystem": {"denyRead": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}, "network": {}}`,
		"latin.json":   "{\"filesystem\": {}, \"network\": {\"x\": \"\xe9\"}}",
		"zero.json":    "{\"filesystem\": {}, \x00 \"network\": {}}",
		"control.json": `{"filesystem": {"denyRead": ["a\u0000b"], "allowWrite": [], "denyWrite": []}, "network": {}}`,
		"twice.json":   `{"filesystem": {"denyRead": ["a"], "denyRead": []}, "network": {}}`,
		"wrong.json":   `{"filesystem": [], "network": 7}`,
		"empty.json":   ``,
		"lists.rules":  `prefix_rule(pattern=` + strings.Repeat("[", 100_000) + `)`,
		"quote.rules":  `prefix_rule(pattern=["a`,
		"slash.rules":  `prefix_rule(pattern=["a\`,
		"three.rules":  `prefix_rule(pattern=["""a"""])`,
		"half.rules":   `prefix_rule(pattern=["a"]`,
		"plus.rules":   `prefix_rule(pattern=["a"] + ["b"])`,
		"comment.json": `{"chat.tools.terminal.autoApprove": {"x\n[tools.a.access]\n#": true}}`,
		"agent.json":   `{"permission": "allow", "default_agent": "b\n[tools.a.access]\n#", "agent": {"b\n[tools.a.access]\n#": {"permission": "deny"}}}`,
		"action.json":  `{"permission": {"bash\n[tools.a.access]\n#": "deny"}}`,
		"many.json":    `{"filesystem": {` + strings.Repeat(`"x":1,`, 50_000) + `"y":1}, "network": {}}`,
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{
		"loop.json": os.Symlink("loop.json", at("loop.json")), "dir.json": os.Mkdir(at("dir.json"), 0o755), "large.json": os.WriteFile(at("large.json"), nil, 0o600),
	} {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	const terabyte = 1 << 40 // more than fits into memory
	if err := os.Truncate(at("large.json"), terabyte); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Log(f.Name())
		res, err := w.Imports(importer.Request{Files: []string{at(f.Name())}, Patterns: importer.Existing})
		if err == nil || res != nil && strings.Contains(res.Text, "access") {
			t.Errorf("%s: became %+v", f.Name(), res)
		}
	}
}

// An import of several files fails as a whole.
func TestOneOfSeveralFails(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	good, bad := filepath.Join(w.In, "a.rules"), filepath.Join(w.In, "b.rules")
	if err := os.WriteFile(good, []byte(`prefix_rule(pattern=["ls"])`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte(`prefix_rule(pattern=[])`), 0o600); err != nil {
		t.Fatal(err)
	}
	req := importer.Request{Files: []string{good}, Patterns: importer.Refuse}
	if _, err := w.Imports(req); err != nil {
		t.Fatal(err)
	}
	if req.Files = append(req.Files, bad); len(req.Files) == 2 {
		if _, err := w.Imports(req); err == nil || !strings.Contains(err.Error(), "b.rules:1:1: a rule without a pattern") {
			t.Errorf("got %v", err)
		}
	}
}

// TestRootPatterns: "/**" is the root. The evaluations of srt and of Claude Code took it for another place, so the
// base stayed readable that it denies; in a profile of Codex it became the path ".", and everything did.
func TestRootPatterns(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	for _, root := range []string{"/", "/**", "/**/**"} {
		text := "default_permissions = \"p\"\n[permissions.p.filesystem]\n\":root\" = \"read\"\n\"" + root + "\" = \"deny\"\n"
		res, err := w.Run("config.toml", text, importer.Existing)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(res.Text, "read = true") {
			t.Errorf("%s is denied, and read by\n%s", root, res.Text)
		}
		for name, text := range map[string]string{
			"settings.json": `{"permissions": {"deny": ["Read(/` + root + `)"]}}`,
			"srt.json":      `{"filesystem": {"denyRead": ["` + root + `"], "allowWrite": [], "denyWrite": []}, "network": {"allowedDomains": [], "deniedDomains": []}}`,
		} {
			if root == "/**/**" {
				continue // a pattern there
			}
			res, err := w.Run(name, text, importer.Existing)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(res.Text, "read = true") || !strings.Contains(res.Text, `access.base = "none"`) {
				t.Errorf("%s: %s is denied, and read by\n%s", name, root, res.Text)
			}
		}
	}
}
