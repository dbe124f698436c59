package srt

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// export writes grants as settings of srt.
func export(g suite.Grants) string {
	fs := map[string][]string{"denyRead": {}, "allowRead": {}, "allowWrite": {}, "denyWrite": {}}
	for p, a := range g {
		name := "./" + p
		add := func(list string) { fs[list] = append(fs[list], name) }
		if a.Read {
			add("allowRead")
		} else {
			add("denyRead")
		}
		if a.Write {
			add("allowWrite")
		} else if a.Read {
			add("denyWrite")
		}
	}
	text, _ := json.Marshal(map[string]any{"filesystem": fs, "network": map[string]any{"allowedDomains": []string{}, "deniedDomains": []string{}}})
	return string(text)
}

// Grants that srt can say are the same after the way to its settings and back.
func TestSRTRoundTrip(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	w.Dir = w.Home + "/empty"
	if err := os.Mkdir(w.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "src", "x y", "zz"}
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		g := suite.Expressible(r)
		res, err := w.Run("srt.json", export(g), importer.Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", export(g), err)
		}
		c, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			return err
		}
		view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		for range 40 {
			rel := strings.Join(append([]string{suite.Pick(r, names...)}, suite.Some(r, 3, func() string { return suite.Pick(r, names...) })...), "/")
			want := g.At(rel)
			for _, cap := range ir.All.List() {
				permitted := want.Write
				if cap == ir.Read || cap == ir.Execute {
					permitted = want.Read
				}
				if got := view.Decide(ir.Access{Cap: cap, On: ir.Direct(ir.In(rel))}).Allowed(); got != permitted {
					return fmt.Errorf("%s\n%s\n%s %s: %t, expected %t", export(g), res.Text, cap, rel, got, permitted)
				}
			}
		}
		return nil
	})
}
