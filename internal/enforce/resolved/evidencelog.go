package resolved

import (
	"fmt"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/evidencecheck"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/usage"
)

// EvidenceLog asks for the part of a run in an evidence log, signed by the key in a file, if one is named; nil
// without a log. The key must be where no tool reads.
func EvidenceLog(file, key string, required bool, version string) (*start.EvidenceLog, error) {
	if file == "" {
		return nil, nil
	}
	state, err := userdir.Root()
	out := &start.EvidenceLog{File: file, State: state, Required: required, Accessc: version}
	if err != nil || key == "" {
		return out, err
	}
	bad := func(why any) error { return usage.Errorf("--evidence-key %s: %v", key, why) }
	data, err := signers.ReadSecret(key)
	if err != nil {
		return nil, bad(oserr.Reason(err))
	}
	private, err := attest.ParsePrivate(data)
	if err != nil {
		return nil, bad(err)
	}
	exposed := func(file string) string { return start.Exposed(file, "") }
	for _, d := range signers.Misplaced([]string{key}, "", exposed) {
		return nil, bad(fmt.Sprintf("%s; %s", d.Label, d.Hint))
	}
	out.KeyFile = key
	out.Key, out.Sign = private.Public().ID(), evidencecheck.Sign(private)
	return out, nil
}
