package codex

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// For any permission profile of Codex, the result permits nothing that it does not.
func TestCodexNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		text, patterns := drawSettings(r), suite.Pick(r, importer.Existing, importer.Close)
		res, err := w.Run("config.toml", text, patterns)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		return w.Agrees(r, res, text, res.Policy)
	})
}

func drawSettings(r *rand.Rand) string {
	if r.IntN(5) == 0 {
		return fmt.Sprintf("sandbox_mode = %q\n[sandbox_workspace_write]\nwritable_roots = [%q]\n", suite.Pick(r, "read-only", "workspace-write", "danger-full-access"), suite.Pick(r, "~/x", "/opt/z", "~/x/y"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "default_permissions = \"p\"\n[permissions.p]\nextends = %q\n[permissions.p.filesystem]\n", suite.Pick(r, ":read-only", ":workspace"))
	for _, p := range importer.Without(suite.Some(r, 4, func() string {
		return suite.Pick(r, ":root", ":minimal", ":tmpdir", "~/x", "~/x/y", "/opt/z", "/etc", "/usr/share", "~", "~/x/*", "~/x/**")
	})) {
		mode := suite.Pick(r, "read", "write", "deny")
		if strings.HasSuffix(p, "/*") {
			mode = "deny"
		}
		if p == ":minimal" {
			mode = "read"
		}
		fmt.Fprintf(&b, "%q = %q\n", p, mode)
	}
	b.WriteString("[permissions.p.filesystem.\":workspace_roots\"]\n")
	for _, p := range importer.Without(suite.Some(r, 5, func() string {
		return suite.Pick(r, ".", "a", "a/b", "src", "link", "link/b", "x y", ".git", "**/.env", "a/*", "src/**")
	})) {
		mode := suite.Pick(r, "read", "write", "write", "none")
		if strings.HasPrefix(p, "**") || strings.HasSuffix(p, "/*") {
			mode = "deny"
		}
		fmt.Fprintf(&b, "%q = %q\n", p, mode)
	}
	fmt.Fprintf(&b, "[permissions.p.network]\nenabled = %t\nmode = %q\n[permissions.p.network.domains]\n", r.IntN(4) > 0, suite.Pick(r, "full", "full", "limited"))
	for _, h := range importer.Without(suite.Some(r, 4, func() string {
		return suite.Pick(r, "a.test", "*.a.test", "**.a.test", "b.a.test", "c.test", "localhost", "10.0.0.1")
	})) {
		fmt.Fprintf(&b, "%q = %q\n", h, suite.Pick(r, "allow", "allow", "deny"))
	}
	fmt.Fprintf(&b, "[shell_environment_policy]\ninherit = %q\nexclude = [%q]\n", suite.Pick(r, "all", "core", "none"), suite.Pick(r, "AWS_*", "T*", "lang", "*"))
	return b.String()
}
