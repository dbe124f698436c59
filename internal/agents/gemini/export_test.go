package gemini

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// The rules for Gemini CLI are read back, and none of them becomes one that allows: it asks about each command.
func TestGeminiExport(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		tool := suite.Expressible(r).Policy()
		tool.Commands = &ir.CommandSet{}
		for _, name := range suite.Some(r, 3, func() string { return suite.Pick(r, "git", "make", "./run") }) {
			tool.Commands.Rules = append(tool.Commands.Rules, ir.CommandRule{Program: name, AnyArgs: r.IntN(2) == 0, Args: []ir.ArgPattern{{Words: []string{"a", "-x"}}}})
		}
		out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			return err
		}
		res, err := w.RunAs("gemini", "gemini.toml", string(out.Data), importer.Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", out.Data, err)
		}
		asked := strings.Count(res.Text, `outcome = "ask"`)
		if asked == 0 && len(tool.Commands.Rules) > 0 || strings.Contains(res.Text, `"allow"`) {
			return fmt.Errorf("%s\n%s", out.Data, res.Text)
		}
		return nil
	})
}
