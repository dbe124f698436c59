package allow

import (
	"path/filepath"
	"testing"
)

// TestKnownPlaces: no rule is proposed for the settings of clients, files that start code, or credentials of a home.
//
// Cause: the lists had shells and logins, and no clients that start servers, nor files that other programs load.
func TestKnownPlaces(t *testing.T) {
	req, base := world(t, map[string]string{
		"ws/accessc.toml": "[tools.t]\nsource = 'local'\ncommand = 'sh'\n", "home/x": "", "home/.claude.json": "",
	})
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		".claude.json", ".config/Claude/claude_desktop_config.json",
		".codeium/windsurf/mcp_config.json", ".copilot/mcp-config.json",
		".config/Code/User/settings.json", ".config/Code/User/mcp.json",
		".config/direnv/direnvrc", ".local/share/direnv", ".ipython/x",
		"v/lib/python3/site-packages/x.pth", ".gradle/init.gradle",
		".config/mise/config.toml", ".gdbinit", ".hgrc", ".Rprofile",
		".forward", "go/bin/x", ".config/gh/hosts.yml", ".cargo/credentials.toml",
		".vault-token", ".pgpass", ".my.cnf",
		".password-store/x", ".local/share/keyrings", ".azure", ".config/rclone/rclone.conf",
	} {
		if p.Reserved(filepath.ToSlash(filepath.Join(base, "home", name))) == "" {
			t.Errorf("a rule may be proposed for %s", name)
		}
	}
	if why := p.Reserved(filepath.ToSlash(filepath.Join(base, "home", "x"))); why != "" {
		t.Error(why)
	}
}
