package vscode

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// The settings for VS Code are read back, and approve no command.
func TestVSCodeExport(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		out, err := Backend{}.Compile(suite.Expressible(r).Policy(), backends.Target{Form: backends.Portable})
		if err != nil {
			return err
		}
		res, err := w.RunAs("", "settings.json", string(out.Data), importer.Refuse)
		if err != nil || strings.Contains(res.Text, `"allow"`) || !strings.HasPrefix(res.Format, "vscode") {
			return fmt.Errorf("%s: %w", out.Data, err)
		}
		return nil
	})
}
