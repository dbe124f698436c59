package resolved

import (
	"fmt"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/maximum"
	"github.com/accessc/accessc/ir"
)

// Within compares the policy of an artifact with a hash with the maximum of this machine, for its start. An artifact
// has a part of its policy only, and no word of a file beside it is taken: the configuration of its workspace, res, has
// to compile to it, and that policy is compared.
func Within(res *hostfacts.Result, spec *start.Spec, hash string, accept []string) (maximum.Stamp, diag.List, error) {
	t, ok := res.Program.Tool(spec.Tool)
	if !ok {
		// A server that the configuration does not name.
		t = ir.NewTool(spec.Tool)
		t.Source.Origin.Path = ir.ServersTable + "." + spec.Tool
	}
	own := *t
	if c := spec.Launch.Command; c != nil {
		own.Command = &ir.Command{Program: c.Program, Args: c.Args, Shell: c.Shell}
	}
	data, err := Artifact(&own, res.Facts(&own))
	if err != nil {
		return "", nil, err
	}
	if build.Hash(data) != hash {
		return "", nil, fmt.Errorf("the configuration of %s does not compile to this artifact of %s, so what it "+
			"permits cannot be compared with the maximum of this machine; build again, or start without --artifact",
			spec.Workspace, spec.Tool)
	}
	under, above := res.Within(&own, accept)
	return under, above, nil
}
