package start

import (
	"testing"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// TestForbidden: a tool with the policy of another one is forbidden as that one is. A policy that cannot be found there says
// nothing, so the tool does not start.
func TestForbidden(t *testing.T) {
	m := &manifest{Tools: []strictjson.Raw{
		`{"name": "no", "policy": {"constraints": {"forbidden": true}}}`, `{"name": "yes", "policy": {}}`,
		`{"name": "as no", "policy_as": "no"}`, `{"name": "as yes", "policy_as": "yes"}`, `{"name": "as itself", "policy_as": "as itself"}`,
		`{"name": "as one as no", "policy_as": "as no"}`, `{"name": "as none", "policy_as": "none"}`,
	}}
	for name, want := range map[string]string{
		"no": "forbidden", "yes": "", "as no": "forbidden", "as yes": "", "as itself": "error", "as one as no": "error", "as none": "error",
	} {
		listed, err := m.named(name)
		if err != nil || len(listed) != 1 {
			t.Fatal(name, listed, err)
		}
		got := ""
		switch forbidden, err := m.forbidden(listed[0]); {
		case err != nil:
			got = "error"
		case forbidden:
			got = "forbidden"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
