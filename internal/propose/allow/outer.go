package allow

import (
	"os"
	"path"
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

// outer is the external rule for operations on one place outside of the workspace, or why none is
// proposed. Nothing is proposed by which the tool could change something there, and nothing that not
// everyone on this system may read.
// See decision D177.
func (b Bounds) outer(g group) (*outer, string) {
	at := ir.Describe(g.asks[0].Operation).Places[0].At
	if g.dir != nil {
		at = *g.dir
	}
	abs, _ := b.asker.Bindings.Path(at)
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
	why := b.outside(abs, info.IsDir())
	if ir.Within(abs, "/etc") && info.Mode().IsRegular() {
		if why = ""; b.sensitiveAt(abs, filepath.ToSlash(b.opts.Layers.Home)) {
			why = "it is sensitive; if it is meant, write the rule yourself"
		}
	}
	switch home := b.home(); {
	case why != "":
		return nil, why
	case caps.Has(ir.Execute) && leaves[path.Base(abs)] != "":
		return nil, leaves[path.Base(abs)]
	case resolve.CheckText(abs) != nil:
		return nil, resolve.CheckText(abs).Error()
	case holds(abs, private):
		return nil, "it is private, or holds what is: not everyone on this system may read it; if it is meant, write the rule yourself"
	case ir.Within(abs, home) && home != "":
		return &outer{"~" + strings.TrimPrefix(abs, home), abs, caps}, ""
	default:
		return &outer{abs, abs, caps}, ""
	}
}

// beyond is an operation on one place outside of the workspace with the external rule for it. Other operations stay
// as they are, and so do those that are permitted by now and those in a layer that cannot name the place.
func (p *Planner) beyond(a Ask) (Ask, error) {
	if a.external != nil || a.extends != "" || !a.isOutside() || a.Allowed(p.View) {
		return a, nil
	}
	place, why := p.outer(group{asks: []Ask{a}, dir: a.At})
	if why != "" {
		return a, refuse("%s", why)
	}
	if p.names(place) {
		place.caps |= a.Needs
		a.external = place
	}
	return a, nil
}

// isOutside reports whether an operation is on one place outside of the workspace, and starts nothing.
func (a Ask) isOutside() bool {
	places := ir.Describe(a.Operation).Places
	_, run := a.Operation.(ir.Run)
	return !run && len(places) == 1 && (places[0].At.Root.Kind == ir.System || places[0].At.Root.Direct())
}

// names reports whether the layer may have a rule with the name of a place.
func (p *Planner) names(place *outer) bool {
	return strings.HasPrefix(place.name, "~/") || p.kind == ir.LayerUser
}
