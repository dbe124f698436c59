package allow

import (
	"io/fs"
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

// outer adds the external rule.
func (d *draft) outer(a Ask) {
	d.planned[a.external.name] = a.external.target
	d.paths(ir.FSRule{At: ir.Location{Root: ir.Root{Kind: ir.External, Name: a.external.name}}, External: true, Caps: a.external.caps})
}

// outer is the external rule for operations on one place outside of the workspace, or why none is
// proposed. Nothing is proposed by which the tool could change something there, and nothing that not
// everyone on this system may read.
// See decision D177.
func (p *Planner) outer(g group) (*outer, string) {
	at := ir.Describe(g.asks[0].Operation).Places[0].At
	if g.dir != nil {
		at = *g.dir
	}
	abs, _ := p.asker.Bindings.Path(at)
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
	why := p.outside(abs, info.IsDir())
	if ir.Within(abs, "/etc") && info.Mode().IsRegular() {
		if why = ""; p.sensitiveAt(abs, filepath.ToSlash(p.req.Compile.Layers.Home)) {
			why = "it is sensitive; if it is meant, write the rule yourself"
		}
	}
	switch home := p.home(); {
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
	if a.external != nil || a.extends != "" || !p.isOutside(a) || a.Allowed(p.View) {
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
func (p *Planner) isOutside(a Ask) bool {
	places := ir.Describe(a.Operation).Places
	_, run := a.Operation.(ir.Run)
	return !run && len(places) == 1 && (places[0].At.Root.Kind == ir.System || places[0].At.Root.Direct())
}

// names reports whether the layer may have a rule with the name of a place.
func (p *Planner) names(place *outer) bool {
	return strings.HasPrefix(place.name, "~/") || p.req.Layer == ir.LayerUser
}

// private reports whether not everyone on this system may read a file.
func private(info fs.FileInfo) bool {
	const others, listed = 0o004, 0o005
	if info.IsDir() {
		return info.Mode()&listed != listed
	}
	return info.Mode()&fs.ModeSymlink == 0 && info.Mode()&others == 0
}

// acts reports whether something outside of the sandbox may act behind a file.
func acts(info fs.FileInfo) bool {
	return info.Mode()&(fs.ModeSocket|fs.ModeDevice|fs.ModeNamedPipe) != 0
}

// holds reports whether a place or something below it is of a kind, or too much is there to be looked
// at.
func holds(abs string, kind func(fs.FileInfo) bool) bool {
	const most = 10_000
	seen, found := 0, false
	_ = filepath.WalkDir(filepath.FromSlash(abs), func(_ string, e fs.DirEntry, err error) error {
		seen++
		info, infoErr := fs.FileInfo(nil), err
		if err == nil {
			info, infoErr = e.Info()
		}
		if found = seen > most || infoErr == nil && kind(info); found {
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// home is the canonical path of the user's home, empty where there is none.
func (p *Planner) home() string {
	found, err := p.Now.Resolver.Disk.Follow(filepath.ToSlash(p.req.Compile.Layers.Home))
	if err != nil || p.req.Compile.Layers.Home == "" {
		return ""
	}
	return found.Abs
}
