package allow

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRuleByNameStays: a rule for a place goes into none that is about names below it. Cause: rules of the
// layer were found by their path alone, so that what was to permit a directory was given to the secrets in it,
// and the directory got nothing.
func TestRuleByNameStays(t *testing.T) {
	for _, rule := range []string{"{ path = 'lib', names = ['*.key'] }", "{ path = 'lib', names = ['*.key'], read = true }"} {
		local := "[tools.t]\naccess.fs = [" + rule + "]\n"
		req, base := world(t, map[string]string{
			"ws/accessc.toml": "[tools.t]\nsource = 'local'\naccess.fs = [{ path = 'src', read = true }]\n",
			"ws/lib/x":        "", "ws/.accessc/local.toml": local,
		})
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Question([]string{"read", "lib"})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(a)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Apply(context.Background()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(base, "ws", ".accessc", "local.toml"))
		if err != nil || !strings.Contains(string(text), rule) || !strings.Contains(string(text), "{ path = \"lib\", read = true }") {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
