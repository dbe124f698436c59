package compiler

import (
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// checkOwnProgram warns where a tool's own program lies in the workspace and the policy does
// not let it start. Programs that are looked up elsewhere are the base's, or another
// host's.
func (c *compilation) checkOwnProgram(t *ir.Tool) {
	cmd := t.Command
	if cmd == nil || cmd.Shell || !strings.Contains(cmd.Program, "/") || strings.HasPrefix(cmd.Program, "/") || strings.Contains(cmd.Program, "{{") {
		return
	}
	found, err := c.res.Resolver.Rule(cmd.Program)
	if err != nil || found.Kind != ir.File {
		return
	}
	facts := c.res.Facts(t)
	// Asked as the kernel is: what it leads to has to be granted.
	op, err := resolve.Asker{Resolver: c.res.Resolver, Bindings: facts.Bindings, Kernel: true}.Operation(resolve.Question{
		Verb: "execute", Operands: []string{cmd.Program},
	})
	if err != nil {
		return
	}
	v := ir.NewView(t, HostPlatform(), facts).Decide(op)
	if v.Allowed() || v.Reason != ir.ReasonRule && v.Reason != ir.ReasonDefault {
		return
	}
	d := diag.New(diag.OwnProgram, cmd.Origin.Pos, 1)
	d.Path, d.Label = cmd.Origin.Path, v.Need.String()+" of "+cmd.Program+" is not granted"
	if v.Rule != nil && v.Rule.Source().Pos.File != "" {
		d.Related = []diag.Related{{At: v.Rule.Source().Pos, Note: "decides: " + subject(v.Rule)}}
	}
	d.Hint = "add { path = \"" + v.At.Short() + "\", read = true, execute = true } to access.fs"
	c.findings.Add(d)
}
