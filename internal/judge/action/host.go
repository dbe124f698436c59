package action

import (
	"errors"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// Host answers the questions of a ruleset about this host: where paths lead, and whether the file
// rules of a policy permit to open them.
type Host struct {
	View  *ir.View
	Roots *ir.Bindings
	// Disk remembers the links and files that it found; a new one sees later changes.
	Disk *resolve.Disk
}

// Answers are the functions that a ruleset calls.
func (h *Host) Answers() ruleset.Host { return ruleset.Host{Resolve: h.resolve, Open: h.open} }

func (h *Host) resolve(path string) (string, bool) {
	found, err := h.follow(path)
	return found.Abs, err == nil
}

// follow resolves a path. Where the links of /proc lead depends on the process, which is another
// one than this.
func (h *Host) follow(path string) (resolve.Found, error) {
	found, err := h.Disk.Follow(path)
	if slices.ContainsFunc(found.Links, func(l string) bool { return strings.HasPrefix(l, "/proc/") }) {
		err = errors.New("a link in /proc leads elsewhere for each process")
	}
	return found, err
}

// open judges a file where it is now: writing creates one that is not there.
func (h *Host) open(access shell.Access, path string) (ruleset.Outcome, string) {
	found, err := h.follow(path)
	if err != nil {
		return ruleset.Unknown, err.Error()
	}
	op := ir.Access{Cap: ir.Read, On: ir.Direct(h.Roots.Locate(found.Abs)), Name: ir.NameFile}
	if access != shell.Read {
		op.Cap = ir.Update
		if found.Kind == ir.Absent {
			op.Cap = ir.Create
		}
	}
	what := op.Cap.String() + " " + op.On.At.String()
	v := h.View.Decide(op)
	edit := access == shell.Rewrite || access == shell.Replace
	switch {
	case v.Allowed() && access == shell.Replace && h.closed(op.On.At):
		return ruleset.Unknown, "the tool may not update all files below " + op.On.At.String()
	case !v.Allowed() && edit && found.Kind != ir.File:
		return ruleset.Unknown, "the tool may not " + what + ", if it is a file's name"
	case v.Allowed():
		return ruleset.Allow, "the tool may " + what
	case v.Rule != nil && v.Rule.Source().Pos.File != "":
		return ruleset.Deny, "the tool may not " + what + ", by " + v.Rule.Source().Pos.String()
	default:
		return ruleset.Deny, "the tool may not " + what
	}
}

// closed reports whether a place below another may not be changed.
func (h *Host) closed(outer ir.Location) bool {
	return slices.ContainsFunc(h.View.Entries(), func(e ir.Entry) bool {
		at := e.Rule.At
		if e.Rule.ByName() && !e.Rule.Caps.Has(ir.Update) && (at.Under(outer) || outer.Under(at)) {
			return true // as far as the directory tells, it may hold such a name
		}
		return at != outer && at.Under(outer) && !h.View.Decide(ir.Access{Cap: ir.Update, On: ir.Direct(at)}).Allowed()
	})
}
