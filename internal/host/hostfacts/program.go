package hostfacts

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
)

// withheld reports whether a configuration leads to the file of a tool's own program where a reader does not see it:
// by a link of the workspace or by "..", or to a sensitive place. Such a file takes a rule, and so an approval. An
// absolute path says which file it is, and a link that lies in the base is the administrator's.
// See decision D421.
func (r *Result) withheld(t *ir.Tool, abs string, f ir.Facts) bool {
	c := t.Command
	if c.Origin.Layer == ir.LayerNone {
		return false // the user named it for this start
	}
	at := f.Bindings.Locate(path.Clean(abs))
	switch {
	case at.Root.Kind != ir.System:
		return true
	case path.IsAbs(c.Program) && path.Clean(c.Program) == c.Program:
		return r.holdsSecrets(t, f)
	}
	within := !slices.Contains(strings.Split(abs, "/"), "..") && around(f.Base, at).Has(ir.Execute)
	return strings.Contains(filepath.ToSlash(c.Program), "/") && !within
}

// holdsSecrets reports whether a tool's own program lies in a place of the user's home that is sensitive.
func (r *Result) holdsSecrets(t *ir.Tool, f ir.Facts) bool {
	if f.Program == nil {
		return true // this user sees no file there
	}
	at, _ := f.Bindings.Path(*f.Program)
	return slices.ContainsFunc(t.Sensitive, func(p ir.SensitivePattern) bool {
		rest, ok := strings.CutPrefix(p.Pattern, "~/")
		return ok && r.Resolver.Home != "" && ir.Within(at, path.Join(r.Resolver.Home, rest))
	})
}

// ownProgram warns where a tool's own program lies in the workspace, or was named by its path, and the policy does
// not let it start. Programs that are looked up elsewhere are the user's, or another host's.
func (r *Result) ownProgram(t *ir.Tool) diag.List {
	cmd := t.Command
	if cmd == nil || cmd.Shell || strings.Contains(cmd.Program, "{{") {
		return nil
	}
	facts := r.Facts(t)
	if !facts.Withheld && !strings.Contains(cmd.Program, "/") {
		return nil
	}
	found, err := r.Resolver.Rule(cmd.Program)
	if strings.HasPrefix(cmd.Program, "/") || err != nil || !found.Inside {
		return programElsewhere(t, facts)
	}
	if found.Kind != ir.File {
		return nil
	}
	// Asked as the kernel is: the file that it leads to has to be granted.
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

// programElsewhere warns where a tool's own program is not written as a path of the workspace, and does not start.
func programElsewhere(t *ir.Tool, f ir.Facts) diag.List {
	if f.Program == nil {
		return nil
	}
	view := ir.NewView(t, Platform(), f)
	denied := func(c ir.Capability) bool {
		return !view.Decide(ir.Access{Cap: c, On: ir.Direct(*f.Program)}).Allowed()
	}
	if !denied(ir.Read) && !denied(ir.Execute) {
		return nil
	}
	cmd := t.Command
	d := diag.New(diag.OwnProgram, cmd.Origin.Pos, 1)
	d.Path = cmd.Origin.Path
	abs, _ := f.Bindings.Path(*f.Program)
	rule := "{ path = \"" + f.Program.Short() + "\""
	if f.Program.Root.Kind == ir.Workspace {
		d.Label = cmd.Program + " is " + f.Program.Short() + " of the workspace, and no rule grants it"
	} else {
		d.Label = cmd.Program + " is " + abs + ", outside of the workspace, and no rule grants it"
		rule = "{ path = \"" + abs + "\", external = true"
	}
	d.Hint = "add " + rule + ", read = true, execute = true } to access.fs"
	return diag.List{d}
}

// ProgramOutside returns the path of a tool's own program that the tool may read and start although the base and the
// rules do not let it, empty for none.
func (r *Result) ProgramOutside(t *ir.Tool) string {
	f := r.Facts(t)
	if f.Program == nil || f.Program.Root.Kind != ir.System || f.Withheld ||
		around(f.Base, *f.Program).Contains(ir.Caps(ir.Read, ir.Execute)) {
		return ""
	}
	abs, _ := f.Bindings.Path(*f.Program)
	return abs
}

// Unapproved is the reason why a tool's own program would not run: it is a script in a place that waits for an
// approval, and would not find the files beside it. Empty for none. A program that needs no others runs.
// See decision D421.
func (r *Result) Unapproved(t *ir.Tool) string {
	abs := r.ProgramOutside(t)
	if abs == "" || r.firstLine(abs) == "" {
		return ""
	}
	for _, b := range r.Bindings {
		grants := func(g compiler.Grant) bool { return g.Tool == t.Name && g.Caps.Has(ir.Execute) }
		if !b.Approved && !b.Broken && slices.ContainsFunc(b.Grants, grants) && ir.Within(abs, b.Target) {
			return t.Command.Program + " lies in " + b.RulePath +
				", which you have not approved, and cannot read the files " +
				"beside it: accessc approve " + shellword.Quote(b.RulePath)
		}
	}
	return ""
}
