package main

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// TestRegistry installs a package with the npm of this machine from the registry that its
// configuration names, under a policy that names that host alone. A full run does: the answer is that of a host outside, and
// test/egress has npm install from registries of its own.
func TestRegistry(t *testing.T) {
	if !irtest.Full() {
		t.Skip("needs a registry outside of this machine: ACCESSC_CHECKS=1")
	}
	registry, settings := npmRegistry(t)
	ws := t.TempDir()
	config := `[tools.npm]
source = "local"
command = "npm"
access.fs = [{ path = ".", read = true, write = true }, { path = "accessc.toml", read = true }]
access.env = [{ name = "PATH", read = true }, { name = "npm_config_*", read = true }, { name = "NODE_EXTRA_CA_CERTS", read = true }]
access.net = [{ host = "` + registry.Hostname() + `", scheme = "` + registry.Scheme + `", allow = true }]
`
	for name, text := range map[string]string{"accessc.toml": config, "package.json": "{}"} {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	npm := func(registry string) (string, error) {
		cmd := exec.CommandContext(await.Context(t), "accessc", "exec", "npm", "--", "--registry", registry, "--cache", "./cache", "--fetch-retries", "0", "--no-audit",
			"--no-fund", "--no-update-notifier", "install", "isarray")
		cmd.Dir = ws
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		cmd.Env = append(cmd.Env, settings...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := npm("https://registry.example.org/"); err == nil || !strings.Contains(out, "connect  registry.example.org") {
		t.Errorf("another host: %v\n%s", err, out)
	}
	if out, err := npm(registry.String()); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(ws, "node_modules", "isarray", "package.json")); err != nil {
		t.Error(err)
	}
}

// npmRegistry returns the registry of this machine's npm, and the variables by which npm trusts it.
func npmRegistry(t *testing.T) (*url.URL, []string) {
	t.Helper()
	if !start.ThisHost().Supervises {
		t.Skip("this kernel lets no supervisor judge a tool's calls")
	}
	get := func(name string) string {
		out, err := exec.Command("npm", "config", "get", name).Output()
		if err != nil {
			t.Skip("npm: ", err)
		}
		return strings.TrimSpace(string(out))
	}
	u, err := url.Parse(get("registry"))
	if err != nil {
		t.Skip("npm: ", err)
	}
	req, err := http.NewRequestWithContext(await.Context(t), http.MethodHead, u.JoinPath("isarray").String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Skip("the registry of npm: ", err)
	}
	_ = r.Body.Close()
	var settings []string
	if file := get("cafile"); file != "" && file != "null" {
		settings = append(settings, "npm_config_cafile="+file, "NODE_EXTRA_CA_CERTS="+file)
	}
	return u, settings
}
