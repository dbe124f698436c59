package hostfacts

import (
	"path"
	"slices"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
)

// nowhere says of rules that grant something at a place of the workspace where nothing is, and that do not let it be
// made: misspelt rules, or rules on what another tool makes. See decision D387.
func (r *Result) nowhere(t *ir.Tool) (out diag.List) {
	for i := range t.FS {
		rule := &t.FS[i]
		grants := rule.At.Root.Kind == ir.Workspace && rule.Caps != 0 && !rule.ByName()
		if !grants || rule.Caps.Has(ir.Create) || rule.Origin.Pos.File == "" {
			continue
		}
		abs := path.Join(r.Resolver.Root, rule.At.Path)
		if _, err := r.view.Lstat(abs); err == nil {
			continue
		}
		d := aboutPath(diag.NothingThere, rule, "nothing is at "+rule.At.Short())
		d.Hint = "the rule counts once something is there"
		var names []string
		entries, _ := r.view.ReadDir(path.Dir(abs))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if near := suggest.Hint(path.Base(abs), names); near != "" {
			d.Hint = near
		}
		out.Add(d)
	}
	return out
}

// led are the findings that a compilation for this host adds to a portable compilation: about external rules
// that lead elsewhere than approved, or nowhere.
func (r *Result) led(opts Options) diag.List {
	opts.Resolve, opts.Places, opts.Sensitive, opts.Untested = true, false, false, true
	host, err := Compile(opts)
	if err != nil {
		return nil // a store that cannot be read is said where it is used
	}
	said := []diag.Code{diag.NotApproved, diag.BrokenLink, diag.Retargeted, diag.BadApprovals, diag.UnfitTarget}
	var out diag.List
	for _, d := range host.Findings {
		if slices.Contains(said, d.Code) {
			out.Add(d)
		}
	}
	return out
}
