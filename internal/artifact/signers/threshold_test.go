package signers

import (
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/host/userdir"
)

// TestThresholdOfPermitted: a signature counts towards a threshold only if its signer may sign for the project and
// from the serial of the statement.
func TestThresholdOfPermitted(t *testing.T) {
	dir := tempDir(t)
	k := newKeys(t, dir)
	file := filepath.Join(dir, "attestation.toml")
	for more, want := range map[string]bool{"": true, "project = \"x\"\n": true, "project = \"y\"\n": false,
		"project = \"x\"\nserial = 5\n": true, "project = \"x\"\nserial = 6\n": false} {
		write(t, file, "threshold = 2\n[[signers]]\nname = \"a\"\nkey = \"a.pub\"\n[[signers]]\nname = \"b\"\nkey = \"b.pub\"\n"+more)
		p, _, found := Read([]userdir.Attestation{{Path: file}}, "", dir, nil)
		if len(found) > 0 {
			t.Fatal(found)
		}
		_, by, err := p.Judge(k.envelope(t, attest.Build{Serial: 5, Project: "x"}, "a", "b"),
			Subject{Workspace: "/ws", Tool: "t"})
		if (err == nil) != want {
			t.Errorf("%q: %v by %q", more, err, by)
		}
	}
}
