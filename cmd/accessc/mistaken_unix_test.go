//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// onMistakes are the arguments of every command in a workspace whose policy has mistakes. No such program is there: a
// start would take the place of the test. A command behind "+" needs no policy, and may succeed.
var onMistakes = []string{
	"init", "run no-such", "exec t", "+preset list", "+preset show go", "explain t", "can t read a", "+denials t",
	"check", "test", "+doctor", "parity", "learn t", "allow t read a", "approve a", "+approvals", "+grants list",
	"+grants revoke 1", "+grants answer 1 no", "mount t:a=/usr/share:ro", "+unmount a", "+home list",
	"home path t", "+home clear --yes t", "build", "verify access/manifest.json", "fleet .",
	"hook run claude-code", "hook install claude-code", "hook install codex", "hook install claude-code --tool t",
	"hook install codex --project", "+hook uninstall codex", "+hook print codex", "+hook doctor codex",
	"mcp --server t", "acp no-such", "adopt none.json", "import none.json", "decide ls", "+serve --stdio",
	"oci --bundle . t", "+schema", "+completion bash", "+man", "+help", "+version", "hook install copilot",
	"hook install gemini", "+fmt --check", "+lsp", "hook install cursor", "hook install opencode", "hook install windsurf",
	"+changes", "+undo", "evidence verify none", "evidence export --format otlp none",
}

// TestMistakenPolicies: no command panics, is silent or succeeds where the policy that it needs has mistakes.
func TestMistakenPolicies(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(dir, "user", name))
	}
	ws := filepath.Join(dir, "ws")
	for _, d := range []string{ws, filepath.Join(dir, "user", "HOME")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(ws)
	var c cli
	parser, err := kong.New(&c, kong.Name("accessc"), kong.Vars{"formats": ""}, kong.ExplicitGroups(groups))
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		name := strings.TrimPrefix(leaf.FullPath(), "accessc ")
		listed := func(args string) bool { return strings.HasPrefix(strings.TrimPrefix(args, "+")+" ", name+" ") }
		if !slices.ContainsFunc(onMistakes, listed) {
			t.Errorf("no arguments for %s", name)
		}
	}
	for what, text := range map[string]string{
		"of one tool":   "[tools.t]\nsourc = 1\n",
		"of its rules":  "[tools.t]\nsource = \"local\"\ncommand = \"no-such\"\naccess.fs = [{ pth = \".\" }]\n",
		"of no tool":    "[access]\n",
		"of the text":   "[tools.t\n",
		"of the layers": "extends = [\"none.toml\"]\n[tools.t]\nsource = \"local\"\ncommand = \"no-such\"\n",
		"of a server":   "[servers.t]\nx = 1\n[tools.t]\nsource = \"mcp.t\"\naccess.fs = 1\n",
	} {
		for _, args := range onMistakes {
			if err := os.WriteFile(filepath.Join(ws, "accessc.toml"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			args, free := strings.CutPrefix(args, "+")
			var out, errs bytes.Buffer
			code := run(strings.Fields(args), strings.NewReader("{}\n"), &out, &errs)
			if !free && (code == 0 || errs.Len() == 0) {
				t.Errorf("mistakes %s: accessc %s: status %d: %s", what, args, code, &errs)
			}
		}
	}
}
