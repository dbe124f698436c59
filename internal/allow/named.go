package allow

import (
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// Reserved is why no rule is proposed that lets the tool change a place which a file names, empty where one may be. The
// place is judged by its name and by where that leads.
// See RATIONALE D425.
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
