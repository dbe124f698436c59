// Package editors_test runs published clients of the language server protocol against accessc lsp: Neovim, and the
// library by which VS Code speaks to language servers. The nightly stage "editors" installs both.
package editors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/test/testbuild"
)

const policy = `[tools.x]
source = "local"
command = "ls"

[[tools.x.access.fs]]
path = "."
raed = true
`

// run starts a client with a policy that has a mistake, and returns what it prints.
func run(t *testing.T, env []string, client string, args ...string) []string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program, file := filepath.Join(dir, "bin", "accessc"), filepath.Join(dir, "work", "accessc.toml")
	for _, d := range []string{"bin", "work", "home"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := testbuild.Program(program, "cmd/accessc"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(client, args...)
	cmd.Env = append(os.Environ(), append(env, "POLICY="+file, "ACCESSC="+program, "HOME="+filepath.Join(dir, "home"))...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestNeovim: the client that Neovim has shows findings at their places, applies a correction and the layout.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("needs nvim (apt install neovim): ", err)
	}
	got := run(t, nil, nvim, "--headless", "--clean", "-n", "-S", "testdata/nvim.lua")
	want := []string{"6:0-4 ACC014", "Change to read", "read = true", "5:13-14 ACC001", "accessc.toml:5", `path = "."`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLibrary: the library of VS Code's client opens, changes and asks.
func TestLibrary(t *testing.T) {
	modules := os.Getenv("ACCESSC_NODE_MODULES")
	if modules == "" {
		t.Skip("needs ACCESSC_NODE_MODULES, a directory with vscode-jsonrpc and vscode-languageserver-protocol")
	}
	got := run(t, []string{"NODE_PATH=" + modules}, "node", "testdata/client.js")
	want := []string{"6:0-4 ACC014", "accessc.toml:5", ". r; no network; runs any; risk low", "exit 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
