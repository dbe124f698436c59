package compiler_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestLeastRisk: a written risk raises the risk of a tool and never lowers it. Before, the key was an error in one file
// and ignored in another.
func TestLeastRisk(t *testing.T) {
	const offline = "access.net = { strategy = \"replace\", value = [{ host = \"a.test\", allow = false }] }\n"
	for upper, want := range map[string]ir.Risk{
		"risk = \"low\"": ir.RiskHigh, offline + "risk = \"low\"": ir.RiskLow,
		offline + "risk = \"medium\"": ir.RiskMedium, offline + "risk = \"high\"": ir.RiskHigh,
	} {
		res, codes := over(t, upper, true)
		if res.Program == nil {
			t.Fatal(codes, res.Findings)
		}
		if got := ir.RiskOf(res.Program.Tools[0]); got != want {
			t.Errorf("%s: %s, want %s", upper, got, want)
		}
	}
	for upper, code := range map[string]string{
		`risk = "extreme"`:                   "ACC013",
		"source = \"mcp.s\"\nrisk = \"low\"": "ACC021",
		"[tools.'*']\nrisk = \"low\"":        "ACC014",
	} {
		if res, got := over(t, upper, true); res.Program != nil || !strings.Contains(got, code) {
			t.Errorf("%s: findings %q, want %s", upper, got, code)
		}
	}
}
