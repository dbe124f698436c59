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
	found, err := h.find(access, path)
	if err != nil {
		return ruleset.Unknown, err.Error()
	}
	op := ir.Access{Cap: ir.Read, On: ir.Direct(h.Roots.Locate(found.Abs)), Name: ir.NameFile}
	switch access {
	case shell.Read:
	case shell.Remove, shell.Clear:
		op.Cap, op.Name = ir.Delete, nameKinds[found.Kind]
	case shell.Write, shell.ReadWrite, shell.Rewrite, shell.Replace, shell.Perhaps, shell.PerhapsNew:
		op.Cap = ir.Update
		if found.Kind == ir.Absent {
			op.Cap = ir.Create
		}
	}
	if access == shell.Perhaps && found.Kind == ir.Absent {
		return ruleset.Allow, "no file has this name"
	}
	return h.verdict(access, found, op)
}

// nameKinds are the kinds of name that a removal of a file takes away.
var nameKinds = map[ir.NodeKind]ir.NameKind{ir.Dir: ir.NameDir, ir.File: ir.NameFile, ir.Absent: ir.NameFile}

// find is the file that an access is about. A removal takes a link away, and not the file that it leads to.
func (h *Host) find(access shell.Access, path string) (resolve.Found, error) {
	end := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case access == shell.Clear:
		found, err := h.follow(path)
		found.Abs = strings.TrimSuffix(found.Abs, "/") + "/*" // any name in it
		return found, err
	case access != shell.Remove || end == "" || end == "." || end == "..":
		return h.follow(path)
	}
	dir, err := h.follow(path[:len(path)-len(end)])
	if err != nil {
		return dir, err
	}
	return h.Disk.Name(strings.TrimSuffix(dir.Abs, "/") + "/" + end)
}

// verdict asks the policy about an access to a file that was found.
func (h *Host) verdict(access shell.Access, found resolve.Found, op ir.Access) (ruleset.Outcome, string) {
	what := op.Cap.String() + " " + op.On.At.String()
	v := h.View.Decide(op)
	edit := access == shell.Rewrite || access == shell.Replace
	deep := access == shell.Replace || access == shell.Clear || access == shell.Remove && found.Kind == ir.Dir
	outer := op.On.At
	if access == shell.Clear {
		outer = h.Roots.Locate(strings.TrimSuffix(found.Abs, "/*"))
	}
	switch {
	case v.Allowed() && deep && h.closed(op.Cap, outer):
		return ruleset.Unknown, "the tool may not " + op.Cap.String() + " all files below " + outer.String()
	case !v.Allowed() && (access == shell.Perhaps || access == shell.PerhapsNew):
		return ruleset.Unknown, "the tool may not " + what + ", if the program writes it"
	case !v.Allowed() && access == shell.Clear:
		return ruleset.Unknown, "the tool may not delete all files below " + outer.String()
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

// closed reports whether a place below another may not be changed, or deleted.
func (h *Host) closed(c ir.Capability, outer ir.Location) bool {
	return slices.ContainsFunc(h.View.Entries(), func(e ir.Entry) bool {
		at := e.Rule.At
		if e.Rule.ByName() && !e.Rule.Caps.Has(c) && (at.Under(outer) || outer.Under(at)) {
			return true // as far as the directory tells, it may hold such a name
		}
		if at == outer || !at.Under(outer) {
			return false
		}
		return !h.View.Decide(ir.Access{Cap: c, On: ir.Direct(at), Name: ir.NameDir}).Allowed()
	})
}
