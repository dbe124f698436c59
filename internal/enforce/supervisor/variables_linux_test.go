package supervisor

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestNarrowerRule: a script that names another interpreter has the variables that both rules grant.
func TestNarrowerRule(t *testing.T) {
	some := func(names ...string) *ir.CommandRule { return &ir.CommandRule{Envs: names} }
	all := &ir.CommandRule{AllEnvs: true}
	for _, tt := range []struct{ script, interpreter, want *ir.CommandRule }{
		{some("A", "B"), some("B", "C"), some("B")}, {all, some("B"), some("B")}, {some("A"), all, some("A")},
		{all, all, all},
		{some("A"), some("B"), some()}, {some("A"), nil, some("A")},
	} {
		got := narrower(tt.script, tt.interpreter)
		if got.AllEnvs != tt.want.AllEnvs || !slices.Equal(got.Envs, tt.want.Envs) {
			t.Errorf("%+v by %+v: %+v, want %+v", tt.script, tt.interpreter, got, tt.want)
		}
	}
	if narrower(nil, some("A")) != nil {
		t.Error("a start without a rule has got one")
	}
}
