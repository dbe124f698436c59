package hostfacts

import (
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// ownProgram warns where a tool's own program lies in the workspace and the policy does
// not let it start. Programs that are looked up elsewhere are the base's, or another
// host's.
func (r *Result) ownProgram(t *ir.Tool) diag.List {
	cmd := t.Command
	if cmd == nil || cmd.Shell || !strings.Contains(cmd.Program, "/") || strings.HasPrefix(cmd.Program, "/") || strings.Contains(cmd.Program, "{{") {
		return nil
	}
	found, err := r.Resolver.Rule(cmd.Program)
	if err != nil || found.Kind != ir.File {
		return nil
	}
	facts := r.Facts(t)
	// Asked as the kernel is: what it leads to has to be granted.
	op, err := resolve.Asker{Resolver: r.Resolver, Bindings: facts.Bindings, Kernel: true}.Operation(resolve.Question{
		Verb: "execute", Operands: []string{cmd.Program},
	})
	if err != nil {
		return nil
	}
	v := ir.NewView(t, Platform(), facts).Decide(op)
	if v.Allowed() || v.Reason != ir.ReasonRule && v.Reason != ir.ReasonDefault {
		return nil
	}
	d := diag.New(diag.OwnProgram, cmd.Origin.Pos, 1)
	d.Path, d.Label = cmd.Origin.Path, v.Need.String()+" of "+cmd.Program+" is not granted"
	if v.Rule != nil && v.Rule.Source().Pos.File != "" {
		d.Related = []diag.Related{{At: v.Rule.Source().Pos, Note: "decides: " + subject(v.Rule)}}
	}
	d.Hint = "add { path = \"" + v.At.Short() + "\", read = true, execute = true } to access.fs"
	return diag.List{d}
}
