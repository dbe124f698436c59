package allow

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Reserved is why no rule is proposed that lets the tool change a place which a file names, empty where one may be. The
// place is judged by its name and by where that leads.
// See decision D395.
func (p *Planner) Reserved(abs string) string {
	found, err := p.Now.Resolver.Disk.Follow(abs)
	if err != nil {
		return err.Error()
	}
	_, inside := resolve.Below(abs, p.Now.Resolver.Root)
	for _, name := range []string{abs, found.Abs} {
		rel, in := resolve.Below(name, p.Now.Resolver.Root)
		switch {
		case in:
			at := ir.In(strings.TrimPrefix(rel, "/"))
			if err := p.guard(at); err != nil {
				return err.Error()
			}
			if err := p.leads(ir.FSRule{At: at, Caps: ir.Write}); err != nil {
				return err.Error()
			}
		case inside:
			return "it leads out of the workspace, to " + name
		default:
			if why := p.placed(name, directory(name)); why != "" {
				return why
			}
			if p.startsPrograms(name) {
				return "programs that are not confined start what it says or holds"
			}
		}
		if special(name) {
			return "it is a socket, a device or a FIFO, behind which something outside of the sandbox may act"
		}
	}
	return ""
}

// Target is where an external rule's path leads on this host.
func (p *Planner) Target(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		name = p.home() + rest
	}
	if found, err := p.Now.Resolver.Disk.Follow(name); err == nil {
		return found.Abs
	}
	return name
}

// Secrets are the sensitive places below a directory of the workspace, false where too much is there to be looked at.
func (p *Planner) Secrets(dir string) (out []string, whole bool) {
	const most, many = 100_000, 50
	seen := 0
	_ = filepath.WalkDir(filepath.FromSlash(dir), func(name string, e fs.DirEntry, _ error) error {
		rel, in := resolve.Below(filepath.ToSlash(name), p.Now.Resolver.Root)
		rel = strings.TrimPrefix(rel, "/")
		if seen++; seen > most || len(out) > many {
			return filepath.SkipAll
		}
		if in && slices.ContainsFunc(p.Tool.Sensitive, func(s ir.SensitivePattern) bool { return s.Covers(rel) }) {
			if out = append(out, rel); e != nil && e.IsDir() {
				return filepath.SkipDir
			}
		}
		return nil
	})
	return out, seen <= most && len(out) <= many
}
