package build_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/internal/artifact/build"
)

// TestSummaries: a manifest that says of a tool what its policy does not say is found, also where only one word
// differs.
func TestSummaries(t *testing.T) {
	for what, tamper := range map[string]func(*build.Entry){
		"another sensitive path": func(e *build.Entry) {
			e.Sensitive = slices.Clone(e.Sensitive)
			for i := range e.Sensitive {
				e.Sensitive[i] = "nothing/of/the/kind"
			}
		},
		"not confined": func(e *build.Entry) { e.Confined = false },
	} {
		dir, m := built(t)
		i := slices.IndexFunc(m.Tools, confined)
		if len(m.Tools[i].Sensitive) == 0 {
			t.Fatal("the policy reaches no sensitive path")
		}
		tamper(&m.Tools[i])
		if got := verify(t, m, dir); !slices.Contains(got, build.ToolSummary) {
			t.Errorf("%s: %v", what, got)
		}
	}
	dir, m := built(t)
	i := slices.IndexFunc(m.Tools, func(e build.Entry) bool { return !e.Confined })
	m.Tools[i].Confined = true
	if got := verify(t, m, dir); len(got) == 0 {
		t.Error("a tool that is not confined is taken for one that is")
	}
}
