package allow

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/shellword"
	"github.com/accessc/accessc/internal/supervisor/denial"
	"github.com/accessc/accessc/internal/userdir"
	"github.com/accessc/accessc/ir"
)

// mount is the command that makes a place outside of the workspace reachable, or why none is
// proposed.
func (p *Planner) mount(g group) (command, whyNot string) {
	at := ir.Describe(g.asks[0].Operation).Places[0].At
	if g.dir != nil {
		at = *g.dir
	}
	abs := "/" + at.Path
	var caps ir.CapSet
	for _, a := range g.asks {
		caps |= a.caps()
	}
	if why := p.outside(abs, directory(abs), caps); why != "" {
		return "", why
	}
	mode := ":ro"
	switch {
	case caps.Has(ir.Execute) && caps&ir.Write != 0:
		mode = ":rwx"
	case caps.Has(ir.Execute):
		mode = ":rx"
	case caps&ir.Write != 0:
		mode = ":rw"
	}
	if !exists(abs) {
		return "", "nothing is there, so it cannot be mounted"
	}
	return "accessc mount " + shellword.Quote(p.Tool.Name+":"+p.free(path.Base(abs))+"="+abs+mode), ""
}

// free is a name in the workspace that nothing has.
func (p *Planner) free(base string) string {
	name := base
	for p.guard(ir.In(name)) != nil || strings.HasPrefix(name, ".") || exists(path.Join(p.Now.Resolver.Root, name)) {
		name = "ext-" + strings.TrimLeft(name, ".")
	}
	return name
}

// outside is why nothing is proposed for a place outside of the workspace, empty where something
// is.
func (p *Planner) outside(abs string, dir bool, caps ir.CapSet) string {
	first, _, deeper := strings.Cut(strings.TrimPrefix(abs, "/"), "/")
	switch home := filepath.ToSlash(p.req.Compile.Layers.Home); {
	case slices.Contains(denial.SystemDirectories(), first) || !deeper:
		return "it belongs to the system, of which the base grants what tools need"
	case dir && slices.Contains(roots(home), abs):
		return "a rule on all of " + abs + " is yours to write"
	case below(p.Now.Resolver.Root, abs):
		return "the workspace lies in it"
	case p.trusted(abs):
		return "accessc trusts what lies there"
	case caps&ir.Write != 0 && p.startsPrograms(abs, home):
		return "programs that are not confined start what it says or holds"
	default:
		return p.holds(abs, home, caps)
	}
}

// roots are directories that hold everything of a user or of the system.
func roots(home string) []string {
	out := []string{"/home", "/root", "/Users", "/opt", "/srv", "/mnt", "/media", "/tmp", "/var", "/var/tmp", "/var/lib", "/var/cache", home}
	for _, below := range []string{".config", ".local", ".local/share", ".local/state", ".local/bin", ".cache", "Library"} {
		out = append(out, path.Join(home, below))
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		if dir := os.Getenv(name); dir != "" {
			out = append(out, path.Clean(filepath.ToSlash(dir)))
		}
	}
	return out
}

// trusted reports whether a place holds files of accessc's own, or lies among them.
func (p *Planner) trusted(abs string) bool {
	for _, dir := range []string{filepath.Dir(filepath.Dir(string(p.Now.State))), filepath.Dir(userdir.UserConfig())} {
		found, err := p.Now.Resolver.Disk.Follow(filepath.ToSlash(dir))
		if err == nil && (below(abs, found.Abs) || below(found.Abs, abs)) {
			return true
		}
	}
	return false
}

// holds is why nothing is proposed for a place outside of the workspace because of what it is or
// holds, empty where nothing speaks against it.
func (p *Planner) holds(abs, home string, caps ir.CapSet) string {
	for _, s := range p.Tool.Sensitive {
		if rest, ok := strings.CutPrefix(s.Pattern, "~/"); ok && home != "" {
			place := path.Join(home, strings.TrimSuffix(rest, "/"))
			if below(abs, place) || below(place, abs) {
				return isSensitive
			}
		}
	}
	const most = 50_000
	seen, why := 0, ""
	_ = filepath.WalkDir(filepath.FromSlash(abs), func(name string, e os.DirEntry, _ error) error {
		seen++
		rel := strings.TrimPrefix(filepath.ToSlash(name), "/")
		switch {
		case seen > most:
			why = "it holds too many files to look for sensitive ones among them"
		case slices.ContainsFunc(p.Tool.Sensitive, func(s ir.SensitivePattern) bool { return s.Covers(rel) }):
			why = isSensitive
		case e == nil:
		case caps.Has(ir.Update) && e.Type()&os.ModeSocket != 0:
			why = "/" + rel + " is a socket, behind which something outside of the sandbox may act"
		case caps&ir.Write != 0 && slices.Contains(strings.Split(rel, "/"), ".git"):
			why = "/" + rel + " belongs to git, which runs programs that its files name"
		}
		if why != "" {
			return filepath.SkipAll
		}
		return nil
	})
	return why
}

const isSensitive = "it is sensitive or holds something that is; if it is meant, write the rule yourself"

func exists(abs string) bool {
	_, err := os.Lstat(filepath.FromSlash(abs))
	return err == nil
}

func directory(abs string) bool {
	info, err := os.Stat(filepath.FromSlash(abs))
	return err == nil && info.IsDir()
}

func special(abs string) bool {
	info, err := os.Stat(filepath.FromSlash(abs))
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}
