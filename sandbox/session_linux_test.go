package sandbox_test

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/sandbox"
)

const constrained = `
[tools.build]
source = "local"
command = "/bin/true"
constraints.max_invocations = 2

[tools.deploy]
source = "local"
command = "/bin/true"
constraints.only_after = ["build"]
`

// TestSession: starts of a session are counted across hosts, those of another session and of none apart; the constraints of a
// tool refuse a start before anything of it has run.
func TestSession(t *testing.T) {
	h, ws := openWith(t, constrained)
	second, err := sandbox.Open(sandbox.Config{Dir: ws})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for _, c := range []struct {
		host          *sandbox.Host
		tool, session string
		want          string
	}{
		{h, "deploy", "a", "only after"},
		{h, "build", "a", ""},
		{second, "deploy", "a", ""},
		{second, "deploy", "b", "only after"},
		{second, "build", "a", ""},
		{h, "build", "a", "2 times"},
		{h, "build", "b", ""},
		{h, "build", "", ""},
		{h, "build", "\n", "expected 1 to 256 bytes"},
		{h, "", "a", "names none"},
	} {
		r := sandbox.Request{Tool: c.tool, Session: c.session}
		if c.tool == "" {
			r.Program = "true"
		}
		p, err := c.host.Start(t.Context(), r)
		if err == nil {
			_, err = p.Wait()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in session %q: got %v, want %q", c.tool, c.session, err, c.want)
		}
	}
}
