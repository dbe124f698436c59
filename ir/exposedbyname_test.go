package ir_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestExposedByName: a pattern of sensitive names is reached where some name that it matches is granted. Cause: the
// regions of a view have no rules by name, so closed names were shown as reached, and granted names were not.
func TestExposedByName(t *testing.T) {
	read := ir.Caps(ir.Read)
	byName := func(caps ir.CapSet, names ...string) ir.FSRule {
		return ir.FSRule{At: ir.In(""), Names: names, Caps: caps}
	}
	place := func(path string, caps ir.CapSet) ir.FSRule { return ir.FSRule{At: ir.In(path), Caps: caps} }
	for name, tt := range map[string]struct {
		rules []ir.FSRule
		want  []string
		risk  ir.Risk
	}{
		"closed": {[]ir.FSRule{place("", read), byName(0, ".env", ".env.*")}, nil, ir.RiskLow},
		"closed in part": {
			[]ir.FSRule{place("", read), byName(0, ".env", ".env.[^e]*")}, []string{"**/.env.*"}, ir.RiskLow,
		},
		"opened again": {
			[]ir.FSRule{place("", read), byName(0, ".env*"), byName(read, ".env.x")}, []string{"**/.env.*"}, ir.RiskMedium,
		},
		"granted": {[]ir.FSRule{byName(read, ".e*")}, []string{"**/.env", "**/.env.*"}, ir.RiskMedium},
		"closed, but one": {
			[]ir.FSRule{place("", read), byName(0, ".env*"), place("a/.env", read)}, []string{"**/.env"}, ir.RiskMedium,
		},
	} {
		tool := ir.NewTool("t")
		tool.FS = tt.rules
		tool.Sensitive = []ir.SensitivePattern{{Pattern: "**/.env"}, {Pattern: "**/.env.*"}}
		if got := ir.Exposed(tool); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if got := ir.RiskOf(tool); got != tt.risk {
			t.Errorf("%s: the risk is %s, want %s", name, got, tt.risk)
		}
	}
}
