package explain

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// TestNewToolByDefault: a new tool without rules of its own was eight differences, each an
// annotation. Where it has some, those are shown, and the rest is named.
func TestNewToolByDefault(t *testing.T) {
	plain, netted := ir.NewTool("plain"), ir.NewTool("netted")
	netted.Net, netted.Declared.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "example.com"}, Scheme: "https", Allow: true, Origin: ir.Origin{Pos: ir.Pos{File: "a.toml", Line: 1}}}}, true
	both := []compare.Policy{{Tool: plain}, {Tool: netted}}
	for _, c := range []struct {
		old, new []compare.Policy
		mark     string
	}{{nil, both, "+"}, {both, nil, "-"}} {
		got := ChangesText(Changes(c.old, c.new), Style{})
		for _, want := range []string{"be started  local, default policy\n", "be started  local, default files and variables", "connect "} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing:\n%s", want, got)
			}
		}
		if n := strings.Count(got, "\n  "+c.mark); n != 3 {
			t.Errorf("%d differences, expected 3:\n%s", n, got)
		}
	}
	if n := len(ChangesJSON(Changes(nil, both)).Tools[1].Differences); n < 8 {
		t.Errorf("JSON has %d differences, expected all", n)
	}
}

// TestHeldLess: a policy that permits no more but is held less is told apart from one that
// permits more.
func TestHeldLess(t *testing.T) {
	weaker := compare.Difference{Kind: compare.Enforcement, Wider: true}
	cs := []Change{
		{Verdict: compare.Widened, Differences: []compare.Difference{weaker}},
		{Verdict: compare.Changed, Differences: []compare.Difference{weaker, {Wider: false}}},
		{Verdict: compare.Widened, Differences: []compare.Difference{weaker, {Wider: true}}},
	}
	if got, want := headline(cs), "1 tool may do more, 1 tool may do less, 2 tools are held less"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}
