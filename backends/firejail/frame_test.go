package firejail_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/firejail"
	"github.com/accessc/accessc/ir"
)

// TestEverythingIsClosed: whatever a policy grants, a profile closes all places of the host that it does not name,
// the places of services in /run among them.
func TestEverythingIsClosed(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}}
	out, err := firejail.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil || len(out.Refusals) > 0 {
		t.Fatal(err, out.Refusals)
	}
	lines := strings.Split(string(out.Data), "\n")
	for _, want := range []string{
		"blacklist /*", "blacklist /run/*", "read-only /", "blacklist /dev/log", "caps.drop all", "nonewprivs",
		"noroot",
		"restrict-namespaces", "seccomp", "net none", "ipc-namespace", "dbus-user none", "dbus-system none",
		"private-dev",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("the profile lacks %q", want)
		}
	}
}
