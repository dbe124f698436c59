package importer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/claudecode"
	"github.com/accessc/accessc/internal/agents/codex"
	"github.com/accessc/accessc/internal/agents/cursor"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/agents/srt"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// exported are the programs for which policies are compiled and from which they are read back: by the name of the file, and
// whether they can say all of a policy of grants.
var exported = []struct {
	backend backends.Backend
	file    string
	exact   bool
}{
	{srt.Backend{}, "srt.json", true}, {codex.Backend{}, "config.toml", true}, {claudecode.Backend{}, "settings.json", false}, {cursor.Backend{}, "sandbox.json", false},
}

// A policy is the same after the way to the settings of srt or Codex and back, if these can say it, and after that to any
// program's it is no wider; a name that a rule closes stays closed. Codex cannot have several exceptions in a directory
// without a rule.
func TestAgentsExport(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	w.Dir = w.Home + "/empty"
	if err := os.Mkdir(w.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "src", "x y", "zz"}
	var same, other atomic.Int64
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		g, to := suite.Expressible(r), exported[r.IntN(len(exported))]
		tool, byName := g.Policy(), r.IntN(2) == 0
		if byName {
			tool.FS = append(tool.FS, ir.FSRule{At: ir.In(""), Names: []string{suite.Pick(r, "z*", "zz", "x ?")}})
		}
		out, err := to.backend.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			return err
		}
		from := ""
		if to.backend.Name() == "cursor" {
			from = "cursor"
		}
		res, err := w.RunAs(from, to.file, string(out.Data), importer.Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", out.Data, err)
		}
		c, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			return err
		}
		before, after := ir.NewView(tool, ir.Linux, ir.Facts{}), ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		for range 40 {
			rel := strings.Join(append([]string{suite.Pick(r, names...)}, suite.Some(r, 3, func() string { return suite.Pick(r, names...) })...), "/")
			for _, cap := range ir.Capabilities {
				op := ir.Access{Cap: cap, On: ir.Direct(ir.In(rel))}
				was, is := before.Decide(op).Allowed(), after.Decide(op).Allowed()
				row, _ := out.Elsewhere.Cell(ir.FS, suite.RuleOf(before, op), ir.AspectOf(cap), 0, 0)
				closed := suite.RuleOf(before, op) == ir.FSRuleID(len(g)) // by its name
				if is && !was && row.Is != ir.Weaker || to.exact && closed && is ||
					to.exact && was != is && !row.Cites("codex.siblings") && !row.Cites("agents.named") {
					return fmt.Errorf("%s\n%s\n%s %s: %t, and after the way back %t", out.Data, res.Text, cap, rel, was, is)
				}
				if was == is {
					same.Add(1)
				} else {
					other.Add(1)
				}
			}
		}
		return nil
	})
	if same.Load() == 0 || other.Load() == 0 {
		t.Errorf("%d answers are the same, %d are not", same.Load(), other.Load())
	}
}
