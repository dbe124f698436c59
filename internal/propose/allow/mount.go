package allow

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
)

// mounts are the places for which mounts were proposed, by their names in lower case.
type mounts map[string]string

// mount is the command that makes a place outside of the workspace reachable, or why none is
// proposed.
// See decision D177.
func (m mounts) mount(b Bounds, g group) (command, whyNot string) {
	at := ir.Describe(g.asks[0].Operation).Places[0].At
	if g.dir != nil {
		at = *g.dir
	}
	abs := "/" + at.Path
	var caps ir.CapSet
	for _, a := range g.asks {
		for _, needs := range ir.Describe(a.Operation).Needs {
			caps |= needs | a.Needs
		}
	}
	if why := b.outside(abs, directory(abs)); why != "" {
		return "", why
	}
	mode := ":ro"
	switch {
	case !exists(abs):
		return "", "the place does not exist, and only what exists can be mounted"
	case caps&ir.Write != 0 && b.startsPrograms(abs):
		return "", "programs that are not confined start what it says or holds"
	case caps&ir.Write != 0 && holds(abs, func(info fs.FileInfo) bool { return acts(info) || info.Name() == ".git" }):
		return "", "it holds a repository of git, or something behind which programs outside of the sandbox act, or too much to be looked at"
	case caps.Has(ir.Execute) && leaves[path.Base(abs)] != "":
		return "", leaves[path.Base(abs)]
	case caps.Has(ir.Execute) && caps&ir.Write != 0:
		mode = ":rwx"
	case caps.Has(ir.Execute):
		mode = ":rx"
	case caps&ir.Write != 0:
		mode = ":rw"
	}
	return "accessc mount " + shellword.Quote(b.Tool.Name+":"+m.free(b, abs)+"="+abs+mode), ""
}

// free is a name for the mount of a place that nothing in the workspace has, nor a mount that was proposed before.
func (m mounts) free(b Bounds, abs string) string {
	name := path.Base(abs)
	for b.guard(ir.In(name)) != nil || strings.HasPrefix(name, ".") || exists(path.Join(b.Now.Resolver.Root, name)) {
		name = "ext-" + strings.TrimLeft(name, ".")
	}
	for n, first := 2, name; ; n++ {
		other, given := m[strings.ToLower(name)]
		if !exists(path.Join(b.Now.Resolver.Root, name)) && (!given || other == abs) {
			m[strings.ToLower(name)] = abs
			return name
		}
		name = first + "-" + strconv.Itoa(n)
	}
}
