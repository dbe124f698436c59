package attested

import (
	"os"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/bounds"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/internal/host/userdir"
)

// Signers reads this host's files that say who may sign, for a workspace. With an error among the findings
// nothing may be started.
func Signers(root string) (signers.Policy, source.Files, diag.List) {
	home, _ := os.UserHomeDir() // without one no pattern below it matches
	exposed := func(file string) string { return start.Exposed(file, root) }
	p, texts, findings := signers.Read(userdir.Attestations(), root, home, exposed)
	// Nothing starts where the maximum is void.
	if f, err := maximum.Read(); f != nil && err == nil {
		m, _ := bounds.Read(f.Path, f.Data, f.Stamp)
		p = p.And(func(tool string) string {
			if m.RequiresAttestation(tool) {
				return f.Path
			}
			return ""
		})
	}
	return p, texts, findings
}

// Required returns the name of a file that requires an attestation of a tool, empty if none does.
func Required(p signers.Policy, root, tool string) string { return p.Requires(subject(root, tool)) }

// Build returns the statement of an attestation of a whole build, and the names of those who may have signed it.
func Build(p signers.Policy, e *attest.Envelope, root string) (*attest.Statement, []string, error) {
	return p.Judge(e, subject(root, ""))
}

func subject(root, tool string) signers.Subject {
	home, _ := os.UserHomeDir()
	return signers.Subject{Workspace: root, Tool: tool, Home: home}
}
