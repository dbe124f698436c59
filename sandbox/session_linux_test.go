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

[tools.broken]
source = "local"
command = "/bin/false"
constraints.max_invocations = 1

[tools.absent]
source = "local"
command = "nowhere"
constraints.max_invocations = 1

[tools.after]
source = "local"
command = "/bin/true"
constraints.only_after = ["broken"]
`

// TestSession: starts of a session are counted across hosts, those of another session and of none apart; the constraints of a
// tool refuse a start before anything of it has run. A tool that has ended with another status than 0 has not completed.
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
		{h, "absent", "c", "nowhere"},
		{h, "absent", "c", "nowhere"}, // a start that failed has used nothing up
		{h, "broken", "c", ""},
		{h, "after", "c", "only after broken"},
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
