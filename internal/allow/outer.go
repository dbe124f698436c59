package allow

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// outer is a place outside of the workspace, as an external rule names it.
type outer struct {
	// name is a place of the home, "~/x", or an absolute path, which only the user's own layer may
	// name. target is its canonical path.
	name, target string
	caps         ir.CapSet
}

// outer adds the external rule.
func (d *draft) outer(a Ask) {
	d.planned[a.external.name] = a.external.target
	d.paths(ir.FSRule{At: ir.Location{Root: ir.Root{Kind: ir.External, Name: a.external.name}}, External: true, Caps: a.external.caps})
}

// outer is the external rule for operations on one place outside of the workspace, or why none is
// proposed. Nothing is proposed by which the tool could change something there, and nothing that not
// everyone on this system may read.
// See RATIONALE D186.
func (p *Planner) outer(g group) (*outer, string) {
	at := ir.Describe(g.asks[0].Operation).Places[0].At
	if g.dir != nil {
		at = *g.dir
	}
	abs := "/" + at.Path
	var caps ir.CapSet
	for _, a := range g.asks {
		for _, needs := range ir.Describe(a.Operation).Needs {
			caps |= needs | a.own
		}
	}
	if caps&ir.Write != 0 {
		return nil, "a rule that lets it change something outside of the workspace is yours to write"
	}
	info, err := os.Stat(filepath.FromSlash(abs))
	if err != nil {
		return nil, "nothing is there, so no rule can lead there"
	}
	first, _, _ := strings.Cut(at.Path, "/")
	why := p.outside(abs, info.IsDir())
	if first == "etc" && info.Mode().IsRegular() {
		if why = ""; p.sensitiveAt(abs, filepath.ToSlash(p.req.Compile.Layers.Home)) {
			why = "it is sensitive; if it is meant, write the rule yourself"
		}
	}
	const others, listed = 0o004, 0o005
	switch home := p.home(); {
	case why != "":
		return nil, why
	case resolve.CheckText(abs) != nil:
		return nil, resolve.CheckText(abs).Error()
	case !info.IsDir() && info.Mode()&others == 0 || info.IsDir() && info.Mode()&listed != listed:
		return nil, "it is private: not everyone on this system may read it; if it is meant, write the rule yourself"
	case below(abs, home) && home != "":
		return &outer{"~" + strings.TrimPrefix(abs, home), abs, caps}, ""
	default:
		return &outer{abs, abs, caps}, ""
	}
}

// home is the canonical path of the user's home, empty where there is none.
func (p *Planner) home() string {
	found, err := p.Now.Resolver.Disk.Follow(filepath.ToSlash(p.req.Compile.Layers.Home))
	if err != nil || p.req.Compile.Layers.Home == "" {
		return ""
	}
	return found.Abs
}
